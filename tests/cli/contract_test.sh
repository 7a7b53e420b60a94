#!/usr/bin/env bash
# contract_test - sentences of what people type and read that no other test holds: where words are taken from, what
# wins, which streams are touched, and which commands make a queue. tests/CONTRACT.md tells where the others are held.
. "$(dirname "$0")/lib.sh"
export HOME=$work/home
mkdir "$HOME"

# Options: before and after the command, mixed with operands; the last one holds; no abbreviations; any value behind =.
is 'a spool and a queue before the command' 1 "$(fq --spool "$work/a" -q one push x)"
is 'and behind it' 2 "$(fq push x --spool "$work/a" --queue one)"
for format in '--format json' --format=json --json; do
  # shellcheck disable=SC2086  # words
  is "an output format too: $format" one "$(fq $format -q one --spool "$work/a" peek -n 1 | jq -r .queue)"
done
is 'operands and options mix' 3 "$(fq push --spool "$work/a" x -q one -p 5)"
is 'all of them are heard' 5 "$(fq --spool "$work/a" -q one peek --json | jq 'select(.id == 3).priority' | xargs)"
is 'given twice the last one holds' 9 "$(fq push -p 1 -p 9 -q twice x >/dev/null; fq -q twice peek --json | jq .priority)"
is 'a queue too' four "$(fq push -q three -q four x --json | jq -r .queue)"
gives 64 "unknown option '--pri'" fq push --pri 5 x
is 'a value may be empty, or begin with -' ' -x' "$(fq push --payload= -q value >/dev/null; fq push --payload=-x -q value >/dev/null
  fq -q value peek --json | jq -r .payload | paste -sd' ')"

# The words for the absence of any are taken where an option has no number by default.
fq push -q words --delay none --ttl none --timeout none --block=unlimited x >/dev/null
fq push -q words --debounce d --quiet 1h --max-wait unlimited y >/dev/null
is 'none and unlimited are defaults that can be typed' 'null null null' "$(fq -q words peek --json | jq -r '"\(.due_at) \(.ttl) \(.timeout)"')"
is 'also of a line, over an option' 'null null null 1h' \
  "$(printf '{"payload":"a","delay":"none","ttl":"none","timeout":"none"}\n{"payload":"b"}\n' |
    fq push -q line --delay 1h --ttl 1h --timeout 1h --ndjson >/dev/null
    fq -q line peek --json | jq -r '"\(.due_at) \(.ttl) \(.timeout)"') $(fq -q line peek --state delayed --json | jq -r .ttl)"
gives 64 "write 5s, 10m or 2h, or none" fq push --delay unlimited x
gives 64 "write 5s, 10m or 2h, or unlimited" fq wait --for none 1
gives 0 '' fq -q words wait --for unlimited "$(fq -q words pop --json | jq -r .id)"
fq push -q words z >/dev/null
receipt=$(fq -q words pop --wait=unlimited --lease 1m --json | jq -r .receipt)
gives 0 '' fq -q words release --delay none "$receipt"
gives 0 '' fq -q words cancel --all --yes -n unlimited
gives 64 'or unlimited' fq -q words kick --all -n none

# Environment: set but empty is unset; an option wins; FQ_TENANT is for pushes and limits, and never a filter.
is 'the queue of the environment' here "$(FQ_QUEUE=here fq push x --json | jq -r .queue)"
is 'an option wins' there "$(FQ_QUEUE=here fq push x -q there --json | jq -r .queue)"
is 'empty is unset' default "$(FQ_QUEUE='' fq push x --json | jq -r .queue)"
is 'the tenant of a push' acme "$(FQ_TENANT=acme fq push -q t x >/dev/null; fq -q t peek --json | jq -r .tenant)"
is 'an option wins there too' zoo "$(FQ_TENANT=acme fq push -q u -t zoo x >/dev/null; fq -q u peek --json | jq -r .tenant)"
is 'it is no filter' 2 "$(fq push -q t x >/dev/null; FQ_TENANT=nobody fq -q t peek --json | wc -l)"
gives 0 '' env FQ_TENANT=acme "$FQ" -q t tenant limit --for 1h
is 'it is the one that is limited' acme "$(fq -q t explain --json | jq -r 'select(.tenant == "acme").tenant' | head -1)"

