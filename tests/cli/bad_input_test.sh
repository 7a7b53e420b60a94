#!/usr/bin/env bash
# bad_input_test - whatever is wrong with what was typed or piped gets a line that names it, the right exit
# code, and nothing is lost or half-done.
. "$(dirname "$0")/lib.sh"

long=$(printf 'x%.0s' $(seq 256))
one=$(fq push one)

# Tenants and queues.
gives 64 'is empty' fq push x -t ''
gives 64 'longer than 255 bytes' fq push x -t "$long"
gives 64 'control character' fq push x -t $'a\nb'
gives 64 'a\x1b[31mb' fq push x -t $'a\e[31mb'
gives 64 'not UTF-8' fq push x -t $'\xff'
for bad in . .. a/.. ./a; do gives 64 "'.' or '..'" fq push x -t "$bad"; done
for bad in / /a a/ a//b; do gives 64 'an empty level' fq push x -t "$bad"; done
gives 64 'more than 8 levels' fq push x -t a/b/c/d/e/f/g/h/i
gives 64 "begins with '.' or '-'" fq push x -q ..
gives 64 'may only have' fq push x -q a/b
gives 64 'longer than 64' fq push x --queue="$long"
gives 78 'FQ_QUEUE' env FQ_QUEUE=../x "$FQ" push x
gives 78 'FQ_TENANT' env FQ_TENANT=a//b "$FQ" push x
gives 64 '--spool: is empty' fq push x --spool=

# Durations, times, numbers.
for bad in 5 5x '' -5s 1m1h inf; do gives 64 'not a duration' fq push x --delay="$bad"; done
gives 64 'too long' fq push x --delay 99999999999d
for bad in 5 '' 0s -5s never; do gives 64 '--ttl' fq push x --ttl="$bad"; done
gives 64 'too long' fq push x --delay 99999999999999999999999999999999h
for bad in yesterday 2026-02-30T00:00:00Z @99999999999999999999 +5; do gives 64 'not a time' fq push x --at "$bad"; done
gives 64 "--at: '2026-03-29 02:30' does not exist: the clocks are changed past it" env TZ=Europe/Berlin "$FQ" push x --at '2026-03-29 02:30'
gives 64 "--at: '25:00' is not a time of day" fq push x --at 25:00
gives 64 "--at: '2026-02-30 08:00' is not a date of the calendar" fq push x --at '2026-02-30 08:00'
gives 78 "TZ: 'Nowhere/Land' is not a known time zone" env TZ=Nowhere/Land "$FQ" push x --at 08:00
for zone in /etc/passwd ../../../etc/passwd :/etc/passwd /dev/zero /etc; do
  gives 78 "is not a known time zone" env TZ="$zone" "$FQ" push x --at '2027-01-31 10:00'
done
for zone in /usr/share/zoneinfo/Europe/Berlin :Europe/Berlin; do
  is "$zone is one" 2027-01-31T09:00:00.000Z "$(fq -q zoned show --json "$(TZ=$zone fq push -q zoned x --at '2027-01-31 10:00')" | jq -r .due_at)"
done
gives 65 "line 1: at: '2026-03-29 02:30' does not exist" bash -c 'echo "{\"payload\":\"x\",\"at\":\"2026-03-29 02:30\"}" | TZ=Europe/Berlin "$FQ" push --ndjson'
gives 64 'does not go with --at' fq push x --at +5m --delay 5m
for bad in 1.5 x '' 2147483648 -2147483649; do gives 64 'not a priority' fq push x --priority="$bad"; done
for bad in 0 -1 x '' 1.5; do gives 64 'not a number of 1 or more' fq push x --attempts="$bad"; done
gives 64 'the limit is 65535' fq push x --attempts 65536
for bad in 0 x 99999999999999999999; do gives 64 '-n:' fq pop -n "$bad"; done
gives 64 'too short' fq pop --lease 0s
gives 64 'not a tag' fq push x --tag ab
gives 64 "not a tag's name" fq push x --tag a-b=c
gives 64 '4096 bytes in all' fq push x --tag "a=$(printf 'x%.0s' $(seq 3000))" --tag "b=$(printf 'x%.0s' $(seq 3000))"
gives 64 'order is "priority"' fq push x --key 5

