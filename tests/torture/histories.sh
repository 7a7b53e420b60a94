#!/bin/bash
# histories - random operations on the engine and on the model, compared after each.
. "$(dirname "$0")/lib.sh"

build torture test_api
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
total=${FQ_HISTORIES:-$((${FQ_LONG:-0} > 0 ? 100000 * ${FQ_LONG:-0} : 400))}
parts=$(nproc)
# Durability is proved elsewhere: memory will do.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi

# A history is a seed: each processor takes its share of those that follow the first.
broken=0
seq 0 $((parts - 1)) \
  | FQ_HISTORIES=$((total / parts)) xargs -P "$parts" -I PART \
    sh -c "FQ_SEED=\$((FQ_SEED + PART * FQ_HISTORIES)) exec build/torture/tests/test_api 'random histories*'" \
  | grep --line-buffered -v '^$\|^Filters\|^===\|^All tests' | tee "$lines" || broken=1

awk -v seed="$FQ_SEED" '
  /^histories: .* engine local$/ { histories += $3; operations = $5 }
  /FAILED:/ { ++faults }
  END { printf "histories: FQ_SEED=%s, %d histories of %d operations, %d faults\n", seed, histories, operations, faults; exit histories == 0 }' \
  "$lines" || broken=1
exit $broken
