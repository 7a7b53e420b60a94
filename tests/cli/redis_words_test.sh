#!/usr/bin/env bash
# redis_words_test - what a queue on a server says, in the words of one in a directory: the same commands on both.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
away="redis+unix://$work/s"
there() { FQ_SPOOL=$away fq "$@"; }

# alike "sentence" COMMAND...: exit, output and errors are the same on both.
alike() {
  local sentence=$1 side
  shift
  for side in fq there; do
    { "$side" "$@"; echo "exit $?"; } </dev/null >"$work/$side" 2>&1
  done
  is "$sentence" "$(cat "$work/fq")" "$(cat "$work/there")"
}
on_both() { "$1" fq && "$1" there; } >/dev/null 2>&1

# A queue that is not there.
first() { "$1" push x; }
on_both first
for words in 'queue remove nowhere --yes' 'queue rename nowhere other' 'queue purge nowhere --yes' 'queue pause nowhere' \
  'move 1 --to nowhere' 'move --all --yes --to nowhere' 'peek -q nowhere' 'pop -q nowhere' 'export -q nowhere' \
  'schedule list -q nowhere' 'worker --once -q nowhere'; do
  read -ra command <<<"$words"
  alike "$words" "${command[@]}"
done

# What a first push refuses makes none.
printf 'bad\n' >"$work/bad"
printf '{"payload":"x","after":[7]}\n' >"$work/unknown"
for words in "push -q nowhere --ndjson --file $work/bad" "push -q nowhere --ndjson --file $work/unknown" \
  'push -q nowhere --after 99 x' 'queue list'; do
  read -ra command <<<"$words"
  alike "$words" "${command[@]}"
done
is 'and none is made' default "$(there queue list --json | jq -r .queue)"

# A closed standard input is as closed behind the other program.
for words in 'push' 'push -' 'ack -'; do
  is "$words, closed" "$("$FQ" $words <&- 2>&1; echo $?)" "$(FQ_SPOOL=$away "$FQ" $words <&- 2>&1; echo $?)"
  gives 64 'standard input: is closed' bash -c 'FQ_SPOOL=$1 "$FQ" $2 <&-' _ "$away" "$words"
done

# A receipt whose message has ended.
again() {
  local receipt
  receipt=$("$1" push -q ended x >/dev/null && "$1" pop -q ended --lease 1m | cut -f1)
  "$1" ack -q ended "$receipt"
  for words in ack retry bury; do "$1" "$words" -q ended "$receipt" 2>&1 | sed "s/'.*'/R/"; done
  "$1" push -q ended x >/dev/null
  receipt=$("$1" pop -q ended --lease 1m | cut -f1)
  "$1" ack -q ended "$receipt" "$receipt" 2>&1 | sed "s/'.*'/R/"
  "$1" queue remove ended --yes
}
said='fq: receipt R: no longer valid; its message has ended or never was'
is 'in a spool' "$said"$'\n'"$said"$'\n'"$said"$'\n'"$said" "$(again fq)"
is 'and on a server' "$(again fq)" "$(again there)"

is 'there is no journal to make smaller' 'default: nothing to gain, it has no journal' "$(there compact)"
is 'nor bytes of it' '{"queue":"default","gained_bytes":0,"journal_bytes":null,"files_gone":0,"messages_moved":0,"payloads_gone":0,"libraries_gone":0}' \
  "$(there compact --json)"

is 'nor a segment' 'null null' "$(there stats --json | jq -r '"\(.journal_bytes) \(.segment_bytes)"')"
is 'shown as none' 1 "$(there stats | grep -c ' -$')"
is 'and no number of it' 0 "$(there stats --format prometheus | grep -c '^fq_journal_bytes')"

