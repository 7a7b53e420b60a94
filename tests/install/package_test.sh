#!/usr/bin/env bash
# package_test - the Debian packages: made by cpack as `cmake --workflow --preset deb` does it, taken apart, and
# the quickstart told with what was in them. (tests/torture/package.sh installs them into a Debian of their own.)
. "$(dirname "$0")/lib.sh"

must 'cpack' cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/deb"
version=$(sed -n 's/^project(fq VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
architecture=$(dpkg --print-architecture)
runtime=$work/deb/fairq_$version-1_$architecture.deb
development=$work/deb/fairq-dev_$version-1_$architecture.deb
redis=$work/deb/fairq-redis_$version-1_$architecture.deb
is 'three packages' "$(basename -a "$development" "$redis" "$runtime")" "$(cd "$work/deb" && ls ./*.deb | sed 's#./##')"

# ---- what they say of themselves

field() { dpkg-deb -f "$1" "$2"; }
is 'it does not go with the other two fq' 'fq, nq' "$(field "$runtime" Conflicts)"
is 'and says why' 1 "$(field "$runtime" Description | grep -c 'Debian has two others of that name')"
is 'a static program needs no library' '' "$(field "$runtime" Depends)"
is 'the other one goes with it' "fairq (= $version-1)" "$(field "$redis" Depends | grep -o 'fairq ([^)]*)')"
for library in libhiredis libssl3; do
  is "and needs $library" 1 "$(field "$redis" Depends | grep -c "$library")"
done
is 'the size is stated' 1 "$(field "$runtime" Installed-Size | grep -cE '^[1-9][0-9]+$')"
is 'the changelog is that of this version' "fairq ($version-1) UNRELEASED; urgency=medium" \
  "$(head -1 "$source/core/install/debian/changelog")"

# ---- what is in them

root=$work/root
for package in "$runtime" "$redis" "$development"; do
  does 'it unpacks' dpkg-deb -x "$package" "$root"
  does 'control' dpkg-deb -e "$package" "$work/control"
  does 'md5sums hold' bash -c 'cd "$0" && md5sum --quiet -c "$1"' "$root" "$work/control/md5sums"
  is 'all belongs to root' '' "$(dpkg-deb -c "$package" | awk '$2 != "root/root"')"
  is 'and nobody else may write' '' "$(dpkg-deb -c "$package" | grep -vE '^[-d]rw[-x]r-[-x]r-[-x] ')"
  name=$(field "$package" Package)
  for file in changelog.Debian.gz copyright; do
    [ -s "$root/usr/share/doc/$name/$file" ] || fail "$name has no $file"
  done
done
for page in "$source"/man/*.[157]; do
  is "$(basename "$page") is there, compressed" 0 \
    "$(gzip -dc "$root/usr/share/man/man${page##*.}/$(basename "$page").gz" | cmp - "$page"; echo $?)"
done
is 'zsh of Debian finds the completion' '_fq' "$(ls "$root/usr/share/zsh/vendor-completions")"
is 'no path of the build is in any file' '' "$(grep -rlF -e "$source" "$root")"
built=$work/built
does 'the library can be found below usr' cmake -S "$source/examples/library" -B "$built" -DCMAKE_PREFIX_PATH="$root/usr"
does 'and linked' cmake --build "$built"

# ---- fq goes on as fq-redis, where both are installed

is 'fq finds it' 75 "$(env -i "$root/usr/bin/fq" --spool "redis+unix://$work/none" push x 2>"$work/log"; echo $?)"
is 'and it speaks' 1 "$(grep -c "$work/none: cannot be reached" "$work/log")"

# ---- the quickstart, told without the build tree

story=$root/usr/share/doc/fairq/examples/quickstart.sh
told=$(cd / && env -i PATH="$root/usr/bin:/usr/bin:/bin" HOME="$work" TMPDIR="$work" LC_ALL=C.UTF-8 \
  timeout 120 "$story" 2>&1) || fail "quickstart left with $?: $told"
is 'it lost nothing' 1 "$(grep -c 'lost 0   never pushed 0' <<<"$told")"
finish
