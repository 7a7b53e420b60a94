#!/bin/bash
# run - builds fq and runs all short tests: one command on a fresh Debian 12, some 30 minutes on 2 slow cores.
#
#   1  unit tests by room, with address and undefined-behaviour sanitizers
#   2  those in which threads meet, with the thread sanitizer
#   3  the house's rules, and process tests with the test build (fault points) and the release binary
#
# Missing Debian packages are installed when that is possible (root or sudo), and named otherwise. The
# sanitizer builds hold unit tests only; everything lies in build/.
set -euo pipefail
cd "$(dirname "$0")/.."

. tests/packages.sh
install_missing $BUILD_PACKAGES $TEST_PACKAGES
command -v promtool >/dev/null || unpack_tool prometheus build/tools

if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
export CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$(nproc)}"

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
configure() {  # preset, more for cmake
  cmake --preset "$@" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; exit 1; }
}
build() {  # preset, targets
  local preset=$1
  shift
  cmake --build --preset "$preset" --target "$@" >"build/$preset.build.log" 2>&1 \
    || { cat "build/$preset.build.log"; exit 1; }
}
mkdir -p build
# Tests that cannot try all of it here add a line each.
export FQ_LEFT_OUT=$PWD/build/left_out
: >"$FQ_LEFT_OUT"

# A room in one go is built in a third of the time. A missing #include shows where files are compiled one by
# one: in a developer's own build of any preset but release, and in tests/torture.
whole_rooms="-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0"

step "unit tests with address and undefined-behaviour sanitizers"
configure dev $whole_rooms
build dev unit_tests
# What the process tests need is built meanwhile: tests wait for much of their time. But it has to leave them the
# processors that they want, for they have a time limit.
configure release
configure test $whole_rooms
{ renice -n 10 "$BASHPID" >/dev/null; build release all; build test process_tests; } &
builds=$!
trap wait EXIT
# One more than there are processors: redis_waiting wants a quarter of one.
ctest --preset dev --parallel $((CTEST_PARALLEL_LEVEL + 1))

step "unit tests with the thread sanitizer"
configure tsan $whole_rooms
build tsan unit_tests
# The thread sanitizer of g++ 12 does not find room for its shadow under strong address randomisation.
no_randomisation=""
if setarch -R true 2>/dev/null; then no_randomisation="setarch -R"; fi
$no_randomisation ctest --preset tsan

step "process tests with the test build and the release binary"
wait "$builds"
left_out='[ ! -s build/left_out ] || { printf "\nNot tried on this machine:\n"; sort build/left_out | uniq -c; echo; }'
FQ_RELEASE="$PWD/build/release/fq" ctest --preset test --parallel $((CTEST_PARALLEL_LEVEL * 3 / 2)) \
  | sed -u "/ tests passed, /e $left_out"
