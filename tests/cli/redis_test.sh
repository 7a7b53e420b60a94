#!/bin/bash
# redis_test - commands on a queue on a server, through fq and fq-redis; and the password, which nobody sees.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s"

for look in stats 'queue list' check; do
  # shellcheck disable=SC2086
  is "$look: nothing is said where there are no queues" 1 "$(fq $look 2>&1; echo $?)"
done

push_three() { fq push hello && fq push -t acme/x -p 5 --delay 1h later && fq push -t acme/x --tag k=v tagged; }
is "ids" "1 2 3" "$(push_three | paste -sd' ')"
is "the order of turns" "hello tagged" "$(fq peek --json | jq -r .payload | paste -sd' ')"
is "delayed" later "$(fq peek --state delayed --json | jq -r .payload)"
receipt=$(fq pop --lease 10s --json | jq -r .receipt)
gives 0 "" fq ack "$receipt"
gives 1 "no longer valid" fq ack "$receipt"
is "sums" "1 1 3" "$(fq stats --json | jq -r '"\(.ready) \(.delayed) \(.pushed)"')"
gives 0 "" fq kick 2
is "kicked" 0 "$(fq stats --json | jq .delayed)"
gives 0 "" fq cancel 2
gives 0 "" fq queue create other
is "queues" "$(printf 'default\nother')" "$(fq queue list)"
gives 0 "" fq queue remove other --yes
is "queues" default "$(fq queue list)"
gives 1 "queue 'nowhere': there is none" fq pop -q nowhere --lease 1s
gives 0 "" fq doctor
is "what accepted means" async "$(fq queue list --json | jq -r .durability)"
is "doctor tells the level, and what is saved" "durability warning,saved warning" \
  "$(fq doctor --json | jq -r 'select(.about == "durability" or .about == "saved") | "\(.about) \(.health)"' | paste -sd,)"

# A worker runs commands, holds by living, and what happened is told.
is "commands" "4 5" "$({ fq push -t jobs -- echo hello && fq push -t jobs --unique k -- sh -c 'exit 3'; } | paste -sd' ')"
is "once" 5 "$(fq push -t jobs --unique k x 2>/dev/null)"
gives 0 "" fq tenant pause acme
is "paused" "" "$(fq pop -t acme --lease 1s --json 2>/dev/null)"
gives 0 "" fq cancel 3
is "a worker" hello "$(fq worker --drain 2>/dev/null)"
is "acked and buried" "4 acked 5 dead" "$(fq jobs --json | jq -r 'select(.tenant == "jobs") | "\(.id) \(.state)"' | sort | paste -sd' ')"
is "the log" "pushed leased buried" "$(fq log --json | jq -r 'select(.id == 5) | .event' | paste -sd' ')"
gives 0 "" fq check
seq 20000 | fq push -q long --lines --lazy >/dev/null
scanned() { redis-cli -s "$work/s" info commandstats | grep -q "^cmdstat_scan"; }
redis-cli -s "$work/s" config resetstat >/dev/null
env --default-signal=INT "$FQ" -q long check >"$work/out" 2>&1 & checker=$!
await scanned
kill -INT $checker; wait $checker
is "a check ends where it is told to" "130 " "$? $(cat "$work/out")"
gives 0 "" fq -q long check
gives 0 "" fq queue remove long --yes
is "why" '["paused"]' "$(fq push -t acme x >"$work/id" && fq explain "$(cat "$work/id")" --json | jq -c '[.reasons[].reason]')"
gives 0 "" fq tenant set acme max_messages=1
gives 75 "tenant 'acme': has 1 message, the limit is 1 (max_messages)" fq push -t acme y
gives 75 "the limit is 1 (max_messages)" fq push -t acme --block=50ms y
gives 0 "" fq tenant set acme max_messages=
gives 1 "message 99999: not known (any more), so nothing can come after it" fq push --after 99999 y
gives 1 "line 2: message 99999: not known (any more), so nothing can come after it" \
  fq push --ndjson --file <(printf '%s\n' '{"payload":"x"}' '{"payload":"y","after":[99999]}')