has_expired() { "$1" peek -t late --state dead --raw | grep -q late; }
# Of each kind one, and what its events tell.
story() {
  local call=$1 receipt
  "$call" push --keep 1h -t ended x
  "$call" worker --once -- true
  "$call" push -t bad --attempts 1 z
  "$call" worker --once -- false
  "$call" push -t t --attempts 9 -p 5 first
  "$call" push --delay 1h later
  "$call" push --after 4 held
  "$call" push --after-any 4,1,3,4 --delay 2h any
  "$call" push --unique U u
  receipt=$("$call" pop -t default --lease 1h | cut -f1)
  "$call" push --unique U --unique-mode after behind
  "$call" release "$receipt" --delay 1h
  "$call" push -t late --ttl 1ms late
  await has_expired "$call"
  "$call" push -t bad y
  "$call" bury "$("$call" pop -t bad --lease 1h | cut -f1)" --reason 'no good'
  "$call" push -t dies c
  "$call" push -t held --after 11,4 never
  "$call" push -t held --after-any 11,4 still
  "$call" cancel 11
  "$call" queue set order=key -q keyed
  "$call" push -q keyed --key 5 k
  "$call" push -q keyed --key 2026-01-02 k
}
fresh
there queue remove default --yes
for call in fq there; do "$call" queue create keyed; done
on_both story

# Numbers and times of one run are not those of another.
same() {
  jq -cS 'walk(if type == "object" then with_entries(
      if .value == null then . elif .key == "receipt" or .key == "origin" then .value = "R"
      elif .key == "pid" or .key == "run_ms" or .key == "max_ms" then .value = 0
      elif (.key | test("_at$|^at$|since|until")) then .value = "T" else . end) else . end)'
}
# told "sentence" FILTER COMMAND...: the same is told, in the parts that FILTER leaves.
told() {
  local sentence=$1 filter=$2 side
  shift 2
  for side in fq there; do "$side" "$@" | same | jq -c "$filter" >"$work/$side.told"; done
  is "$sentence" "$(cat "$work/fq.told")" "$(cat "$work/there.told")"
}
# What only time did is no event in a directory, and settings are none on a server, where the last attempt is buried at once.
# How many attempts its lease gave it is told otherwise of one that has its own, and what is closed of the dead by one only.
for queue in default keyed; do
  told "events of $queue" 'select(.event != "expired" and .event != "set" and .exit == null)' log -q "$queue" --json
  told "export of $queue" 'select(.type != "export" and .type != "setting") | del(.attempts_in_force, .after_closed, .wait_failed)' export -q "$queue" --live
  told "jobs of $queue" . jobs -q "$queue" --json
done
told 'what is there' . peek --state all --json
for id in $(seq 13); do told "all of message $id" '.history |= map(select(.event != "retried" and .event != "buried"))' show "$id" --json; done
is 'an event of a push has all that a simulation needs' '5 5 null' \
  "$(there log 3 --json | jq -r 'select(.event == "pushed") | "\(.bytes) \(.priority) \(.key)"')"
is 'who ran it is told when it has ended' number "$(there jobs --json | jq -r 'select(.state == "acked").worker.pid | type')"

# A queue that cannot be read is named in the list, and is its status.
redis-cli -s "$work/s" hset 'fq1:fq:{keyed}:meta' schema 9 >/dev/null
gives 69 "queue 'keyed': is of schema '9'" there queue list --json
is 'the others are told' 'default keyed' "$(jq -r .queue "$work/out" | xargs)"

# The manual has the numbers that the code has.
source=$(cd "$(dirname "$0")/../.." && pwd)
tr '\n' ' ' <"$source/core/redis/shard/patience.h" | grep -o "ASecond =[ 0-9']*;" | tr -dc "0-9';" | tr ';' '\n' | tr "'" , >"$work/numbers"
is 'so many numbers' 3 "$(wc -l <"$work/numbers")"
while read -r number; do
  grep -q "[^0-9,]$number .*a second" "$source/man/fq-redis.7" || fail "fq-redis(7) does not say $number a second"
done <"$work/numbers"

finish
