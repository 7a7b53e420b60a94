#!/bin/bash
# worker - 2,000 kills of workers and jobs at random moments: each message acked once, never run beside itself.
. "$(dirname "$0")/lib.sh"

build test fq test_process
FQ=$PWD/build/test/fq prove worker build/test/tests/test_process "workers and jobs are killed at random*"
