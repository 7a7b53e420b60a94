#!/usr/bin/env bash
# worker_faults_test - what a worker does where others are in its way, and what it does not take from them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

clear_all() { fq cancel --all --state all --yes >/dev/null || :; rm -rf "$work"/job*; }

# end_job_behind_a_lock PAYLOAD: a push of that stops with the state lock, and stays so as `holder`; then the job ends.
end_job_behind_a_lock() {
  FQ_STOP_AT=push.appended:1 "$FQ" push "$1" >"$work/pushed" 2>&1 & holder=$!
  await stopped $holder
  echo >"$work/go"
  await grep -q 'goes on trying' "$work/said"
}

# A stopped process holds the lock when a job ends: its verdict is given when the lock is free.
mkdir -p "$FQ_SPOOL"
printf '[queue."*"]\nlock_timeout = "200ms"\n' >"$FQ_SPOOL/fq.toml"
id=$(fq push 'done')
mkfifo "$work/go"
"$FQ" worker -- sh -c 'echo >>"$0"; read -r x <"$1"' "$work/job" "$work/go" 2>"$work/said" & worker=$!
await holds_text "$work/job"
end_job_behind_a_lock x
gives 75 "process $holder" worker --once -- true
kill -CONT $holder
wait $holder
ran_twice() { [ "$(wc -l <"$work/job")" = 2 ]; }
await ran_twice   # x is there only once its push is on disk, and the worker may have been idle before
echo >"$work/go"
kill -TERM $worker
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
worker --drain -- true
is 'nor do they wait for it' '' "$(fq peek --state all)"
kill -KILL "$(cat "$work/job.d/left")"
clear_all

# However many it keeps, in whichever order they came.
for keeper in 1 2; do
  mkdir "$work/job.d"
  seq 200 | fq push --lines --lazy >/dev/null
  # shellcheck disable=SC2016
  "$FQ" worker -j2 --batch 100 --batch-format lines -- sh -c 'read -r first; [ "$first" = 1 ] && batch=1 || batch=2
    if [ "$batch" = "$1" ]; then setsid sleep 1000 >/dev/null 2>&1 & echo $! >"$0/left"; fi
    echo $$ >"$0/$batch"; exec sleep 1000' "$work/job.d" "$keeper" 2>/dev/null & worker=$!
  await holds_text "$work/job.d/1"
  await holds_text "$work/job.d/2"
  { kill -KILL $worker; wait $worker; } 2>/dev/null
  await gone "$(cat "$work/job.d/$((3 - keeper))")"  # its job dies by itself, right after the worker
  is "what a survivor of batch $keeper keeps hides nothing of the other" 100 \
    "$(fq pop -n 200 | wc -l)"
  is 'and stays with it' 100 "$(fq peek --state leased -n 999 --json | jq -s length)"
  kill -KILL "$(cat "$work/job.d/left")"
  await fq pop >/dev/null
  clear_all
done

# Several queues are idle together, or not at all. The sleep lets the first one be found idle before the push: that
# is what the test is about; without it the test would pass untried.
fq push -q a x >/dev/null; fq push -q b y >/dev/null
worker --drain -q a -q b -- sh -c 'read -r x || :; [ "$FQ_QUEUE$x" != by ] || { sleep 0.2; for n in 1 2 3 4 5; do "$0" push -q a "late$n"; done; }' "$FQ" >/dev/null 2>&1
is '--drain with several queues leaves nothing that a job pushed to another of them' 0 \
  "$(fq stats -q a --json | jq .ready)"

clear_all

# Cancelled: nothing of its group goes on, however the command takes it.
id=$(fq push x)
# shellcheck disable=SC2016
"$FQ" worker --drain -- sh -c '(trap "" TERM; exec sleep 1000) & echo $! >"$0.child"; trap "exit 0" TERM; echo >"$0"; wait' "$work/job" 2>/dev/null & worker=$!
await holds_text "$work/job"
fq cancel "$id" >/dev/null
wait $worker
is 'what a cancelled job started is gone with it' yes "$(gone_or_zombie "$(cat "$work/job.child")" && echo yes)"
clear_all
for n in 1 2; do fq push $n >/dev/null; done
"$FQ" worker --drain --batch 2 -- sh -c 'echo >"$0"; exec sleep 1000' "$work/job" 2>/dev/null & worker=$!
await holds_text "$work/job"
fq cancel --all --yes >/dev/null
wait $worker
is 'a batch is ended when all of it is cancelled' 0 $?
clear_all

