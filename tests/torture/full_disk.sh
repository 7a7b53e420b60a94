#!/bin/bash
# full_disk - a small file system full at 240 offsets of six kinds of work, and each time drained without room.
. "$(dirname "$0")/lib.sh"

build test fq test_process
export FQ=$PWD/build/test/fq
prove "full disk" build/test/tests/test_process "wherever the disk*"