# Where a spool is.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  chmod 755 "$work"; mkdir "$work/state"; chown 65534:65534 "$work/state" "$HOME"; cp "$FQ" "$work/fq"; chmod 755 "$work/fq"
  other() { env -u FQ_SPOOL "$@"; }
  as() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
  is 'of XDG_STATE_HOME' "$work/state/fq" "$(other XDG_STATE_HOME="$work/state" bash -c "$(declare -f as); as '$work/fq' push x >/dev/null; ls -d '$work/state/fq'")"
  is 'else of HOME' "$HOME/.local/state/fq" "$(other -u XDG_STATE_HOME bash -c "$(declare -f as); as '$work/fq' push x >/dev/null; ls -d '$HOME/.local/state/fq'")"
  other -u XDG_STATE_HOME -u HOME bash -c "$(declare -f as); as '$work/fq' push x" >"$work/out" 2>"$work/err"
  is 'no HOME either' 78 $?
  is 'which says what to do' 1 "$(grep -c 'set FQ_SPOOL' "$work/err")"
else
  left_out "becoming somebody else needs root"
fi
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /var/spool 2>/dev/null; then
  # shellcheck disable=SC2016  # expanded by the inner shell
  is 'of root, whatever its HOME is' '1 700' "$(env -u FQ_SPOOL unshare -m sh -c 'mount -t tmpfs none /var/spool && "$0" push x && stat -c %a /var/spool/fq' "$FQ" | xargs)"
else
  left_out "a name space with an own /var/spool needs root"
fi

# Standard input is read by push alone, or where - stands: all else is safe in a loop over lines.
id=$(fq push -q loop x)
is 'no command eats the lines of a loop' 'a b c' "$(printf '%s\n' a b c | while read -r line; do
  echo "$line"
  { fq -q loop peek; fq -q loop show "$id"; fq -q loop stats; fq -q loop explain; fq -q loop log; fq -q loop jobs; fq workers
    fq -q loop push --payload=y; fq -q loop push z; fq -q loop cancel "$id"; fq queue list; fq tenant list; fq -q loop check
    fq config show; fq -q loop pop; fq -q loop wait --for 1ms "$id"; fq -q loop kick --all --yes; } >/dev/null 2>&1
done | xargs)"
gives 64 '' bash -c '"$FQ" push </dev/null 2>/dev/null'
gives 64 '' bash -c '"$FQ" push <&- 2>/dev/null'
is 'an empty pipe is an empty payload' '""' "$(: | fq push -q empty >/dev/null; fq -q empty peek --json | jq -c .payload)"
is 'a final newline is part of it' '"a\n"' "$(echo a | fq push -q newline >/dev/null; fq -q newline peek --json | jq -c .payload)"
is 'no input is no message' 0 "$(: | fq push --lines -q none; echo $?)"
is 'empty lines are empty payloads' 2 "$(printf '\n\n' | fq push --lines -q lines | wc -l)"

# Putting in: - reads whatever standard input is; an id that never was, of a line too; values of variables.
is '- reads also /dev/null' '""' "$(fq push -q dash - </dev/null >/dev/null; fq push -q dash --file - </dev/null >/dev/null; fq -q dash peek --json | jq -c .payload | uniq)"
gives 64 'closed' bash -c '"$FQ" push - <&-'
gives 64 'is a terminal' bash -c 'TERM=xterm script -qefc "$FQ push" /dev/null </dev/null | tr -d "\r" >&2; exit "${PIPESTATUS[0]}"'
gives 1 'message 99: not known' bash -c 'echo "{\"payload\":\"x\",\"after\":[99]}" | "$FQ" push -q dash --ndjson'
id=$(SECRET=hunter2 fq push -q shown --env SECRET -- true)
is 'a person sees no value of a variable' 0 "$({ fq -q shown show "$id"; fq -q shown peek; fq -q shown jobs; fq -q shown log; fq -q shown explain "$id"; fq -q shown report; } | grep -c hunter2)"
is 'JSON has it' hunter2 "$(fq -q shown show "$id" --json | jq -r .env.SECRET)"

# Taking out: a leased line undone, what eval makes of a message, a question before all is cancelled.
printf 'a\tb\\c\n\001\377\303\251' >"$work/odd"
fq push -q line2 --file "$work/odd" -t 'ten ant' >/dev/null
printf %b "$(fq -q line2 pop --lease | cut -f3)" >"$work/undone"
is 'printf %b undoes a leased line' 0 "$(cmp "$work/odd" "$work/undone"; echo $?)"
fq push -q eval -t "it's" -p 3 $'x\n' >/dev/null
is 'a leased message for eval' "1 eval it's 3 1 5 x yes unset" "$(eval "$(fq -q eval pop --format sh --lease)"
  echo "$FQ_ID $FQ_QUEUE $FQ_TENANT $FQ_PRIORITY $FQ_ATTEMPT $FQ_MAX_ATTEMPTS ${FQ_PAYLOAD%?} $(env | grep -q '^FQ_RECEIPT=1\.' && echo yes) $(env | grep -q ^FQ_PAYLOAD || echo unset)"
  fq ack)"
