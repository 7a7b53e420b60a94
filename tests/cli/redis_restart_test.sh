#!/bin/bash
# redis_restart_test - a server is away for a while: who waits goes on, who was told an id keeps it, and who came for
# what is there is told to come again.
. "$(dirname "$0")/lib.sh"

settings=(--appendonly yes --appendfsync always)
start_server "$work/s" "${settings[@]}"
export FQ_SPOOL="redis+unix://$work/s"
stop_server() { redis-cli -s "$work/s" shutdown >>"$work/made" 2>&1; await gone; }
gone() { ! listens "$work/s"; }

# Whoever waits without end goes on when it is there again, and says so once.
"$FQ" push --wait -t called -- sh -c 'echo of the call; exit 3' >"$work/call" 2>"$work/call.err" & caller=$!
await test -n "$(await fq peek >/dev/null && fq peek --json | jq -r .id)"
id=$(fq peek --json | jq -r .id)
"$FQ" wait "$id" 2>"$work/wait.err" & waiter=$!
"$FQ" wait --all 2>"$work/all.err" & all=$!
"$FQ" wait --for 60s "$id" 2>"$work/for.err" & for=$!
"$FQ" result -f "$id" >"$work/follow" 2>"$work/follow.err" & follower=$!
"$FQ" log -f >"$work/events" 2>"$work/events.err" & teller=$!
"$FQ" pop -t popped --wait >"$work/popped" 2>"$work/popped.err" & popper=$!
await grep -q pushed "$work/events"
"$FQ" worker -q other >"$work/worker" 2>"$work/worker.err" & worker=$!
await test -n "$(await fq workers -q other && fq workers -q other --json)"
stop_server
for who in call wait all for follow events popped worker; do
  await grep -q 'goes on trying' "$work/$who.err" || cat "$work/$who.err"
done
start_server "$work/s" "${settings[@]}"
fq push -t popped there >>"$work/made"
wait $popper  # before a worker comes that would take it
is "who waits for a message has it" "0 there" "$? $(cat "$work/popped")"
fq worker --drain >"$work/drained" 2>&1
wait $caller
is "a call has what its job wrote, and its status" "3 of the call" "$? $(cat "$work/call")"
wait $waiter
is "a wait has its status" 3 $?
wait $for
is "and one with a bound" 3 $?
wait $follower
is "and who follows, who had it all" "3 of the call" "$? $(cat "$work/follow")"
wait $all
is "who waits until all is done is told of that" 0 $?
await grep -q buried "$work/events"
is "no event is told twice" 1 "$(grep -c "pushed.*called" "$work/events")"
for who in call wait all for follow events popped worker; do
  is "$who: said once" 1 "$(grep -c 'goes on trying' "$work/$who.err")"
done
kill -TERM $teller $worker
wait $worker
is "a worker has gone on" 0 $?
{ wait $teller; } 2>/dev/null

# What has a bound ends with it: the message is told, and that it stays.
"$FQ" push --wait=3s x >"$work/call" 2>"$work/call.err" & caller=$!
"$FQ" pop -t nobody --wait=3s 2>"$work/popped.err" & popper=$!
await test -n "$(await fq peek >/dev/null && fq peek --json | jq -r .id)"
id=$(fq peek --json | jq -r .id)
stop_server
wait $caller
is "a call whose time is over" 75 $?
await grep -q "^fq: message $id: is still queued or running; .*fq result -f $id follows it" "$work/call.err" || cat "$work/call.err"
wait $popper
is "a pop whose time is over" 75 $?

# Where the server comes back without what it was told, or cannot be asked, the message is named all the same.
start_server "$work/s"
for more in "" --cancel; do
  # shellcheck disable=SC2086
  "$FQ" push --wait $more x >"$work/call" 2>"$work/call.err" & caller=$!
  await test -n "$(await fq peek >/dev/null && fq peek --json | jq -r .id)"
  redis-cli -s "$work/s" flushall >>"$work/made"
  wait $caller
  is "a call of which nobody knows any more$more" 74 $?
  is "and it is told which$more" 1 "$(grep -c '^fq: message 1: was accepted, and what became of it is not known; .*fq result -f 1' "$work/call.err")"
done
stop_server

# Nobody who has just come waits for a server that is not there; a worker that came for what is there neither.
for words in "push --wait x" "wait 1" "result -f 1" "log -f" "pop --wait" "worker --once -- true" "worker --drain -- true" \
  "worker -- true" "stats" "peek" "jobs" "workers" "explain" "cancel 1" "ack 1.1.aaaaaaaaaaaa" "queue pause" "queue list" \
  "tenant list" "config show" "check" "compact" "schedule list" "export" "show 1" "kick 1"; do
  # shellcheck disable=SC2086
  gives 75 "$work/s: cannot be reached" fq $words
done
finish
