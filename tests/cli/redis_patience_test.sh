#!/bin/bash
# redis_patience_test - a server is away for a while: a push that waits for room, a step that waits for its turn or has run,
# and who looks again and again go on.
. "$(dirname "$0")/lib.sh"

settings=(--appendonly yes --appendfsync always)
start_server "$work/s" "${settings[@]}"
export FQ_SPOOL="redis+unix://$work/s"
is_connected() { [ -n "$(find "/proc/$1/fd" -lname 'socket:*')" ]; }
gone() { ! listens "$work/s"; }
waits_for_room() { [ "$(redis-cli -s "$work/s" --raw zcard 'fq1:fq:{full:0:0}:br')" = "$1" ]; }
# looked N: each of those who look has done so N times.
looked() {
  [ "$(grep -c '^QUEUE' "$work/stats")" -ge "$1" ] && [ "$(grep -c '"queue":"full"' "$work/one")" -ge "$1" ] &&
    [ "$(grep -c '^ID' "$work/jobs")" -ge "$1" ]
}
all_go_on() {
  local who
  for who in "$@"; do [ "$(grep -c 'goes on trying' "$work/$who.err")" = 1 ] || return 1; done
}

fq push -q full first >>"$work/made"
fq queue set -q full max_messages=1
"$FQ" push -q full --block second >"$work/block" 2>"$work/block.err" & blocked=$!
"$FQ" push -q full --block=2s never >"$work/short" 2>"$work/short.err" & short=$!
await waits_for_room 2
"$FQ" stats --watch=50ms >"$work/stats" 2>"$work/stats.err" & looker=$!
"$FQ" stats -q full --watch=50ms --json >"$work/one" 2>"$work/one.err" & one=$!
"$FQ" jobs -q full --state all --watch=50ms >"$work/jobs" 2>"$work/jobs.err" & lister=$!
fq push -q steps x >>"$work/made"
FQ_RECEIPT=$(fq pop -q steps --lease 1h --json | jq -r .receipt)
export FQ_RECEIPT
"$FQ" step -q steps slow --shell "touch '$work/begun'; until [ -e '$work/go' ]; do sleep 0.02; done; echo once" \
  >"$work/step" 2>"$work/step.err" & stepper=$!
await test -e "$work/begun"
"$FQ" step -q steps slow -- echo twice >"$work/turn" 2>"$work/turn.err" & turn=$!
await is_connected $turn
await looked 2
redis-cli -s "$work/s" shutdown >>"$work/made" 2>&1
await gone
await all_go_on block stats one jobs turn || head "$work"/*.err
: >"$work/go"
await all_go_on step
wait $short
[[ $? = 7[45] ]] || fail "a push whose time for room is over"  # 74: an answer was just on its way
for who in stats one jobs; do : >"$work/$who"; done

start_server "$work/s" "${settings[@]}"
await looked 2
wait $stepper
is "a step that has run is kept" "0 once" "$? $(cat "$work/step")"
wait $turn
is "and not run again by who waited for its turn" "0 once" "$? $(cat "$work/turn")"
is "who waits for room has put nothing yet" "" "$(cat "$work/block")"
is "there was one message" first "$(fq pop -q full)"
wait $blocked
is "a push that waits for room has it, once" "0 1" "$? $(wc -l <"$work/block")"
is "there is what it pushed, once" second "$(fq pop -q full -n 9)"
for who in block stats one jobs turn step; do
  is "$who: said once" 1 "$(grep -c 'goes on trying' "$work/$who.err")"
done
kill -TERM $looker $one $lister
wait

# Nobody who has just come waits for it.
redis-cli -s "$work/s" shutdown >>"$work/made" 2>&1
await gone
for words in "push --block x" "step s -- true" "stats --watch" "stats -q full --watch" "jobs --watch"; do
  # shellcheck disable=SC2086
  gives 75 "$work/s: cannot be reached" fq $words
done
finish
