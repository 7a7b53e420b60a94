#!/bin/bash
# instructions - a kill at every instruction of every operation, and of the repairer at thousands of pairs.
. "$(dirname "$0")/lib.sh"

build torture test_crash
program=build/torture/tests/test_crash
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

# An operation a process, each on a processor of its own.
broken=0
sed -n 's/^ .*{"\([a-z_ ]*\)", [a-z_]*, [a-z_]*\(, Short::.*\)\{0,1\}}.*/\1/p' tests/crash/*_operations.cpp \
  | xargs -P "$(nproc)" --process-slot-var=SLOT -I NAME \
    sh -c 'FQ_OPERATION="NAME" exec taskset -c "$SLOT" "$0" "[instructions]"' "$program" \
  | grep --line-buffered -v '^$\|FQ_SEED\|^Filters\|^===\|^All tests' | tee "$lines" || broken=1

awk -v seed="$FQ_SEED" '
  # From the end: a name may have blanks.
  /^instructions: .* steps,/ { ++operations; kills += $(NF - 10); steps += $(NF - 12) }
  /^instructions: .* pairs,/ { pairs += $(NF - 12) }
  /^instructions: .* violations/ { inside += $(NF - 8); elsewhere += $(NF - 3); violations += $(NF - 1) }
  END { printf "instructions: FQ_SEED=%s, %d kills at the %d instructions of %d operations, %d pairs with the repairer, %d deaths inside the state lock, %d violations\n",
    seed, kills, steps, operations, pairs, inside, violations; exit operations == 0 }' "$lines" || broken=1
exit $broken
