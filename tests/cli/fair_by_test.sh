#!/bin/bash
# fair_by_test - turns that are paid in bytes and in run time, as workers and shells come by them.
. "$(dirname "$0")/worker_lib.sh"
