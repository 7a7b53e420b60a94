#!/usr/bin/env bash
# schedule_test - fq schedule: messages made at times, by whoever works on the queue.
. "$(dirname "$0")/lib.sh"

told() { fq schedule list --json | jq -r "$1" | paste -sd' '; }

# It is set, told, and makes a message each time, which tells of it.
gives 0 '' fq schedule set tick 'every 1s' --tag kind=tick -t acme 'a payload'
is 'the queue was made' default "$(fq queue list)"
gives 1 '' fq pop
await eval 'm=$(fq pop --lease 1m --json)'
is 'its message' 'acme a payload tick' "$(jq -r '"\(.tenant) \(.payload) \(.schedule)"' <<<"$m")"
is 'when it was due' "$(told .last.at)" "$(jq -r .scheduled_at <<<"$m")"
fq schedule pause tick
is 'told' 'tick every 1s true leased 0' "$(told '"\(.name) \(.spec) \(.paused) \(.last.fate) \(.next | length)"')"
is 'of another message' null "$(fq push x >/dev/null; fq peek --json | jq .schedule)"
id=$(fq schedule run tick)
is 'run makes one now, paused or not' "$id tick" "$(fq show --json "$id" | jq -r '"\(.id) \(.schedule)"')"
is 'events' 'scheduled pushed scheduled' \
  "$(fq log --json | jq -r 'select(.schedule == "tick").event' | uniq | head -3 | paste -sd' ')"
fq schedule resume tick
is 'not paused any more' 'false 3' "$(told '"\(.paused) \(.next | length)"')"
is 'while one is unfinished none is made' 'skipped' "$(await eval '[ "$(told .last.fate)" = skipped ]'; told .last.fate)"
is 'and why' 'the one before was unfinished' "$(fq log --json | jq -r 'select(.event == "skipped").reason' | sort -u)"
is 'explain tells why' '; the last time was skipped: the one before was unfinished' "$(fq explain | sed -n 's/^schedule tick: next at [0-9T:.Z+-]*//p')"
is 'explain tells it in JSON too' 'tick true next at' \
  "$(fq explain --json | jq -r 'select(.about == "schedule") | "\(.schedule) \(.next_at > "2026") \(.text[:7])"')"
# A second may end between two looks.
before=$(told '.next[0]')
counted=$(fq stats --json | jq -r '"\(.schedules) \(.next_schedule_at)"')
is 'stats count it, and tell when it is next' it \
  "$(case $counted in "1 $before" | "1 $(told '.next[0]')") echo it ;; *) echo "$before $counted" ;; esac)"
fq schedule pause tick
is 'one that is paused is never next' '1 null' "$(fq stats --json | jq -r '"\(.schedules) \(.next_schedule_at)"')"
fq schedule remove tick
gives 1 '' fq schedule list
gives 1 'there is none' fq schedule show tick
is 'check' 0 "$(fq check >/dev/null; echo $?)"

# A job knows what made it; a worker that sleeps wakes for it.
fresh
fq schedule set job '* * * * *' --tz UTC -- sh -c 'echo "$FQ_SCHEDULE $FQ_SCHEDULED_AT"'
id=$(fq schedule run job)
fq push --shell 'echo "${FQ_SCHEDULE-none}"' >/dev/null
out=$(FQ_SCHEDULE=of-the-worker fq worker --drain | sort)
is 'in the job' "job $(fq log --json "$id" | jq -r .scheduled_at | head -1)" "$(head -1 <<<"$out")"
is 'and in others nothing' none "$(tail -1 <<<"$out")"
fq schedule set soon 'every 1s' --overlap queue -- true
for _ in 1 2 3; do "$FQ" worker -j 1 &>/dev/null & workers+=($!); done
await eval '[ "$(fq jobs --json --state acked -n 100 | jq -r "select(.schedule == \"soon\").id" | wc -l)" -ge 2 ]'
kill "${workers[@]}"; wait "${workers[@]}"
is 'each time once, however many are at work' '' "$(fq log --json | jq -r 'select(.event == "pushed" and .schedule == "soon").scheduled_at' | sort | uniq -d)"

# Shell and human forms.
fresh
fq schedule set s 'every 1h' "it's"
fq schedule run s >/dev/null
is 'pop --format sh' "s it's" "$(eval "$(fq pop --format sh)"; echo "$FQ_SCHEDULE $FQ_PAYLOAD")"
is 'a table' 'NAME SPEC ZONE NEXT LAST FATE MAKES' "$(fq schedule list | sed -n '1s/  */ /gp')"
is 'the next three times' 'every 1h Etc/UTC in 1h, 2h, 3h' "$(fq schedule list | tr -s ' ' | sed -n 's/^s \(.* 3h\) .*/\1/p')"
is 'keys of JSON' 'name queue spec tz missed overlap paused source waiting fault last next tenant|at id fate|3' \
  "$(fq schedule list --json | jq -r '[(keys_unsorted[:13] | join(" ")), (.last | keys_unsorted | join(" ")), (.next | length)] | join("|")')"
