#!/bin/bash
# cron_times_test - random specs in ten zones, before, in and after clock changes, as croniter and zoneinfo tell them.
# usage: RECURRENCE=PROGRAM cron_times_test.sh; FQ_SPECS=N more of them, FQ_SEED=N the same ones again.
set -u
here=$(dirname "$0")
# Debian's, which has its packages.
/usr/bin/python3 "$here/compare.py" "$RECURRENCE" "${FQ_SPECS:-2000}" "${FQ_SEED:-$RANDOM}"
