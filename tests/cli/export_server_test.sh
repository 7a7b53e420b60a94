#!/usr/bin/env bash
# export_server_test - a queue goes from a directory to a server and back, with all that it has.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/one_of_each.sh"

start_server "$work/r"
away="redis+unix://$work/r"
there() { fq --spool "$away" "$@"; }
# Only one of them tells what is closed of the dead.
alike() {
  jq -c 'select(.type != "export" and .key != "paused" and .key != "attempts" and .key != "lease") |
    del(.attempts_in_force, .wait_failed, .after_closed) |
    if .since then .since |= .[0:19] else . end' "$1"
}

fill; fq export >"$work/e" 2>/dev/null
gives 0 '' there queue create
gives 0 '' there import "$work/e"
there export --live >"$work/e2"
is 'as it was here' "$(alike "$work/e")" "$(alike "$work/e2")"
gives 0 '' there import "$work/e" --json
is 'nothing twice' known "$(jq -r .status "$work/out" | sort -u)"
gives 0 '' there check
fq queue create back
gives 0 '' fq import -q back "$work/e2"
fq export -q back --live >"$work/e3"
is 'and back' "$(alike "$work/e2")" "$(alike "$work/e3")"
gives 0 '' there queue resume
there tenant set acme concurrency=
is 'it goes on there' one "$(there pop -t acme)"
is 'and what came after it' delayed "$(there show 10 --json | jq -r .state)"

# What has expired has expired there too, and when it comes back.
fresh
fq push --ttl 1ms late >/dev/null; await test "$(fq peek --state dead --raw)" = late
fq export >"$work/e" 2>/dev/null
there queue create expired; there import -q expired "$work/e" >/dev/null
is 'what has expired is told so there' expired "$(there -q expired show 1 --json | jq -r .last_error.reason)"
there export -q expired --live >"$work/e2"
fq queue create back
gives 0 '' fq import -q back "$work/e2"
is 'and here again' 1 "$(fq -q back explain 1 | grep -c 'its time to live ran out')"

# Its own attempts are in force here and there, whatever the queue gives others.
in_force() {
  "$1" push -q own --attempts 1 x >"$work/id"; "$1" worker -q own --once -- false 2>"$work/said"
  "$1" export -q own --live | jq -r 'select(.type == "message") | "\(.state) \(.attempts_in_force)"'
}
is 'its own attempts, here' 'dead 1' "$(in_force fq)"
is 'its own attempts, there' 'dead 1' "$(in_force there)"

# Schedules.
fresh
fq schedule set tick 'every 7m' --overlap queue -t acme/x -p 5 --tag k=v --attempts 3 --timeout 4s --ttl 1d made
fq schedule set night '30 3 * * *' --tz Europe/Berlin --missed skip -- sh -c 'cat; exit 3'
fq schedule pause night; fq schedule run tick >/dev/null
fq export >"$work/e" 2>/dev/null
there queue create timed
gives 0 '' there import -q timed "$work/e"
there export -q timed --live >"$work/e2"
is 'schedules as they were' "$(jq -cS 'select(.type == "schedule")' "$work/e" | sort)" "$(jq -cS 'select(.type == "schedule")' "$work/e2" | sort)"

# Killed anywhere on the way to a server, and by a storm.
fresh; for i in 1 2 3 4 5 6; do fq push --after-any "$i" "m$i"; done >/dev/null 2>&1; fq push a >/dev/null
for i in $(seq 1 150); do fq push "m$i"; done >/dev/null
fq export >"$work/e" 2>/dev/null
there queue create storm
us=$(took there import -q storm "$work/e")
there queue remove storm --yes; there queue create storm
killed=0
for ((i = 1; i <= 30; ++i)); do
  killed_within "$us" "$FQ" --spool "$away" import -q storm "$work/e" && killed=$((killed + 1))
done
[ $killed -gt 0 ] || fail 'no import was killed'
gives 0 '' there import -q storm "$work/e"
is 'each once' "$(jq -r 'select(.type == "message").payload' "$work/e" | sort | cksum)" \
  "$(there peek -q storm --state all -n 1000 --json | jq -r .payload | sort | cksum)"
gives 0 '' there check -q storm

# Steps.
fresh
PATH=$(dirname "$FQ"):$PATH fq push -t parent --env-all --shell "${job:?}" >/dev/null
fq worker --once >/dev/null 2>&1; fq pop -t gone >/dev/null
fq export 2>/dev/null >"$work/e"
there queue create steps; there import -q steps "$work/e" >"$work/ids"
parent=$(sed -n 's/^1 //p' "$work/ids") kid=$(sed -n 's/^2 //p' "$work/ids")
is 'its steps' "one run 4 kid push 0 gone push 0 big run 200000 stay wait 0" \
  "$(there -q steps step --list "$parent" --json | jq -r '"\(.name) \(.kind) \(.bytes)"' | xargs)"
there -q steps pop -t kids >/dev/null
there -q steps worker --once >"$work/job" 2>/dev/null
is 'go on there' "$(printf 'one\n%s' "$kid")" "$(head -n 2 "$work/job")"
is 'without running again' 1 "$(wc -l <ran)"
finish
