#!/bin/bash
# bit_rot - a journal of 64 KiB with every bit flipped, every length cut, and its blocks and files exchanged.
. "$(dirname "$0")/lib.sh"

build torture test_journal
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

broken=0
build/torture/tests/test_journal "[bit rot]" | tee "$lines" || broken=1

awk '/^bit rot: / { cases += $3; kinds = kinds sprintf("%s%d %s", kinds == "" ? "" : ", ", $3, $4) }
  /FAILED:/ { ++faults }
  END { printf "bit rot: %d cases (%s), %d faults\n", cases, kinds, faults; exit cases == 0 }' "$lines" || broken=1
exit $broken