# Words.
gives 64 'unknown option '"'--priorty'"'; did you mean --priority?' fq push --priorty 5 x
gives 64 "unknown option '--ten'" fq push --ten a x
gives 64 "--payload=TEXT" fq push -hello
gives 64 'did you mean push?' fq put x
gives 64 'did you mean retry?' fq nack 1.1
gives 64 "did you mean jobs?" fq status
while IFS='|' read -r word meant; do gives 64 "did you mean $meant" fq "$word" 17; done <<'EOF'
rename|queue rename?
delete|cancel ID, or ack RECEIPT of a leased one?
pause|queue pause, or tenant pause?
list|jobs?
ls|jobs?
logs|log, or result ID
follow|result -f ID, or log -f?
tail|result -f ID, or log -f?
run|push -- CMD, or worker?
stop|queue pause, or cancel ID?
start|worker, or queue resume?
add|push?
clear|cancel --all, or queue purge?
clean|cancel --state dead --all
rerun|kick?
watch|jobs --watch, or top?
history|log, or show ID?
suspend|queue pause, or tenant pause?
switch|edit -p?
copy|backup DIR, or export?
at|push --at TIME -- CMD?
atq|jobs?
atrm|cancel?
version|--version?
versoin|--version?
hepl|help?
EOF
gives 64 'other options behind it: fq push -t acme ...' fq -t acme push x
gives 64 'other options behind it: fq pop -t acme --json' fq -t acme --json pop
gives 64 "other options behind it: fq push -t 'a b' ..." fq -t 'a b' push x
gives 64 'other options behind it: fq push -t '"'a\x1bb'"' ...' fq -t $'a\eb' push x
gives 64 'only --spool, -q, --format, --json and --raw stand before the command' fq -t zoo frobnicate
for command in stats 'stats --tenants' jobs; do
  # shellcheck disable=SC2086  # words
  gives 64 "fq: --watch: takes its duration after '='; write --watch=5s" fq $command --watch 5s
done
gives 64 "'5s' is not a message id" fq jobs 5s
gives 64 "'0s'" fq jobs --watch=0s
gives 64 'takes no operand; name a queue' fq stats --watch five
gives 64 'unknown command' fq $'x\ey'
gives 64 'which command' fq
gives 64 'which command' fq -q mail
gives 64 "unknown option '-x'; see fq help" fq -x
for letter in v V; do gives 64 "unknown option '-$letter'; did you mean --version?" fq -$letter; done
gives 64 "unknown option '-V'; a payload" fq push -V
gives 64 '--spool: needs a value' fq --spool
gives 64 'other options behind it' fq -n 2 pop
gives 0 '' fq -q mail help push
gives 0 '' env -u FQ_SPOOL -u HOME "$FQ" help
gives 64 "unknown command 'init'; did you mean queue create?" fq init
gives 64 "unknown command 'why'; did you mean explain?" fq why 1
gives 64 'one argument, 2 were given; quote it' fq push a b
fq queue create sized; fq queue set sized order=fifo max_payload=4B
gives 64 "--priority: the queue's order is \"fifo\" (order), which would ignore it" fq push -q sized -p 1 x
gives 65 'the limit (max_payload)' fq push -q sized 12345
# What a queue would refuse by the settings that it would have makes none.
mkdir "$work/unmade"
unmade() { FQ_SPOOL="$work/unmade" "$FQ" "$@"; }
none_made() { is "$1" '' "$(ls --ignore=fq.toml "$work/unmade")"; }
gives 64 "--key: the queue's order is \"priority\" (order), which would ignore it" unmade push --key k x
gives 64 '--key: the queue' unmade schedule set s @daily --key k x
none_made 'nothing was made for a key that nothing goes by'
# Nor does a first batch that is refused.
printf '{"payload":"good"}\nbad\n' >"$work/first"
gives 65 "line 2: " unmade push --ndjson --file "$work/first"
printf '{"payload":"good"}\n{"payload":"x","after":[7]}\n' >"$work/first"
gives 1 "line 2: message 7: not known (any more), so nothing can come after it" unmade push --ndjson --file "$work/first"
gives 1 'fq: message 99: not known (any more), so nothing can come after it' unmade push --lines --after-any 99 --file "$work/first"
gives 1 'fq: message 99: not known (any more), so nothing can come after it' unmade push --after 99,98 x
none_made 'nor for a first batch that is refused'
printf '[queue."*"]\norder = "fifo"\nmax_payload = "4B"\n' >"$work/unmade/fq.toml"
gives 64 "--priority: the queue's order is \"fifo\" (order), which would ignore it" unmade push -p 1 x
gives 64 '--priority: the queue' unmade push --lines -p 1 --file /dev/null
gives 64 '--priority: the queue' unmade schedule set s @daily -p 1 x
none_made 'nor for a priority'
printf 12345 >"$work/five"
gives 65 'the limit (max_payload)' unmade push 12345
gives 65 'the limit (max_payload)' unmade push --file "$work/five"
gives 65 'the limit (max_payload)' unmade schedule set s @daily 12345
none_made 'nor for a payload that is too long'
gives 0 '' unmade push 1234
for key in 'unique_for":"5m' 'unique_mode":"keep'; do
  echo "{\"payload\":\"x\",\"$key\"}" >"$work/line"
  gives 65 "line 1: ${key%%\"*}: goes with unique only" fq push --ndjson --file "$work/line"
