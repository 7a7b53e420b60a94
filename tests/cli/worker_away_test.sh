#!/usr/bin/env bash
# worker_away_test - a worker whose queue, or a part of it, fails for good while its jobs run: what they have stays
# theirs, and what can be kept of what they make of it is kept.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

start_server "$work/s"
server() { redis-cli -s "$work/s" "$@" >"$work/told"; }
export FQ_SPOOL="redis+unix://$work/s"
mkfifo "$work/go"
id=$(fq push long)
other=$(fq push short)
# shellcheck disable=SC2016
"$FQ" worker -j2 --grace 60s -- sh -c \
  'read -r x; echo "$x" >>"$0"; [ "$x" = short ] && exec sh -c "read -r y <\"$1\""; exec sleep 1000' \
  "$work/job" "$work/go" 2>"$work/said" & worker=$!
both() { [ "$(wc -l <"$work/job")" = 2 ]; }
await both
server ACL SETUSER default -fcall
echo >"$work/go"
# The verdict is tried twice, and the sign of life that comes each few seconds is the third.
refused() { [ "$(redis-cli -s "$work/s" info errorstats | sed -n 's/^errorstat_NOPERM:count=\([0-9]*\).*/\1/p')" -ge 3 ]; }
await refused
server ACL SETUSER default +fcall
is 'what its other job has is leased' leased "$(state "$id")"
# As long as a session lives without a sign of life, and longer.
: >"$work/seen"
"$FQ" worker -- sh -c 'read -r x; echo "$x" >>"$0"' "$work/seen" 2>/dev/null & second=$!
end=$((SECONDS + 18))
until [ "$SECONDS" -ge "$end" ]; do read -rt 0.5 <>"$work/never" || :; done
is 'and stays so' "leased 0" "$(state "$id") $(grep -c long "$work/seen")"
pkill -P $worker sleep
await gone_or_zombie $worker
wait $worker
is 'the fault is told at the end' 77 $?
await grep -q long "$work/seen"
is 'what could not be told is run again, behind the job that had it' "acked" "$(state "$id")"
await grep -q short "$work/seen"
is 'likewise the other' acked "$(state "$other")"
kill -TERM $second; wait $second

# A shard loses what it begins with while a job has its message: what that makes of it cannot be kept, what the other
# job makes of its own is.
fq queue create wide --shards 4
shard_of() { redis-cli -s "$work/s" --scan --pattern "*{wide:*}:q:$1" | sed 's/:q:.*//'; }
push_to_two_shards() {
  broken_id=$(fq -q wide push -t broken x)
  for tenant in a b c d e f g h i j; do
    whole_id=$(fq -q wide push -t $tenant x)
    [ "$(shard_of $tenant)" = "$(shard_of broken)" ] || return 0
    fq -q wide cancel "$whole_id"
  done
  fail 'all tenants are of one shard'
}
# Two jobs wait for one file, which a FIFO would tell to one of them only: so they look again and again.
# shellcheck disable=SC2016
job='echo >>"$0"; until [ -e "$1" ]; do sleep 0.02; done'
jobs_began() { [ "$(wc -l <"$work/job")" = "$1" ]; }
work_on_both() {  # OPTION OF WORKER...: its two jobs end, of which one has lost its shard
  rm -f "$work/go_on" && : >"$work/job"
  push_to_two_shards
  root=$(shard_of broken):h
  "$FQ" worker -q wide -j2 "$@" -- sh -c "$job" "$work/job" "$work/go_on" 2>"$work/said" & worker=$!
  await jobs_began 2
  server RENAME "$root" lost
  : >"$work/go_on"
}
told_in_vain() { await grep -q "message $broken_id: what its job made of it could not be kept: " "$work/said"; }
is_acked() { [ "$(fq -q wide show "$1" --json 2>"$work/err" | jq -r .state)" = acked ]; }

work_on_both
told_in_vain
await is_acked "$whole_id"
fq -q wide push -t "$tenant" more >"$work/out"
await jobs_began 3
kill -TERM $worker
wait $worker
is 'a service goes on without that shard' 0 $?
server RENAME lost "$root"
is 'what could not be kept comes again' x "$(fq -q wide pop --wait=60s)"

work_on_both --drain
wait $worker
is 'who came for what is there says so at its end' 69 $?
told_in_vain
is_acked "$whole_id" || fail 'and keeps what it can'

# Likewise one that came for one message.
fq queue create once --shards 4
fq -q once push x >"$work/out"
root=$(redis-cli -s "$work/s" --scan --pattern '*{once:*}:q:*' | sed 's/:q:.*/:h/')
rm "$work/go_on" && : >"$work/job"
"$FQ" worker -q once --once -- sh -c "$job" "$work/job" "$work/go_on" 2>"$work/said" & worker=$!
await jobs_began 1
server RENAME "$root" lost_too
: >"$work/go_on"
wait $worker
is 'who came for one says so' 69 $?
await grep -q 'what its job made of it could not be kept: ' "$work/said"

finish
