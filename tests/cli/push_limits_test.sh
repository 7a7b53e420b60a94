#!/usr/bin/env bash
# push_limits_test - max_messages and max_bytes: a push is refused by name, or waits for room.
. "$(dirname "$0")/lib.sh"

# How much may be held: refused by name, waited for where that is asked for.
gives 0 '' fq queue create
gives 0 '' fq tenant set acme max_messages=2
fq push -t acme one >"$work/id"
fq push -t acme/web two >>"$work/id"
full="tenant 'acme': has 2 messages, the limit is 2 (max_messages); try again when some are done"
gives 75 "$full, or use --block" fq push -t acme three
gives 75 "$full" fq push -t acme --block=20ms three
is 'it was used' 0 "$(grep -c 'use --block' "$work/err")"
gives 0 '' fq push -q elsewhere -t acme four
gives 75 "$full" fq move -q elsewhere --all --yes --to default
is 'a move has none' 0 "$(grep -c 'use --block' "$work/err")"
printf 'a\nb\n' >"$work/lines"
gives 75 'max_messages' fq push -t acme --lines --file "$work/lines"
(until [ -s "$work/pushing" ]; do :; done; fq pop -t acme >"$work/popped") &
is 'a push waits for room' 0 "$(echo 1 >"$work/pushing"; fq push -t acme --block=20s three >"$work/id"; echo $?)"
wait
is 'and is there' 2 "$(fq peek -t acme -n 9 --json | wc -l)"
gives 0 '' fq tenant set acme max_messages=
fq push -t acme four >"$work/id"

# What is more than the limit by itself never gets room: one message is refused at once, a batch goes in parts.
gives 0 '' fq tenant set parts max_messages=10
seq 95 >"$work/lines"; : >"$work/parts"
gives 75 "fq: tenant 'parts': gets 95 messages at once, the limit is 10 (max_messages)" fq push -t parts --lines --file "$work/lines"
is 'nothing of it is there' '' "$(fq peek -t parts)"
"$FQ" push -t parts --lines --block --file "$work/lines" >"$work/ids" & pushing=$!
while [ "$(wc -l <"$work/parts")" -lt 95 ]; do fq pop -t parts --wait=20s >>"$work/parts" || break; done
wait $pushing
is 'all of it is pushed' 0 $?
is 'in its order' "$(xargs <"$work/lines")" "$(xargs <"$work/parts")"
is 'and told' 95 "$(sort -u "$work/ids" | wc -l)"
gives 0 '' fq tenant set parts max_bytes=3B
gives 75 "fq: tenant 'parts': gets 4 bytes at once, the limit is 3 (max_bytes)" fq push -t parts --block four
gives 75 "at once" fq push -t parts --block --wait four
gives 75 "at once" fq push -t parts --block --unique k four

# A signal ends the waiting; nothing is pushed.
gives 0 '' fq queue set max_bytes=14B
gives 75 "queue 'default': has" fq push far-too-long
"$FQ" push -t big --block far-too-long >"$work/id" 2>"$work/said" & waiting=$!
await grep -q '^State:.S' "/proc/$waiting/status"
kill -TERM $waiting
wait $waiting
is 'it died by the signal' 143 $?
is 'without a word' '' "$(cat "$work/said")"
is 'and without a message' '' "$(fq peek -t big)"

# A payload that takes the place of another counts as what it adds.
fresh
gives 0 '' fq queue create
gives 0 '' fq tenant set acme max_bytes=10B max_messages=1
fq push -t acme --unique k --unique-mode replace 12345678 >/dev/null
gives 0 '' fq push -t acme --unique k --unique-mode replace 1234567890
gives 75 "tenant 'acme': has 10 bytes, the limit is 10 (max_bytes)" fq push -t acme --unique k --unique-mode replace 12345678901
is 'the old one is there still' 1234567890 "$(fq peek -t acme --raw)"
gives 0 '' fq tenant set acme max_bytes=5B
gives 0 '' fq push -t acme --unique k --unique-mode replace 123456
gives 75 max_bytes fq push -t acme --unique k --unique-mode replace 1234567
gives 0 '' fq push -t other --debounce d --quiet 1h 1
gives 0 '' fq queue set max_bytes=8B
gives 0 '' fq push -t other --debounce d --quiet 1h 22
gives 75 "queue 'default': has 8 bytes, the limit is 8 (max_bytes)" fq push -t other --debounce d --quiet 1h 333
gives 0 '' fq queue drain
gives 75 draining fq push -t other --debounce d --quiet 1h 4
finish
