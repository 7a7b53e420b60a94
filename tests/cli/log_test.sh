#!/usr/bin/env bash
# log_test - the journal as events: for people, as JSON, filtered, the last ones, and on as they happen.
. "$(dirname "$0")/lib.sh"

# what ARGUMENTS...: event, id and tenant of each line.
what() { fq log "$@" | awk '{ printf "%s:%s:%s ", $2, $3, $4 }'; }

gives 1 'there is none' fq log
fq queue create default
gives 1 '' fq log
fq push a -t acme >/dev/null
fq push b -t acme/mail --delay 1h >/dev/null
printf '1\n2\n3\n' | fq push --lines -t other >/dev/null
fq retry "$(fq pop --lease 1m -t acme | cut -f1)" --reason $'no\e[31m luck'
fq pop -t other >/dev/null
all='pushed:1:acme pushed:2:acme/mail pushed:3:other pushed:4:other pushed:5:other leased:1:acme retried:1:acme leased:3:other acked:3:other '
is 'all that happened, oldest first' "$all" "$(what)"
is 'of one message' 'pushed:1:acme leased:1:acme retried:1:acme ' "$(what 1)"
is 'of a tenant and all below it' 'pushed:1:acme pushed:2:acme/mail leased:1:acme retried:1:acme ' "$(what -t acme)"
is 'all of them, in the words of the default' "$(what)" "$(what -n unlimited)"
is 'the last two' 'leased:3:other acked:3:other ' "$(what -n 2)"
is 'the last ones of a tenant' 'leased:1:acme retried:1:acme ' "$(what -n 2 -t acme)"
is 'more than there are' "$all" "$(what -n 100)"
is 'since a duration ago' "$all" "$(what --since 1h)"
is 'since a time' "$all" "$(what --since 2026-01-01T00:00:00Z)"
gives 1 '' fq log --since @9999999999
gives 1 '' fq log --since +5m
for all_time in 36500d 36501d 100000d 99999999999999999999d @-62135596800 @-62135596801 @-9999999999999999999999 0001-01-01T00:00:00Z; do
  is "since $all_time: everything" "$all" "$(what --since "$all_time")"
done
gives 1 'message 99: not in queue' fq log 99
gives 1 'message 99: not in queue' fq log -f 99
gives 1 '' fq log -t nobody
gives 1 'there is none' fq log -q none
is 'what is told to people is escaped' 1 "$(fq log 1 | grep -c 'no\\x1b\[31m luck')"
fq schedule set -q timed nightly @daily x; fq schedule remove -q timed nightly
is 'events have a column that fits all of them' '1 2' "$(fq log -q timed | awk '{ print index($0, " -  ") }' | sort -u | wc -l) $(fq log -q timed | wc -l)"
is 'a delayed push says when it is due' 1 "$(fq log 2 | grep -c 'due 20')"
is 'keys of an event' 'event at queue id tenant receipt pid reason lease_until due_at exit signal stderr expires_at other_queue other_id schedule scheduled_at step kind bytes priority key after after_any set' \
  "$(fq log --json | jq -r 'keys_unsorted | join(" ")' | sort -u)"
is 'every line of --json is an object' 9 "$(fq log --json | jq -s length)"
is 'a lease by time has its receipt and its end' '"1.1.mark" null true' \
  "$(fq log --json 1 | jq -r 'select(.event == "leased") | "\(.receipt | sub("[^.]{4}$"; "mark") | tojson) \(.pid) \(.lease_until != null)"')"
is 'a lease by life has its process' true "$(fq log --json 3 | jq 'select(.event == "leased") | .pid > 0')"
is 'a retry has its reason' $'no\e[31m luck' "$(fq log --json 1 | jq -r 'select(.event == "retried") | .reason')"
# But for what its push said of its turn, which is there with the message.
in_words() { fq log --json "$1" | jq -c '.bytes = null | .priority = null'; }
is 'show tells events in the same words' "$(in_words 1)" "$(fq show 1 --json | jq -c '.history[]')"
is 'also of what has ended' "$(in_words 3)" "$(fq show 3 --json | jq -c '.history[]')"