is 'people see local time' +09:00 "$(TZ=Asia/Tokyo fq schedule show s | sed -n 's/^next .*\(.\{6\}\)$/\1/p')"
is 'JSON is UTC' Z "$(TZ=Asia/Tokyo fq schedule show s --json | jq -r '.next[0][-1:]')"
fq schedule set h @hourly x
is '@hourly is the hour' '00:00' "$(fq schedule show h --json | jq -r '.next[0][14:19]')"
fq schedule remove h
is 'its names' s "$(fq schedule list --names)"
is 'in full' "spec every 1h" "$(fq schedule show s | sed -n 's/^spec  */spec /p')"

# All that was set of its messages is told again.
HOME=/a/home fq schedule set whole 'every 1h' -p 3 --attempts 7 --timeout 5s --keep 2d --ttl 1h --env HOME --tag q=1 -- true it
is 'to programs' '[3,7,"5s","2d","1h",{"HOME":"/a/home"},{"q":"1"}]' \
  "$(fq schedule show whole --json | jq -c '[.priority, .attempts, .timeout, .keep, .ttl, .env, .tags]')"
is 'and to people' 'priority=3 tag=q=1 attempts=7 timeout=5s ttl=1h keep=2d makes=true env=HOME' \
  "$(fq schedule show whole | sed -nE 's/^(priority|tag|attempts|timeout|ttl|keep|makes|env) +([^ ]*).*/\1=\2/p' | xargs)"
is 'and where it runs' "cwd $PWD" "$(fq schedule show whole | sed -n 's/^cwd */cwd /p')"
head -c 60000 /dev/zero | fq schedule set zeros @daily -
is 'a long payload is cut' yes "$([ "$(fq schedule show zeros | wc -c)" -lt 2000 ] && echo yes)"
fq schedule remove whole; fq schedule remove zeros

# What is refused, and makes nothing.
fresh
gives 65 "minute: '61' is not from 0 to 59" fq schedule set s '61 * * * *' x
gives 65 'day of month: no month of' fq schedule set s '0 0 30 2 *' x
gives 65 'the shortest is 1s' fq schedule set s 'every 0s' x
gives 65 'has 4 fields' fq schedule set s '0 0 * *' x
gives 64 'SPEC: is one argument' fq schedule set s 0 3 '*' '*' '*' x
gives 64 "fq: --tz: 'Mars/Phobos' is not a known time zone" fq schedule set s @daily --tz Mars/Phobos x
TZ=Mars/Phobos gives 78 "fq: TZ: 'Mars/Phobos' is not a known time zone" fq schedule set s @daily x
gives 64 'needs PAYLOAD or -- CMD' fq schedule set s @daily
gives 64 'needs NAME and SPEC' fq schedule set s
gives 64 "--missed: 'never' is not a rule; use one, all or skip" fq schedule set s @daily --missed never x
gives 64 "begins with '.' or '-'" fq schedule set .s @daily x
gives 64 'unknown option' fq schedule set s @daily --delay 1s x
gives 64 'takes no --tz' fq schedule list --tz UTC
gives 64 'did you mean' fq schedule lst
gives 64 'PAYLOAD: is one argument, 2 were given; quote it, or put -- before a command' fq schedule set s '0 0 * * *' x y
gives 64 'PAYLOAD: is one argument, 2 were given' fq schedule set s @daily a b
gives 64 'PAYLOAD: is one argument, 3 were given' fq schedule set s 'every 1h' a b c
gives 64 'SPEC: is one argument' fq schedule set s every 1h x
gives 1 'there is none' fq schedule list
is 'nothing was made' 'no' "$([ -e "$FQ_SPOOL" ] && echo yes || echo no)"
# Without a database of zones, which needs a name space of its own, and so root.
zoneless() { unshare -m sh -c 'mount -t tmpfs none /usr/share && exec "$@"' sh "$@"; }
if zoneless true 2>/dev/null; then
  gives 78 'zoneinfo' zoneless "$FQ" schedule set s @daily --tz Europe/Berlin x
  gives 0 '' zoneless "$FQ" schedule set s @daily --tz UTC x
else
  left_out "a name space without time zones needs root"
fi
fresh
head -c 70000 /dev/zero | tr '\0' x >"$work/large"
# --file '' is no file, and --file DIRECTORY says what it is.
gives 65 'No such file' fq schedule set s @daily --file '' -- cat
gives 65 'Is a directory' fq schedule set s @daily --file "$work" -- cat
gives 65 'longer than 64KiB' fq schedule set s @daily --file "$work/large"

