#!/bin/bash
# fuzz - every fuzz target for ten minutes, from the inputs in tests/fuzz/corpus.
#
# What breaks one is kept in build/fuzz/findings; `build/fuzz/fuzz_NAME FILE` runs it again. New inputs go to
# build/fuzz/new/NAME and `fuzz_NAME -merge=1 tests/fuzz/corpus/NAME build/fuzz/new/NAME` takes over the useful ones.
. "$(dirname "$0")/lib.sh"

if ! command -v clang++ >/dev/null; then echo "fuzz: SKIPPED, clang++ is missing (packages clang, libclang-rt-14-dev)"; exit 0; fi
build fuzz fuzz_targets
if [ -n "${QUICK:-}" ]; then seconds=20; else seconds=$((600 * FQ_LONG)); fi
findings=build/fuzz/findings
mkdir -p "$findings"

# A target a processor; each tells how many inputs it ran, or that it broke. libFuzzer takes 32 bits of seed.
one() {  # target
  local new=build/fuzz/new/$1 log=build/fuzz/$1.log result=whole
  mkdir -p "$new"
  "build/fuzz/fuzz_$1" -max_total_time="$seconds" -seed="$FQ_SEED" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$findings/$1-" "$new" "tests/fuzz/corpus/$1" >"$log" 2>&1 \
    || { result=broken; tail -n 60 "$log"; }
  echo "fuzz: $1 $(awk '/^stat::number_of_executed_units:/ { print $2 }' "$log") executions, $result"
}
export -f one
export seconds findings

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for corpus in tests/fuzz/corpus/*; do basename "$corpus"; done \
  | xargs -P "$(nproc)" -I TARGET bash -c 'one TARGET' | tee "$lines"

awk -v seed="$FQ_SEED" '
  /^fuzz: / { targets = targets sprintf("%s%s %d", targets == "" ? "" : ", ", $2, $3); all += $3; broken += $NF == "broken" }
  END { printf "fuzz: FQ_SEED=%s, %d executions (%s), %d findings\n", seed, all, targets, broken }' "$lines"
! grep -q 'broken$' "$lines"