# Of what has ended the push is looked for, in the right one of many files; where it was given back the rest is told.
long=$(head -c 60000 /dev/zero | tr '\0' x)
large() { for _ in $(seq "$1"); do printf '%s\n' "$long"; done | fq push -q ended --lines -t last >/dev/null; }
large 34
# One record, so from a file and not from a pipe that pauses: where one of them lives its file stays.
printf '%s\n' a b c >"$work/abc"
fq push -q ended --lines -t last --file "$work/abc" >/dev/null
large 5
fq pop -q ended -n 36 --raw >/dev/null
told() { fq show -q ended "$1" --json | jq -r '[.history[].event, .tenant] | join(" ")'; }
[ -e "$FQ_SPOOL/queues/ended/journal/1.fqj" ] && fail 'the first file is still there'
is 'its file is gone' 'leased acked ' "$(told 1)"
for id in 35 36; do is "the history of $id, which has ended" 'pushed leased acked last' "$(told $id)"; done

# Events caused only by time are not logged; when they will come is told.
fq push short -q time --ttl 1ms >/dev/null
fq push long -q time --ttl 1h --delay 1h >/dev/null
fq push held -q time --ttl 1h --after 2 >/dev/null
is 'a push tells when it expires, counted from when it is due' '0.001 7200 null' \
  "$(fq log -q time --json | jq -r 'def s: sub("(?<m>[.][0-9]+)Z"; "Z") as $t | ($t | fromdate) + (capture("(?<m>[.][0-9]+)Z").m | tonumber); if .expires_at then ((.expires_at | s) - (.at | s)) * 1000 | round / 1000 else "null" end' | paste -sd' ')"
is 'people are told too' 2 "$(fq log -q time | grep -c ', expires 20\|  expires 20')"
until [ "$(fq stats -q time --json | jq .expired)" = 1 ]; do sleep 0.01; done  # until its time is over
is 'that it expired is told by show and no event' 'expired 0' "$(fq show -q time 1 --json | jq -r '.history[-1].event') $(fq log -q time | grep -c expired)"

# What a turn rests on, and what was set.
fq queue create turns; fq queue set -q turns order=key
fq push -q turns -t acme --key 07 four >/dev/null
fq push -q turns --after 1 x >/dev/null
fq push -q turns --after-any 1,2 --delay 1h x >/dev/null
is 'a push tells its bytes, its key and what it waits for' '[4,0,"07",null,null] [1,0,null,[1],null] [1,0,null,null,[1,2]]' \
  "$(fq log -q turns --json | jq -c 'select(.event == "pushed") | [.bytes, .priority, .key, .after, .after_any]' | paste -sd' ')"
fq tenant set -q turns acme weight=2.5 rate=10/min pool=; fq tenant pause -q turns acme; fq tenant limit -q turns acme --for 1h
is 'settings are told as fq.toml has them' '[null,{"order":"key"}] ["acme",{"weight":2.5,"rate":"10/min","pool":null}] ["acme",{"paused":true}] true' \
  "$(fq log -q turns --json | jq -c 'select(.event == "set") | if .set.limited then (.set.limited > .at) else [.tenant, .set] end' | paste -sd' ')"
is 'and to people' 'weight 2.5' "$(fq log -q turns -t acme | grep -o 'weight 2.5')"
is 'not among those of a message' 0 "$(fq log -q turns 1 | grep -c ' set ')"
last() { fq log -q turns -n 1 | sed 's/.* set  *[^ ]*  *[^ ]*  *//'; }
fq tenant limit -q turns acme --for none
is 'what fq.toml has no key for ends in words of its own' 'not limited' "$(last)"
fq tenant resume -q turns acme
is 'a pause of a tenant too' 'not paused' "$(last)"
fq queue drain -q turns
is 'and begins so' 'draining' "$(last)"
fq queue resume -q turns
is 'those of a queue both' 'not paused, not draining' "$(last)"
fq tenant set -q turns acme weight=
is 'what it has one for is as there again' 'weight as in fq.toml' "$(last)"

# Of a job: exit status, signal and what it said.
fq push job -q jobs --attempts 2 >/dev/null
fq worker -q jobs --once -- sh -c 'echo sorry >&2; exit 3' 2>/dev/null
is 'how a job ended' '3 sorry' "$(fq log -q jobs --json | jq -r 'select(.event == "retried") | "\(.exit) \(.stderr)"' | xargs)"

# Hostile names.
fq push x -q odd -t $'测\u202e"\\' >/dev/null
is 'a tenant is escaped for people' 1 "$(fq log -q odd | grep -cF '测\u{202e}"\\')"
is 'and only there' $'测\u202e"\\' "$(fq log -q odd --json | jq -r .tenant)"
is 'in a C locale what is not ASCII is escaped' 1 "$(LC_ALL=C "$FQ" log -q odd | grep -cF '\u{6d4b}')"

