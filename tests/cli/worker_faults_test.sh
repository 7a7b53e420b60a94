#!/usr/bin/env bash
# worker_faults_test - what a worker does where others are in its way, and what it does not take from them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

clear_all() { fq cancel --all --state all --yes >/dev/null || :; rm -rf "$work"/job*; }

# A stopped process holds the lock when a job ends: its verdict is given when the lock is free.
mkdir -p "$FQ_SPOOL"
printf '[queue."*"]\nlock_timeout = "200ms"\n' >"$FQ_SPOOL/fq.toml"
id=$(fq push done)
mkfifo "$work/go"
"$FQ" worker --drain -- sh -c 'echo >>"$0"; read -r x <"$1"' "$work/job" "$work/go" 2>"$work/said" & worker=$!
await holds_text "$work/job"
FQ_STOP_AT=push.appended:1 "$FQ" push x >"$work/pushed" 2>&1 & stopped=$!
stopped_there() { grep -q '^State:.T' "/proc/$stopped/status"; }
await stopped_there
echo >"$work/go"
await grep -q 'goes on trying' "$work/said"
kill -CONT $stopped
wait $stopped
echo >"$work/go"   # for the job of x
wait $worker
is 'a worker outlives a lock that is held for too long' 0 $?
is 'and the job that ended meanwhile ran once' 'acked 2' "$(state "$id") $(wc -l <"$work/job")"
is 'that is said once' 1 "$(grep -c 'goes on trying' "$work/said")"
rm "$FQ_SPOOL/fq.toml"
clear_all

# A batch takes what a free slot is there for, and leaves the rest to others.
seq 60 | fq push --lines >/dev/null
"$FQ" worker --batch 2 -- sh -c 'echo >>"$0"; read -r x <"$1"' "$work/job" "$work/go" 2>/dev/null & worker=$!
await holds_text "$work/job"
is 'a worker with batches holds one of them a slot' 2 "$(fq peek --state leased -n 99 --json | jq -s length)"
fq push -p 9 urgent >/dev/null
is 'and another worker finds the rest' urgent "$(worker --once --batch 1 --batch-format lines -- cat)"
kill -TERM $worker; echo >"$work/go"; wait $worker
clear_all

# What the job of one batch left behind keeps no other batch's messages.
seq 6 | fq push --lines >/dev/null
# shellcheck disable=SC2016
"$FQ" worker --batch 2 -- sh -c 'if mkdir "$0" 2>/dev/null; then setsid sleep 1000 >/dev/null 2>&1 & echo $! >"$0/left"; exit; fi
  echo >>"$0/second"; exec sleep 1000' "$work/job.d" 2>/dev/null & worker=$!
await holds_text "$work/job.d/second"
{ kill -KILL $worker; wait $worker; } 2>/dev/null
limit=5 worker --drain -- true
is 'nor do they wait for it' '' "$(fq peek --state all)"
kill -KILL "$(cat "$work/job.d/left")"
clear_all

# Several queues are idle together, or not at all.
fq push -q a x >/dev/null; fq push -q b y >/dev/null
worker --drain -q a -q b -- sh -c 'read -r x || :; [ "$FQ_QUEUE$x" != by ] || { sleep 0.2; for n in 1 2 3 4 5; do "$0" push -q a "late$n"; done; }' "$FQ" >/dev/null 2>&1
is '--drain with several queues leaves nothing that a job pushed to another of them' 0 \
  "$(fq stats -q a --json | jq .ready)"

finish
