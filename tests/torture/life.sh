#!/bin/bash
# life - ten million operations of everything there is on a disk of 64 MiB, with kills and reboots in between.
. "$(dirname "$0")/lib.sh"

build test fq test_process
if [ -z "${QUICK:-}" ]; then export FQ_OPERATIONS="${FQ_OPERATIONS:-$((10000000 * FQ_LONG))}"; fi
FQ=$PWD/build/test/fq prove life build/test/tests/test_process "a life of everything*"