printf 'a\0b' | fq push -q eval >/dev/null
is 'one that is acked, with a NUL' 'unset unset a|b' "$(FQ_RECEIPT=x FQ_PAYLOAD=y; eval "$(fq -q eval pop --format sh)"
  echo "${FQ_RECEIPT-unset} ${FQ_PAYLOAD-unset} $(base64 -d <<<"$FQ_PAYLOAD_BASE64" | tr '\0' '|')")"
seq 3 | fq push -q asked --lines >/dev/null
gives 64 '--yes: is needed' fq -q asked cancel --all
asked() { echo "$1" | TERM=xterm script -qefc "$FQ -q asked $2" /dev/null >/dev/null; echo $?; }
is 'who says no, or less than yes, keeps all' 3 "$(asked n 'cancel --all' >/dev/null; asked y 'cancel --all' >/dev/null; asked n 'queue purge asked' >/dev/null; asked n 'queue remove asked' >/dev/null; fq -q asked peek --json | wc -l)"
is 'who says yes does not' '0 0' "$(asked yes 'cancel --all') $(fq -q asked peek --json | wc -l)"

# What was written into a pipe is written: fq-pop(1) warns of it.
seq 50 | fq push -q head --lines >/dev/null
is 'a pipe into head takes what is not read too' '1 50 0' "$(fq -q head pop -n 50 | head -1) $(fq -q head stats --json | jq -r '"\(.acked) \(.ready)"')"

# Working and keeping: what a person is told of a run, and what goes on in a queue that is paused.
fq push -q told x >/dev/null; fq push -q told --attempts 1 y >/dev/null; fq push -q told z >/dev/null
gives 0 '' fq -q told worker --once -- true
gives 0 'message 2 of tenant' fq -q told worker --once -- false
gives 0 'message 3 of tenant' fq -q told worker --once -v -- true
fq queue create rests; fq queue pause rests
delayed=$(fq push -q rests --delay 1ms x); dead=$(fq push -q rests --ttl 1ms y); runs=$(fq push -q rests --after-any "$dead" z)
gives 1 '' fq -q rests wait "$dead"
ready() { fq -q rests peek -n 99 --json | jq .id | grep -qx "$1"; }
await ready "$delayed"; await ready "$runs"
is 'delays, times to live and what waits for them go on while it is paused' "expired $delayed $runs" \
  "$(fq -q rests show "$dead" --json | jq -r .last_error.reason) $(fq -q rests peek --json | jq .id | xargs)"
gives 1 '' fq -q rests pop

# What is told where nothing is said of how much.
seq 30 | fq push -q many --lines >/dev/null
is 'ten of a look, and of what comes next' '10 10' "$(fq -q many peek --json | wc -l) $(fq -q many explain --json | jq -s '[.[] | select(.about == "next")] | length')"
is 'or all' '30 30' "$(fq -q many peek -n unlimited --json | wc -l) $(fq -q many jobs -n unlimited --json | wc -l)"
seq 20000 | fq -q long push --lines >/dev/null
"$FQ" -q long peek -n unlimited --json >"$work/long" & reader=$!
await test -s "$work/long"
kill -TERM $reader; wait $reader
is 'a long list in a file ends where that is asked for' '143 true' "$? $(jq -n '$n < 20000' --argjson n "$(wc -l <"$work/long")")"
seq 60000 | fq -q long push --lines >/dev/null
# checked_until SIGNAL ARGS...: how a check ends that is told to, and what it has said.
checked_until() {
  env --default-signal="$1" "$FQ" -q long check "${@:2}" >"$work/out" 2>&1 & checker=$!
  await grep -q queues/long/segment "/proc/$checker/maps"
  kill -s "$1" $checker; wait $checker
  echo "$? $(cat "$work/out")"
}
is 'a check too' '130 ' "$(checked_until INT)"
is 'and a repair' '143 fq: interrupted; another repair does the rest' "$(checked_until TERM --repair)"
rmdir "$FQ_SPOOL/queues/long/damaged" 2>/dev/null
is 'which tells what it has done' '130 fq: repaired: damaged/: is missing; made anew fq: interrupted; another repair does the rest' \
  "$(checked_until INT --repair | xargs)"
