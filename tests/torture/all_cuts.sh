#!/bin/bash
# all_cuts - what each test run tries a random part of, whole: each operation killed at each fault point that it
# passes and at its stores, all stories of power cuts, and each place at which a connection to a server is cut.
. "$(dirname "$0")/lib.sh"
unset FQ_LONG

build test fq fq-redis test_crash
export FQ=$PWD/build/test/fq
broken=0
for test in redis_cut redis_cut_changes; do "tests/cli/${test}_test.sh" || broken=1; done
prove "fault points" build/test/tests/test_crash \
  "an operation killed*,every disk that a power cut*" || broken=1
exit $broken
