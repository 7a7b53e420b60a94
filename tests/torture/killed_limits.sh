#!/bin/bash
# killed_limits - 10,000 workers killed with leases of limited tenants: no slot leaks, none is given twice.
. "$(dirname "$0")/lib.sh"

build test fq test_process
FQ=$PWD/build/test/fq prove 'killed limits' build/test/tests/test_process "workers killed with leases of limited tenants*"