# Failing jobs that leave something do not hold up the others, even where nobody reaps what they leave.
seq 40 | fq push --lines >/dev/null
started=$(now_ms)
worker --drain --attempts 1 -j8 -- sh -c 'sleep 1000 >/dev/null 2>&1 & exit 1' 2>/dev/null
is 'leftovers are ended beside the next jobs' yes "$([ $(($(now_ms) - started)) -lt 3000 ] && echo yes)"
clear_all

# A command that cannot be started now is its message's own trouble, however long that lasts.
cp /bin/true "$work/busy"
exec 9>>"$work/busy"
id=$(fq push -- "$work/busy")
gives 0 'Text file busy' worker --once
is 'a stored command that cannot be started now is tried again' '"delayed" 0' "$(json '.state, .attempts' "$id" | paste -sd' ')"
fq kick "$id"
for _ in 1 2 3 4 5; do fq push -- true >/dev/null; done
started=$(now_ms)
"$FQ" worker --drain 2>"$work/said" 9>&- & drained=$!
only_one_left() { [ "$(fq stats -q default --json | jq '.ready + .leased')" = 0 ]; }
await only_one_left
is 'and holds up no other' yes "$([ $(($(now_ms) - started)) -lt 8000 ] && echo yes)"
kill -TERM $drained; wait $drained
exec 9>&-
fq kick "$id"
worker --drain
is 'and runs then' acked "$(state "$id")"
mkdir "$work/cwd"
id=$(cd "$work/cwd" && fq push -- true)
rmdir "$work/cwd"
gives 0 "directory '$work/cwd'" worker --once
is 'a directory that is gone is named' dead "$(state "$id")"
clear_all

# Formats that cannot hold a payload.
for payload in $'two\nlines' one; do fq push "$payload" >/dev/null; done
is 'what would fall into two lines is buried, and the others run' one "$(worker --drain --batch 9 --batch-format lines -- cat 2>/dev/null)"
is 'and says why' 1 "$(fq peek --state dead --json | grep -c 'holds a newline')"
clear_all

# Signals that are no business of a worker.
fq push x >/dev/null
"$FQ" worker --drain -- sh -c 'echo >"$0"; read -r x <"$1"' "$work/job" "$work/go" & worker=$!
await holds_text "$work/job"
kill -USR1 $worker; kill -ALRM $worker; echo >"$work/go"
wait $worker
is 'USR1 does not decide how a worker leaves' 0 $?
rm -f "$work/job"
fq push x >/dev/null
"$FQ" worker -- sh -c 'echo >"$0"' "$work/job" & worker=$!
await holds_text "$work/job"
kill -QUIT $worker
wait $worker
is 'QUIT ends it as TERM does' 0 $?

clear_all

# Whoever starts it may ignore the ends of children; how its own end it knows all the same.
id=$(fq push x)
gives 0 '' sh -c 'trap "" CHLD; exec "$0" worker --once -- true' "$FQ"
is 'a job that ends well is acked where SIGCHLD is ignored' acked "$(state "$id")"

# A batch of --once that no message fits into ends as any other, and what is there runs as one.
fq push $'two\nlines' >/dev/null
gives 0 'holds a newline' worker --once --batch 5 --batch-format lines -- cat
clear_all
seq 1000 | fq push --lines >/dev/null
worker --once --batch 1000 --linger 1s --batch-format lines -- sh -c 'wc -l >>"$0"' "$work/job"
is 'more than 256 are one batch' 1000 "$(cat "$work/job")"
clear_all

# Who stops while its queue cannot be told how a job ended leaves after a time, and says so.
fq queue set lock_timeout=200ms
id=$(fq push x)
"$FQ" worker -- sh -c 'echo >>"$0"; read -r x <"$1"' "$work/job" "$work/go" 2>"$work/said" & worker=$!
await holds_text "$work/job"
end_job_behind_a_lock y
kill -TERM $worker
await gone_or_zombie $worker
wait $worker
is 'it leaves with 74' 74 $?
is 'and says why' 1 "$(grep -c 'worker: how one message ended could not be told' "$work/said")"
kill -CONT $holder; wait $holder
is 'its message is there again' 'x y' "$({ fq pop --wait=5s; fq pop --wait=5s; } | sort | xargs)"

finish