done
echo '{"payload":"x"}' >"$work/line"
gives 0 '' fq push -q sized --ndjson --unique-for 5m --file "$work/line"
gives 64 "'st*': no tenant has that name" fq explain -q sized -t 'st*'
gives 1 "queue 'unmade': there is none" fq pop -q unmade --wait=1s -t 'st*'
is 'and none was made' 0 "$(fq queue list --json | jq -r .queue | grep -c unmade)"
gives 64 "'st*': no tenant has that name" fq tenant list -q sized -t 'st*'
is 'a closed standard input cannot be asked for' \
  "fq: standard input: is closed, so it is not read unasked; give PAYLOAD
fq: standard input: is closed" \
  "$("$FQ" push <&- 2>&1; "$FQ" push - <&- 2>&1)"
gives 64 'one argument, 2 were given; a time to wait is --wait=5m' fq push --wait 5m x
gives 64 'one argument, 2 were given; a time to wait is --block=1s' fq push --block 1s x
gives 64 'one argument, 2 were given; quote it' fq push --wait=5m 5m x
gives 64 'fq: --tenant: is empty; name a tenant' fq push -t '' x
gives 64 "--unique-mode: 'aftr' is not a mode; did you mean after?" fq push --unique k --unique-mode aftr x
gives 64 "--unique-mode: '' is not a mode; use keep, replace or after" fq push --unique k --unique-mode '' x
gives 64 "--output: 'x' is not one of its words; use inherit, keep, fail or discard" fq worker --drain --output x -- true
gives 64 "--format: 'x' is not a format of this command; use human, json, sh or raw" fq pop --format x
gives 64 "-n: '18446744073709551616' is too large; the limit is 4294967295" fq pop -n 18446744073709551616
gives 64 "-n: '0000000000000000000000' is not a number of 1 or more" fq pop -n 0000000000000000000000
gives 64 'one place' fq push a --payload b
gives 64 'needs a value' fq push x --delay
gives 64 'takes no value' fq push x --lazy=yes
gives 64 'not a format' fq pop --format xml
gives 64 'for one message' fq pop -n 2 --format sh
gives 64 'receipts are not shown' fq pop --lease --raw
gives 64 'did you mean dead?' fq peek --state daed

