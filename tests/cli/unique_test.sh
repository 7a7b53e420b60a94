#!/usr/bin/env bash
# unique_test - fq push --unique and --debounce: ids, statuses, and what does not go together.
. "$(dirname "$0")/lib.sh"

first=$(fq push --unique nightly one)
[ "$(fq push --unique nightly two)" = "$first" ] || fail "a second push has another id"
[ "$(fq push --unique nightly --json two | jq -r '"\(.id) \(.status)"')" = "$first duplicate" ] || fail "not a duplicate"
[ "$(fq push -t other --unique nightly --json x | jq -r .status)" = accepted ] || fail "another tenant's key counts"
[ "$(printf '%s\n' '{"payload":"a","unique":"l"}' '{"payload":"b","unique":"l"}' '{"payload":"c","unique":"nightly"}' |
  fq push --ndjson --json | jq -r .status | tr '\n' ' ')" = 'accepted duplicate duplicate ' ] || fail "lines and keys"
[ "$(fq pop)" = one ] || fail "not the first payload"
[ "$(fq push --unique nightly x)" = "$first" ] || fail "acked just now, and pushed again"
fq pop -n 9 >"$work/rest"

a=$(fq push --unique short --unique-for 0s a) && fq pop >"$work/rest"
[ "$(fq push --unique short --unique-for 0s b)" != "$a" ] || fail "--unique-for 0s holds the key"
fq pop >"$work/rest"

one=$(fq push --debounce d --quiet 1h 1)
[ "$(fq push --debounce d --quiet 1h --json 2 | jq -r '"\(.id) \(.status)"')" = "$one debounced" ] || fail "not debounced"
[ "$(fq show "$one" --json | jq -r .payload)" = 2 ] || fail "the last payload does not win"
gives 1 '' fq pop
[ "$(fq push --debounce d --quiet 1h --max-wait 1ms 3)" = "$one" ] || fail "another id"
[ "$(fq pop --wait=5s)" = 3 ] || fail "--max-wait is over and it is not due"

gives 64 '--unique: is empty' fq push x --unique=
gives 64 'longer than 255' fq push x --unique "$(printf 'x%.0s' $(seq 256))"
gives 64 '--unique-for' fq push x --unique k --unique-for 5
gives 64 'goes with --unique only' fq push x --unique-for 5s
gives 64 'needs --quiet' fq push x --debounce k
gives 64 '--quiet' fq push x --debounce k --quiet 0s
gives 64 '--max-wait' fq push x --debounce k --quiet 1s --max-wait never
gives 64 'goes with --debounce only' fq push x --quiet 5s
gives 64 'goes with --debounce only' fq push x --max-wait 5s
for other in '--unique k' '--delay 5s' '--at +5s'; do gives 64 'does not go with' fq push x --debounce k --quiet 5s $other; done
for batch in --lines --null --ndjson; do
  gives 64 'does not go with a batch' fq push $batch --unique k
  gives 64 'does not go with a batch' fq push $batch --debounce k --quiet 5s
done
gives 1 '' fq pop
finish
