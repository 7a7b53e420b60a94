#!/bin/bash
# storm - 21,000 processes killed at random moments and inside the locks of one queue, with the whole ledger.
. "$(dirname "$0")/lib.sh"

# The test build: half of the processes die at a fault point.
build test fq test_crash
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
if [ -n "${FQ_LONG:-}" ]; then export FQ_LONG=$((14 * FQ_LONG)); fi

broken=0
FQ=$PWD/build/test/fq build/test/tests/test_crash "a storm of kills*" | tee "$lines" || broken=1

awk -v least="$((${FQ_LONG:-0} > 0 ? 500 : 1))" '
  /^storm: / { figures = $0; inside = $5 }
  /FAILED:/ { ++faults }
  END { printf "%s, %d faults\n", figures == "" ? "storm: did not end" : figures, faults; exit inside < least }' \
  "$lines" || broken=1
exit $broken