# Payloads.
gives 64 '/dev/null' fq push
gives 64 'closed' bash -c '"$FQ" push <&-'
gives 64 'give --file' fq push --lines
gives 65 'No such file' fq push --file "$work/none"
gives 65 'directory' fq push --file "$work"
gives 0 '' fq push --file -
printf '[queue.small]\nmax_payload = "4B"\n' >"$FQ_SPOOL/fq.toml"
gives 0 '' fq push -q small 1234
gives 65 'longer than 4B' fq push -q small 12345
is 'a payload over the limit by pipe is refused' 65 "$(printf 12345 | fq push -q small 2>/dev/null; echo $?)"
is 'a line over the limit is refused' 65 "$(printf '1234\n12345\n' | fq push -q small --lines >/dev/null 2>&1; echo $?)"
rm "$FQ_SPOOL/fq.toml"

# Batches: a bad line, nothing of its batch.
fq queue create batch
printf '{"payload":"good"}\n{"payload":"bad","tennant":"a"}\n{"payload":"good"}\n' >"$work/lines"
gives 65 "line 2: unknown key 'tennant'; did you mean 'tenant'?" fq push -q batch --ndjson --file "$work/lines"
is 'nothing of the batch was pushed' '' "$(fq peek -q batch)"
printf '{"payload":{"a":{"b":[{"c":1}]}}}\n' >"$work/lines"
gives 65 'line 1: payload: must be text' fq push -q batch --ndjson --file "$work/lines"
printf '{"payload":"a"}\n{"payload":"a","tags":{"a":"%03000d","b":"%03000d"}}\n' 1 1 >"$work/lines"
gives 65 'line 2: tags: the tags have more than 4096 bytes in all' fq push -q batch --ndjson --file "$work/lines"
# Its job would be told only what stands before the NUL, and all others more than that.
printf '{"payload":"a","tags":{"a":"safe\\u0000more"}}\n' >"$work/lines"
gives 65 "line 1: tags: the value of tag 'a' must be without a NUL" fq push -q batch --ndjson --file "$work/lines"
for bad in 'x' '[]' '{"payload":1}' '{}' '{"payload":"a","delay":"99999999999d"}' '{"payload":"a","tenant":"a//b"}' '{"payload":"a"' \
  '{"payload_base64":"*"}' $'{"payload":"\xff"}' '{"payload":"a","payload":"b"}' '{"payload":"\ud800"}' '{"payload":"a","unique":""}'; do
  printf '%s\n' "$bad" >"$work/lines"
  gives 65 'line 1: ' fq push -q batch --ndjson --file "$work/lines"
done
{ seq 1024 | sed 's/.*/{"payload":"&"}/'; echo bad; } >"$work/lines"
is 'the ids of earlier batches were printed' 1024 "$(fq push -q batch --ndjson --file "$work/lines" 2>/dev/null | wc -l)"
is 'and they are in the queue' 1024 "$(fq peek -q batch -n 2000 --json | wc -l)"
is 'no input is no message' '0' "$(printf '' | fq push -q batch --lines; echo $?)"

# Ids, receipts, names that are not there.
receipt=$(fq pop -q batch --lease 1m | cut -f1)
fq ack -q batch "$receipt"
gives 1 'no longer valid' fq ack -q batch "$receipt"
gives 64 'is not a receipt' fq ack hello
gives 64 'needs a receipt' fq ack
gives 64 'not a message id' fq show x
gives 64 'needs a command' fq tenant
gives 64 'did you mean limit?' fq tenant limits a --for 1m
gives 64 'needs --for' fq tenant limit a
gives 64 'needs a tenant' fq tenant limit --for 1m
gives 64 'not a duration' fq tenant limit a --for soon
gives 64 'tenant' fq tenant limit a//b --for 1m
gives 64 'takes one tenant' fq tenant limit a b --for 1m
gives 1 'nosuch' fq tenant limit a --for 1m -q nosuch
gives 64 'not a message id' fq show 99999999999999999999
gives 1 'not in queue' fq show 9007199254740991
gives 1 'not in queue' fq cancel 9007199254740991
gives 1 "'nowhere'" fq pop -q nowhere
gives 1 "'nowhere'" fq stats -q nowhere
gives 1 'nospool' fq stats --spool "$work/nospool"
gives 1 "'nowhere'" fq queue remove nowhere --yes
gives 64 '--yes' fq cancel --all
gives 64 '--yes' fq queue purge default
gives 64 'which?' fq cancel
gives 64 '--all: does not go with -t' fq cancel --all -t acme --yes
gives 64 '--all: does not go with -t' fq cancel --all --tag a=b --yes
gives 64 '--all: does not go with -t' fq kick --all -t acme
gives 64 'every message but the dead ones' fq cancel --all
gives 64 'every dead message' fq cancel --all --state dead
gives 64 'two queues are named' fq -q mail queue remove default --yes
gives 64 'which?' fq kick
gives 64 'unknown command' fq queue frobnicate

