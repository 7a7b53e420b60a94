#!/bin/bash
# redis_shards_test - commands on a queue on a server that is cut into shards.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s"

for n in 0 3 17 1025 2048 -1 x ''; do
  gives 64 "--shards" fq queue create "--shards=$n"
done
gives 64 "takes no --shards" fq queue pause --shards 2
gives 64 "on a server" env FQ_SPOOL="$work/spool" "$FQ" queue create --shards 2
gives 0 "" fq queue create --shards 16
gives 0 "" fq queue create --shards=16
gives 64 "has 16 shards" fq queue create --shards 32
gives 0 "" fq queue create
is "shards and events are told" "16 600000" "$(fq queue list --json | jq -r '"\(.shards) \(.events_ms)"')"

# How long events are kept.
for time in 0 0s -1s -5m x 10 999ms 367d 36500d 40000d 99999999999999999999h ''; do
  gives 64 events fq queue create kept "--events=$time"
done
gives 64 "takes no --events" fq queue pause --events 1h
gives 64 "on a server" env FQ_SPOOL="$work/spool" "$FQ" queue create --events 1h
gives 64 "keeps its events for 10m" fq queue create --events 1h
gives 0 "" fq queue create --events 10m
is "no queue of what was refused" default "$(fq queue list)"
for shards in 1 4; do
  gives 0 "" fq queue create kept --shards "$shards" --events 1h30m
  gives 0 "" fq queue create kept --events 90m
  gives 64 "keeps its events for 1h30m" fq queue create kept --events 2h
  is "how long is told" "$shards 5400000" \
    "$(fq queue list --json | jq -r 'select(.queue == "kept") | "\(.shards) \(.events_ms)"')"
  gives 0 "" fq queue rename kept later
  is "as long under another name" 5400000 "$(fq queue list --json | jq -r 'select(.queue == "later") | .events_ms')"
  gives 0 "" fq queue remove later --yes
done
# Changed by hand on the server to what is no time: said, wherever it is in the way, and nothing is done.
fq queue create later --events 1h
fq push -q later x >"$work/id"
told() { fq queue list --json 2>"$work/err" | jq -r 'select(.queue == "later").events_ms'; }
fields() { redis-cli -s "$work/s" hset 'fq1:fq:{later}:meta' events "$1" >"$work/made"; }
for wrong in x 0 -1 1.5 nan 99999999999999999999 $'\e[31m\n'; do
  fields "$wrong"
  for command in 'push x' log peek pop 'worker --once -- cat' stats check 'queue rename later again'; do
    # shellcheck disable=SC2086
    gives 65 "queue 'later': field events of fq1:fq:{later}:meta: '" fq -q later $command
    grep -q "is not from 1000 to 31622400000 (milliseconds)" "$work/err" || fail "$command: $(cat "$work/err")"
    grep -q $'\e' "$work/err" && fail "$command: it is told as it is"
  done
  gives 0 "" fq queue create other
  gives 0 "" fq -q other stats
  is "the list has it, and does not know the time" "null" "$(told)"
  gives 69 "" fq -q later doctor --json
  is "doctor tells which" "queue later" "$(jq -r 'select(.health == "fault").about' "$work/out")"
done
fields ''
is "without any the usual one holds" 600000 "$(told)"
is "and all is there" x "$(fq pop -q later)"
redis-cli -s "$work/s" sadd fq1:fq:queues half >"$work/made"
is "doctor tells of each queue" "default ok,half warning,later ok,other ok" \
  "$(fq doctor --json | jq -r 'select(.about | startswith("queue ")) | "\(.about[6:]) \(.health)"' | sort | paste -sd,)"
is "or of one" "4 shards, events are kept for 1h" \
  "$(fq queue create four --shards 4 --events 1h; fq doctor -q four --json | jq -r 'select(.about | startswith("queue ")).found')"
redis-cli -s "$work/s" srem fq1:fq:queues half >"$work/made"
for queue in later other four; do gives 0 "" fq queue remove $queue --yes; done

seq 200 | sed 's/.*/account& message&/' >"$work/pairs"
while read -r account message; do printf '{"tenant": "%s", "payload": "%s"}\n' "$account" "$message"; done \
  <"$work/pairs" >"$work/batch"
