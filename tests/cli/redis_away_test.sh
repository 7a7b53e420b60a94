#!/bin/bash
# redis_away_test - a part of a queue is away, or what it begins with is lost: which, is told, and what helps.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s"

# A server that lost what a shard begins with has not lost the queue: that is told by what it lacks.
for shards in 1 4; do
  fq queue create --shards $shards lost
  fq push -q lost x >>"$work/made"
  is "$shards: the shards are empty" x "$(fq pop -q lost)"
  root=$(redis-cli -s "$work/s" keys 'fq1:fq:{lost*:h' | sort | head -1)
  redis-cli -s "$work/s" del "$root" >>"$work/made"
  lost="$work/s has lost the key '$root' or a part of it, without which it serves nothing of that shard"
  # What the other shards have is shown, where there are any, and a worker looks at them; to a check it is damage.
  if [ "$shards" = 1 ]; then shown=69 damaged=69; else shown=75 damaged=65; fi
  for words in stats "stats --tenants" workers jobs explain peek "jobs --state all" "schedule list" "config show" "worker --once -- true"; do
    # shellcheck disable=SC2086
    gives $shown "$lost" fq -q lost $words
    is "$shards: $words: it is told once" 1 "$(grep -cF "$lost" "$work/err")"
    if [ "$shards" = 4 ]; then is "$words: it is not said to be out of reach" 1 "$(grep -c "^fq: queue '[a-z]*': 1 of 4 shards cannot be served ($work/s has lost" "$work/err")"; fi
  done
  FQ_SPOOL="$FQ_SPOOL" "$FQ" -q lost check >"$work/out" 2>"$work/err"
  is "$shards: a check" $damaged $?
  is "$shards: names it" 1 "$(cat "$work/out" "$work/err" | grep -cF "$lost")"
  gives 69 '' fq doctor -q lost
  is "$shards: doctor too" 1 "$(grep -cF "1 of $shards shard$([ "$shards" = 1 ] || echo s) cannot be served: lost is '$root'" "$work/out")"
  redis-cli -s "$work/s" hset "$root" schema 9 >>"$work/made"
  gives 69 '' fq doctor -q lost
  is "$shards: doctor tells another schema" 1 "$(grep -cF "'$root' is of schema '9', and this fq-redis knows 4; use the fq that made it" "$work/out")"
  redis-cli -s "$work/s" del "$root" >>"$work/made"
  gives 0 '' fq queue remove lost --yes
  is "$shards: no key is left" '' "$(redis-cli -s "$work/s" --scan --pattern '*lost*')"
done

# What was taken is taken, and why there is no more is said.
fq queue create --shards 4 rest
for i in {1..16}; do fq push -q rest -t "t$i" x; done >>"$work/made"
redis-cli -s "$work/s" del "$(redis-cli -s "$work/s" keys 'fq1:fq:{rest*:h' | sort | head -1)" >>"$work/made"
gives 0 'has lost the key' fq -q rest pop -n 16
is "what was taken is acked" "$(wc -l <"$work/out")" "$(fq -q rest stats --json 2>>"$work/made" | jq .acked)"
gives 69 'has lost the key' fq -q rest pop
gives 0 '' fq queue remove rest --yes

# A shard that is lost takes nothing with it of what the others have, whatever there is in it, nor of limits over all.
fq queue create --shards 4 lost
fq queue set -q lost concurrency=8 rate=100/s
for i in {1..16}; do fq push -q lost -t "t$i" x; done >>"$work/made"
for root in $(redis-cli -s "$work/s" keys 'fq1:fq:{lost:*:h' | sort | sed -n 2,3p); do redis-cli -s "$work/s" del "$root"; done >>"$work/made"
gives 75 "fq: queue 'lost': 2 of 4 shards cannot be served ($work/s has lost" fq -q lost stats --json
there=$(jq .ready "$work/out")
is "it is told to be without some" 'true 2' "$(jq -r '"\(.partial) \(.away | length)"' "$work/out")"
is "some are there, and some are not" 1 "$((there > 0 && there < 16))"
gives 75 "fq: queue 'lost': 2 of 4 shards cannot be served" fq -q lost stats --tenants --json
gives 75 "fq: queue 'lost': 2 of 4 shards cannot be served" fq -q lost jobs --json
is "a list has those that are there, and then what is away" "$((there + 1))" "$(wc -l <"$work/out")"
gives 75 "fq: queue 'lost': 2 of 4 shards cannot be served" fq -q lost log --json
is "the log has them, too" "$there" "$(grep -c '"event":"pushed"' "$work/out")"
gives 65 '' fq -q lost check
is "a check names both" 2 "$(grep -c 'has lost the key' "$work/out")"
gives 69 "nothing is paused and nothing written: fq export --live -q lost writes what is there" fq -q lost export
is "nor is it" "false 0" "$(fq -q lost queue list --json 2>>"$work/made" | jq -r 'select(.queue == "lost").paused') $(wc -c <"$work/out")"
gives 75 'what is above is without them' fq -q lost export --live
is "what is there is written" "$there" "$(jq -r 'select(.type == "message").id' "$work/out" | wc -l)"
gives 69 "set on 2 of 4 shards; the others cannot be served: queue 'lost': $work/s has lost" fq -q lost queue set concurrency=9
fq queue create --shards 2 other
redis-cli -s "$work/s" del "$(redis-cli -s "$work/s" keys 'fq1:fq:{other:*:h' | head -1)" >>"$work/made"
gives 75 "fq: queue 'other': 1 of 2 shards cannot be served" fq queue list --json
is "a list of queues says of each what it lacks" 'lost 2 other 1' \
  "$(jq -r 'select(.partial) | "\(.queue) \(.away | length)"' "$work/out" | paste -sd' ')"
is "on a line each" 2 "$(grep -c "^fq: queue '[a-z]*': [12] of [24] shards cannot be served" "$work/err")"
gives 75 "fq: queue 'other': 1 of 2 shards cannot be served" fq workers --json
is "so does what looks at several" 'lost lost other' \
  "$(jq -r 'select(.away).away[].queue' "$work/out" | paste -sd' ')"
is "on a line each, too" 2 "$(grep -c "^fq: queue '[a-z]*': [12] of [24] shards cannot be served" "$work/err")"
is "with its server" "$work/s" "$(jq -r 'select(.away).away[].server' "$work/out" | sort -u)"

# A name that a command left which was broken off is told, and hides nothing of what the others are without: not their exit.
redis-cli -s "$work/s" sadd fq1:fq:queues zz >>"$work/made"
name_only="fq: queue 'zz': has a name and nothing else"
for words in "75 stats" "75 stats --tenants --json" "75 workers" "75 report" "75 queue list --json" "65 check"; do
  # shellcheck disable=SC2086
  gives "${words%% *}" "$name_only" fq ${words#* }
done
gives 1 "fq: queue 'zz': there is none" fq stats -q zz
fq queue create zzz
is 'the worst is told, not the last' '65 75' "$(fq check >"$work/out" 2>&1; echo $?) $(fq workers >"$work/out" 2>&1; echo $?)"
fq queue remove zzz --yes
fq queue remove other --yes
fq queue remove zz --yes
gives 75 "fq: queue 'lost': 2 of 4 shards cannot be served" fq -q lost cancel --all --yes
is "what is there is changed" 0 "$(fq -q lost stats --json 2>>"$work/made" | jq .ready)"
fq queue remove lost --yes

# A queue whose making was broken off has a name only.
redis-cli -s "$work/s" sadd fq1:fq:queues half >>"$work/made"
gives 0 "queue 'half': has a name and nothing else" fq queue list --json
is "it is listed" 'null' "$(jq -r 'select(.queue == "half").paused' "$work/out")"
gives 1 "queue 'half': has a name and nothing else" fq stats
fq queue create whole
gives 0 "queue 'half': has a name and nothing else" fq stats
gives 0 "queue 'half': has a name and nothing else" fq check
fq queue remove whole --yes
redis-cli -s "$work/s" srem fq1:fq:queues half >>"$work/made"

# Of several queues that a worker serves the one that is gone is named; what runs of others ends as it would have.
fq queue create a
fq queue create b
fq push -q a first >>"$work/made"
FQ_SPOOL="$FQ_SPOOL?poll=20ms" "$FQ" worker -q a -q b -- sh -c "touch '$work/began'; until [ -e '$work/go' ]; do sleep 0.02; done" \
  2>"$work/err" & worker=$!
await test -e "$work/began"
await test -n "$(await fq workers -q b && fq workers -q b --json)"
redis-cli -s "$work/s" keys 'fq1:fq:{b*' | xargs redis-cli -s "$work/s" del >>"$work/made"
: >"$work/go"
wait $worker
is "a worker of a queue that is gone" 1 $?
is "it is told which" 1 "$(grep -c "^fq: queue 'b': $work/s has no such queue any more; a push or fq queue create makes it" "$work/err")"

is "what ran is done" "1 0" "$(fq stats -q a --json | jq -r '"\(.acked) \(.ready)"')"

# A worker that stays goes on where its only server hangs, and says so once.
fq queue create hung
export FQ_SPOOL="redis+unix://$work/s?timeout=2s&connect=1s"
"$FQ" worker -q hung -- awk 1 >"$work/out" 2>"$work/worker.err" & worker=$!
await test -n "$(await fq workers -q hung && fq workers -q hung --json)"
server=$(redis-cli -s "$work/s" info server | tr -d '\r' | sed -n 's/^process_id://p')
kill -STOP "$server"
await grep -q 'goes on trying' "$work/worker.err" || cat "$work/worker.err"
kill -CONT "$server"
fq push -q hung 'after all' >>"$work/made"
await grep -q 'after all' "$work/out" || cat "$work/worker.err"
kill -TERM $worker
wait $worker
is "it has gone on" 0 $?
is "and said so once" 1 "$(grep -c 'goes on trying' "$work/worker.err")"

# Whoever waits there for work of many shards ends with the first signal, and soon.
fq queue create --shards 64 many
"$FQ" pop -q many --wait=60s 2>"$work/pop.err" & waiter=$!
hears_all() { [ "$(redis-cli -s "$work/s" pubsub shardchannels '*{many:*bell:*' | wc -l)" -eq 64 ]; }
await hears_all
kill -STOP "$server"
await grep -q 'goes on trying' "$work/pop.err" || cat "$work/pop.err"
SECONDS=0
kill -TERM $waiter
wait $waiter
is "who waits is ended" 143 $?
is "by the first signal, in the time of some tries" 0 "$((SECONDS > 9))"
kill -CONT "$server"

# What listens there may be another program.
python3 - "$work/port" 2>"$work/web" <<'PY' &
import http.server, sys
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
with open(sys.argv[1], "w") as file:
    print(server.server_port, file=file, flush=True)
server.serve_forever()
PY
web=$!
await test -s "$work/port"
port=$(cat "$work/port")
FQ_SPOOL="redis://127.0.0.1:$port/" gives 69 "127.0.0.1:$port: answers '" fq stats
is "what was got is told" 1 "$(grep -c "which is no Redis protocol; does another program listen there?" "$work/err")"
kill $web

# A part of a cluster is away.
start_cluster 127.0.0.1 --port --cluster-require-full-coverage no
export FQ_SPOOL="redis://127.0.0.1:${ports[0]},127.0.0.1:${ports[1]},127.0.0.1:${ports[2]}/?timeout=2s&connect=1s"
fq queue create --shards 16 parts
home=$(node_of 'fq1:fq:{parts}:meta')
policy=$(node_of 'fq1:fq:policy')
for victim in 1 2 3; do [ $victim != "$home" ] && [ $victim != "$policy" ] && break; done
pid_of() { node "$1" info server | tr -d '\r' | sed -n 's/^process_id://p'; }
for name in {1..4}; do fq queue create --shards 16 "more$name"; done
server=$(pid_of $victim)
kill -STOP "$server"
SECONDS=0
FQ_SPOOL="${FQ_SPOOL/timeout=2s/timeout=30s}" gives 69 '' fq doctor
is "doctor waits for a server as for one that may be away, not as for one that may come back" 0 "$((SECONDS > 29))"
is "and asks no queues" 1 "$(grep -c '^ok.*fq.toml.*queues are not asked while a server cannot be' "$work/out")"
gives 75 "fq: queue 'parts': " fq report -o "$work/report.html"
is "a report says of each queue on what it is not" 5 "$(grep -c 'shards cannot be reached.*; the page is without them' "$work/err")"
is "the page, too" 5 "$(grep -o 'shards cannot be reached [^<]*; what is below is without them' "$work/report.html" | wc -l)"
gives 75 'cannot be reached' fq -q parts log
gives 75 'shards cannot be reached' fq -q parts worker --once -- true
gives 75 'shards cannot be reached' fq -q parts pop
for i in {1..40}; do echo "{\"tenant\":\"n$i\",\"payload\":\"p$i\"}"; done >"$work/batch"
gives 75 "cannot be reached" fq -q parts push --ndjson --file "$work/batch"
missing=$(sed -n 's/.*; not pushed: lines //p' "$work/err" | sed 's/ and /, /; s/, / /g')
is "a batch is taken in part" 1 "$(($(wc -l <"$work/out") > 0 && ${#missing} > 0))"
for words in pause 'set attempts=7' drain; do
  # shellcheck disable=SC2086
  gives 75 "queue 'parts': set on 1" fq -q parts queue $words
  is "$words: it is told how far it came" 1 "$(grep -c 'of 16 shards; the others follow when they are back: ' "$work/err")"
done
printf '[queue."*"]\nconcurrency = 30\n' >"$work/policy"
gives 0 "queue 'parts': follows fq.toml on 1" fq config load "$work/policy"
is "it is told who follows later" 1 "$(grep -c "queue 'parts': .*of 16 shards; the others do when they are back: " "$work/err")"
is "it is kept" "$(cat "$work/policy")" "$(fq config get)"
kill -CONT "$server"
all_well() { fq -q parts stats >>"$work/made" 2>&1; }
await all_well
for name in {1..4}; do fq queue remove "more$name" --yes; done
gives 0 '' fq queue list --json
is "what was set without some shards holds there, too, once they are back" 'true true' "$(jq -r '"\(.paused) \(.draining)"' "$work/out")"
is "and so does the other" 'attempts 7 set' "$(fq config show -q parts | tr -s ' ' | grep '^attempts ' | cut -d' ' -f1-3)"
gives 0 '' fq queue resume parts
# One that has something else, of the same command.
root=$(node $victim keys 'fq1:fq:{parts*:h' | head -1)
node $victim hset "$root" set '' >>"$work/made"
gives 0 "queue 'parts': something was set for it that holds on some of its shards only" fq queue list --json
gives 0 "queue 'parts': something was set for it that holds on some of its shards only" fq -q parts config show
gives 0 "queue 'parts': something was set for it that holds on some of its shards only" fq -q parts tenant list
gives 0 '' fq -q parts queue set attempts=7
for range in $missing; do sed -n "${range/-/,}p" "$work/batch"; done | fq -q parts push --ndjson >>"$work/made"
is "the lines of a batch that were not pushed are told" "$(seq -f 'p%.0f' 40 | sort)" "$(fq -q parts pop -n 80 | sort)"
gives 0 '' fq -q parts queue pause
for i in {1..40}; do fq -q parts push -t "t$i" x; done >>"$work/made"
is "a pause holds everywhere" '' "$(fq -q parts pop 2>&1)"
is "and is told" true "$(fq queue list --json | jq .paused)"
fq queue resume parts
is "and what is there is served" 40 "$(fq -q parts pop -n 40 | wc -l)"
for ((i = 0; ; ++i)); do [ "$(node_of "fq1:fq:{one$i}:meta")" = $victim ] && break; done
fq queue create --shards 1 "one$i"
kill -STOP "$server"
gives 75 "(in queue 'one$i')" fq config load /dev/null
for words in stats report 'queue list --json' check; do
  # shellcheck disable=SC2086
  gives 75 "fq: queue 'one$i': 127.0.0.1:" fq $words
done
is "nothing is kept that a queue was not asked for" "$(cat "$work/policy")" "$(fq config get)"
kill -CONT "$server"
await fq -q "one$i" stats >>"$work/made"
gives 0 '' fq config load /dev/null

# A server is gone for good: that of the policy, of the names of queues, and of what is fixed of this one.
is "all of that lies on one" "$policy $policy" "$home $(node_of 'fq1:fq:queues')"
printf '[queue."*"]\nlease = "90s"\n' >"$work/policy"
gives 0 '' fq config load "$work/policy"
for i in {1..40}; do fq -q parts push -t "t$i" x; done >>"$work/made"
fq -q parts schedule set hourly @hourly x
node "$policy" shutdown nosave >>"$work/made" 2>&1
goes_on="fq.toml: 127.0.0.1:${ports[policy - 1]}: "
gives 75 "$goes_on" fq -q parts stats --json
is "it is said once" 1 "$(grep -c "^fq: $goes_on.*; the last good one holds$" "$work/err")"
ready=$(jq .ready "$work/out")
is "the shards that live are shown" 1 "$((ready > 0 && ready < 40))"
gives 0 "$goes_on" fq -q parts pop --lease 1m
gives 0 "$goes_on" fq -q parts ack "$(cut -f1 "$work/out")"
# Each looks for what is gone until its time is over: all at once.
lives=$(for i in {1..40}; do { fq -q parts push -t "t$i" y >>"$work/made" 2>&1 && echo "t$i"; } & done; wait)
is "pushes to them are taken" 1 "$(($(wc -w <<<"$lives") > 0))"
is "and shown" 1 "$(($(fq -q parts stats --json 2>>"$work/made" | jq .ready) >= ready - 1 + $(wc -w <<<"$lives")))"
gives 0 "$goes_on" fq -q parts tenant set "${lives%%[[:space:]]*}" weight=2
gives 75 "; the others follow when they are back: " fq -q parts queue set attempts=8
gives 75 "cannot be reached" fq -q parts config show
is "what holds is shown" 'lease 1m30s last good' "$(tr -s ' ' <"$work/out" | grep '^lease ' | cut -d' ' -f1-4)"
"$FQ" worker -q parts -- true >"$work/out" 2>"$work/worker.err" & worker=$!
has_done_some() { [ "$(fq -q parts stats --json 2>>"$work/made" | jq '.acked')" -gt 3 ]; }
await has_done_some || cat "$work/worker.err"
kill -TERM $worker
wait $worker
is "a worker goes on with what is there" 0 $?
is "and says so once" 1 "$(grep -c "^fq: $goes_on.*; the last good one holds$" "$work/worker.err")"
needs='config load /dev/null
config get
config check
queue list
queue remove parts --yes
queue rename parts other
queue create another
schedule remove hourly -q parts'
ended=$(while read -r words; do
  # shellcheck disable=SC2086
  { "$FQ" $words >>"$work/made" 2>&1 </dev/null; echo "$words: $?"; } &
done <<<"$needs"; wait)
is "each needs what is gone" "$(sed 's/$/: 75/' <<<"$needs" | sort)" "$(sort <<<"$ended")"
gives 69 '' fq doctor
is "doctor tells it" 1 "$(grep -c "fault.*fq.toml.*not known: 127.0.0.1:${ports[policy - 1]}: " "$work/out")"
is "and tells of the others" "1 2" "$(grep -c "^fault.* server .*127.0.0.1:${ports[policy - 1]}: " "$work/out") $(grep -c '^ok.* server .*: version ' "$work/out")"
stop_cluster
finish
