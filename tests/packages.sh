# packages - which Debian packages fq needs, and how the missing ones get here. Sourced, not run.
# shellcheck shell=bash disable=SC2034  # whoever sources this reads them

BUILD_PACKAGES="g++ cmake ninja-build libboost-dev libcli11-dev libtomlplusplus-dev libhiredis-dev libssl-dev"
TEST_PACKAGES="catch2 clang lld libclang-rt-14-dev openssl jq strace procps util-linux e2fsprogs zsh fish expect shellcheck man-db pkg-config dpkg-dev file tmux redis-tools tzdata faketime python3 python3-croniter"

patience="-o Acquire::Retries=3 -o DPkg::Lock::Timeout=120"

# as_root COMMAND...: 1 when that may not be.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; return; fi
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo "$@"; return; fi
  return 1
}

# Installs those of the named packages that are missing; says which when it may not.
install_missing() {
  local package missing=""
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  as_root true || {
    echo "fq: these Debian packages are missing:$missing; install them with: apt-get install$missing" >&2
    exit 1
  }
  echo "installing Debian packages:$missing" >&2
  as_root apt-get update -qq $patience </dev/null >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $patience $missing </dev/null >&2
}

# unpack_tool PACKAGE DIRECTORY: below the directory and not installed, for a single program of it. promtool lies in
# prometheus, which brings libraries for its pages and starts a server when it is installed.
unpack_tool() {
  local package=$1 directory=$2
  [ ! -d "$directory/usr" ] || return 0
  echo "unpacking the Debian package $package" >&2
  mkdir -p "$directory"
  (
    cd "$directory"
    apt-get download -qq $patience "$package" || { as_root apt-get update -qq $patience && apt-get download -qq $patience "$package"; }
  ) </dev/null >&2 || { echo "fq: the Debian package $package cannot be downloaded" >&2; exit 1; }
  dpkg -x "$directory/$package"_*.deb "$directory"
  rm "$directory/$package"_*.deb
}
