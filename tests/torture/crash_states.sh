#!/bin/bash
# crash_states - every disk that a power cut may leave of short stories, recovered.
. "$(dirname "$0")/lib.sh"

# The test build: some stories kill a leader at a fault point.
build test fq test_crash
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

# The stories are dealt out to as many processes as there are processors.
broken=0
seq 0 $(($(nproc) - 1)) \
  | FQ=$PWD/build/test/fq xargs -P "$(nproc)" -I PART \
    sh -c "FQ_PART=PART/$(nproc) exec build/test/tests/test_crash 'every disk that a power cut may leave*'" \
  | grep --line-buffered -v '^$\|^Filters\|^===\|^All tests' | tee "$lines" || broken=1

awk -v seed="$FQ_SEED" '
  /^crash states: / { stories += $4; states += $6; faults += $9 }
  END { printf "crash states: FQ_SEED=%s, %d distinct states of %d stories, %d faults\n", seed, states, stories, faults; exit stories == 0 }' \
  "$lines" || broken=1
exit $broken
