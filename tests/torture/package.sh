#!/bin/bash
# package - the Debian packages in a Debian of their own: debootstrap makes one with nothing but the minimum,
# fairq is installed there by apt and tells the quickstart, with no build tree and no compiler in reach; its man
# pages and unit lie where Debian wants them; it is removed and leaves nothing. lintian finds no error.
#
# Needs root (chroot, mount) and a mirror: FQ_MIRROR, else the one that apt uses here.
. "$(dirname "$0")/lib.sh"
. tests/packages.sh
install_missing $BUILD_PACKAGES dpkg-dev file debootstrap lintian

build release all
rm -rf build/deb
cpack --config build/release/CPackConfig.cmake -G DEB -B build/deb >build/deb.log 2>&1 || { cat build/deb.log; exit 1; }
lintian --allow-root --fail-on error build/deb/*.deb

root=$(mktemp -d)
cleanup() {
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT
. /etc/os-release
mirror=${FQ_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | grep '/debian/*$' | head -1)}
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >build/debootstrap.log 2>&1 \
  || { tail -20 build/debootstrap.log; exit 1; }
mount -t proc proc "$root/proc"
in_it() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }

in_it apt-get install -y -qq --no-install-recommends systemd >build/apt.log 2>&1 || { cat build/apt.log; exit 1; }
before=$(in_it find /usr /etc /var/spool | sort)
cp build/deb/fairq_*.deb "$root/fairq.deb"
in_it apt-get install -y -qq --no-install-recommends /fairq.deb >build/apt.log 2>&1 || { cat build/apt.log; exit 1; }
in_it dpkg --verify fairq
told=$(in_it /usr/share/doc/fairq/examples/quickstart.sh) || { echo "$told"; exit 1; }
grep -q 'lost 0   never pushed 0' <<<"$told"
# Root's own spool, where no variable says another.
[ "$(in_it sh -c 'fq push -t acme hello >/dev/null && fq pop')" = hello ]
in_it test -d /var/spool/fq
in_it test -s /usr/share/man/man1/fq-push.1.gz
in_it systemd-analyze verify --man=no fq-worker@root.service
in_it rm -r /var/spool/fq
in_it dpkg --purge fairq >/dev/null
left=$(comm -13 <(echo "$before") <(in_it find /usr /etc /var/spool | sort))
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "package: $(ls build/deb/*.deb | wc -l) packages without an error of lintian, installed, told and purged in $(cat "$root/etc/debian_version")"
