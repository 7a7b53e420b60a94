#!/usr/bin/env bash
# install_test - what `cmake --install` puts into an empty prefix works from there alone, and goes away again.
. "$(dirname "$0")/lib.sh"
prefix=$work/prefix

# ---- what is where

must 'cmake --install' cmake --install "$build" --prefix "$prefix"
here=$(files "$prefix")
has() { grep -qxF "$1" <<<"$here" || fail "not installed: $1"; }
has bin/fq
has share/bash-completion/completions/fq
has share/zsh/site-functions/_fq
has share/fish/vendor_completions.d/fq.fish
has lib/systemd/system/fq-worker@.service
has lib/libfq.a
has lib/pkgconfig/fq.pc
has lib/cmake/fq/fq-config.cmake
has lib/cmake/fq/fq-config-version.cmake
has include/fq/api/queue.h
has include/fq/policy/followed_queue.h
has include/fq/policy/policy.h
has share/doc/fq/examples/quickstart.sh
for page in "$source"/man/*.[157]; do has "share/man/man${page##*.}/$(basename "$page")"; done
is 'nothing else is in bin' 'fq fq-redis' "$(echo "$prefix"/bin/* | sed "s|$prefix/bin/||g")"
is 'no path of the build is in any file' '' "$(grep -rlF -e "$source" "$prefix")"
is 'no LTO bytecode is in the library' '' "$(readelf -SW "$prefix/lib/libfq.a" | grep -F .gnu.lto)"
# What is loaded is written or executed, never both; the stack is not executed; and what is constant once the
# program has begun cannot be written any more, as the kernel tells of one that runs.
flags_of() {  # type, program
  readelf -lW "$prefix/bin/${2:-fq}" | awk -v type="$1" '$1 == type { flags = ""; for (i = 7; i < NF; ++i) flags = flags $i; print flags }'
}
is 'one segment is executed, another written' $'RE\nRW' "$(flags_of LOAD | sort)"
is 'the stack is not executed' RW "$(flags_of GNU_STACK)"
is 'what is constant is named' R "$(flags_of GNU_RELRO)"
is 'of fq-redis too no segment is both' '' "$(flags_of LOAD fq-redis | grep W | grep E)"
is 'nor is its stack' 'RW R' "$(flags_of GNU_STACK fq-redis) $(flags_of GNU_RELRO fq-redis)"
"$prefix/bin/fq" --spool "$work/waited" pop --wait=20s &
waiting=$!
rights() { awk '/bin\/fq$/ { print $2 }' "/proc/$waiting/maps" | sort | paste -sd' '; }
for _ in $(seq 500); do
  if [[ $(rights) == *r--p* ]]; then break; fi
  sleep 0.01  # until it has begun: nothing tells
done
is 'and nobody can write it' 'r--p r-xp rw-p' "$(rights)"
kill "$waiting"
wait "$waiting"
for header in $(cd "$prefix/include" && find . -name '*.h'); do
  does "$header stands alone" g++ -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -I "$prefix/include" \
    -fsyntax-only -x c++ - <<<"#include <${header#./}>"
done

# ---- a program that uses it

spool=$work/greetings
built=$work/by-cmake
does 'find_package finds it' cmake -S "$source/examples/library" -B "$built" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_FLAGS='-Wall -Wextra -Werror'
does 'the example is built' cmake --build "$built"
is 'the example greets' 'acme: hello' "$("$built/greet" "$spool" acme hello)"
printf '[queue.greetings]\nmax_payload = "4B"\n' >"$spool/fq.toml"
is 'fq.toml holds for it' 'greet: not accepted' "$("$built/greet" "$spool" acme hello 2>&1)"
printf '[queue.greetings]\nmax_payload = "40B"\n' >"$spool/fq.toml"
is 'as it is now' 'acme: hello' "$("$built/greet" "$spool" acme hello 2>&1)"
rm "$spool/fq.toml"
mkdir "$work/newer"
printf 'cmake_minimum_required(VERSION 3.16)\nproject(x LANGUAGES CXX)\nfind_package(fq 0.999 REQUIRED)\n' >"$work/newer/CMakeLists.txt"
is 'another minor version is refused' 1 \
  "$(cmake -S "$work/newer" -B "$work/newer/build" -DCMAKE_PREFIX_PATH="$prefix" 2>&1 | grep -c 'not accepted')"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# Word splitting is what pkg-config is for.
# shellcheck disable=SC2046
{
  does 'pkg-config finds it' g++ -std=c++20 $(pkg-config --cflags fq) "$source/examples/library/greet.cpp" \
    $(pkg-config --libs fq) -o "$work/greet"
  does 'a program with LTO of its own takes it' g++ -std=c++20 -O1 -flto $(pkg-config --cflags fq) \
    "$source/examples/library/greet.cpp" $(pkg-config --libs fq) -o "$work/greet-lto"
}
is 'so does this' 'acme: hello' "$("$work/greet" "$spool" acme hello)"
is 'and this' 'zoo: hello' "$("$work/greet-lto" "$spool" zoo hello)"
is 'the version is that of fq' "fq $(pkg-config --modversion fq)" "$("$prefix/bin/fq" --version)"
"$prefix/bin/fq" --spool "$spool" -q greetings push -t zoo 'from the shell' >/dev/null
is 'shell and program share a queue' $'acme: hello\nzoo: from the shell' \
  "$("$work/greet" "$spool" acme hello | sort)"
printf '[queue.greetings]\nmax_payload = "10B"\n' >"$spool/fq.toml"
is 'what fq has read of fq.toml holds for the program' 'greet: not accepted' \
  "$("$prefix/bin/fq" --spool "$spool" -q greetings push short >/dev/null; "$work/greet" "$spool" acme 'much too long' 2>&1)"
moved=$work/moved
cp -r "$prefix" "$moved"
is 'a tree that was moved still works' "-I$moved/include" \
  "$(PKG_CONFIG_PATH=$moved/lib/pkgconfig pkg-config --cflags fq | sed "s#$moved/lib/pkgconfig/../..#$moved#; s/ *\$//")"

# ---- the program, with only this PATH

bare() { env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$work" TMPDIR="$work" LC_ALL=C.UTF-8 "$@"; }
does 'a story of the installed examples' bare "$prefix/share/doc/fq/examples/nightly_report.sh"
for page in "$prefix"/share/man/man?/*; do
  is "man takes $(basename "$page")" '' "$(man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)"
done
is 'man finds the page of a command' 1 "$(bare MANPATH="$prefix/share/man" MAN_KEEP_FORMATTING='' man fq-push | grep -c 'add messages to a queue')"
is 'bash takes the completion' 'complete -F _fq fq' \
  "$(bare bash -c '. "$0" && complete -p fq' "$prefix/share/bash-completion/completions/fq")"
does 'zsh reads it' zsh -n "$prefix/share/zsh/site-functions/_fq"
for file in "$prefix"/share/fish/vendor_completions.d/*; do does "fish reads $file" fish -n "$file"; done

# ---- away again

touch "$prefix/bin/other"
does 'the uninstall target' cmake --build "$build" --target uninstall
is 'only what was not installed is left' 'bin/other' "$(files "$prefix")"
is 'nor is a directory' "bin" "$(cd "$prefix" && find . -mindepth 1 -type d | sed 's/^..//')"
is 'a second time there is nothing to remove' 1 \
  "$(cmake -P "$build/uninstall.cmake" 2>&1 | grep -c 'nothing was installed')"

# ---- in parts, and staged

rm -r "$prefix"
does 'runtime' cmake --install "$build" --prefix "$prefix" --component runtime
is 'runtime has nothing for programs' '' "$(files "$prefix" | grep -E '^(include|lib/(lib|pkg|cmake))')"
does 'development' cmake --install "$build" --prefix "$work/c++ [development]" --component development
is 'development has only that' '' "$(files "$work/c++ [development]" | grep -vE '^(include/fq/|lib/(libfq.a$|pkgconfig/fq.pc$|cmake/fq/)|share/doc/fq/examples/library/)')"
does 'redis' cmake --install "$build" --prefix "$work/server" --component redis
is 'redis has only what speaks to a server' $'bin/fq-redis\nshare/bash-completion/completions/fq-redis\nshare/fish/vendor_completions.d/fq-redis.fish\nshare/man/man7/fq-redis.7' "$(files "$work/server")"
is 'all three together are all' "$here" \
  "$({ files "$prefix"; files "$work/c++ [development]"; files "$work/server"; } | sort)"
does 'all are removed' cmake -P "$build/uninstall.cmake"
is 'nothing is left of them' '' "$(find "$prefix" "$work/c++ [development]" "$work/server" -mindepth 1)"

does 'DESTDIR' env DESTDIR="$work/stage" cmake --install "$build" --prefix /usr/local
is 'it is staged' "$here" "$(files "$work/stage/usr/local")"
does 'and removed' env DESTDIR="$work/stage" cmake -P "$build/uninstall.cmake"
is 'the directories of a system stay' $'\n1' "$(files "$work/stage")"$'\n'"$(find "$work/stage/usr/local" -name man1 | wc -l)"
is 'those of fq alone do not' '' "$(cd "$work/stage" && find . -path '*/fq*')"

does 'another LIBDIR' cmake -S "$source" -B "$work/multiarch" -DFQ_TESTS=OFF -DCMAKE_INSTALL_LIBDIR=lib/some-arch
is 'its fq.pc finds the prefix from there' 'prefix=${pcfiledir}/../../..' "$(grep ^prefix= "$work/multiarch/fq.pc")"
finish
