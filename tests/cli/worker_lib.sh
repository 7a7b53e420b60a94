# worker_lib.sh - what the tests of fq worker share. Sourced after lib.sh.
#
# Nothing here sleeps to give others time: a job tells by a file that it runs (await), and goes on when the
# test says so through a FIFO.
# shellcheck shell=bash

# What steers the tests themselves is no business of a job's environment.
for name in "${!FQ_@}"; do [ "$name" = FQ_SPOOL ] || unset "$name"; done

# Every worker has a deadline: a hang is exit 124.
worker() { timeout -k 5 "${limit:-15}" "$FQ" worker "$@"; }

# A backoff is drawn between nothing and what is said: of an hour it is over within a test once in some hundred.
# shellcheck disable=SC2034
long=36500d..36500d

# json FILTER ID: what jq makes of the message.
json() { fq show "$2" --json | jq -c "$1"; }
state() { fq show "$1" --json | jq -r .state; }

now_ms() { local t=$EPOCHREALTIME; echo $((${t%.*} * 1000 + 10#${t#*.} / 1000)); }
holds_text() { [ -s "$1" ]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
export FQ
