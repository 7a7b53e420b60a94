#!/usr/bin/env bash
# commands_test - the commands as people use them: formats, exit codes and what is in the queue afterwards.
. "$(dirname "$0")/lib.sh"

# The classic example.
for pair in 'client_1 测试111' 'client_1 测试111222' 'client_1 测试111333' 'client_2 测试222' 'client_2 测试222333' 'client_3 测试333'; do
  fq push -t ${pair% *} "${pair#* }" >/dev/null
done
is 'tenants take turns' '测试111 测试222 测试333 测试111222 测试222333 测试111333 ' "$(for _ in 1 2 3 4 5 6; do fq pop; done | tr '\n' ' ')"
gives 1 '' fq pop
fresh

is 'push prints the id' 1 "$(fq push hello)"
is 'push --json prints an object' '{"id":2,"queue":"default","status":"accepted"}' "$(fq push --json world)"
is 'pop prints payloads with a newline each' $'hello\nworld' "$(fq pop -n 5)"
printf 'no newline' | fq push >/dev/null
is '--raw is exact' 'no newline.' "$(fq pop --raw; printf .)"
printf 'a\0b\n' | fq push >/dev/null
is 'any byte comes back' '610062 0a' "$(fq pop --raw | od -An -tx1 | tr -d ' ' | sed 's/0a$/ 0a/')"
fq push '' >/dev/null
is 'an empty payload is a line' 1 "$(fq pop | wc -l)"
printf 'a\nb' | fq push --lines >/dev/null
is '-0 ends each by NUL' 'a|b|' "$(fq pop -n 2 -0 | tr '\0' '|')"
for word in '[1,2]' '++' '{}' '%%' '"q"'; do fq push "$word" >/dev/null; is "the payload $word stays as it is" "$word" "$(fq pop)"; done
fq push --payload=-x >/dev/null
is '--payload takes what begins with a dash' -x "$(fq pop)"
is 'stdin is not touched where a payload is given' rest "$(echo rest | { fq push x >/dev/null; cat; })"
fq pop >/dev/null

is 'one message of many lines is said so at a terminal' 'fq: that was one message of 10 lines; --lines makes each line a message' \
  "$(on_terminal 80 24 'seq 10 | "$FQ" push' | tr -d '\r' | grep lines)"
is 'not of one line, nor of a batch' '' "$(on_terminal 80 24 'echo x | "$FQ" push; seq 3 | "$FQ" push --lines; "$FQ" push "a
b"; seq 3 | "$FQ" push >/dev/null' | tr -d '\r0-9\n')"
is 'a duration behind --wait is a payload, said so at a terminal before it waits' \
  "fq: '50ms' is the payload; a time to wait is --wait=50ms fq: '5s' is the payload; a time to wait is --block=5s" \
  "$(on_terminal 80 24 'export FQ_SPOOL="$FQ_SPOOL-told"; "$FQ" push --wait 50ms --ttl 1ms; "$FQ" push --block 5s; "$FQ" push --wait=1ms 5s; "$FQ" push 5s' |
    tr -d '\r' | grep 'the payload' | paste -sd' ')"
fq cancel --all --yes >/dev/null

# Leases and verdicts.
fq push $'tab\there\\' -t acme >/dev/null
line=$(fq pop --lease 1m)
is 'a leased line has receipt, tenant and payload' 'acme tab\there\\' "$(printf '%s' "$line" | cut -f2,3 | tr '\t' ' ')"
receipt=${line%%$'\t'*}
gives 0 '' fq extend "$receipt" 5m
gives 0 '' fq release "$receipt"
gives 1 'no longer valid' fq ack "$receipt"
receipt=$(fq pop --lease | cut -f1)
gives 0 '' fq retry "$receipt" --reason 'no luck'
m=$(fq pop --lease 1m --format sh)
( eval "$m"; is 'a retry counted' 2 "$FQ_ATTEMPT"; is 'sh gives the payload' $'tab\there\\' "$FQ_PAYLOAD"; is 'and the tenant' acme "$FQ_TENANT"
  fq bury --reason 'no such customer'; finish ) || failures=$((failures + 1))
is 'the dead have a reason' '"no such customer"' "$(fq peek --state dead --json | sed 's/.*"reason":\("[^"]*"\).*/\1/')"
is 'kick prints how many' 1 "$(fq kick --all)"
gives 1 '' fq kick --all
is 'attempts start anew' '"attempts":0' "$(fq peek --json | grep -o '"attempts":0')"
is 'cancel by filter prints how many' 1 "$(fq cancel -t acme)"
gives 1 '' fq peek
receipts=$(printf 'a\nb\nc\n' | fq push --lines >/dev/null; fq pop -n 3 --lease 1m | cut -f1)
is 'receipts by stdin, one a line' 0 "$(printf '%s\n' "$receipts" | fq ack -; echo $?)"
fq push x >/dev/null
receipt=$(fq pop --lease 1m | cut -f1)
is 'without a receipt it is FQ_RECEIPT' 0 "$(FQ_RECEIPT=$receipt "$FQ" ack; echo $?)"
fq push x >/dev/null
receipt=$(fq pop --lease 1m | cut -f1)
gives 64 "'hello' is not a receipt" fq ack hello "$receipt"
gives 0 '' fq ack "$receipt"
gives 1 'no longer valid' fq ack "$receipt"

