# packages - which Debian packages fq needs, and how the missing ones get here. Sourced, not run.

BUILD_PACKAGES="g++ cmake ninja-build libboost-dev libcli11-dev libtomlplusplus-dev"
TEST_PACKAGES="catch2 jq strace procps util-linux e2fsprogs zsh fish expect man-db pkg-config dpkg-dev file"

# Installs those of the named packages that are missing; says which when it may not.
install_missing() {
  local package missing=""
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  local as_root=""
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=sudo
    else
      echo "fq: these Debian packages are missing:$missing; install them with: apt-get install$missing" >&2
      exit 1
    fi
  fi
  echo "installing Debian packages:$missing" >&2
  local patience="-o Acquire::Retries=3 -o DPkg::Lock::Timeout=120"
  $as_root apt-get update -qq $patience </dev/null >&2
  $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $patience $missing </dev/null >&2
}
