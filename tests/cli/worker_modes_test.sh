#!/usr/bin/env bash
# worker_modes_test - once, drain, batches, streams, several queues, growing and results.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

clear_all() { fq cancel --all --state all --yes >/dev/null; rm -f "$work"/job*; }

# Once and drain.
for queue in default a b; do fq queue create "$queue"; done
gives 1 '' worker --once -- true
gives 1 '' worker --once -q a -q b -- true
fq push -q b x >/dev/null
gives 0 '' worker --once -q a -q b -- true
is '--once leaves with 0 whatever came of it' 0 "$(fq push x >/dev/null; worker --once --backoff 0s..0s -- false 2>/dev/null; echo $?)"
clear_all
later=$(fq push later --delay 1h); again=$(fq push again)
worker --drain --backoff 50ms..100ms -- sh -c '[ "$FQ_ATTEMPT" = 2 ]' 2>/dev/null
is '--drain waits for a retry and not for a delayed push' 'delayed acked' "$(state "$later") $(state "$again")"
clear_all

# A job that has buried its own message runs on: the queue is idle, and what is pushed then need not be served.
cat >"$work/early" <<'END'
[ "$(cat)" = first ] && "$FQ" bury "$FQ_RECEIPT"
until [ -e "$1" ]; do sleep 0.01; done
END
fq push first >/dev/null
worker --drain -j2 -- sh "$work/early" "$work/job" 2>"$work/err" & drained=$!
await grep -q 'settled by its job' "$work/err"
for n in second third; do fq push "$n" >/dev/null; done
touch "$work/job"
wait $drained
is '--drain ends although more has come since the queue was empty' 0 $?
clear_all

# Batches.
for n in 1 2 3 4 5; do fq push -t a "a$n" >/dev/null; fq push -t b "b$n" >/dev/null; done
worker --drain --batch 3 --batch-format lines -- sh -c 'echo "$FQ_BATCH:$FQ_TENANT:${FQ_ID-none}:$(paste -sd,)" >>"$0"' "$work/job"
is 'batches are of one tenant, in order, and full first' '3:a:none:a1,a2,a3 2:a:none:a4,a5' "$(grep :a: "$work/job" | paste -sd' ')"
is 'of each tenant' 'b1 b2 b3 b4 b5' "$(grep :b: "$work/job" | cut -d: -f4 | tr , '\n' | paste -sd' ')"
rm "$work/job"
for n in good1 bad good2; do fq push "$n" >/dev/null; done
worker --drain --attempts 1 --batch 3 --batch-format lines -- sh -c 'cat >>"$0"; ! tail -n "$FQ_BATCH" "$0" | grep -q bad' "$work/job" 2>/dev/null
is 'a failing batch is run one by one, and only the bad message fails' 'bad dead' "$(fq peek --state all --json | jq -r '"\(.payload) \(.state)"')"
is 'in the same format' 'good1 bad good2 good1 bad good2' "$(paste -sd' ' "$work/job")"
clear_all
rm -f "$work/job"
for n in one 'done' two; do fq push "$n" >/dev/null; done
cat >"$work/batch" <<'END'
lines=$(cat)
printf '%s\n' "$lines" | jq -r .payload >>"$1"
[ "$FQ_BATCH" = 1 ] && exit
printf '%s\n' "$lines" | jq -r 'select(.payload == "done").receipt' | "$FQ" ack -
exit 3
END
worker --drain --batch 3 --backoff 0s..0s -- sh "$work/batch" "$work/job" 2>/dev/null
is 'what a failing batch acked itself is not run again' 'one done two one two' "$(paste -sd' ' "$work/job")"
clear_all
seq 150 | while read -r n; do printf '{"tenant":"t%s","payload":"x"}\n' "$n"; done | fq push --ndjson >/dev/null
is 'messages that wait for their batches find descriptors enough, and jobs the limit as it was' '150 100' \
  "$(ulimit -Sn 100; worker --drain --batch 9 --linger 300ms -- sh -c 'ulimit -n' | sort | uniq -c | awk '{ print $1, $2 }')"
clear_all
fq push one >/dev/null
is '--linger: what is oldest is not kept waiting' '"one"' "$(worker --drain --batch 9 --linger 100ms -- jq -c .payload)"

# Streams.
for n in ack bury retry release; do fq push "$n" >/dev/null; done
cat >"$work/stream" <<'END'
printf 'no verdict\n'
while read -r line; do
  receipt=$(printf %s "$line" | jq -r .receipt)
  case $(printf %s "$line" | jq -r .payload) in
    ack) echo "ack $receipt" ;;
    bury) echo "bury $receipt for a reason" ;;
    retry) echo "retry $receipt 1h later" ;;
    release) echo "release $receipt 1h" ;;
    die) exit 3 ;;
  esac
