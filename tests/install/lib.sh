# lib.sh - what the tests of the installed fq share. Sourced by tests/install/*_test.sh.
#
# They take the release build that tests/run.sh has made, of which FQ_RELEASE is the binary. Without one they
# leave with 77, which ctest shows as skipped.
# shellcheck shell=bash
set -u
if [ -z "${FQ_RELEASE:-}" ] || [ ! -e "$(dirname "$FQ_RELEASE")/libfq.a" ]; then
  echo "skipped: FQ_RELEASE names no whole release build (cmake --build --preset release)"
  exit 77
fi
# shellcheck disable=SC2034  # lib.sh wants it
FQ=$FQ_RELEASE
. "$(dirname "$0")/../cli/lib.sh"
# Neither what the caller has built with nor where the caller's fq is may help.
unset FQ_RELEASE FQ CMAKE_PREFIX_PATH PKG_CONFIG_PATH CPATH LIBRARY_PATH CXXFLAGS LDFLAGS CMAKE_CXX_COMPILER_LAUNCHER DESTDIR
unset -f fq
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$source/build/release

# files DIRECTORY: all that is in it and is no directory, from there.
files() { (cd "$1" && find . ! -type d | sed 's/^..//' | sort); }

# does SENTENCE COMMAND...: it leaves with 0; what it said is shown when not.
does() {
  local sentence=$1
  shift
  "$@" >"$work/log" 2>&1 || { fail "$sentence: left with $?"; tail -30 "$work/log"; }
}

# must SENTENCE COMMAND...: the same, and without it the rest says nothing.
must() { does "$@"; [ "$failures" = 0 ] || finish; }

# cmake keeps its list of what was installed in the build directory; whoever installed from there before wants
# that list to stay as it was.
mkdir "$work/manifests"
mv "$build"/install_manifest*.txt "$work/manifests" 2>/dev/null
trap 'rm -f "$build"/install_manifest*.txt; mv "$work"/manifests/* "$build" 2>/dev/null; rm -rf "$work"' EXIT