# A tenant is no pattern; one of that very name is.
gives 64 "there is no tenant 'free-*'; patterns belong in fq.toml" fq tenant set 'free-*' weight=2
gives 64 'patterns belong in fq.toml' fq tenant pause 'free-*'
gives 64 'patterns belong in fq.toml' fq tenant limit 'free-*' --for 1h
gives 0 '' fq tenant limit --tenant='free-*' --for 1h
gives 0 '' fq tenant limit 'free-*' --for none
fq push -t 'star*' -q stars x >/dev/null
gives 0 '' fq tenant set -q stars 'star*' weight=2
fq pop -q stars >/dev/null
gives 0 '' fq tenant set -q stars 'star*' weight=

# Limits of the process.
gives 75 'ulimit -v' bash -c 'ulimit -v 60000; "$FQ" push x -q limited'
is 'a file size limit is an error, not a signal' said "$(bash -c 'ulimit -f 1; "$FQ" push x -q limited2' 2>/dev/null; case $? in 74 | 75) echo said ;; *) echo $? ;; esac)"
# What is named is what is wrong: a path, where it is a path.
printf x >"$work/file"
for command in 'push x' pop stats 'queue list' 'worker -- cat' 'queue create a' doctor; do
  gives 69 "$([ "$command" = doctor ] || echo "spool '$work/file': is not a directory")" fq --spool "$work/file" $command
done
gives 69 "spool '$work/file/x': is not a directory" fq push x --spool "$work/file/x"
mkdir "$work/half"; printf x >"$work/half/queues"
gives 69 "'$work/half/queues': is not a directory" fq push x --spool "$work/half"
gives 69 "'$work/half/queues': is not a directory" fq queue list --spool "$work/half"
ln -s loop "$work/loop"
gives 69 "spool '$work/loop': is not a directory" fq push x --spool "$work/loop"
# A spool may be a link, and where what it links to is gone no push can make it.
ln -s nowhere "$work/dangling"
for command in 'push x' pop stats 'queue list' 'worker -- cat' doctor; do
  for place in "$work/dangling" "$work/dangling/spool"; do
    case $command:$place in pop:*/spool | stats:*/spool | 'queue list:'*/spool | doctor:*/spool) continue ;; esac
    gives 69 "$([ "$command" = doctor ] || echo "is a link to what is not there")" fq --spool "$place" $command
  done
done
ln -s linked "$work/good"; mkdir "$work/linked"
is 'a link to a spool is one' x "$(fq push x --spool "$work/good" >/dev/null; fq pop --spool "$work/linked")"
[ -d /proc ] && gives 69 "spool '/proc/x': '/proc' takes no directories" fq push x --spool /proc/x
gives 69 "spool '$work/file': is not a directory" fq pop --spool "$work/file"
is 'and a link is not said to be none' 0 "$(fq pop --spool "$work/file" 2>&1 | grep -c symlink)"
gives 65 "'$work/nofile': open" fq push --file "$work/nofile"

# A relative spool is meant from here, once.
mkdir "$work/here"
is 'it is shown whole' "$work/here/there: there is none yet; the first push makes it" \
  "$(cd "$work/here" && FQ_SPOOL=there "$FQ" doctor --json | jq -r 'select(.about == "spool").found')"