gives 0 "" fq queue set max_messages=1
gives 75 "fq: queue 'default': has 1 message, the limit is 1 (max_messages)" fq push y
gives 75 "fq: queue 'default': gets 2 messages at once, the limit is 1 (max_messages)" fq push --lines --file <(seq 2)
gives 0 "" fq queue set max_messages=
gives 0 "" fq queue drain
gives 75 "fq: queue 'default': is draining and takes no more; run fq queue resume default to end that" fq push y
gives 0 "" fq queue resume
gives 0 "" fq tenant set parts max_messages=2 max_bytes=9B
gives 75 "tenant 'parts': gets 10 bytes at once, the limit is 9 (max_bytes)" fq push -t parts --block 1234567890
seq 5 >"$work/lines"
"$FQ" push -t parts --lines --block --file "$work/lines" >"$work/ids" & pushing=$!
: >"$work/parts"
while [ "$(wc -l <"$work/parts")" -lt 5 ]; do fq pop -t parts --wait=20s >>"$work/parts" || break; done
wait $pushing
is "a batch goes in parts" "0 1 2 3 4 5" "$? $(xargs <"$work/parts")"
gives 0 "" fq tenant set parts max_messages= max_bytes=
gives 0 "" fq cancel "$(cat "$work/id")"

id=$(fq push -t bounced --debounce d --quiet 1h x)
is "a key of --debounce is told as no unique one" null "$(fq show "$id" --json | jq .unique)"
gives 0 "" fq cancel "$id"

# What a job writes is read while it runs, by who called and by who follows.
"$FQ" worker >"$work/worker.out" 2>"$work/worker.err" & worker=$!
"$FQ" push --wait=60s -t jobs -- sh -c "echo begun; until [ -e '$work/go' ]; do sleep 0.01; done; echo ended; echo err >&2; exit 4" \
  >"$work/call" 2>"$work/call.err" & caller=$!
await grep -q begun "$work/call"
id=$(fq jobs --json | jq -r 'select(.state == "leased").id')
is "a running job is listed, and what it wrote is there" "begun" "$(fq result "$id")"
"$FQ" result -f "$id" >"$work/follow" 2>"$work/follow.err" & follower=$!
await grep -q begun "$work/follow"
: >"$work/go"
wait $caller
is "a call has its job's status and output" "4 begun ended err" "$? $(paste -sd' ' "$work/call") $(cat "$work/call.err")"
wait $follower
is "and so has who followed" "4 begun ended err" "$? $(paste -sd' ' "$work/follow") $(cat "$work/follow.err")"
kill -TERM $worker
wait $worker

# A worker that is killed: its message comes back when nobody has heard of it for 15 s, and that it died is told.
"$FQ" worker >"$work/worker.out" 2>"$work/worker.err" & worker=$!
"$FQ" push --wait=60s -t jobs -- sh -c "echo run; [ -e '$work/again' ] || exec sleep 60" >"$work/call" 2>"$work/call.err" & caller=$!
await grep -q run "$work/call"
: >"$work/again"
{ kill -KILL $worker; wait $worker; } 2>/dev/null
"$FQ" worker >"$work/worker.out" 2>"$work/worker.err" & worker=$!
wait $caller
is "a call goes on where its worker was killed" "0 run run" "$? $(paste -sd' ' "$work/call")"
is "and says so" 1 "$(grep -c 'its worker died; run 2 begins here' "$work/call.err")"
kill -TERM $worker
wait $worker
is "no run is left on the server" 0 "$(redis-cli -s "$work/s" --scan --pattern 'fq1:*:r[obs]:*' | while read -r key; do [ "$(redis-cli -s "$work/s" ttl "$key")" = -1 ] && echo "$key"; done | wc -l)"

# fq.toml of all queues is kept on the server, and holds at once.
is "nothing was loaded" '{"version":"0","text":""}' "$(fq config get --json)"
fq push -q mail -t free-1 there >"$work/id"
cat >"$work/policy" <<'TOML'
[queue."*"]
attempts = 3

[queue."*".tenant."free-*"]
concurrency = 1
pool = "few"

[queue."*".pool.few]
concurrency = 2

