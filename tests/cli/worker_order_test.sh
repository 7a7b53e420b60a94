#!/usr/bin/env bash
# worker_order_test - P6 in the order of starts: between two turns of a busy tenant every other one that has
# work gets exactly one.
#
# A job's own log line comes when the kernel runs it, in any order; but one worker starts its jobs one after
# the other, and process numbers are given in order. So the log is sorted by them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

# The first N tenants in the order of starts. A number far below the one before it, in a log that is out of
# order by a few lines only, was given after the numbers had begun anew.
starts() {
  awk -v most="$(cat /proc/sys/kernel/pid_max)" '
    NR > 1 && $1 + most / 2 < last { rounds++; last = $1 }
    NR > 1 && $1 > last + most / 2 { print $1 + (rounds - 1) * most, $2; next }
    { last = $1; print $1 + rounds * most, $2 }' "$work/job" | sort -n | head -n "$1" | cut -d' ' -f2
}
logged() { [ "$(wc -l <"$work/job")" -ge "$1" ]; }
begin() { "$FQ" worker -j8 -- sh -c 'echo "$$ $FQ_TENANT" >>"$0"; [ -e "$0.free" ] || read -r go <"$0.go"' "$work/job" & worker=$!; }

# Fifty tenants: one with 10,000 messages, of the others the n-th with n. Expected are the rounds, by hand.
{ for ((n = 0; n < 10000; ++n)); do echo busy; done; } | fq push --lines --lazy -t busy >/dev/null
for ((n = 1; n < 50; ++n)); do
  for ((m = 0; m < n; ++m)); do echo "{\"tenant\":\"quiet$n\",\"payload\":\"\"}"; done
done | fq push --ndjson --lazy >/dev/null
for ((round = 0; round < 60; ++round)); do
  echo busy
  for ((n = round + 1; n < 50; ++n)); do echo "quiet$n"; done
done >"$work/expected"
count=$(wc -l <"$work/expected")
: >"$work/job"
: >"$work/job.free"
begin
await logged "$count"
# It waits for what runs: whatever was started has its line then.
kill -TERM "$worker"
wait "$worker"
is 'fifty tenants, eight slots: every start is in its turn' '' "$(diff "$work/expected" <(starts "$count") | head -n 5)"

# Who comes while all slots are busy waits for one round of the others, and no more.
fresh
rm "$work/job.free"
mkfifo "$work/job.go"
exec 7<>"$work/job.go"
for ((m = 0; m < 10; ++m)); do
  for ((n = 1; n <= 50; ++n)); do echo "{\"tenant\":\"old$n\",\"payload\":\"\"}"; done
done | fq push --ndjson --lazy >/dev/null
: >"$work/job"
begin
await logged 8
printf 'a\nb\n' | fq push --lines -t new >/dev/null
: >"$work/job.free"
for ((n = 0; n < 8; ++n)); do echo go; done >&7
await logged 502
kill -TERM "$worker"
wait "$worker"
exec 7>&-
{
  for ((n = 1; n <= 50; ++n)); do echo "old$n"; done
  for ((n = 1; n <= 8; ++n)); do echo "old$n"; done
  echo new
  for ((n = 9; n <= 50; ++n)); do echo "old$n"; done
  for ((n = 1; n <= 8; ++n)); do echo "old$n"; done
  echo new
} >"$work/expected"
is 'a newcomer has its turn after one of everybody' '' "$(diff "$work/expected" <(starts "$(wc -l <"$work/expected")") | head -n 5)"
finish