(cd "$work/here" && FQ_SPOOL=there "$FQ" push x >/dev/null)
is 'and used' "$work/here/there" "$(cd "$work/here" && FQ_SPOOL=there "$FQ" doctor --json | jq -r 'select(.about == "spool").found')"
gives 64 "spool 'amqp://...': there is no engine for amqp://" "$FQ" push --spool amqp://host x
gives 78 "spool 'amqp://...': there is no engine for amqp://" env FQ_SPOOL=amqp://host "$FQ" push x
# A mistyped URL is no directory; the words have nothing of what may be a password.
while read -r typed form; do
  is "$typed" "64 fq: spool '${typed%%:*}:...': is no URL as fq writes it; write $form, or ./${typed%%:*}:... for a directory" \
    "$(cd "$work/here" && "$FQ" push --spool "$typed" x 2>"$work/said"; echo "$? $(cat "$work/said")")"
  gives 78 "write $form" bash -c 'cd "$1" && FQ_SPOOL=$2 "$FQ" push x' _ "$work/here" "$typed"
done <<'EOF'
redis:/:secret@host redis://HOST
redis:host redis://HOST
rediss:/host rediss://HOST
REDIS://host redis://HOST
Redis+unix:/run/redis.sock redis+unix:///PATH
EOF
is 'and no directory of that name is made' '' "$(ls -d "$work/here/"[rR]* 2>/dev/null)"
is 'one that is meant is named so' 1 "$(cd "$work/here" && FQ_SPOOL=./redis:host "$FQ" push x)"
gives 1 "spool '$work/here/gone'" bash -c 'cd "$1" && FQ_SPOOL=gone "$FQ" stats' _ "$work/here"
mkdir "$work/plain"
for look in stats 'queue list'; do
  FQ_SPOOL=$work/plain gives 1 "spool '$work/plain': there are no queues in it; --spool or FQ_SPOOL names another" fq $look
done
mkdir "$work/vanishing"
gives 74 "working directory, from which spool 'rel' is named" bash -c 'cd "$1" && rmdir "$1" && FQ_SPOOL=rel "$FQ" push x' _ "$work/vanishing"
ln -s "$work" "$FQ_SPOOL/queues/link"
gives 69 "'link'" fq push x -q link
gives 69 "'link'" fq check
rm "$FQ_SPOOL/queues/link"

# fq.toml.
policy=$FQ_SPOOL/fq.toml
printf '[?' >"$policy"
gives 78 'fq.toml:1' fq push x -q new
printf '[queue."*"]\natempts = 3\n' >"$policy"
gives 78 "fq.toml:2: unknown key 'atempts'; did you mean 'attempts'?" fq push x -q new
gives 78 'fq.toml:2' fq pop -q new --wait=1s
gives 0 'fq.toml:2' fq push x
gives 0 'the last good one holds' fq stats
printf '[queue."*"]\nlease = 60\n' >"$policy"
gives 78 'fq.toml:2: lease: must be a duration' fq push x -q new
printf '[queue."a b"]\nlease = "5m"\n' >"$policy"
gives 78 "fq.toml:1: 'a b' is not a queue's name" fq push x -q new
printf '[queue."*"\n' >"$policy"
gives 78 'fq.toml:1' fq push x -q new
printf '[queue."*"]\nattempts = 3\n' >"$policy"
chmod 666 "$policy"
gives 78 'chmod go-w' fq push x -q new
chmod 600 "$policy"
gives 0 '' fq push x
head -c 2000000 /dev/zero | tr '\0' '#' >"$policy"
gives 78 'larger than 1MiB' fq push x -q new
rm "$policy"
gives 0 '' fq push x

is 'what was there before all this is still there' "$one one" "$(fq peek --json -n 1 | sed 's/{"id":\([0-9]*\),.*"payload":"\([a-z]*\)".*/\1 \2/')"
finish
