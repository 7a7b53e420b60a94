#!/bin/bash
# steps - 2,000 kills of workers, jobs and what they run in steps, at random moments: no kept step runs again, no
# output that was told is told otherwise, and all come to an end.
. "$(dirname "$0")/lib.sh"

build test fq
kills=$((2000 * ${FQ_LONG:-1}))
if [ -n "${QUICK:-}" ]; then kills=30; fi
export STEP_KILLS=$kills FQ=$PWD/build/test/fq
prove step_test tests/cli/step_test.sh