# On as it happens.
follow() { : >"$work/followed"; "$FQ" log -f "$@" >"$work/followed" 2>"$work/err" & follower=$!; }
# until_told PATTERN: stays until the follower has told it, at most 10 s.
until_told() { for _ in $(seq 1000); do grep -q "$1" "$work/followed" && return; sleep 0.01; done; fail "$1 was not told: $(cat "$work/followed")"; }  # between two looks
seq 12 | fq push --lines -q f >/dev/null
follow -q f
until_told ' 12 '
is '-f begins with the last ten' '10 3' "$(wc -l <"$work/followed") $(awk 'NR == 1 { print $3 }' "$work/followed")"
fq push late -q f >/dev/null
until_told ' 13 '
fq push --lazy lazy -q f >/dev/null
until_told ' 14 '
fq pop --lease 1m -q f >/dev/null
until_told 'leased  *1 '
kill -TERM $follower
wait $follower
is 'it ends by TERM' 143 $?
is 'and said nothing' '' "$(cat "$work/err")"
follow -q f -n 1 --json
until_told leased
is '-f -n 1 begins with the last one' 1 "$(wc -l <"$work/followed")"
kill $follower; wait $follower 2>/dev/null
follow -q f --since 1h
until_told leased
is '-f --since begins there' 15 "$(wc -l <"$work/followed")"
kill $follower; wait $follower 2>/dev/null
follow -q f -n unlimited
until_told leased
is '-f -n unlimited begins with the oldest' 15 "$(wc -l <"$work/followed")"
kill $follower; wait $follower 2>/dev/null

# A reader that left.
is 'log | head ends quietly' '1 141 ' "$(fq log -q f 2>&1 | head -n 1 | wc -l) $(seq 3000 | fq push --lines -q f >/dev/null; set -o pipefail; "$FQ" log -q f 2>"$work/err" | head -n 1 >/dev/null; echo "$? $(cat "$work/err")")"
is 'log -f | head too, although nothing happens' '141 ' "$(set -o pipefail; timeout 20 env --default-signal=PIPE "$FQ" log -f -q f 2>"$work/err" | head -n 1 >/dev/null; echo "$? $(cat "$work/err")")"
gives 74 'standard output' bash -c '"$FQ" log -q f >/dev/full'

# Over changes of files and compaction: every message is told, each once, though files come and go under it. Whoever
# reads slower than files are given back misses some, and is told; so each lap waits until the last one was told.
follow -q many -n 1 2>/dev/null
wait $follower
is 'a queue that is not there is named' 1 "$(grep -c 'there is none' "$work/err")"
fq queue create many
follow -q many --since 1h --json
for lap in $(seq 20); do
  head -c 60000 /dev/zero | tr '\0' x | fold -w 3000 | fq push --lines -q many --lazy >/dev/null
  fq pop -q many -n 20 >/dev/null
  until_told "\"event\":\"acked\".*\"id\":$((20 * lap)),"
done
kill $follower; wait $follower 2>/dev/null
is 'nothing is told twice or left out' 400 "$(jq -r 'select(.event == "acked") | .id' "$work/followed" | sort -un | wc -l)"
is 'nor any push' 400 "$(jq -r 'select(.event == "pushed") | .id' "$work/followed" | sort -n | wc -l)"
is 'each with its tenant' default "$(jq -r .tenant "$work/followed" | sort -u)"

