#!/bin/bash
# backups - a backup each night and a report each Monday, while the clocks are put forward and the machine sleeps.
#
# faketime tells fq what time it is, so that the story takes a second. The static fq that is shipped cannot be told: it
# needs one that is linked with the C library (cmake without FQ_STATIC).
. "$(dirname "$0")/story.sh"
command -v faketime >/dev/null || { echo "backups: faketime is missing; install it with: apt-get install faketime" >&2; exit 1; }
export FAKETIME_DONT_FAKE_MONOTONIC=1 TZ=Europe/Berlin
# The clock stands still in each command: a slow machine is not a second later.
at() { faketime -f "$1" fq "${@:2}"; }
at '2000-01-01 12:00:00' push x >/dev/null
fq pop --json | grep -q '"pushed_at":"2000-' ||
  { echo "backups: this fq does not listen to faketime; FQ=build/test/dynamic/fq names one that does" >&2; exit 1; }

echo '1. Saturday noon. A backup each night at half past two, every one of them; a report on Monday, if anybody is there.'
at '2026-03-28 12:00:00' schedule set backup '30 2 * * *' --missed all --overlap queue 'back up'
at '2026-03-28 12:00:00' schedule set report '0 8 * * mon' --missed skip 'write the report'
at '2026-03-28 12:00:00' schedule show backup | grep -A2 '^next' |
  sed 's/^/   /'

echo '2. On Sunday there is no half past two: the clocks are put from two to three, and the backup is due at that moment.'
at '2026-03-29 01:59:59' pop >/dev/null && wrong 'it came before its time'
first=$(at '2026-03-29 03:00:00' pop --json | jq -r .scheduled_at)
[ "$first" = 2026-03-29T01:00:00.000Z ] || wrong "the first backup was due at $first"

echo '3. The machine sleeps until Wednesday. Three backups are made up, each in its turn; the report is not.'
made=$(at '2026-04-01 09:00:00' pop -n 10 --json | jq -r '.schedule + " " + .scheduled_at')
sed 's/^/   /' <<<"$made"
[ "$(grep -c '^backup ' <<<"$made")" = 3 ] || wrong 'a backup is missing, or one too many'
grep -q '^report ' <<<"$made" && wrong 'a report was made up'

echo "4. fq log knows what became of Monday's: $(fq log --json | jq -r 'select(.event == "skipped") | .schedule + ", " + .reason')"