[queue.mail.schedule.nightly]
spec = "@daily"
tenant = "jobs"
payload = "x"
TOML
gives 75 "is of version '0' by now, not '7'" fq config load --if-version 7 "$work/policy"
gives 75 "is of version '0' by now, not ''" fq config load --if-version '' "$work/policy"
gives 0 '' fq config load --if-version 0 "$work/policy"
gives 75 "by now, not ''" fq config load --if-version '' "$work/policy"
gives 75 "by now, not '0'" fq config load --if-version 0 "$work/policy"
is "its text" "$(cat "$work/policy")" "$(fq config get)"
is "its version" 1 "$(fq config get --json | jq -r .version | cut -d- -f1)"
is "what holds and why" 'attempts 3 fq.toml:2' "$(fq config show | tr -s ' ' | grep '^attempts ')"
is "of a tenant" 'free-7 concurrency 1 fq.toml:5 free-*' "$(fq config show -t free-7 | tr -s ' ' | grep '^free-7 concurrency')"
fq push -q mail -t free-1 another >"$work/id"
is "a rule holds for who was there" "there" "$(fq pop -q mail -t free-1 -n 2 --lease 1m --json | jq -r .payload)"
fq push -q new -t free-2 a >"$work/id"
fq push -q new -t free-2 b >"$work/id"
is "and in a queue that is made later" "a" "$(fq pop -q new -n 2 --lease 1m --json | jq -r .payload)"
is "a schedule of it" nightly "$(fq schedule list -q mail --json | jq -r .name)"
gives 0 '' fq config check
is "doctor" valid "$(fq doctor --json | jq -r 'select(.about == "fq.toml").found')"
sed 's/attempts/atempts/' "$work/policy" >"$work/broken"
gives 78 "fq.toml:2: unknown key 'atempts'; did you mean 'attempts'?" fq config load "$work/broken"
head -c 1048577 /dev/zero >"$work/long"
gives 78 "is larger than 1MiB" fq config load "$work/long"
gives 78 "is larger than 1MiB" bash -c "'$FQ' config load - <'$work/long'"
is "a refused one changes nothing" "$(cat "$work/policy")" "$(fq config get)"
{ cat "$work/policy"; while :; do echo '# as long as a policy may be'; done; } 2>/dev/null | head -c 1048576 >"$work/long"
gives 0 '' fq config load "$work/long"
# What the server holds is broken (another fq wrote it): the last good one holds, and a push of a new queue is refused.
redis-cli -s "$work/s" hset fq1:fq:policy text "$(cat "$work/broken")" version 9-x >/dev/null
gives 0 'the last good one holds' fq stats -q mail
gives 78 "unknown key 'atempts'" fq push -q newer x
gives 78 "unknown key 'atempts'" fq config check
gives 69 '' fq doctor --json
is "and it is told which" fault "$(jq -r 'select(.about == "fq.toml").health' "$work/out")"
printf '[queue."*"]\nsync = "lazy"\n[queue.mail]\nlock_timeout = "1s"\n' >"$work/idle"
gives 0 '' fq config load "$work/idle"
gives 0 "fq.toml:2: sync: has no effect on a server" fq config check
gives 0 "fq.toml:4: lock_timeout: has no effect on a server" fq config check
gives 0 '' fq config load -
is "without it all is as usual" 'attempts 5 default' "$(fq config show | tr -s ' ' | grep '^attempts ')"
is "and its schedule is gone" '' "$(fq schedule list -q mail --json)"
gives 0 '' fq check -q mail
"$FQ" worker -q mail -- cat >"$work/out" 2>&1 & worker=$!
await eval '[ "$(fq workers -q mail --json | jq .pid)" = "$worker" ]'
gives 75 "queue 'mail': is in use by process $worker; end it first" fq queue remove mail --yes
is "a queue that is in use stays" "mail new" "$(fq queue list | grep -x 'mail\|new' | xargs)"
kill "$worker"; wait "$worker"
gives 0 '' fq queue remove mail --yes
gives 0 '' fq queue remove new --yes

# What is not there yet says so, and nothing was done.
gives 69 'use fq config get and fq config load' fq config edit
gives 69 'use fq config get and fq config load' fq config path
gives 64 'only a directory can be backed up' fq backup "$work/copy"

# What does not agree is found and repaired.
fq push -t broken x >"$work/id"
redis-cli -s "$work/s" del 'fq1:fq:{default:0:0}:q:broken' >/dev/null
gives 65 '' fq check
gives 0 '' fq check --repair
is "it says what it did" 1 "$(grep -c "repaired: message $(cat "$work/id"): is ready, and its queue says so again" "$work/out")"
gives 0 '' fq check
gives 0 '' fq cancel "$(cat "$work/id")"

# What is wrong with a spool is said as for any.
gives 78 "has an option that there is not" env FQ_SPOOL="$FQ_SPOOL?colour=red" "$FQ" push x
gives 64 "has an option that there is not" fq push --spool "$FQ_SPOOL?colour=red" x
for name in password auth; do
  gives 64 "has an option that there is not" fq push --spool "$FQ_SPOOL?prefix=a&$name=secret" x
  is "a password is not repeated that stands among the options as $name" 0 "$(grep -c secret "$work/err")"
