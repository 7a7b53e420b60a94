#!/bin/bash
# rest - the long forms of what has no script of its own here: journals cut anywhere, thousands of damaged segments, lives
# on full disks, moves between queues of many shards, every operation at every fault point, a whole tree of files.
. "$(dirname "$0")/lib.sh"

build test fq test_process test_crash
build torture test_journal test_redis
export FQ=$PWD/build/test/fq
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

broken=0
prove_all() {  # program, its tests
  "$@" | tee -a "$lines" || broken=1
}
prove_all build/torture/tests/test_journal "~[bit rot]"
prove_all build/torture/tests/test_redis --filenames-as-tags "[#random_moves_test]"
prove_all build/test/tests/test_process "bodies of segments*,a journal cut anywhere*,whenever in a random life*,leases and releases without end*,a worker grows*"
prove_all build/test/tests/test_crash "the long form*"
tests/cli/worker_files_test.sh || broken=1

# Catch tells the number of its tests in its last line, or the sums of both kinds.
awk -v seed="$FQ_SEED" '
  /^All tests passed/ { tests += $(NF - 2); ++programs }
  /^test cases: / { tests += $3; ++programs }
  /FAILED:/ { ++faults }
  END { printf "rest: FQ_SEED=%s, %d tests, %d faults\n", seed, tests, faults; exit programs < 4 }' "$lines" || broken=1
exit $broken
