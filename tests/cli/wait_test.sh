#!/usr/bin/env bash
# wait_test - fq wait and fq result at the end of messages that pop, ack, bury and cancel ended.
. "$(dirname "$0")/lib.sh"

# What has ended already.
acked=$(fq push acked); fq pop >/dev/null
cancelled=$(fq push cancelled); fq cancel "$cancelled"
kept=$(fq push --keep 1h kept); fq pop >/dev/null
dead=$(fq push dead); fq bury "$(fq pop --lease 1m | cut -f1)"
gives 0 '' fq wait "$acked"
gives 1 '' fq wait "$cancelled"
gives 1 '' fq wait "$dead"
gives 1 '' fq wait "$acked" "$dead" "$cancelled"
gives 0 '' fq wait "$acked" "$acked"
gives 1 '' fq wait "$acked" "$dead"
is 'ids come by standard input' 1 "$(printf '%s\n' "$dead" "$acked" | fq wait -; echo $?)"
is 'no line is no message' 0 "$(printf '' | fq wait -; echo $?)"

# What has not.
ready=$(fq push ready)
delayed=$(fq push delayed --delay 1h)
gives 75 '' fq wait --for 10ms "$ready"
gives 75 '' fq wait --for 10ms "$acked" "$delayed"
gives 75 '' fq wait --for=0s "$ready" "$acked"
gives 75 '' fq wait --for 10ms --all
gives 75 'has not ended' fq result "$ready"
gives 75 'has not ended' fq result "$delayed"
retried=$(fq push -t retried x); fq retry "$(fq pop -t retried --lease 1m | cut -f1)" --delay 1h
id=$(fq push -q mail x)
gives 75 "has not ended; follow it with fq result -f $id -q mail" fq result -q mail "$id"
gives 75 "has not ended; follow it with fq result -f $id -q mail" env FQ_QUEUE=other "$FQ" result -q mail "$id"
is 'a queue that is taken by itself is not named' "fq: message $id: has not ended; follow it with fq result -f $id" \
  "$(FQ_QUEUE=mail "$FQ" result "$id" 2>&1)"
gives 75 "fq result -f 2 -q mail follows it, fq cancel 2 -q mail cancels it" fq push -q mail stays --wait=10ms
gives 0 "fq queue resume -q mail ends that" fq export -q mail
gives 75 'waits for its next run, and nothing is kept of the last one; follow it with fq result -f' fq result "$retried"
fq cancel "$retried"

# An unknown id is told at once, whatever else there is to wait for.
gives 1 "message 9007199254740991: not in queue 'default'" fq wait "$ready" 9007199254740991
gives 1 'not in queue' fq wait 9007199254740991 "$ready"
gives 1 'not in queue' fq wait 0
gives 1 'not in queue' fq result 9007199254740991
gives 1 'no output is kept; --keep' fq result "$acked"
gives 1 'no output is kept; --keep' fq result "$dead"
gives 1 'no output is kept; there was none, it was too long, or it has made room for later ones' fq result "$kept"
gives 1 'was cancelled; no output is kept of what was cut off' fq result "$retried"