done
END
"$FQ" worker --stream -- sh "$work/stream" 2>"$work/said" & worker=$!
await eval '[ "$(fq peek --state ready | wc -l)$(fq peek --state leased | wc -l)" = 00 ]'
kill -TERM $worker
wait $worker
is 'a stream ends with its input' 0 $?
is 'a line that is no verdict is told' 1 "$(grep -c "'no verdict'\|\"no verdict\"" "$work/said")"
is 'the verdicts of a stream' 'bury dead "for a reason" release delayed null retry delayed "later"' \
  "$(fq peek --state all --json | jq -r '"\(.payload) \(.state) \(.last_error.reason | tojson)"' | sort | paste -sd' ')"
clear_all
id=$(fq push ack)
worker -v --drain --stream -- sh "$work/stream" 2>"$work/said"
is '-v tells of what a stream acked' 1 "$(grep -c "message $id of tenant 'default': done" "$work/said")"
clear_all
id=$(fq push die --attempts 1)
fq push ack >/dev/null
worker --drain --stream -- sh "$work/stream" 2>/dev/null
is 'a command that dies: its open message counts, and it is started again' 'dead 3' "$(state "$id") $(json .last_error.exit "$id")"
clear_all

# shellcheck disable=SC2016
acks='while read -r line; do case $line in *stuck*) sleep 1000 ;; esac; echo "ack $(printf %s "$line" | jq -r .receipt)"; done'
id=$(fq push stuck --attempts 1)
fq push other --attempts 5 >/dev/null
worker --drain --stream --timeout 300ms --grace 100ms --backoff 0s..0s -- sh -c "$acks" 2>"$work/said"
is '--timeout holds for a stream: its command ends, what was open is run again' 'dead "timed out"' \
  "$(state "$id") $(json .last_error.reason "$id")"
is 'and only what was stuck is lost for it' stuck "$(fq peek --state all --raw)"
clear_all
id=$(fq push stuck --attempts 1 --timeout 200ms)
worker --drain --stream --grace 100ms -- sh -c "$acks" 2>/dev/null
is "a message's own time limit too" 'dead "timed out"' "$(state "$id") $(json .last_error.reason "$id")"
clear_all

# What a stream's command started may still be at work on its messages when the worker is gone.
id=$(fq push m)
# shellcheck disable=SC2016
"$FQ" worker --stream -- sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >"$0"; cat >/dev/null' "$work/left" 2>/dev/null & worker=$!
await holds_text "$work/left"
await eval '[ "$(state "$id")" = leased ]'
{ kill -KILL $worker; wait $worker; } 2>/dev/null
gives 1 '' worker --once -- true
is "a killed worker's message waits for what its stream left behind" leased "$(state "$id")"
kill -KILL "$(cat "$work/left")"
gives 0 '' worker --drain -- true
is 'and comes back then' acked "$(state "$id")"
clear_all

# Growing: a backlog behind a busy slot.
for n in 1 2 3; do fq push "$n" >/dev/null; done
worker --drain --min 0 --max 3 -- sh -c 'echo >>"$0"; until [ "$(wc -l <"$0")" -ge 3 ]; do :; done' "$work/job"
is '--max: as many as the backlog asks for' '' "$(fq peek --state all)"
clear_all

# Results.
timeout 20 "$FQ" push --wait in -- sh -c 'tr a-z A-Z; echo err >&2; exit 65' >"$work/call.out" 2>"$work/call.err" & caller=$!
await eval '[ -n "$(fq peek)" ]'
worker --once --output keep >/dev/null 2>&1
wait $caller
is 'push --wait gives the output and the status' '65 IN err' "$? $(cat "$work/call.out") $(cat "$work/call.err")"
clear_all
for policy in keep:1:xx:0 keep:0:xx:0 fail:1:xx:0 fail:0::1 discard:1::1 inherit:0::1; do
  IFS=: read -r how status text code <<<"$policy"
  id=$(fq push x --attempts 1)
  worker --once --output "$how" -- sh -c 'echo xx; exit "$0"' "$status" >/dev/null 2>&1
  is "--output $how of exit $status" "$text $code" "$(fq result "$id" 2>/dev/null) $(fq result "$id" >/dev/null 2>&1; echo $?)"
done
id=$(fq push x)
worker --once --output keep --output-max 10B -- sh -c 'echo 0123456789abcdef' 2>/dev/null
is '--output-max keeps the first and the last half' 01234cdef "$(fq result "$id" 2>/dev/null)"
is 'and it is said how much is missing between them' \
  "fq: message $id: 7 bytes of its standard output are missing here, behind byte 5" "$(fq result "$id" 2>&1 >/dev/null)"
clear_all
finish