# A journal file that somebody took away: the loss is told, the rest is.
# files: four of them, with 40 messages of which none has ended.
files() {
  fresh
  fq push --lines -t acme <"$work/forty" >/dev/null
  [ -e "$journal/4.fqj" ] || fail "there are no four files: $(ls "$journal")"
}
journal=$FQ_SPOOL/queues/default/journal
# From a file: a pipe that pauses would make other batches of them.
head -c 2000000 /dev/zero | tr '\0' x | fold -w 50000 >"$work/forty"
files
is 'whole' '40 ' "$(fq log | wc -l) $(fq log 2>&1 >/dev/null)"
for gone in 1 2 3; do
  files
  rm "$journal/$gone.fqj"
  gives 0 "fq: journal/$gone.fqj: the file is missing; its events, " fq log
  told=$(wc -l <"$work/out")
  is "without file $gone: once, with how much" 1 "$(grep -c 'missing; its events, [1-9][0-9]* bytes, cannot be shown; see fq check$' "$work/err")"
  is "without file $gone: nothing else is said" 1 "$(wc -l <"$work/err")"
  is "without file $gone: some are told, some are not" true "$(jq -n "$told > 20 and $told < 40")"
  is "without file $gone: the last ones are" 40 "$(awk 'END { print $3 }' "$work/out")"
  is "without file $gone: each once" "$told" "$(awk '{ print $3 }' "$work/out" | sort -u | wc -l)"
  gives 0 'the file is missing' fq log --json
  is "without file $gone: as JSON too" "$told" "$(jq -s length "$work/out")"
  gives 0 'the file is missing' fq log -n 100  # more than there are
  is "without file $gone: also to who asks for the last ones" "$told" "$(wc -l <"$work/out")"
  gives 0 'the file is missing' fq log -t acme
  gives 0 '' fq log -n 3
  is "without file $gone: the last three need it not" '38 39 40' "$(awk '{ print $3 }' "$work/out" | paste -sd' ')"
  : >"$work/followed"
  "$FQ" log -f --since 1h >"$work/followed" 2>"$work/err" & follower=$!
  until_told ' 40 '
  fq push on >/dev/null
  until_told ' 41 '
  kill $follower; wait $follower 2>/dev/null
  is "without file $gone: -f goes on behind it, and says it once" "$((told + 1)) 1" "$(wc -l <"$work/followed") $(grep -c 'the file is missing' "$work/err")"
done
# After a recovery that found it missing.
files
rm "$journal/2.fqj" "$FQ_SPOOL/queues/default/segment"
gives 0 'journal/2.fqj: the file is missing' fq stats
gives 0 'fq: journal/3.fqj: what was before it is lost; its events, 500' fq log
is 'after a recovery: the rest is told' '30 40' "$(wc -l <"$work/out") $(awk 'END { print $3 }' "$work/out")"
is 'after a recovery: once' 1 "$(wc -l <"$work/err")"
# What a push that was killed left at the end is none.
fresh
for n in 1 2 3; do
  fq push "$n" >/dev/null
  killed_at flush.written fq push torn
  rm "$FQ_SPOOL/queues/default/segment"
  fq push lazily --lazy >/dev/null 2>&1
done
gives 0 '' fq log
# All that was written out.
files
rm "$journal"/[1-4].fqj
gives 1 'journal/4.fqj: the file is missing' fq log
is 'every file is named' '1 2 3 4' "$(grep -o 'journal/[0-9]*' "$work/err" | cut -d/ -f2 | paste -sd' ')"
# Something else in its place.
for what in directory link fifo header; do
  files
  mv "$journal/2.fqj" "$work/2.fqj"
  case $what in
    directory) mkdir "$journal/2.fqj"; says='is not a regular file' ;;
    link) ln -s "$work/2.fqj" "$journal/2.fqj"; says='is a symbolic link' ;;
    fifo) mkfifo "$journal/2.fqj"; says='is not a regular file' ;;
    header) head -c 2000000 /dev/zero >"$journal/2.fqj"; says='its header is damaged' ;;
  esac
  gives 0 "fq: journal/2.fqj: $says" timeout 20 "$FQ" log
  is "$what in its place: the rest is told" "40 $(grep -c acme "$work/out")" "$(awk 'END { print $3 }' "$work/out") $(wc -l <"$work/out")"
  rm -r "$journal/2.fqj"
done
# One that is given back is no loss: the oldest, whose name is gone a moment before the queue knows.
files
FQ_STOP_AT=compaction.removed "$FQ" pop -n 15 >/dev/null 2>&1 & popper=$!
await stopped $popper
is 'its name is gone' no "$([ -e "$journal/1.fqj" ] && echo yes || echo no)"
gives 0 '' fq log
is 'a file that goes is no loss' '11 40' "$(awk '$2 == "pushed" { print $3 }' "$work/out" | sed -n '1p;$p' | paste -sd' ')"
# Who comes beside it writes nothing of what it would do then, nor waits, and tells of it.
held="fq: queue 'default': journal files that can go are held by process $popper (fq), which is stopped; continue or end it"
before=$(FQ_KILL_AT=compaction.low "$FQ" pop 2>"$work/err")
is 'who is stopped while files go holds up no pop' '0 yes' "$? $([ -n "$before" ] && echo yes || echo no)"
is 'and is named by it' "$held" "$(cat "$work/err")"
receipt=$(fq pop --lease 1h --json 2>"$work/err" | jq -r .receipt)
is 'but not where nothing ends' '' "$(cat "$work/err")"
gives 0 "$held" fq ack "$receipt"
kill -CONT $popper; wait $popper
gives 0 '' fq log
# A damaged place and a missing file in one log.
files
rm "$journal/2.fqj"
at=$(grep -abo fqr1 "$journal/1.fqj" | sed -n 2p | cut -d: -f1)
printf '?' | dd of="$journal/1.fqj" bs=1 seek=$((at + 200)) conv=notrunc status=none
gives 0 'cannot be read; see fq check' fq log
is 'each loss has its line' 'journal/1.fqj journal/2.fqj' "$(cut -d' ' -f2 "$work/err" | tr -d : | paste -sd' ')"

