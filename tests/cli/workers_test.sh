#!/usr/bin/env bash
# workers_test - fq workers: who works, who only holds, and what is left of who died.
. "$(dirname "$0")/lib.sh"

workers() { fq workers --json "$@" | jq -r "$what" | paste -sd' '; }
what='"\(.kind):\(.pid):\(.busy)/\(.slots):\(.queues | join("+")):\(.ids | join(","))"'

gives 1 'there is none' fq workers
fq queue create
gives 1 '' fq workers
fq push held >/dev/null; fq pop --lease 1m >/dev/null
gives 1 '' fq workers

# One that waits, of two queues.
fq queue create other
"$FQ" worker -j 3 -q default -q other 2>/dev/null & worker=$!
await eval '[ "$(workers)" = "worker:$worker:0/3:default+other:" ]'
is 'of one queue' "worker:$worker:0/3:other:" "$(workers -q other)"
is 'with its host' "$(uname -n)" "$(fq workers --json | jq -r .host)"
is 'an object a process' 'kind pid host queues slots busy since ids stopped' "$(fq workers --json | jq -r 'keys_unsorted | join(" ")')"
is 'and since when' true "$(fq workers --json | jq '.since | fromdateiso8601? // (sub("\\.[0-9]+Z"; "Z") | fromdateiso8601) | . > now - 60')"

# It works.
mkfifo "$work/gate.default" "$work/gate.other"
job='cat "$0.$FQ_QUEUE" & echo $! >"$0.left.$FQ_QUEUE"; wait'
a=$(fq push -- sh -c "$job" "$work/gate"); b=$(fq push -q other -- sh -c "$job" "$work/gate")
await eval '[ "$(workers)" = "worker:$worker:2/3:default+other:$a,$b" ]'
is 'a row for a person' "$worker worker 2 of 3 default, other $a, $b" \
  "$(fq workers | sed -n 2p | sed -E 's/  +/ /g; s/ (now|[0-9]+s ago) / /')"
kill -STOP "$worker"
await eval 'grep -q "^State:.*stopped" /proc/$worker/status'
is 'that it is stopped' 'worker, stopped' "$(fq workers | sed -n 2p | grep -o 'worker[^0-9]*' | sed 's/ *$//')"
is 'in JSON, too' true "$(fq workers --json | jq .stopped)"
kill -CONT "$worker"
is 'the heading' 'PID KIND BUSY SINCE QUEUES IDS' "$(fq workers | sed -n '1s/^ *//; 1s/  */ /gp')"

# It dies, and what its jobs started keeps what it held.
await test -s "$work/gate.left.other" -a -s "$work/gate.left.default"
orphans=$(cat "$work"/gate.left.* | sort -n | paste -sd' ')
kill -KILL "$worker"; wait "$worker" 2>/dev/null
what='"\(.kind):\(.ids | length):\(.slots)"'
await eval '[ "$(workers)" = "orphan:1:null orphan:1:null" ]'
is 'told with the processes that keep it' "$orphans" "$(fq workers --json | jq .pid | sort -n | paste -sd' ')"
for gate in "$work/gate.default" "$work/gate.other"; do echo >"$gate"; done
await eval '! fq workers >/dev/null'

# A batch takes one slot for several messages.
fresh
seq 4 | fq push --lines >/dev/null
job='cat >/dev/null; mkfifo "$0.$$"; cat "$0.$$"'
"$FQ" worker -j 2 --batch 4 -- sh -c "$job" "$work/batch" 2>/dev/null & worker=$!
what='"\(.busy)/\(.slots):\(.ids | length)"'
await eval '[ "$(workers)" = 1/2:4 ]'
is 'many ids are shortened' '2 of 2' "$(seq 4 | fq push --lines >/dev/null; await eval '[ "$(workers)" = 2/2:8 ]'; fq workers | sed -nE 's/.*(2 of 2).* and 3 more$/\1/p')"
kill "$worker"
await eval '[ "$(ls "$work" | grep -c ^batch)" = 2 ]'
for gate in "$work"/batch.*; do echo >"$gate"; done
wait "$worker"


# What a message tells of its worker: its host while it runs; and of one that died of its run how long that was.
fq push -q told -- sleep 30 >/dev/null
"$FQ" worker -q told --once 2>/dev/null & worker=$!
await eval '[ "$(fq show -q told 1 --json | jq .worker.pid)" = "$worker" ]'
is 'of a job that runs' "$(uname -n) true" "$(fq show -q told 1 --json | jq -r '"\(.worker.host) \(.worker.host == .host)"')"
kill "$worker"; wait "$worker"
fq cancel -q told 1
fq push -q told -- false >/dev/null; fq worker -q told --once 2>/dev/null
is 'of a dead one' 'dead number' "$(fq show -q told 2 --json | jq -r '"\(.state) \(.run_ms | type)"')"
is 'also for a person' 1 "$(fq show -q told 2 | grep -c '^ran ')"

# A stopped worker ends no job: who cancels what it runs is told.
fq queue create slow
for one in 3 2 1; do one=$(fq push -q slow -- sleep 300); done
"$FQ" worker -q slow -j 3 2>/dev/null & worker=$!
what='.busy'
await eval '[ "$(workers -q slow)" = 3 ]'
kill -STOP "$worker"
await stopped "$worker"
what='.stopped'
await eval '[ "$(workers -q slow)" = true ]'
gives 0 "message $one: cancelled; its job ends once process $worker, which is stopped, goes on" fq cancel -q slow "$one"
waits=$(fq push -q slow x)
gives 0 '' fq cancel -q slow "$waits"
gives 0 "2 messages: cancelled; their jobs end once process $worker, which is stopped, goes on" fq cancel -q slow --all --yes
kill -CONT "$worker"
what='.busy'
await eval '[ "$(workers -q slow)" = 0 ]'
kill "$worker"; wait "$worker"

gives 64 'takes no operand' fq workers 17
gives 1 'nowhere' fq workers -q nowhere
finish
