#!/usr/bin/env bash
# full_disk_test - what a full disk refuses is said in words, and leaves nothing that is in the way of the rest.
. "$(dirname "$0")/lib.sh"

with_small_disk
export FQ_SPOOL=$work/small/spool

fq push x >/dev/null
cat /dev/zero >"$work/small/filler" 2>"$work/err"
head -c 1000000 /dev/zero >"$work/large"
gives 75 "queue 'default': the disk is full; what is queued can still be served and acked" fq push --file "$work/large"

# A queue for which there is no room is none: whoever goes through all of them comes through.
nothing_of() {
  is "$1: nothing of it stays" default "$(fq queue list --json | jq -r .queue | xargs)"
  is "$1: not even a name" default "$(ls -A "$FQ_SPOOL/queues")"
}
for left in 0 4 16 200 1000; do
  truncate -s "-${left}K" "$work/small/filler"
  for command in 'push -q new x' 'queue create new'; do
    # shellcheck disable=SC2086  # words
    gives 75 "queue 'new': the disk is full; it was not made" fq $command
    nothing_of "$left KiB left, $command"
  done
  for command in stats 'stats --format prometheus' check report; do
    # shellcheck disable=SC2086  # words
    gives 0 '' fq $command
  done
  gives 1 "queue 'new': there is none" fq -q new pop
  gives 0 '' fq push -q default "$left"
  cat /dev/zero >>"$work/small/filler" 2>"$work/err"
done
rm "$work/small/filler"
gives 0 '' fq push -q new x
is 'with room it is made' 'default new' "$(fq queue list --json | jq -r .queue | xargs)"

# One that was killed over it leaves what is no queue either, and the next one makes it.
killed_at rebuild.replayed:1 fq push -q half x
is 'what is half made is no queue' 'default new' "$(fq queue list --json | jq -r .queue | xargs)"
gives 1 "queue 'half': there is none" fq -q half stats
gives 0 '' fq check
gives 0 '' fq push -q half x
is 'until it is made' x "$(fq -q half pop)"
umount "$work/small"
finish
