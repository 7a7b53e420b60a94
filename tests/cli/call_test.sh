#!/usr/bin/env bash
# call_test - fq push --wait with a real worker: a remote call through the queue.
. "$(dirname "$0")/lib.sh"

# The first message of a worker without a command has to be a command.
fq push -- true >/dev/null
"$FQ" worker -j 2 --backoff 1ms..2ms >"$work/worker.out" 2>"$work/worker.err" &
worker=$!

# call ARGS...: its exit, output and error output, as one line.
call() {
  "$FQ" push --wait=60s "$@" </dev/null >"$work/out" 2>"$work/err"
  echo "$? out=$(cat "$work/out") err=$(cat "$work/err")"
}

is 'a call gives back output, error output and status' '0 out=hello err=said' \
  "$(call hello -- sh -c 'cat; printf said >&2')"
is 'a failure is the status of the call' '3 out=tried err=' "$(call -- sh -c 'printf tried; exit 3')"
is 'of several runs each is told apart, and the last one is the status' \
  "3 out=triedtried err=fq: message $(($(fq push -- true) + 1)): run 2 begins here, behind byte 5 of standard output and byte 0 of standard error" \
  "$(call --attempts 2 -- sh -c 'printf tried; exit 3')"
is 'so is 65, which buries at once' '65 out= err=' "$(call -- sh -c 'exit 65')"
is 'and a signal, as the shell tells it' '143 out= err=' "$(call --attempts 1 -- sh -c 'kill -TERM $$')"
is 'it runs where it was pushed' "0 out=$work err=" "$(cd "$work" && call -- pwd)"
is 'with the variables that were named' '0 out=here/unset err=' \
  "$(A=here B=there call --env A --env NO_SUCH -- sh -c 'echo "$A/${B-unset}"')"
is 'words are words, and no shell sees them' "0 out=[\$(id)] [a  b] [*] err=" \
  "$(call -- printf '[%s] [%s] [%s]' '$(id)' 'a  b' '*')"
head -c 3000000 /dev/urandom >"$work/large"
# A server takes payloads up to 512 KiB.
here || head -c 500000 /dev/urandom >"$work/large"
is 'a large input comes back byte for byte' 0 \
  "$("$FQ" push --wait=60s --file "$work/large" -- head -c 900000 | cmp - <(head -c 900000 "$work/large"); echo $?)"
id=$(fq push --keep 1h -- sh -c 'echo kept; echo noise >&2; exit 0')
is 'fq wait and fq result are the same in two steps' 'kept 0' \
  "$(fq wait --for 60s "$id" && fq result "$id" 2>/dev/null | paste -sd' ' | sed 's/$/ 0/')"
is 'the error output is on ours' noise "$(fq result "$id" 2>&1 >/dev/null)"
is 'calls in a row inside a read loop leave its input alone' 'a b c' \
  "$(printf 'a\nb\nc\n' | while read -r line; do "$FQ" push --wait=60s "$line" -- cat; echo; done | paste -sd' ')"

# Exact, live, and each of the two by itself.
both='seq 300000; seq 300000 >&2'
is 'output and error output are whole, and apart' "0 $(seq 300000 | cksum) $(seq 300000 | cksum)" \
  "$("$FQ" push --wait=60s -- sh -c "$both" >"$work/out" 2>"$work/err"; echo "$? $(cksum <"$work/out") $(cksum <"$work/err")")"
has() { grep -q "$1" "$2"; }
"$FQ" push --wait=60s -- sh -c "echo begun; until [ -e '$work/go' ]; do sleep 0.01; done; echo ended" >"$work/live" & caller=$!
await has begun "$work/live"
is 'what is written is there while the job runs' begun "$(cat "$work/live")"
: >"$work/go"
wait $caller
is 'and the rest when it has ended' 'begun ended' "$(paste -sd' ' "$work/live")"
is 'what a job leaves in its pipe when it ends is there' 60000 "$("$FQ" push --wait=60s -- head -c 60000 /dev/zero | wc -c)"

# Why it ended, where that was not by itself.
is 'a time limit is told' '124 out=begun err=fq: message N: was ended: its time limit was over' \
  "$(call --timeout 300ms -- sh -c 'printf begun; exec sleep 60' | sed 's/message [0-9]*/message N/')"
is 'a command that is not there is 127' '127 out= err=fq: message N: was buried: no-such-command: cannot be started: No such file or directory' \
  "$(call -- no-such-command | sed 's/message [0-9]*/message N/')"
is 'one that cannot be run is 126' 126 "$(call -- "$work" | cut -d' ' -f1)"
is 'what expires says so' '1 out= err=fq: message N: has expired: nobody started it in time' \
  "$("$FQ" queue pause >/dev/null; call --ttl 50ms -- true | sed 's/message [0-9]*/message N/'; "$FQ" queue resume >/dev/null)"
mkdir "$work/gone"
is 'one whose directory is not there is 126' 126 \
  "$(fq queue pause; cd "$work/gone" || exit; id=$(fq push -- true); rmdir "$work/gone"; cd /; fq queue resume; fq wait "$id"; echo $?)"
# shellcheck disable=SC2016
is 'what its job buries says why' '1 out= err=fq: message N: was buried: no good' \
  "$(call -- sh -c '"$0" bury --reason "no good"' "$FQ" | sed 's/message [0-9]*/message N/')"