# In fq.toml: it comes and goes with the file; what was set at run time wins until it is removed.
of_the_file() {
fresh
fq queue create
cat >"$FQ_SPOOL/fq.toml" <<'END'
[queue."*".schedule.nightly]
spec = "0 3 * * *"
tz = "Europe/Berlin"
argv = ["backup.sh", "/srv"]
env = ["LEVEL=1"]
missed = "skip"
tags = { kind = "backup" }
[queue.default.schedule.tick]
spec = "every 1h"
payload = "tick"
END
is 'both are there' 'nightly fq.toml tick fq.toml' "$(fq schedule list --json | jq -r '"\(.name) \(.source)"' | sort | paste -sd' ')"
is 'as the file says' 'Europe/Berlin skip backup.sh /srv backup' \
  "$(fq schedule show nightly --json | jq -r '"\(.tz) \(.missed) \(.argv | join(" ")) \(.tags.kind)"')"
gives 64 'stands in fq.toml' fq schedule remove tick
fq schedule set tick 'every 2h' tock
is 'set wins' 'every 2h set' "$(fq schedule show tick --json | jq -r '"\(.spec) \(.source)"')"
fq schedule remove tick
is 'and the file again' 'every 1h fq.toml' "$(fq schedule show tick --json | jq -r '"\(.spec) \(.source)"')"
sed -i 's/0 3/0 33/' "$FQ_SPOOL/fq.toml"
gives 0 "hour: '33' is not from 0 to 23; the last good one holds" fq schedule list
echo >"$FQ_SPOOL/fq.toml"
gives 1 '' fq schedule list
}
here && of_the_file  # a server has none

# A full queue keeps a time as missed until there is room; a draining one likewise.
fresh
fq push held >/dev/null
fq queue set max_messages=1
fq schedule set s 'every 1s' tick
await eval '[ "$(told .waiting)" = true ]'
is 'no message more' 1 "$(fq stats --json | jq .ready)"
is 'the message that was there' held "$(fq pop)"
await eval '[ "$(fq pop)" = tick ]'

# The limits of the tenant hold for what its schedules make.
fresh
fq push -t acme held >/dev/null
fq tenant set acme max_messages=1
fq schedule set s 'every 1s' -t acme tick
await eval '[ "$(told .waiting)" = true ]'
is 'and it is said' 'no room' "$(fq schedule list | grep -o 'no room')"
fq pop >/dev/null
await eval '[ "$(fq pop)" = tick ]'

# What follows is about many that a file names.
here || { finish; exit; }

# Many: too long a file is refused, the last good one holds, and an idle worker with 10,000 of them sleeps.
fresh
named() {
  awk -v n="$1" 'BEGIN { for (i = 0; i < n; ++i) printf "[queue.default.schedule.n%d]\nspec = \"0 0 1 1 *\"\npayload = \"x\"\n", i }'
}
fq queue create
named 10000 >"$FQ_SPOOL/fq.toml"
is 'as many as the file names' 10000 "$(fq schedule list --names | wc -l)"
named 100000 >"$FQ_SPOOL/fq.toml"
gives 0 'larger than 1MiB; the last good one holds' fq push x
is 'and those that were there' 10000 "$(fq schedule list --names 2>/dev/null | wc -l)"
named 10000 >"$FQ_SPOOL/fq.toml"; fq pop >/dev/null
"$FQ" worker -- true 2>/dev/null & worker=$!
await eval 'fq workers >/dev/null'
ticks() { awk '{ print $14 + $15 }' "/proc/$worker/stat"; }
before=$(ticks)
read -rt 3 <>"$work/never" || :  # idle for so long
is 'it takes no CPU' yes "$([ $(($(ticks) - before)) -le 3 ] && echo yes || echo "no: $(ticks) ticks, $before before")"
kill "$worker"; wait "$worker" 2>/dev/null
is 'check' 0 "$(fq check >/dev/null; echo $?)"
gives 65 "'5-10/99' has a step that is too large" fq schedule set bad '5-10/99 * * * *' x
gives 65 "'every' has no duration; write \`every 10m\`" fq schedule set bad every x
# Zones as TZ may give them.
for zone in 'CET-1CEST CET-1CEST' '/usr/share/zoneinfo/Asia/Tokyo Asia/Tokyo' ':Asia/Tokyo Asia/Tokyo'; do
  gives 0 '' env TZ="${zone% *}" "$FQ" schedule set zoned '0 3 * * *' x
  is "TZ=${zone% *}" "${zone#* }" "$(fq schedule show --json zoned | jq -r .tz)"
  gives 0 '' fq schedule set zoned '0 3 * * *' --tz "${zone% *}" x
done
gives 78 'TZ: ' env TZ=/etc/passwd "$FQ" schedule set zoned '0 3 * * *' x

finish