done
gives 75 "$work/none: cannot be reached" fq push --spool "redis+unix://$work/none" x
gives 64 "is a directory, for which this program has no engine" "$(dirname "$FQ")/fq-redis" push --spool "$work/d" x

gives 78 "has no database of this number" fq push --spool "redis+unix://$work/s?db=9999" x

# What others keep below a prefix is in nobody's way, or named, and is not touched.
on_prefix() { printf '%s?prefix=%s' "$FQ_SPOOL" "$1"; }
foreign() { redis-cli -s "$work/s" "$@" >"$work/foreign"; }
foreign set fq1:strange:queues x
gives 69 "has something of another program under a key of fq's; use another prefix" fq push --spool "$(on_prefix strange)" x
foreign del fq1:strange:queues
foreign set 'fq1:strange:{default}:meta' x
gives 69 "use another prefix" fq push --spool "$(on_prefix strange)" x
gives 69 "use another prefix" fq peek --spool "$(on_prefix strange)"
is "what is there stays" x "$(redis-cli -s "$work/s" get 'fq1:strange:{default}:meta')"
foreign set 'fq1:deep:{default:0:0}:t' x
gives 69 "use another prefix" fq push --spool "$(on_prefix deep)" --delay 1h x
foreign del 'fq1:deep:{default:0:0}:t'
is "a push that was refused so has left nothing" 0 "$(fq stats --spool "$(on_prefix deep)" --json | jq '.delayed + .pushed')"
foreign sadd fq1:odd:queues ../x 'a b' ''
foreign set 'fq1:odd:{default:0:0}:unknown' x
is "names that are none are passed over" 1 "$(fq push --spool "$(on_prefix odd)" x)"
is "in a list too" default "$(fq queue list --spool "$(on_prefix odd)")"
gives 0 '' fq check --spool "$(on_prefix odd)"
foreign hset 'fq1:newer:{default}:meta' schema 5 mark abcd
gives 69 "is of schema '5', and this fq-redis knows 4; use the fq that made it" fq push --spool "$(on_prefix newer)" x

# A message that is longer than a server takes, a server that drops keys.
head -c 20971520 /dev/zero >"$work/long"
gives 65 "payload: has 20971520 bytes, the limit on a server is 512KiB" fq push --file "$work/long"
gives 65 "the limit on a server is 512KiB" bash -c "'$FQ' push <'$work/long'"
start_server "$work/evicting" --maxmemory 100mb --maxmemory-policy allkeys-lru
gives 69 "would drop messages when its memory is full; set its maxmemory-policy to noeviction" \
  fq push --spool "redis+unix://$work/evicting" x

# A password comes from a file of one's own, or from the environment; it is in no error and no process list.
start_server "$work/p" --requirepass s3cret
locked=redis+unix://$work/p
gives 77 "FQ_REDIS_PASSWORD_FILE" fq push --spool "$locked" x
printf 's3cret\n' >"$work/password"
chmod 644 "$work/password"
gives 78 "is open to others" env FQ_REDIS_PASSWORD_FILE="$work/password" "$FQ" push --spool "$locked" x
chmod 600 "$work/password"
is "by a file" 1 "$(FQ_REDIS_PASSWORD_FILE=$work/password fq push --spool "$locked" x)"
is "by the environment" 2 "$(FQ_REDIS_PASSWORD=s3cret fq push --spool "$locked" x)"
gives 78 "none" env FQ_REDIS_PASSWORD=s3cret FQ_REDIS_PASSWORD_FILE="$work/none" "$FQ" push --spool "$locked" x
printf 'wr0ng' >"$work/password"
gives 77 "does not know this user" env FQ_REDIS_PASSWORD=s3cret FQ_REDIS_PASSWORD_FILE="$work/password" "$FQ" push --spool "$locked" x
is "not in the error" 0 "$(grep -c 'wr0ng\|s3cret' "$work/err")"
gives 64 "has a password in it" fq push --spool "redis://me:s3cret@host" x
is "not in the error" 0 "$(grep -c s3cret "$work/err")"

