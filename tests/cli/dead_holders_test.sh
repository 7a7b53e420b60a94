#!/usr/bin/env bash
# dead_holders_test - what is told of messages whose worker was killed: each look finds out by itself who lives.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

# Two leased messages, their worker killed, and its jobs gone. Nobody else comes by.
# shellcheck disable=SC2016
killed_worker() {
  fresh
  rm -f "$work"/job.*
  seq 2 | fq push --lines >/dev/null
  "$FQ" worker -j2 -- sh -c 'echo $$ >"$0.$FQ_ID.new"; mv "$0.$FQ_ID.new" "$0.$FQ_ID"; exec sleep 1000' "$work/job" 2>/dev/null &
  worker=$!
  await holds_text "$work/job.1"
  await holds_text "$work/job.2"
  is 'while it lives it has both' 2 "$(fq stats --json | jq .leased)"
  { kill -KILL $worker; wait $worker; } 2>/dev/null
  for n in 1 2; do await gone_or_zombie "$(cat "$work/job.$n")"; done
}

killed_worker
is 'stats count nothing of the dead' '0 2' "$(fq stats --json | jq -r '"\(.leased) \(.ready)"')"
killed_worker
is 'nor do those of tenants' '0 2' "$(fq stats --tenants --json | jq -r '"\(.leased) \(.ready)"')"
killed_worker
is 'nor does prometheus' 0 "$(fq stats --format prometheus | sed -n 's/^fq_leased{.*} //p')"
killed_worker
is 'explain knows of no holder' '' "$(fq explain 2 | grep -E 'held|leased')"
killed_worker
is 'peek finds nothing leased' '' "$(fq peek --state leased --json)"
killed_worker
is 'and both ready' '1 2' "$(fq peek --json | jq -r .id | paste -sd' ')"
killed_worker
is 'show says that it is ready, and why' 'ready null 1' "$(fq show 1 --json | jq -r '"\(.state) \(.holder) \(.crashes)"')"
killed_worker
gives 0 '' fq check
is 'check has looked too' 'died' "$(fq log --json | jq -r 'select(.event == "died") | .event' | sort -u)"

# What a job left behind holds its message, and is named; the dead worker is not.
fresh
rm -f "$work"/job.*
seq 2 | fq push --lines >/dev/null
# shellcheck disable=SC2016
"$FQ" worker -j2 -- sh -c '[ "$FQ_ID" = 1 ] || { setsid sleep 1000 >/dev/null 2>&1 & echo $! >"$0.left"; }
  echo $$ >"$0.$FQ_ID.new"; mv "$0.$FQ_ID.new" "$0.$FQ_ID"; exec sleep 1000' "$work/job" 2>/dev/null &
worker=$!
await holds_text "$work/job.1"
await holds_text "$work/job.2"
is 'a living worker is the holder' "held by process $worker" "$(fq explain 2 | sed -n 's/^waits  *//p')"
{ kill -KILL $worker; wait $worker; } 2>/dev/null
for n in 1 2; do await gone_or_zombie "$(cat "$work/job.$n")"; done
left=$(cat "$work/job.left")
is 'explain names what is left' "held by process $left" "$(fq explain 2 | sed -n 's/^waits  *//p')"
is 'and in JSON' "$left" "$(fq explain 2 --json | jq '.reasons[0].holder')"
is 'so does show' "leased $left" "$(fq show 2 --json | jq -r '"\(.state) \(.holder)"')"
is 'so does peek' "$left" "$(fq peek --state leased --json | jq .holder)"
is 'the other message is back' ready "$(state 1)"
is 'stats count what is kept' 1 "$(fq stats --json | jq .leased)"
is 'doctor names it' 1 "$(fq doctor | grep -c "process $left")"
kill -KILL "$left"
await gone_or_zombie "$left"
# Who asked a moment ago what is left does not ask again for twenty times as long as that took.
await eval '[ "$(state 2)" = ready ]'
is 'for doctor too' 0 "$(fq doctor | grep -c "process $left")"

# But not what closed all that it had been given, as daemons do.
fresh
rm -f "$work"/job.*
fq push x >/dev/null
# shellcheck disable=SC2016
closed='for fd in /proc/$$/fd/*; do eval "exec ${fd##*/}>&-"; done
  echo $$ >"$0.left.new"; mv "$0.left.new" "$0.left"; exec sleep 1000'
# shellcheck disable=SC2016
"$FQ" worker -- sh -c 'setsid bash -c "$1" "$0" & echo $$ >"$0.new"; mv "$0.new" "$0.pid"; exec sleep 1000' "$work/job" "$closed" 2>/dev/null &
worker=$!
await holds_text "$work/job.pid"
await holds_text "$work/job.left"
{ kill -KILL $worker; wait $worker; } 2>/dev/null
await gone_or_zombie "$(cat "$work/job.pid")"
left=$(cat "$work/job.left")
is 'a daemon that closed all it had holds nothing' 'ready 0' "$(state 1) $(kill -0 "$left"; echo $?)"
kill -KILL "$left"

# What a command that stayed up left behind holds all that its worker had.
fresh
rm -f "$work"/job.*
seq 3 | fq push --lines >/dev/null
# shellcheck disable=SC2016
"$FQ" worker --stream -- sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $! >"$0.left"
  read -r line; echo $$ >"$0.new"; mv "$0.new" "$0.pid"; exec sleep 1000' "$work/job" 2>/dev/null &
worker=$!
await holds_text "$work/job.pid"
await eval '[ "$(fq stats --json | jq .leased)" = 3 ]'
{ kill -KILL $worker; wait $worker; } 2>/dev/null
await gone_or_zombie "$(cat "$work/job.pid")"
left=$(cat "$work/job.left")
is 'each is held by it' "$left $left $left" "$(fq peek --state leased --json | jq .holder | paste -sd' ')"
kill -KILL "$left"
await gone_or_zombie "$left"
await eval '[ "$(fq stats --json | jq .ready)" = 3 ]'  # as above

# A look makes no queue.
for look in stats 'explain 1' peek 'show 1' check doctor; do
  # shellcheck disable=SC2086
  fq $look -q none >/dev/null 2>&1
  is "$look of no queue makes none" no "$([ -e "$FQ_SPOOL/queues/none" ] && echo yes || echo no)"
done

finish