# Who reads much to find little can be ended: at the next block, not at the end.
files
FQ_STOP_AT=log.block:2 FQ_KILL_AT=log.block:3 "$FQ" log -n 1 -t nobody >"$work/out" 2>"$work/err" & reader=$!
await stopped $reader
kill -TERM $reader; kill -CONT $reader; wait $reader
is 'TERM ends a long look at once' '143 ' "$? $(cat "$work/out" "$work/err")"

# What is wrong with what was typed.
for bad in x '' 1.5 0x1 99999999999999999999; do gives 64 'ID' fq log "$bad"; done
gives 64 'one message id' fq log 1 2
for bad in yesterday '' 1m1h @ @x @- -1h 5x 1dd; do gives 64 "--since: '$bad' is neither a time nor a duration; write" fq log --since="$bad"; done
gives 64 "--since: '5' has no unit; write 5s, 5m or 5h, or @5 for that second since 1970" fq log --since 5
gives 64 "--since: '2026-11-02T08:00:00' has no time zone; write 2026-11-02T08:00:00Z" fq log --since 2026-11-02T08:00:00
gives 64 "--since: '2026-11-02' has no time of day; write 2026-11-02T00:00:00Z" fq log --since 2026-11-02
gives 64 "--since: '2026-03-29 02:30' does not exist" env TZ=Europe/Berlin "$FQ" log --since '2026-03-29 02:30'
gives 78 "TZ: 'Nowhere/Land' is not a known time zone" env TZ=Nowhere/Land "$FQ" log --since 08:00
is 'since a local time' "$(fq log --json | wc -l)" "$(TZ=Asia/Tokyo "$FQ" log --json --since '2026-01-01 00:00' | wc -l)"
id=$(fq push -q zone --at @4102444800 x)  # 2100-01-01
is 'people see local time' '2100-01-01T09:00:00.000+09:00' "$(TZ=Asia/Tokyo "$FQ" show -q zone "$id" | sed -n 's/^due.at *//p')"
is 'also why it waits' 1 "$(TZ=Asia/Tokyo "$FQ" explain -q zone "$id" | grep -c 'due at 2100-01-01T09:00:00.000+09:00 (in')"
is 'and what happened' "$(TZ=Asia/Tokyo date +%Y-%m-%d)" "$(TZ=Asia/Tokyo "$FQ" log -q zone | cut -c 1-10)"
is 'JSON is UTC' '2100-01-01T00:00:00.000Z' "$(TZ=Asia/Tokyo "$FQ" show -q zone "$id" --json | jq -r .due_at)"
is 'a local time is in the zone' '2099-12-31T23:30:00.000Z' "$(fq show -q zone --json "$(TZ=Asia/Tokyo "$FQ" push -q zone --at '2100-01-01 08:30' x)" | jq -r .due_at)"
is 'in a line too' '2099-12-31T23:30:00.000Z' "$(fq show -q zone --json "$(echo '{"payload":"x","at":"2100-01-01 08:30"}' | TZ=Asia/Tokyo "$FQ" push -q zone --ndjson)" | jq -r .due_at)"
is 'a time alone is the next one' 1 "$(fq push -q zone --at "$(date -d '+2 hours' +%H:%M)" x >/dev/null; fq peek -q zone --state delayed --json | jq -r 'select(.due_at | sub("\\..*"; "Z") | fromdate < now + 7300) | 1')"
gives 64 "--since: '2026-02-30T00:00:00Z' is not a date of the calendar" fq log --since 2026-02-30T00:00:00Z
gives 64 "--since: '@253402300800' is behind the year 9999" fq log --since @253402300800
gives 64 "--since: '+36501d' is too long; the limit is 36500d" fq log --since +36501d
for bad in 0 -1 x ''; do gives 64 '-n' fq log -n "$bad"; done
gives 64 '--tenant' fq log -t a//b
gives 64 'not a format' fq log --format raw
gives 64 'unknown option' fq log --tail
finish