# One of the environment is this program's own: its jobs have the name of a file, or nothing.
printf 's3cret' >"$work/password"
FQ_SPOOL=$locked FQ_REDIS_PASSWORD_FILE=$work/password fq push -q env -- sh -c 'env; "$0" push x; echo "pushed: $?"' "$FQ" >"$work/id"
FQ_SPOOL=$locked FQ_REDIS_PASSWORD=s3cret fq worker --once -q env >"$work/out" 2>"$work/err"
is "no job has the password" 0 "$(grep -c 's3cret\|^FQ_REDIS_PASSWORD=' "$work/out")"
is "a job cannot reach the queue" "pushed: 77" "$(grep pushed: "$work/out")"
is "and is told why" 1 "$(grep -c 'wants a password; put it into a file and name that in FQ_REDIS_PASSWORD_FILE' "$work/err")"
is "and so is who starts the worker" 1 "$(grep -c '^fq: FQ_REDIS_PASSWORD: is not handed on, so jobs cannot reach the queue' "$work/err")"
FQ_SPOOL=$locked FQ_REDIS_PASSWORD_FILE=$work/password fq push -q env -- sh -c '"$0" push x; echo "pushed: $?"' "$FQ" >"$work/id"
FQ_SPOOL=$locked FQ_REDIS_PASSWORD_FILE=$work/password fq worker --once -q env >"$work/out" 2>"$work/err"
is "by a file it can" "pushed: 0" "$(grep pushed: "$work/out")"
is "and nothing is said" 0 "$(grep -c PASSWORD "$work/err")"
FQ_SPOOL=$locked FQ_REDIS_PASSWORD=s3cret "$FQ" pop -t nobody --wait=20s >"$work/out" 2>&1 & waiter=$!
has_gone() { [ -n "$(tr '\0' '\n' <"/proc/$waiter/environ" | grep '^FQ_REDIS_PASSWORD=')" ] && ! grep -q s3cret "/proc/$waiter/environ"; }
await has_gone
kill $waiter; wait $waiter 2>/dev/null

# What an administrator does: rights for a user, and functions for one that may not load them.
own() { "$(dirname "$FQ")/fq-redis" "$@"; }
is "the rights, on one line" "1 resetkeys resetchannels -@all ~fq1:shop:*" \
  "$(own acl 'redis://host/?prefix=shop' | wc -l) $(own acl 'redis://host/?prefix=shop' | cut -d' ' -f1-4)"
is "of FQ_SPOOL" "$(own acl "$FQ_SPOOL")" "$(own acl)"
gives 64 "needs the URL of a server" own acl /some/where
gives 64 "takes one URL" own load a b
gives 64 "has a password in it" own acl redis://me:s3cret@host
gives 75 "cannot be reached" own load "redis+unix://$work/none"
gives 0 "" own load --help
start_server "$work/least"
admin() { redis-cli -s "$work/least" --user admin --pass all --no-auth-warning "$@" >"$work/admin"; }
export FQ_SPOOL=redis+unix://$work/least
redis-cli -s "$work/least" acl setuser admin on '>all' '~*' '+@all' >/dev/null
set -f
# shellcheck disable=SC2046
admin acl setuser default $(own acl)
set +f
gives 69 "FUNCTION LOAD: this user may not; an administrator must run fq-redis load URL" fq push x
admin acl setuser default +function
is "loaded" "loaded" "$(own load | cut -d' ' -f2)"
is "or there" "was there" "$(own load | cut -d' ' -f2-)"
admin acl setuser default -function
is "with these rights" 1 "$(fq push -- echo hello)"
is "it works" hello "$(fq worker --once 2>/dev/null)"
gives 0 "" fq check
rights() { fq doctor --json | jq -r 'select(.about == "rights") | "\(.health) \(.found)"'; }
is "doctor says so" "ok $work/least: this user may do what fq needs" "$(rights)"
libraries() { fq doctor --json | jq -r 'select(.about == "libraries") | "\(.health) \(.found)"'; }
may_not="what old versions of fq have left on the server this user may not delete, an administrator's fq compact does"
is "who may not delete old functions is told so" "default: it has no journal; $may_not" "$(fq compact)"
is "also in JSON" null "$(fq compact --json | jq .libraries_gone)"
is "or may not see them" "ok $work/least: what other versions of fq have left this user may not see" "$(libraries)"
admin acl setuser default +function
is "who may finds none" "default: nothing to gain, it has no journal" "$(fq compact)"
is "nor does doctor" "ok $work/least: 0 libraries of other versions of fq" "$(libraries)"
admin acl setuser default -function
admin acl setuser default -hset -zadd
gives 77 "fq: $work/least: does not let this user run 'hset'; fq-redis acl URL tells what it needs" fq push x
is "doctor says which are missing" "fault $work/least: this user may not run hset zadd" "$(rights)"
admin acl setuser default +hset +zadd
is "nothing of that push is there" "0 1" "$(fq stats --json | jq -r '"\(.ready) \(.pushed)"')"

finish
