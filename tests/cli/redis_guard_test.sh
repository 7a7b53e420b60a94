#!/bin/bash
# redis_guard_test - a worker of a queue on a server is killed or stopped: what it had comes back at once, but for what its
# jobs left running, and what a stopped worker has stays its own.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s" work

own() { "$(dirname "$FQ")/fq-redis" "$@"; }
guard_of() { pgrep -P "$1" -f '^fq-redis guard$'; }
leased() { fq -q "$1" stats --json | jq .leased; }
has_leased() { [ "$(leased "$1")" = "$2" ]; }
# The time within which it is true, in whole seconds.
takes() { local began=$SECONDS; await "$@"; took=$((SECONDS - began)); }

# Killed, with the job that it ran, and beside one that has left a process; over one shard and over many.
for queue in one many; do
  [ $queue = one ] || fq queue create --shards 4 many
  leaver='setsid sh -c "echo \$\$ >$work/left; exec sleep 1000" & while ! [ -s $work/left ]; do sleep 0.05; done; echo $$ >$work/leaver; exec sleep 1000'
  rm -f "$work/left" "$work/leaver" "$work/job"
  fq -q $queue push -t a -- sh -c "$leaver" >"$work/left_id"
  fq -q $queue push -t b -- sh -c 'echo $$ >$work/job; exec sleep 1000' >"$work/lost_id"
  fq -q $queue push -t c --delay 1h -- true >>"$work/ids"
  "$FQ" -q $queue worker -j 2 >"$work/out" 2>&1 & worker=$!
  await test -s "$work/leaver" -a -s "$work/job"
  guard=$(guard_of $worker)
  [ -n "$guard" ] || fail "$queue: no guard"
  is "$queue: both run" 2 "$(leased $queue)"
  kill -KILL $worker
  wait $worker 2>>"$work/err"
  kill -KILL "$(cat "$work/job")" "$(cat "$work/leaver")" 2>>"$work/err"
  takes has_leased $queue 1
  [ $took -le 5 ] || fail "$queue: the guard took $took s, the server's own patience is 15"
  is "$queue: what nobody has any more is ready" "ready 1" "$(fq -q $queue show --json "$(cat "$work/lost_id")" | jq -r '"\(.state) \(.crashes)"')"
  is "$queue: what a process was left of is not" leased "$(fq -q $queue show --json "$(cat "$work/left_id")" | jq -r .state)"
  is "$queue: no slot is told of who is dead" "" "$(fq -q $queue workers --json | jq -r 'select(.slots > 0)')"
  is "$queue: but what was left is, by whatever process" "orphan null $(cat "$work/left_id")" \
    "$(fq -q $queue workers --json | jq -r 'select(.ids | length > 0) | "\(.kind) \(.pid) \(.ids[0])"')"
  id=$(cat "$work/left_id")
  is "$queue: explain names no process that is dead" "held by what the job of a dead worker left behind" \
    "$(fq -q $queue explain "$id" | sed -n 's/^waits  *//p')"
  is "$queue: nor in JSON" null "$(fq -q $queue explain "$id" --json | jq '.reasons[0].holder')"
  is "$queue: nor does show" "leased null $worker" "$(fq -q $queue show "$id" --json | jq -r '"\(.state) \(.holder) \(.worker.pid)"')"
  is "$queue: which says what it is" "what the job of a dead worker left behind" "$(fq -q $queue show "$id" | sed -n 's/^holder  *//p')"
  is "$queue: nor peek" null "$(fq -q $queue peek --state leased --json | jq .holder)"
  [ $queue = many ] || { left=$(cat "$work/left"); kept_guard=$guard; kept_id=$(cat "$work/left_id"); }
done
kill -KILL "$(cat "$work/left")"
takes has_leased many 0
[ $took -le 5 ] || fail "the guard took $took s to see that the last one had ended"
await gone_or_zombie "$guard"
fq -q many check >"$work/out" || fail "check: $(cat "$work/out")"

# Stopped for longer than a server waits, and going on; what was left above stays away meanwhile.
fq queue create --shards 4 stopped
kind() { fq -q stopped workers | sed -n 2p | grep -o 'worker[^0-9]*' | sed 's/ *$//'; }
is_kind() { [ "$(kind)" = "$1" ]; }
fq -q stopped push -t a -- sh -c 'echo $$ >$work/slow; while ! [ -e $work/go ]; do sleep 0.05; done; echo done >>$work/ran' >>"$work/ids"
"$FQ" -q stopped worker >"$work/out" 2>&1 & worker=$!
await test -s "$work/slow"
guard=$(guard_of $worker)
is "a worker that goes on is not told as stopped" worker "$(kind)"
since=$(fq -q stopped workers --json | jq -r .since)
fq -q stopped push -t b -- true >"$work/behind"
kill -STOP $worker
takes is_kind "worker, stopped"
[ $took -le 8 ] || fail "it took $took s until somebody knew that the worker is stopped"
is "and starts nothing" 1 "$(fq -q stopped explain "$(cat "$work/behind")" | grep -c '1 worker, stopped')"
sleep 18  # more than the 15 s after which a server gives up who is silent: only time shows that it does not
is "a stopped worker keeps its messages" 1 "$(leased stopped)"
is "and is told as stopped all the while" "worker, stopped" "$(kind)"
is "so does what a dead one left" leased "$(fq -q one show --json "$kept_id" | jq -r .state)"
kill -CONT $worker
takes is_kind worker
[ $took -le 8 ] || fail "it took $took s until it was known that the worker goes on"
is "since when it works is what it was" "$since" "$(fq -q stopped workers --json | jq -r .since)"
: >"$work/go"
await test -s "$work/ran"
takes has_leased stopped 0
kill -TERM $worker
wait $worker
is "it has run once" "done" "$(cat "$work/ran")"
is "and is acked" "2 0" "$(fq -q stopped stats --json | jq -r '"\(.acked) \(.ready)"')"
await gone_or_zombie "$guard"
kill -KILL "$left"
takes has_leased one 0
[ $took -le 5 ] || fail "the guard took $took s to see that what was left had ended"
await gone_or_zombie "$kept_guard"

# A worker that ends has its guard end, and whoever reads its output does not wait for that.
fq -q ends push -- true >>"$work/ids"
is "the output ends with the worker" "" "$(fq -q ends worker --once)"
gives 64 "fq worker starts it" own guard
gives 64 "fq worker starts it" own guard </dev/null
gives 64 "takes nothing" own guard now

# A worker whose guard is killed goes on, and says what is lost by it; the job behind has another.
for i in 1 2 3; do fq -q alone push -t "$i" -- sh -c "echo \$\$ >$work/alone.$i; while ! [ -e $work/end.$i ]; do sleep 0.05; done" >>"$work/ids"; done
"$FQ" -q alone worker --drain >"$work/out" 2>&1 & worker=$!
await test -s "$work/alone.1"
guard=$(guard_of $worker)
kill -KILL "$guard"
: >"$work/end.1"
await test -s "$work/alone.2"
: >"$work/end.2"
await test -s "$work/alone.3"
is "there is another guard" another "$([ -n "$(guard_of $worker)" ] && [ "$(guard_of $worker)" != "$guard" ] && echo another)"
: >"$work/end.3"
wait $worker || fail "a worker without its guard ended $?"
grep -q "its messages do not wait for processes that its jobs left" "$work/out" || fail "it says: $(cat "$work/out")"
is "all are done" 3 "$(fq -q alone stats --json | jq .acked)"
finish
