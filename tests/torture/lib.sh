# lib - what the long forms share. Sourced by each, not run.
#
# A long form prints its seed and its figures in one last line, and exits with 1 when a promise was broken.
# FQ_LONG=N makes it N times as long; --quick (QUICK=1) takes the short form, and all of that (FQ_ALL).
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
unset FQ_SPOOL
export FQ_ALL=1
export FQ_SEED="${FQ_SEED:-$((RANDOM * 32768 + RANDOM))}"
if [ -z "${QUICK:-}" ]; then export FQ_LONG="${FQ_LONG:-1}"; else unset FQ_LONG; fi

# Builds targets of a preset, or (build/torture) the tests with the code that is shipped: optimised, without
# fault points.
build() {  # release | test | torture, targets
  local flavour=$1 preset=$1
  shift
  local options=()
  if [ "$flavour" = torture ]; then preset=release options=(-DFQ_TESTS=ON -DFQ_STATIC=OFF -DCMAKE_UNITY_BUILD=OFF); fi
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  mkdir -p build
  { cmake --preset "$preset" -B "build/$flavour" "${options[@]}" && cmake --build "build/$flavour" --target "$@"; } \
    >"build/$flavour.build.log" 2>&1 || { cat "build/$flavour.build.log" >&2; exit 1; }
}

# Runs a test and ends with its line of figures, which begins with `word`, and the number of failed checks.
prove() {  # word, command
  local word=$1 lines broken=0
  shift
  lines=$(mktemp)
  "$@" | tee "$lines" || broken=1
  awk -v word="$word: " '
    index($0, word) == 1 { figures = $0 }
    /FAILED:/ { ++faults }
    END { printf "%s, %d faults\n", figures == "" ? word "did not end" : figures, faults; exit figures == "" }' "$lines" || broken=1
  rm -f "$lines"
  return $broken
}
