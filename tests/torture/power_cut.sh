#!/bin/bash
# power_cut - the power of a small ext4 cut under processes at work, with the binary that is shipped.
. "$(dirname "$0")/lib.sh"

build release fq
build torture test_crash
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

broken=0
FQ=$PWD/build/release/fq build/torture/tests/test_crash "a power cut of ext4*" | tee "$lines" || broken=1

awk -v seed="$FQ_SEED" '
  /^power cuts: / { cuts += $5; kinds = kinds sprintf("%s%d %s", kinds == "" ? "" : ", ", $5, substr($4, 1, length($4) - 1)); accepted += $7; acked += $9; torn += $(NF - 2) }
  /FAILED:/ { ++faults }
  END { printf "power cuts: FQ_SEED=%s, %d cuts (%s), %d accepted, %d acked, %d torn tails, %d faults\n",
    seed, cuts, kinds, accepted, acked, torn, faults; exit cuts == 0 }' "$lines" || broken=1
exit $broken
