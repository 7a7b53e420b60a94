#!/bin/bash
# schedules - random trees, weights, arrivals and limits under virtual time, held against what is promised.
. "$(dirname "$0")/lib.sh"

build torture test_schedule
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
total=${FQ_HISTORIES:-$((${FQ_LONG:-0} > 0 ? 100000 * ${FQ_LONG:-0} : 2000))}
parts=$(nproc)
broken=0

# tests/run.sh does a part of what is in these: it has them sanitized.
env -u FQ_HISTORIES build/torture/tests/test_schedule '~random schedules*' >"$lines" || { broken=1; cat "$lines"; }
: >"$lines"

# A history is a seed: each processor takes its share of those that follow the first.
seq 0 $((parts - 1)) \
  | FQ_HISTORIES=$((total / parts)) xargs -P "$parts" -I PART \
    sh -c "FQ_SEED=\$((FQ_SEED + PART * FQ_HISTORIES)) exec build/torture/tests/test_schedule 'random schedules*'" \
  | tee "$lines" || broken=1

awk -v seed="$FQ_SEED" '
  /^schedules: / { histories += $3; starts += $5; windows += $7; pairs += $9 }
  /FAILED:/ { ++faults }
  END { printf "schedules: FQ_SEED=%s, %d histories, %d starts, %d windows, %d pairs of siblings, %d faults\n",
        seed, histories, starts, windows, pairs, faults; exit histories == 0 }' "$lines" || broken=1
exit $broken