# A loop as the manual has it.
seq 20 | fq push --lines >/dev/null
is 'the loop of the manual serves all' 210 "$(while m=$(fq pop --lease 1m --format sh); do eval "$m"; echo "$FQ_PAYLOAD"; fq ack; done | awk '{ n += $1 } END { print n }')"

# Delay, priority, wait.
fq push later --delay 1h >/dev/null
gives 1 '' fq pop
is 'a delayed one is seen as such' delayed "$(fq peek --state delayed | awk 'NR == 2 { print $2 }')"
is 'kick takes delayed ones by id' 0 "$(fq kick "$(fq peek --state delayed --json | sed 's/{"id":\([0-9]*\).*/\1/')"; echo $?)"
is 'and it is served' later "$(fq pop)"
fq push past --at 1999-01-01T00:00:00Z >/dev/null
is 'the past is now' past "$(fq pop)"
fq push low >/dev/null; fq push high -p 5 >/dev/null
is 'higher first' 'high low' "$(fq pop -n 2 | paste -sd' ')"
gives 75 '' fq pop --wait=50ms
(until [ -s "$work/waiting" ]; do :; done; fq push woken >/dev/null) &
is '--wait stays until one can be served' woken "$(echo 1 >"$work/waiting"; fq pop --wait=20s)"
wait

# Large payloads, and input that pauses.
head -c 300000 /dev/urandom >"$work/large"
fq push --file "$work/large" >/dev/null
fq pop --raw >"$work/back"
is 'a large payload comes back byte for byte' 0 "$(cmp "$work/large" "$work/back"; echo $?)"
mkfifo "$work/pipe"
fq push --lines <"$work/pipe" >"$work/ids" &
exec 3>"$work/pipe"
echo first >&3
until [ -s "$work/ids" ]; do :; done
is 'a batch goes when the input pauses' first "$(fq pop)"
echo second >&3
exec 3>&-
wait $!
is 'and the rest when it ends' second "$(fq pop)"

# A reader that left, a full device, a closed output: what was taken comes back.
fq push keep >/dev/null
gives 74 'standard output' bash -c '"$FQ" pop >/dev/full'
# What cannot be printed was pushed all the same, and nobody is told to push it again.
gives 74 'standard output' bash -c 'seq 1024 | "$FQ" push -q unprinted --lines --json >/dev/full'
is "ids that cannot be printed" '0 1024' "$(grep -c 'not pushed' "$work/err") $(fq stats -q unprinted --json | jq .ready)"
fq queue remove unprinted --yes
gives 74 'standard output' bash -c '"$FQ" pop >&-'
# The write end of a pipe that nobody can read from, made so that no process may still hold the other end.
mkfifo "$work/unread"; exec 3<>"$work/unread" 4>"$work/unread" 3<&-
gives 141 '' env --default-signal=PIPE bash -c '"$FQ" pop 1>&4 4>&-; exit $?'
gives 74 '' env --ignore-signal=PIPE bash -c '"$FQ" pop 1>&4 4>&-'
exec 4>&-
is 'and nothing was lost or counted' 'keep 0' "$(fq peek --json | sed 's/.*"attempts":\([0-9]*\).*"payload":"\([a-z]*\)".*/\2 \1/')"
is 'it is still served' keep "$(fq pop)"

# Looking.
fq push x -t acme --tag order=7 >/dev/null
is 'stats in JSON' '"ready":1' "$(fq stats --json | grep -o '"ready":1')"
is 'stats a tenant' '"tenant":"acme"' "$(fq stats --tenants --json | grep -o '"tenant":"acme"')"
is 'stats for Prometheus' 'fq_ready{queue="default"} 1' "$(fq stats --format prometheus | grep '^fq_ready{')"
id=$(fq peek --json | sed 's/{"id":\([0-9]*\).*/\1/')
is 'show has a history' '"event":"pushed"' "$(fq show "$id" --json | grep -o '"event":"pushed"')"
is 'untrusted text is escaped for people' 1 "$(fq push $'\e[2J' >/dev/null; fq peek | grep -c 'x1b\[2J')"
fq push -t 7 12345 -q pictures >/dev/null; fq push -t 测试 '✅ 测试 👍' -q pictures >/dev/null; fq push -t $'e\u0301' 1 -q pictures >/dev/null
picture=$(fq peek -q pictures | sed -E 's/(WHEN|now|[0-9]+s ago)  *//')
is 'columns stand in line, whatever is in them' \
  $'ID  STATE  TENANT  PAYLOAD\n 1  ready  7       12345\n 2  ready  测试    ✅ 测试 👍\n 3  ready  e\u0301       1' "$picture"
