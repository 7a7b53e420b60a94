#!/usr/bin/env bash
# worker_stream_test - a stream's command that cannot be started, that stops listening, or that is not needed
# any more.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

# Refused before anything is made for it.
gives 64 '--stream: takes one queue' fq worker --stream -q never -q made -- cat
gives 64 '--queue: ' fq worker -q never -q .made -- cat
is 'wrong usage makes no queue' '' "$(ls "$FQ_SPOOL/queues" 2>/dev/null)"

clear_all() { fq cancel --all --state all --yes >/dev/null; rm -f "$work"/job*; }

# A slot that is given up after ten seconds without work: that is looked at last.
mkfifo "$work/grown.gate"
exec 6<>"$work/grown.gate"
for n in 1 2 3; do fq push -q grown "m$n" >/dev/null; done
# shellcheck disable=SC2016
"$FQ" worker -q grown --stream --prefetch 1 --min 1 --max 3 -- bash -c \
  'while read -r line; do echo >>"$0"; read -r x <"$0.gate"; echo "ack $(jq -r .receipt <<<"$line")"; done' "$work/grown" 6>&- & grown=$!
await eval '[ "$(wc -l <"$work/grown")" = 3 ]'
is 'streams grow by the backlog' 3 "$(pgrep -cP $grown)"
for n in 1 2 3; do echo >&6; done

# As many as --prefetch says are open in each process, and the next one comes when one of them is done.
mkfifo "$work/open.gate"
exec 7<>"$work/open.gate"
for n in 1 2 3 4 5 6 7 8; do fq push -q open "m$n" >/dev/null; done
# shellcheck disable=SC2016
"$FQ" worker -q open --stream --prefetch 3 -j2 -- bash -c \
  'exec 3<&0; { while read -r line; do jq -r .receipt <<<"$line"; echo "$line" >>"$0"; done; } <&3 >>"$0.$FQ_WORKER_SLOT" &
   while read -r x <"$0.gate"; do echo "ack $(head -n 1 "$0.$FQ_WORKER_SLOT")"; done' "$work/open" 2>/dev/null 7>&- & open=$!
await eval '[ "$(wc -l <"$work/open")" = 6 ]'
is '--prefetch: so many a process' '3 3 6' \
  "$(wc -l <"$work/open.1") $(wc -l <"$work/open.2") $(fq peek -q open --state leased --json | jq -s length)"
echo >&7
await eval '[ "$(wc -l <"$work/open")" = 7 ]'
is 'and one more when one is done' '6 1' "$(fq peek -q open --state leased --json | jq -s length) $(fq stats -q open --json | jq .acked)"
exec 7>&-
kill -TERM $open; kill -TERM $open
wait $open
fq queue remove open --yes

# What cannot be set up for any message: as without --stream.
id=$(fq push m)
gives 78 '--rlimit' worker --stream --rlimit nofile=99999999999 -- cat
gives 78 'cannot be started' worker --stream -- "$work/none"
is 'no message is the worse for it' 'ready 0' "$(state "$id") $(json .attempts "$id")"
# What there may be enough of later is asked for twice a second, however many messages there are.
for ((n = 0; n < 20; ++n)); do fq push "m$n" >/dev/null; done
(ulimit -n 17; limit=1.2 worker --stream -- cat 2>"$work/said")
tries=$(grep -c 'Too many open files' "$work/said")
is 'a stream that cannot be started now is tried again after a pause' 1 "$((tries >= 1 && tries <= 4))"
clear_all
# A command that lives on when it has closed its input or output: its slot is needed.
for closes in '<&-' '>&-'; do
  id=$(fq push m --attempts 1)
  worker --stream --drain --grace 200ms -- sh -c "exec $closes; exec sleep 1000" 2>/dev/null
  is "a command that has closed $closes is ended" '0 dead "the command ended (signal 15)"' "$? $(state "$id") $(json .last_error.reason "$id")"
done
clear_all
for n in 1 2 3; do fq push "m$n" >/dev/null; done
worker --stream --drain --prefetch 1 --grace 200ms --backoff 0s..0s -- \
  bash -c 'trap "" TERM; read -r line; echo "ack $(jq -r .receipt <<<"$line")"; exec <&-; sleep 1000' 2>/dev/null
is 'so is one that does not hear TERM' '0 0' "$? $(fq peek --state all | wc -l)"
clear_all

# TERM while the command is in the middle of a line: it gets the rest of it.
mkfifo "$work/job.gate"
exec 7<>"$work/job.gate"
seq 100000 | tr '\n' ' ' >"$work/large"  # more than a pipe holds
for n in 1 2 3; do fq push <"$work/large" >/dev/null; done
# shellcheck disable=SC2016
"$FQ" worker --stream -- bash -c 'head -c 1000 >"$0.1"; read -r x <"$0.gate"; cat >>"$0.1"; exit 0' "$work/job" 7>&- & worker=$!
await holds_text "$work/job.1"
kill -TERM $worker
await eval '[ "$(fq stats -q default --json | jq .ready)" = 2 ]'
echo >&7
await gone $worker
wait $worker
is 'a stream that is stopped ends well' 0 $?
exec 7>&-
is 'its command has read whole lines' "$(wc -c <"$work/large")" "$(jq -r .payload "$work/job.1" | tr -d '\n' | wc -c)"
is 'and no attempt counts for it' '3 0' "$(fq peek --json | jq -s -r '"\(length) \(map(.attempts) | add)"')"
clear_all

await eval '[ "$(pgrep -cP $grown)" -le 2 ]'
fq push -q grown last >/dev/null
echo >&6
is 'those that are left take what comes' 0 "$(fq wait -q grown --all --for 20s; echo $?)"
exec 6>&-
kill -TERM $grown
wait $grown
is 'a worker that has shrunk ends well' 0 $?
finish
