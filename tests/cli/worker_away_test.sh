#!/usr/bin/env bash
# worker_away_test - a worker whose queue fails for good while its jobs run: what they have stays theirs.
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

finish