gives 0 "" fq push --ndjson --file "$work/batch"
is "sums" "200 200" "$(fq stats --json | jq -r '"\(.ready) \(.pushed)"')"
is "tenants" 200 "$(fq stats --tenants --json | wc -l)"
is "in more than one shard" yes "$([ "$(fq peek -n 200 --json | jq '.id % 1024' | sort -u | wc -l)" -gt 4 ] && echo yes)"
is "peek has all of it once" 200 "$(fq peek -n 1000 --json | jq -r .payload | sort -u | wc -l)"
id=$(fq push -t account1 -- echo ended)
gives 0 "" fq show "$id"
is "no place" null "$(fq explain "$id" --json | jq .place)"
is "at the latest behind all that is ready" 201 "$(fq explain "$id" --json | jq .place_max)"
is "nor in the table" - "$(fq explain | awk '/^NEXT/ { on = 1; next } /^workers/ { exit } on { print $1 }' | sort -u | xargs)"
gives 0 "" fq cancel "$id"

# Two accounts that lie apart.
apart() { fq show "$1" --json | jq '.id % 1024'; }
one=$(fq push -t left x)
for i in $(seq 100); do
  two=$(fq push -t "right$i" x)
  [ "$(apart "$one")" = "$(apart "$two")" ] || break
done
gives 64 "another shard" fq push -t "right$i" --after "$one" y
gives 0 "" fq push -t "right$i" --after "$two" y
gives 78 "one shard" fq queue set scope=queue
# No more run than the queue may, in whatever shards; explain says what is in the way, and check that it agrees.
gives 0 "" fq queue set concurrency=3
for _ in 1 2 3; do fq pop --lease 1h --json; done >"$work/leased" 2>/dev/null
gives 1 "" fq pop --lease 1h
id=$(fq peek -n 1 --json | jq .id)
is "what is in the way" "concurrency 3 3" "$(fq explain "$id" --json | jq -r '.reasons[0] | "\(.reason) \(.running) \(.limit)"')"
gives 0 "" fq check
jq -r .receipt "$work/leased" | while read -r receipt; do fq release "$receipt"; done
gives 0 "" fq queue set concurrency=
# No more start than the queue may, in whatever shards.
gives 0 "" fq queue set rate=1/h burst=2
for _ in 1 2 3; do fq pop --lease 1h --json; done >"$work/leased" 2>/dev/null
is "starts by the rate" 2 "$(wc -l <"$work/leased")"
gives 1 "" fq pop --lease 1h
is "what is in the way" "rate" "$(fq explain "$(fq peek -n 1 --json | jq .id)" --json | jq -r '.reasons[0].reason')"
is "what is in a tenant's way" "rate" "$(fq stats --tenants --json | jq -rs '[.[] | select(.ready > 0) | .blocked] | unique | join(" ")')"
gives 0 "" fq check
jq -r .receipt "$work/leased" | while read -r receipt; do fq release "$receipt"; done
gives 0 "" fq queue set rate= burst=
# Nor are there more of them than it may hold, or bytes; who may wait gets the room that another shard makes.
there=$(fq stats --json | jq '.ready + .leased + .delayed + .held')
gives 0 "" fq queue set max_messages=$((there + 1))
id=$(fq push -t left x)
for account in left right1 right2 right3; do
  gives 75 "queue 'default': has $((there + 1)) messages, the limit is $((there + 1)) (max_messages); try again" fq push -t $account y
done
gives 75 "max_messages" fq push --block=50ms -t right1 y
gives 0 "" fq check
fq cancel "$id"
gives 0 "" fq push --block=30s -t right1 y
gives 0 "" fq queue set max_messages= "max_bytes=$(fq stats --json | jq .bytes)B"
gives 75 "(max_bytes)" fq push -t right2 y
gives 0 "" fq cancel -t right1 --yes
gives 0 "" fq push -t right2 y
gives 0 "" fq cancel -t right2 --yes
gives 0 "" fq queue set max_bytes=
gives 0 "" fq tenant set left max_messages=1 concurrency=1
gives 75 "max_messages" fq push -t left y
gives 0 "" fq queue set attempts=2
is "told once" 1 "$(fq config show --json 2>/dev/null | grep -c '"attempts"' || true)"