# How a run ended is the status, of several that of the first named that was not acked; following is the same.
three=$(fq push -q ran -- sh -c 'echo out; exit 3'); four=$(fq push -q ran -- sh -c 'exit 4'); good=$(fq push -q ran -- true)
limit=$(fq push -q ran --timeout 50ms -- sleep 60); missing=$(fq push -q ran -- no-such-command)
: >"$work/plain"; unfit=$(fq push -q ran -- "$work/plain"); signal=$(fq push -q ran -- sh -c 'kill -TERM $$')
"$FQ" worker -q ran --drain >/dev/null 2>&1
gives 3 '' fq wait -q ran "$good" "$three" "$four"
gives 4 '' fq wait -q ran "$four" "$good" "$three"
for each in "0 $good" "3 $three" "124 $limit" "127 $missing" "126 $unfit" "143 $signal"; do
  is "status ${each% *}" "${each% *} ${each% *}" "$(fq wait -q ran "${each#* }"; echo -n "$? "; fq result -q ran -f "${each#* }" >/dev/null 2>&1; echo $?)"
done
is 'and what it wrote' out "$(fq result -q ran -f "$three")"

# Who waits and has no worker is told so, once; a script later than a person.
"$FQ" push -q unserved --wait=7s x >/dev/null 2>"$work/late.err" & late=$!
"$FQ" push -q unserved --wait=2100ms x >/dev/null 2>"$work/err"
is 'no word of workers in a file' 0 "$(grep -c worker "$work/err")"
is 'a person is told how to start one' "fq: queue 'unserved': no worker is attached; fq worker -q unserved -- CMD starts one" \
  "$(on_terminal 80 24 '"$FQ" push -q unserved --wait=2100ms x' | tr -d '\r' | grep 'worker is')"
is 'of a command that it needs none' "fq: queue 'unserved': no worker is attached; fq worker -q unserved starts one" \
  "$(on_terminal 80 24 '"$FQ" push -q unserved --wait=2100ms -- true' | tr -d '\r' | grep 'worker is')"
wait $late
is 'a script is told too' "fq: queue 'unserved': no worker is attached; fq worker -q unserved -- CMD starts one" "$(grep 'worker is' "$work/late.err")"
"$FQ" worker -q unserved -- sleep 60 2>/dev/null & worker=$!
await sh -c '"$FQ" workers -q unserved | grep -q worker'
is 'not where one has other work' 0 "$(on_terminal 80 24 '"$FQ" push -q unserved --wait=2100ms x' | grep -c 'worker is')"
kill -STOP $worker; await stopped $worker
is 'where each is stopped' "fq: queue 'unserved': every worker is stopped, as process $worker; fq worker -q unserved -- CMD starts one" \
  "$(on_terminal 80 24 '"$FQ" push -q unserved --wait=2100ms x' | tr -d '\r' | grep 'worker is')"
kill -CONT $worker
kill -TERM $worker; kill -TERM $worker; wait $worker 2>/dev/null

# Until it ends: the order of ends and of ids does not matter.
"$FQ" wait "$ready" "$delayed" & waiter=$!
fq cancel "$delayed"
is 'the ready one is served meanwhile' ready "$(fq pop)"
wait $waiter
is 'and the wait leaves as the first that was not acked' 1 $?
gives 0 '' fq wait --all
is 'what its push delayed does not keep a queue busy' 0 "$(fq push later --delay 1h >/dev/null; fq wait --all; echo $?)"
is 'what was released with a delay does' 75 "$(fq push back >/dev/null; fq release "$(fq pop --lease 1m | cut -f1)" --delay 1h; fq wait --all --for 10ms; echo $?)"
fq cancel --all --yes >/dev/null
is 'a lease does' 75 "$(fq push held >/dev/null; fq pop --lease 1m >/dev/null; fq wait --all --for 10ms; echo $?)"
fq cancel --all --yes >/dev/null

# push --wait.
gives 75 'is still queued or running; the wait timed out' fq push stays --wait=10ms
is 'it stays' stays "$(fq pop)"
"$FQ" push called --wait >"$work/out" 2>"$work/err" & caller=$!
is 'a call is taken by pop' called "$(fq pop --wait=20s)"
wait $caller
is 'and ends with it' 0 $?
is 'without a word' '' "$(cat "$work/out" "$work/err")"
"$FQ" push called --wait -- job & caller=$!
fq bury "$(fq pop --wait=20s --lease 1m | cut -f1)"
wait $caller
is 'or as a failure' 1 $?
gives 64 'does not go with a batch' fq push --lines --wait --file "$0"
gives 64 'does not go with --wait' fq push x --wait --json
gives 64 'not a duration' fq push x --wait=5

# How one has ended is known, though so many end before the last one that a queue forgets it.
if here; then
  first=$(fq push -q long -t wanted first) last=$(fq push -q long -t wanted last)
  "$FQ" wait -q long "$last" "$first" & by_id=$!
  "$FQ" wait -q long -t wanted & by_tenant=$!
  for pid in $by_id $by_tenant; do await grep -q '^State:.S' "/proc/$pid/status"; done
  fq pop -q long -t wanted >/dev/null
  seq 66000 | fq push -q long -t others --lines >/dev/null
  fq cancel -q long -t others >/dev/null
  gives 1 'not in queue' fq wait -q long "$first"
  fq pop -q long -t wanted >/dev/null
  wait $by_id
  is 'two ids, one of which ended long before' 0 $?
  wait $by_tenant
  is 'likewise by tenant' 0 $?
fi

# Words.
gives 64 'for which?' fq wait
gives 64 'does not go with --all' fq wait --all 1
gives 64 'not a message id' fq wait x
gives 64 'not a duration' fq wait --for 5 1
gives 64 'takes one message id' fq result
gives 64 'takes one message id' fq result 1 2
gives 64 'did you mean wait?' fq await 1
gives 1 "'nowhere'" fq wait -q nowhere --all
gives 1 "'nowhere'" fq result -q nowhere 1
is 'no queue was made' '' "$(fq queue list | grep nowhere)"
finish