# What cancels many ends too, and tells how much of it is done.
env --default-signal=INT "$FQ" -q long cancel --all --yes >"$work/out" 2>"$work/err" & canceller=$!
cancels() { [ "$(fq -q long stats --json | jq .cancelled)" -gt 0 ]; }
await cancels
kill -INT $canceller; wait $canceller
is 'so does a cancel' '130 ' "$? $(cat "$work/out")"
left=$(fq -q long stats --json | jq .ready)
is 'and tells what it has done' "fq: interrupted; $((80000 - left)) messages are done" "$(cat "$work/err")"
is 'which is not all' true "$([ "$left" -gt 0 ] && echo true)"
is 'the next check waits for nothing' true "$(fq -q long check --json | jq .ok)"
is 'what is put out is what is read' '31 31' "$(fq -q many push --tag k=v -p 5 --delay 1h a >/dev/null; fq -q many peek -n unlimited --state all --json | fq push -q back --ndjson | wc -l) $(fq -q back peek -n unlimited --state all --json | wc -l)"
gives 0 '' fq -q many cancel --tag k=v
# A message as it is told is pushed as it was: what it waits for, and until when.
fq queue create again
first=$(fq push -q again first)
any=$(fq push -q again --after-any "$first" --delay 1h --ttl 2h --unique u --unique-for 3h any)
both=$(fq push -q again --after "$first" --after-any "$any" both)
told='[.payload, .after, .after_any, .due_at, .delay, .ttl, .unique_for]'
of() { fq show -q again "$1" --json | jq -c "$told"; }
is 'which kind of after is told' "[\"both\",[$first],[$any],null,null,null,null]" "$(of "$both")"
is 'and when a held one is due' "[\"any\",null,[$first],true,null,\"2h\",\"3h\"]" "$(fq show -q again "$any" --json | jq -c ".due_at |= (. > \"$(date -u -d '50 min' +%FT%T)\") | $told")"
is 'to a person too' "comes after $first, however it ends|due at|ttl 2h|unique for 3h|unique u" \
  "$(fq show -q again "$any" | sed -nE 's/  +/ /; s/^(due at).*/\1/; /^(due at|ttl|unique|comes)/p' | sort | paste -sd'|')"
for id in "$both" "$any"; do
  before=$(of "$id")
  line=$(fq show -q again "$id" --json)
  fq cancel -q again "$id" >/dev/null
  is 'what fq show puts out can be pushed, and is what it was' "$before" "$(of "$(echo "$line" | fq push -q again --ndjson)")"
done
edited=$(fq push -q again --after "$first" edited)
fq edit -q again "$edited" --delay 7s
is 'a delay that begins when it is let go is told' '["edited",['"$first"'],null,null,"7s",null,null]' "$(of "$edited")"
is 'to a person too' 'delay 7s once it is let go' "$(fq show -q again "$edited" | sed -n 's/^delay  */delay /p')"
bounced=$(fq push -q again --debounce d --quiet 1h b)
is 'and a debounce key' 'd debounce d' "$(fq show -q again "$bounced" --json | jq -r .debounce) $(fq show -q again "$bounced" | sed -n 's/^debounce  */debounce /p')"
is 'all of a log' 32 "$(fq -q many log | wc -l)"
for _ in $(seq 25); do fq push -q ended --keep 1h x >/dev/null; done
fq -q ended pop -n 99 >/dev/null
is 'twenty that have ended' 20 "$(fq -q ended jobs --json | wc -l)"
"$FQ" -q many log -f >"$work/followed" & following=$!
followed() { [ "$(wc -l <"$work/followed")" = "$1" ]; }
await followed 10
fq push -q many x >/dev/null
await followed 11
kill $following
is 'ten that were before one follows, and on' "$(fq -q many log -n 11 | awk '{ print $3 }' | xargs)" "$(awk '{ print $3 }' "$work/followed" | xargs)"

# An empty queue is 1 without a word, one that is not there is 1 and named; who makes it.
gives 1 '' bash -c '"$FQ" -q made queue create && "$FQ" -q made pop'
for command in pop 'peek' 'stats' 'jobs' 'cancel 1' 'log' 'kick 1' 'show 1' 'wait 1' 'edit 1 -p 3' 'queue pause' 'explain'; do
  # shellcheck disable=SC2086  # words
  gives 1 "'nowhere'" fq -q nowhere $command
done
is 'none of them made it' 0 "$(fq queue list | grep -c nowhere)"
for leaves in --once --drain; do gives 1 "'nowhere'" fq -q nowhere worker $leaves; done
is 'nor one that would leave at once' 0 "$(fq queue list | grep -c nowhere)"
"$FQ" -q waits pop --wait=1ms 2>"$work/err"
is 'its wait was over' 75 $?
is 'it says that it made the queue' "fq: queue 'waits': did not exist; created" "$(cat "$work/err")"
"$FQ" -q stays worker 2>"$work/err" & worker=$!
await grep -q "fq: queue 'stays': did not exist; created" "$work/err"
kill $worker
wait $worker
is 'a worker that stays makes it' 1 "$(fq queue list | grep -c stays)"
is 'a waiting pop makes it' 1 "$(fq queue list | grep -c waits)"
is 'under set -e a loop over a queue ends' 'y z done' "$(fq push -q two y >/dev/null; fq push -q two z >/dev/null
  bash -ec 'while m=$("$FQ" -q two pop); do echo "$m"; done; echo done' | xargs)"
finish
