#!/usr/bin/env bash
# schedule_disk_test - a time for which a disk has no room is made when there is some again, whoever freed it.
. "$(dirname "$0")/lib.sh"

with_small_disk
export FQ_SPOOL=$work/small/spool got=$work/got
: >"$got"

head -c 60000 /dev/zero | tr '\0' x >"$work/large"
fq schedule set tick 'every 8s' --file "$work/large"
fq tenant pause a
cat /dev/zero >"$work/small/filler" 2>"$work/err"
until ! fq push -t a --file "$work/large" >>"$work/ids" 2>"$work/err"; do :; done
cat /dev/zero >"$work/small/more" 2>"$work/err"
"$FQ" worker -- sh -c 'cat >/dev/null; echo "$FQ_SCHEDULE" >>"$got"' 2>"$work/worker" & worker=$!
is_waiting() { [ "$(fq schedule list --json | jq .waiting)" = true ]; }
await is_waiting
is 'nothing was made' 0 "$(wc -l <"$got")"

# Nothing of fq's has changed, and no command looks: the worker finds out by itself.
rm "$work/small/filler" "$work/small/more"
await test -s "$got" || cat "$work/worker"
is 'it is made' tick "$(head -1 "$got")"
kill -TERM $worker
wait $worker
gives 0 '' fq check
umount "$work/small"
finish