# Workers take all of it, a job's output comes back, and what happened is told in order.
is "worked off" yes "$("$FQ" worker --drain -j 4 -- awk 1 >"$work/worked" 2>&1 && echo yes)"
is "each once" 200 "$(grep -c '^message' "$work/worked")"
is "nothing left" "0 0" "$(fq stats --json | jq -r '"\(.ready) \(.leased)"')"
told=$(fq log --json | jq -r .id | wc -l)
[ "$told" -gt 200 ] || fail "the log tells $told events only"
is "the log tells each once" "$told" "$(fq log --json | jq -r '[.at, .id, .event] | @tsv' | sort -u | wc -l)"
is "in order" yes "$(fq log --json | jq -r .at | sort -c && echo yes)"
gives 0 "" fq wait --all
is "called" hello "$(
  "$FQ" worker >"$work/out" 2>"$work/err" & worker=$!
  "$FQ" push --wait=60s -t someone -- echo hello
  kill "$worker"; wait "$worker" 2>/dev/null)"
gives 0 "" fq check
gives 0 "" fq compact
gives 0 "" fq queue pause
is "paused" "" "$(fq push -t left z >/dev/null; fq pop --lease 1s 2>/dev/null)"
gives 0 "" fq queue resume
is "resumed" z "$(fq pop 2>/dev/null)"

# Out of it into a directory, and back into another number of shards.
fq push -t a --tag k=v --delay 1h later >/dev/null
fq export --live >"$work/e" 2>/dev/null
gives 0 "created" env FQ_SPOOL="$work/spool" "$FQ" import "$work/e"
gives 0 "" fq queue create --shards 4 -q four
gives 0 "" fq import -q four "$work/e"
is "all of it" "$(fq stats -q default --json | jq -r '"\(.ready) \(.delayed)"')" "$(fq stats -q four --json | jq -r '"\(.ready) \(.delayed)"')"

# Messages go from any shard of one queue to any of another, and from and to one of a single shard.
gives 0 "" fq queue create one
gives 0 "" fq queue create --shards 8 -q eight
waiting() { fq -q "$1" peek --state all -n 1000 --json | jq -r '"\(.tenant) \(.state) \(.payload)"' | sort; }
fq -q four cancel --all --yes >"$work/out"
for account in {1..30}; do fq -q four push -t "acc$account" "load $account" >"$work/id"; done
fq -q four push -t acc1/below -p 3 --delay 1h late >"$work/id"
before=$(waiting four)
for ends in "four eight" "eight one" "one four"; do
  read -r from to <<<"$ends"
  gives 0 "" fq -q "$from" move --all --to "$to" --yes
  is "$ends: as they were" "$before" "$(waiting "$to")"
  is "$ends: nothing is left" "" "$(waiting "$from")"
  gives 0 "" fq check -q "$from"; gives 0 "" fq check -q "$to"
done
gives 0 "" fq -q four move -t acc1 --to eight --tenant other
is "to another tenant" "other delayed late other ready load 1" "$(waiting eight | xargs)"
gives 1 "queue 'nowhere'" fq -q four move --all --to nowhere --yes
gives 0 "" fq queue drain eight
gives 75 "is draining" fq -q four move --all --to eight --yes
is "and are served here" 29 "$("$FQ" -q four worker --drain -- awk 1 2>&1 | grep -c '^load')"
gives 0 "" fq queue remove eight --yes
gives 0 "" fq queue remove one --yes
gives 0 "" fq queue remove four --yes
gives 0 "" fq queue remove default --yes
is "no key left" "" "$(redis-cli -s "$work/s" --scan | grep -v :lib$)"
# An export whose pause one shard refuses leaves the queue as it was: a user may only read there.
fq queue create --shards 4 goes_on
fq -q goes_on push x >"$work/id"
as_admin() { redis-cli -s "$work/s" "$@" >>"$work/made"; }
as_admin acl setuser admin on '>all' '~*' '&*' +@all
as_admin acl setuser default resetkeys '~fq1:fq:[^{]*' '~fq1:fq:{goes_on}*' '~fq1:fq:{goes_on:[013]:*' '%R~fq1:fq:{goes_on:2:*'
gives 77 "may be paused now; fq queue resume -q goes_on ends that" fq -q goes_on export
as_admin --user admin --pass all --no-auth-warning acl setuser default '~*'
is "it is not paused" false "$(fq queue list --json | jq 'select(.queue == "goes_on").paused')"
is "what it has is served" x "$(fq -q goes_on pop)"
finish