fq push -q pictures -t wide "$(printf '测%.0s' $(seq 100))" >/dev/null
is 'a preview is cut by columns' "$(printf '测%.0s' $(seq 20))..." "$(fq peek -q pictures -t wide | awk 'NR == 2 { print $NF }')"
is 'of what was acked the outcome, and whose it was' '"7" null acked' "$(fq pop -q pictures >/dev/null; fq show -q pictures 1 --json | sed 's/.*"tenant":\([^,]*\),"state":"\([a-z]*\)","priority":\([^,]*\),.*/\1 \3 \2/')"
is 'and no zero is made up' 'tenant 7 attempts 0' "$(fq show -q pictures 1 | grep -E '^(attempts|tenant|priority|deliveries)' | tr -s ' ' | paste -sd' ')"
fq queue remove pictures --yes
# Cancelled while it is written: its pop is stopped by a pipe that nobody reads on. It is as if it had not been there.
mkfifo "$work/slow"
# pop_cancelled WORDS...: what fq pop WORDS writes behind such a message, and its status.
pop_cancelled() {
  local id out
  id=$(head -c 200000 /dev/zero | tr '\0' x | fq push -t slow -p 9)
  "$FQ" pop -t slow "$@" >"$work/slow" 2>"$work/said" & popping=$!
  exec 6<"$work/slow"
  read -rn1 <&6
  fq cancel "$id"
  out=$(sed 's/^x*$//' <&6 | paste -sd' ')
  exec 6<&-
  wait $popping
  echo "$out $?$(cat "$work/said")"
}
is 'a message cancelled under a pop leaves nothing' ' 1' "$(pop_cancelled)"
is 'or the time to wait' ' 75' "$(pop_cancelled --wait=20ms)"
seq 3 | fq push --lines -t slow >/dev/null
is 'or the next one' ' 1 0' "$(pop_cancelled)"
is 'one of many has another for it' ' 2 3 0' "$(pop_cancelled -n 2)"
seq 4 5 | fq push --lines -t slow >/dev/null
is 'a group is what is left of it' ' 4 5 0' "$(pop_cancelled --grouped)"
is 'cancel by tag' 1 "$(fq cancel --tag order=7)"
is 'cancel --all with --yes' 1 "$(fq cancel --all --yes)"

# Queues.
gives 0 '' fq queue create mail
gives 0 '' fq queue create mail
is 'queue list' $'default\nmail' "$(fq queue list)"
fq push -q mail x >/dev/null
is 'global options before the command' x "$(fq -q mail pop)"
is 'FQ_QUEUE names the queue and an option wins' '1 0' "$(FQ_QUEUE=mail "$FQ" push y >/dev/null; FQ_QUEUE=mail "$FQ" peek -q default; printf '%s ' $?; fq peek -q mail >/dev/null; echo $?)"
is 'queue purge prints how many' 1 "$(fq queue purge mail --yes)"
fq push -q mail x >/dev/null
is 'in JSON of which queue, too' '{"queue":"mail","purged":1} 0' "$({ fq queue purge mail --yes --json; echo $?; } | paste -sd' ')"
is 'also if there are none' '{"queue":"mail","purged":0} 1' "$({ fq queue purge mail --yes --json; echo $?; } | paste -sd' ')"
gives 0 '' fq queue remove mail --yes
is 'and it is gone' default "$(fq queue list)"
gives 0 '' fq check
is 'one message is one' ', 1 message, all is well' "$(fq push -q one x >/dev/null; fq check -q one | grep -o ', 1 .*'; fq queue remove one --yes)"
is 'check says so' 1 "$(fq check | grep -c 'all is well')"
is 'the spool is private' 700 "$(stat -c %a "$FQ_SPOOL")"
gives 0 '' fq --version
gives 0 '' fq help
gives 0 '' fq help push
gives 0 '' fq push --help

# fq.toml: read again when it changed.
printf '[queue.f]\norder = "fifo"\n[queue.k]\norder = "key"\nattempts = 1\n' >"$FQ_SPOOL/fq.toml"
gives 64 'order is "fifo"' fq push -q f x -p 1
printf '{"payload":"c","key":"b"}\n{"payload":"b","key":10}\n{"payload":"a","key":9}\n{"payload":"d"}\n' | fq push -q k --ndjson >/dev/null
is 'keys: numbers, then text, none last' 'a b c d' "$(fq pop -q k -n 4 | paste -sd' ')"
fq push -q k x >/dev/null
fq retry -q k "$(fq pop -q k --lease 1m | cut -f1)"
is 'the last attempt buries' 1 "$(fq peek -q k --state dead --json | wc -l)"

finish
