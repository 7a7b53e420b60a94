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
is 'a failure of its last attempt is the status of the call' '3 out=tried err=' \
  "$(call --attempts 2 -- sh -c 'printf tried; exit 3')"
is 'so is 65, which buries at once' '65 out= err=' "$(call -- sh -c 'exit 65')"
is 'and a signal, as the shell tells it' '143 out= err=' "$(call --attempts 1 -- sh -c 'kill -TERM $$')"
is 'it runs where it was pushed' "0 out=$work err=" "$(cd "$work" && call -- pwd)"
is 'with the variables that were named' '0 out=here/unset err=' \
  "$(A=here B=there call --env A --env NO_SUCH -- sh -c 'echo "$A/${B-unset}"')"
is 'words are words, and no shell sees them' "0 out=[\$(id)] [a  b] [*] err=" \
  "$(call -- printf '[%s] [%s] [%s]' '$(id)' 'a  b' '*')"
head -c 3000000 /dev/urandom >"$work/large"
is 'a large input comes back byte for byte' 0 \
  "$("$FQ" push --wait=60s --file "$work/large" -- head -c 900000 | cmp - <(head -c 900000 "$work/large"); echo $?)"
id=$(fq push --keep 1h -- sh -c 'echo kept; echo noise >&2; exit 0')
is 'fq wait and fq result are the same in two steps' 'kept 0' \
  "$(fq wait --for 60s "$id" && fq result "$id" 2>/dev/null | paste -sd' ' | sed 's/$/ 0/')"
is 'the error output is on ours' noise "$(fq result "$id" 2>&1 >/dev/null)"
is 'calls in a row inside a read loop leave its input alone' 'a b c' \
  "$(printf 'a\nb\nc\n' | while read -r line; do "$FQ" push --wait=60s "$line" -- cat; echo; done | paste -sd' ')"
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
finish
