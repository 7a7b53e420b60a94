#!/bin/bash
# redis_test - commands on a queue on a server, through fq and fq-redis; and the password, which nobody sees.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s"

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
is "why" '["paused"]' "$(fq push -t acme x >"$work/id" && fq explain "$(cat "$work/id")" --json | jq -c '[.reasons[].reason]')"
gives 0 "" fq tenant set acme max_messages=1
gives 75 "tenant 'acme': has 1 message, the limit is 1 (max_messages)" fq push -t acme y
gives 75 "the limit is 1 (max_messages)" fq push -t acme --block=50ms y
gives 0 "" fq tenant set acme max_messages=
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
gives 75 'is of version 0 by now, not 7' fq config load --if-version 7 "$work/policy"
gives 0 '' fq config load --if-version 0 "$work/policy"
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
gives 0 '' fq config load -
is "without it all is as usual" 'attempts 5 default' "$(fq config show | tr -s ' ' | grep '^attempts ')"
is "and its schedule is gone" '' "$(fq schedule list -q mail --json)"
gives 0 '' fq check -q mail
gives 0 '' fq queue remove mail --yes
gives 0 '' fq queue remove new --yes

# What is not there yet says so, and nothing was done.
gives 69 'use fq config get and fq config load' fq config edit
gives 69 'use fq config get and fq config load' fq config path
gives 64 'only a directory can be backed up' fq backup "$work/copy"
fq queue create third
gives 69 'moving messages to another queue: is not there yet' fq move 1 --to third
gives 0 '' fq queue remove third --yes
before=$(fq stats --json | jq -c 'del(.as_of)')
for words in "queue rename default other" "check --repair"; do
  # shellcheck disable=SC2086
  gives 69 "is not there yet for queues on a server" fq $words
done
is "refused and not half done" "$before" "$(fq stats --json | jq -c 'del(.as_of)')"

# What is wrong with a spool is said as for any.
gives 78 "has an option that there is not" env FQ_SPOOL="$FQ_SPOOL?colour=red" "$FQ" push x
gives 64 "has an option that there is not" fq push --spool "$FQ_SPOOL?colour=red" x
gives 75 "$work/none: cannot be reached" fq push --spool "redis+unix://$work/none" x
gives 64 "is a directory, for which this program has no engine" "$(dirname "$FQ")/fq-redis" push --spool "$work/d" x

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

finish