# Left alone. A worker sees a message on a server within its bound.
short=50ms
here || short=1s
last_id() { fq jobs --json -n 1000 2>/dev/null | jq -s 'map(.id) | max'; }
is 'when its time is over the message stays' 75 "$("$FQ" push --wait=$short -- sleep 60 2>"$work/err"; echo $?)"
id=$(last_id)
is 'and a line says how to go on' \
  "fq: message $id: is still queued or running; the wait timed out; fq result -f $id follows it, fq cancel $id cancels it" "$(cat "$work/err")"
is 'it runs on' leased "$(fq show "$id" --json | jq -r .state)"
fq cancel "$id"
is '--cancel cancels it instead' '75 cancelled' \
  "$("$FQ" push --wait=$short --cancel -- sleep 60 2>"$work/err"; echo "$? $(fq show "$(last_id)" --json | jq -r .state)")"
gives 64 'goes with --wait only' fq push --cancel x
# interrupted ARGS...: a call that INT ends while its job runs.
interrupted() {
  rm -f "$work/int.out"
  env --default-signal=INT "$FQ" push --wait "$@" -- sh -c "echo run; exec sleep 60" >"$work/int.out" 2>"$work/int.err" & caller=$!
  await has run "$work/int.out"
  kill -INT $caller
  wait $caller
  echo "$? $(fq show "$(last_id)" --json | jq -r .state) $(sed 's/message [0-9]*/message N/; s/;.*//' "$work/int.err")"
}
is 'interrupted it ends by the signal, and the message goes on' '130 leased fq: message N: is still queued or running' "$(interrupted)"
fq cancel "$(last_id)"
is 'or is cancelled' '130 cancelled fq: message N: cancelled' "$(interrupted --cancel)"
is 'a reader that leaves is no error' '0 1' "$("$FQ" push --wait=60s -- yes 2>"$work/err" | head -n1 | grep -c y >"$work/n"; echo "$(wc -c <"$work/err") $(cat "$work/n")")"
fq cancel "$(last_id)"

id=$(fq push -- sh -c 'echo begun; exec sleep 60')
"$FQ" result -f "$id" >"$work/out" 2>"$work/err" & follower=$!
await has begun "$work/out"
fq cancel "$id"
wait $follower
is 'who follows one that is cancelled is told' "1 fq: message $id: was cancelled" "$? $(cat "$work/err")"

# A caller that does not read: its job waits, nobody else.
chunks='for i in $(seq 40); do head -c 1048576 /dev/zero; echo >>"$0"; done'
mkfifo "$work/slow"
exec 7<>"$work/slow"
"$FQ" push --wait --timeout 5m -- sh -c "$chunks" "$work/progress" >"$work/slow" & caller=$!
await test -s "$work/progress"
is 'another call is not held back' "0 $(head -c 20000000 /dev/zero | cksum)" \
  "$("$FQ" push --wait=60s -- head -c 20000000 /dev/zero >"$work/out"; echo "$? $(cksum <"$work/out")")"
is 'the job of a caller that does not read is' yes "$([ "$(wc -l <"$work/progress")" -le 12 ] && echo yes)"
cksum <"$work/slow" >"$work/sum" 7<&- & reader=$!
exec 7<&-
wait $caller
is 'when it reads, its job goes on and ends' 0 $?
wait $reader
is 'and nothing is missing' "$(head -c 41943040 /dev/zero | cksum)" "$(cat "$work/sum")"
exec 7<>"$work/slow"
"$FQ" push --wait --timeout 500ms -- yes >"$work/slow" 2>"$work/err" & caller=$!
over() { [ "$(fq show "$(last_id)" --json | jq -r .state)" = dead ]; }
await over
cat <"$work/slow" >/dev/null 7<&- & reader=$!
exec 7<&-
wait $caller
is 'the time that it waits counts for its time limit' 124 $?
wait $reader

# A caller that is killed: its job goes on, and what is kept is kept.
exec 7<>"$work/slow"
rm -f "$work/progress"
"$FQ" push --wait -- sh -c "$chunks; echo end" "$work/progress" >"$work/slow" & caller=$!
await test -s "$work/progress"
kill -KILL $caller
exec 7<&-
id=$(last_id)
is 'the job of a caller that was killed goes on' 0 "$(fq wait --for 60s "$id"; echo $?)"
fq result "$id" >"$work/out" 2>"$work/err"
kept=16777216
here || kept=8388608
is 'of what it wrote the first and the last half are there' "$kept end" "$(wc -c <"$work/out") $(tail -c 4 "$work/out")"
is 'and how much is missing is told' \
  "fq: message $id: $((40 * 1048576 + 4 - kept)) bytes of its standard output are missing here, behind byte $((kept / 2))" "$(cat "$work/err")"

# Many at once.
for i in $(seq 100); do
  "$FQ" push --wait=60s -- sh -c "seq $i; exit $((i % 50))" >"$work/many.$i" 2>>"$work/many.err" &
  callers[i]=$!
done
wrong=0
for i in $(seq 100); do
  wait "${callers[i]}"
  [ $? = $((i % 50)) ] && [ "$(cksum <"$work/many.$i")" = "$(seq "$i" | cksum)" ] || wrong=$((wrong + 1))
done
is 'a hundred calls at once each get their own' 0 $wrong
is 'without a word' 0 "$(wc -l <"$work/many.err")"

slow=$(fq push -- sleep 60)
until fq show "$slow" --json | grep -q '"state":"leased"'; do :; done
"$FQ" wait "$slow" &
waiter=$!
fq cancel "$slow"
wait $waiter
is 'a cancelled call ends its waiter' 1 $?
gives 0 '' fq wait --all --for 60s

kill -TERM $worker
wait $worker
is 'the worker leaves well' 0 $?
here && is 'no file of a run is left' '' "$(find "$FQ_SPOOL" -name '*.run')"
finish
