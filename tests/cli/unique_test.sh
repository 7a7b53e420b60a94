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

# Modes, and messages that come after others.
a=$(fq push --unique m --unique-mode replace 1)
[ "$(fq push --unique m --unique-mode replace --json 2 | jq -r '"\(.id) \(.status)"')" = "$a replaced" ] || fail "not replaced"
[ "$(fq push --unique m --unique-mode after --json 3 | jq -r .status)" = duplicate ] || fail "mode after replaces"
r=$(fq pop --lease 1h | cut -f 1)
b=$(fq push --unique m --unique-mode after 4)
[ "$(fq show "$b" --json | jq -r .state)" = held ] || fail "not held behind a running one"
fq ack "$r"
[ "$(fq pop)" = 4 ] || fail "not let go"

a=$(fq push a) && b=$(fq push b)
c=$(fq push --after "$a,$b" c)
[ "$(fq peek --state held --json | jq -c '[.id, .after]')" = "[$c,[$a,$b]]" ] || fail "held and after"
printf '{"payload":"d","after_any":[%s]}\n' "$c" | fq push --ndjson >/dev/null
[ "$(fq pop -n 2 | tr '\n' ' ')" = 'a b ' ] || fail "held ones are served"
[ "$(fq pop) $(fq pop)" = 'c d' ] || fail "not let go in their order"
a=$(fq push a) && b=$(fq push --after "$a" b) && fq cancel "$a"
[ "$(fq show "$b" --json | jq -r '"\(.state) \(.last_error.reason)"')" = "dead message $a, which it came after, was cancelled" ] || fail "not buried"
gives 1 'not known' fq push --after 999999999 x
gives 1 'not known' fq push --after-any "$b,999999999" x
for bad in '' ',' '1,' x -1 1.5; do gives 64 '--after' fq push x --after="$bad"; done
gives 64 'fq: --after: names more than 64 messages' fq push x --after "$(seq -s, 65)"
gives 64 'fq: --after-any: names more than 64 messages' fq push x --after-any "$(seq -s, 65)"
gives 64 'does not go with' fq push x --debounce k --quiet 5s --after "$b"
gives 64 'keep, replace or after' fq push x --unique k --unique-mode other
gives 64 'goes with --unique only' fq push x --unique-mode keep

# What one that waits would not get is not taken silently.
for other in '-p 5' '--delay 5s' '--at +5s' '--ttl 1h' '--attempts 2' "--after $b" "--after-any $b"; do
  gives 64 '--unique-mode: replace does not go with' fq push x --unique k --unique-mode replace $other
  gives 0 '' fq push x --unique k$RANDOM$RANDOM --unique-mode after -t aside $other
done
gives 65 'line 1: unique_mode: replace does not go with a priority' bash -c '"$FQ" push --ndjson <<<"{\"payload\":\"x\",\"unique\":\"k\",\"unique_mode\":\"replace\",\"priority\":5}"'
fq cancel -t aside >/dev/null

# Of a batch the line is named, and nothing of it is pushed: the first of them, and behind a whole batch.
before=$(fq stats --json | jq .pushed)
for key in after after_any; do
  # From a file: a shell writes into a pipe line by line, and where the input pauses what has come is a batch.
  printf '%s\n' '{"payload":"x"}' '' '{"payload":"y","'$key'":[99999]}' >"$work/lines"
  gives 1 "line 3: message 99999: not known (any more), so nothing can come after it" fq push --ndjson --file "$work/lines"
done
is 'nothing of them is pushed' "$before" "$(fq stats --json | jq .pushed)"
{ seq 1024 | sed 's/.*/{"payload":"&","tenant":"aside"}/'; echo '{"payload":"x","after":[99998]}'; } >"$work/lines"
gives 1 'line 1025: message 99998: not known' fq push --ndjson --file "$work/lines"
is 'the batch before it is' 1024 "$(fq cancel -t aside)"
# What the command itself says of all of them is no line's fault.
gives 1 'fq: message 99999: not known' fq push --lines --after 99999 --file <(seq 3)

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
