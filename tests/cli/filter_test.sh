#!/usr/bin/env bash
# filter_test - -t, --tag, --state and --reason of the commands that take messages by what they are.
. "$(dirname "$0")/lib.sh"

ids() { jq -r .id | paste -sd' '; }

# Two tenants, two builds.
a=$(fq push -t a --tag build=1 one)
fq push -t a/b --tag build=2 two >/dev/null
c=$(fq push -t c --tag build=1 --tag step=x three)
d=$(fq push -t c --tag build=1 --delay 1h later)
is 'peek by tag' "$a $c" "$(fq peek --tag build=1 --json | ids)"
is 'by tag and tenant' "$c" "$(fq peek --tag build=1 -t c --json | ids)"
is 'and state' "$d" "$(fq peek --tag build=1 -t c --state delayed --json | ids)"
is 'a tag with a value to its end' '' "$(fq peek --tag build=12 --json | ids)"
is 'log by tag' "pushed:$a pushed:$c pushed:$d" "$(fq log --tag build=1 --json | jq -r '"\(.event):\(.id)"' | paste -sd' ')"
is 'the last of them' "pushed:$d" "$(fq log --tag build=1 -n 1 --json | jq -r '"\(.event):\(.id)"')"
is 'kick by tag' 1 "$(fq kick --state delayed --tag build=1)"
is 'takes only what fits' 1 "$(fq cancel --tag step=x)"
is 'cancel by tag and tenant' 1 "$(fq cancel --tag build=1 -t c --state ready)"
gives 1 '' fq kick --tag build=1
gives 1 '' fq wait --tag build=9

# wait takes what is unfinished when it starts.
gives 75 '' fq wait --tag build=1 --for 10ms
gives 75 '' fq wait -t a --for 0s
# Where this machine was too slow, nothing was left when the wait began: once more.
for _ in 1 2 3 4 5; do
  { read -rt 0.3 <>"$work/never"; fq pop -t w >/dev/null; fq cancel -t w >/dev/null; } &
  fq push -t w --tag set=1 x >/dev/null; fq push -t w/x --tag set=1 y >/dev/null
  "$FQ" wait -t w; status=$?
  wait $!
  fq push -t w --tag set=2 x >/dev/null
  { read -rt 0.3 <>"$work/never"; fq pop -t w >/dev/null; } &
  "$FQ" wait --tag set=2; status+=\ $?
  wait $!
  if [ "$status" = '1 0' ]; then break; fi
done
is 'one of several was not acked; all were' '1 0' "$status"

# Reasons.
fresh
bury() { fq bury "$(fq pop --lease 1m | cut -f1)" "$@"; }
w=$(fq push -t a first) && bury --reason 'no route to host'
x=$(fq push -t b second) && bury --reason 'disk full'
y=$(fq push -t c third --ttl 1ms); await test "$(fq peek --state dead --json | ids)" = "$w $x $y"
is 'dead ones tell why' 'REASON,no route to host,disk full,expired' \
  "$(fq peek --state dead | awk 'NR == 1 { at = index($0, "REASON") } { print substr($0, at) }' | sed -E 's/ {2,}.*//' | paste -sd,)"
is 'kick by reason' 1 "$(fq kick --reason 'disk')"
is 'takes a part of it' "$x" "$(fq peek --json | ids)"
gives 1 '' fq kick --reason DISK
is 'expired ones by that word' 1 "$(fq kick --reason expired)"
is 'and by tenant with it' 1 "$(fq kick --reason route -t a)"

# Nothing is left of what a cancelled one let go, or took with it into death.
fresh
for n in 1 2 3; do fq push -t u --unique key --unique-mode after "$n" >/dev/null; [ "$n" = 1 ] && fq pop --lease 1h >/dev/null; done
first=$(fq push first); any=$(fq push --after-any "$first" any); fq push --after "$any" last >/dev/null
chain=$(fq push --delay 1h late); fq push --after "$(fq push --after "$chain" b)" c >/dev/null
is 'all of them' 8 "$(fq cancel --all --yes)"
is 'and none is left, dead ones neither' '' "$(fq peek --state all)"
fq push --after "$(fq push --delay 1h late)" held >/dev/null
is 'as many as were asked for' 1 "$(fq cancel --all --yes -n 1)"
is 'purge' '' "$(fq queue purge default --yes >/dev/null; fq peek --state all)"

# What died with a message comes back with it.
fresh
x=$(fq push first); y=$(fq push --after "$x" second); z=$(fq push --after "$y" third)
bury --reason broken
is 'dead with it, and why' "message $x, which it came after, is dead,message $y, which it came after, is dead" \
  "$(fq jobs --state failed --json | jq -r 'select(.id > 1).last_error.reason' | sort | paste -sd,)"
is 'kick counts what it was asked for' 1 "$(fq kick --reason broken)"
is 'and they are held again' "$y $z" "$(fq jobs --state held --json | ids)"
is 'in their history too' kicked "$(fq log --json "$z" | jq -r .event | tail -1)"
is 'and they are served in turn' 'first second third' "$(for _ in 1 2 3; do fq pop; done | paste -sd' ')"

# Commands are shown, not what they would read.
fresh
fq push input -- make 'a b' all >/dev/null
is 'peek shows the command' "make 'a b' all" "$(fq peek | sed -n '2s/.*  //p')"
is 'without a column of reasons' 'ID STATE TENANT WHEN PAYLOAD' "$(fq peek | sed -n '1s/  */ /gp')"
is 'escaped' "printf \$'\\033[31m'" "$(fq pop >/dev/null; fq push -- printf $'\e[31m' >/dev/null; fq peek | sed -n '2s/.*  //p')"

# A tenant is no pattern.
fresh
fq push -t free-1 x >/dev/null
for words in peek jobs log cancel kick 'move --to other' wait pop 'pop --wait=20s'; do
  # shellcheck disable=SC2086
  gives 64 "'free-*': no tenant has that name" fq $words -t 'free-*'
done
fq push -t 'free-*' y >/dev/null
is 'but one may be called so' y "$(fq peek -t 'free-*' --raw)"

# Bad input.
gives 64 'is not a tag' fq peek --tag build
gives 64 'is not a tag' fq log --tag =1
gives 64 'is not a tag' fq wait --tag ''
gives 64 'is empty' fq kick --reason ''
gives 64 'unknown option' fq cancel --reason x
gives 64 'which? give ids' fq kick
gives 64 'which? give ids' fq cancel
gives 64 'give one of them' fq kick 1 --tag a=b
gives 64 'give one of them' fq kick 1 --reason x
gives 64 'select fewer' fq kick --all --reason x
gives 64 'which select fewer messages' fq wait --all --tag a=b
gives 64 'give one of them' fq wait 1 --tag a=b
gives 64 "'ready' is not a state that can be kicked; use dead or delayed" fq kick --tag a=b --state ready
finish
