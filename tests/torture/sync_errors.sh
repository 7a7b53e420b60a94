#!/bin/bash
# sync_errors - syncs and writes that fail for leaders and followers in 1,500 cases, with the power cut after.
. "$(dirname "$0")/lib.sh"

build test fq test_process
export FQ=$PWD/build/test/fq
prove "sync errors" build/test/tests/test_process "no answer rests*"
