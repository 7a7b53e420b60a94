#!/bin/bash
# system_calls - every system call of every command killed and failed in every way, on the binary that is shipped.
. "$(dirname "$0")/lib.sh"

build release fq
build test fq test_process
export FQ=$PWD/build/test/fq FQ_RELEASE=$PWD/build/release/fq
prove "system calls" build/test/tests/test_process "a command with any*"
