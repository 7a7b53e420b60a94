#!/usr/bin/env bash
# worker_terminal_test - what a person sees of a worker: whose a line is, where one job's output ends, what the
# worker waits for; and what --strict makes of a run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

# Lines that say whose they are.
one=$(fq push -t acme -- printf 'a\nb'); two=$(fq push -t zoo/dogs -- sh -c 'echo out; echo err >&2')
is 'each line begins with id and tenant, also one without an end' "$one|acme|a $one|acme|b $two|zoo/dogs|err $two|zoo/dogs|out" \
  "$(worker --drain --tag-output 2>&1 | sort | tr '\t' '|' | paste -sd' ')"
id=$(fq push -t acme --keep 1h -- printf 'x\ny')
is 'what is kept has no tags' $'x\ny' "$(worker --drain --tag-output >/dev/null; fq result "$id")"
for _ in 1 2 3; do fq push -t b x >/dev/null; done
is 'a batch is of a tenant only' '-|b|3' "$(worker --drain --tag-output --batch 3 -- sh -c 'echo $FQ_BATCH' | tr '\t' '|')"
for _ in 1 2 3 4; do fq push -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do printf "%s" $FQ_ID; printf " %s\n" $FQ_ID; done' >/dev/null; done
is 'lines of jobs that run at once are whole' '' "$(worker -j4 --drain --tag-output | awk -F'\t' '$3 != $1 " " $1')"
id=$(fq push -t $'e\u202evil' -- echo x)
is 'a tenant does nothing to a terminal' "$id|e\\u{202e}vil|x" "$(worker --drain --tag-output | tr '\t' '|')"
gives 64 'goes with --output inherit only' fq worker --tag-output --output keep
gives 64 'does not go with --stream' fq worker --tag-output --stream -- cat
gives 64 'takes no value' fq worker --tag-output=x

# Strict.
gives 64 '--strict: needs --drain' fq worker --strict -- true
gives 64 '--strict: needs --drain' fq worker --once --strict -- true
strict() { worker --drain --strict --backoff 0s..0s "$@" 2>"$work/err" >/dev/null; echo $?; }
fq queue create default
is 'nothing to run is no failure' 0 "$(strict -- true)"
fq push a >/dev/null; fq push b >/dev/null
is 'all acked' 0 "$(strict -- true)"
fq push a >/dev/null
is 'a run that failed and went well again' 0 "$(strict -- sh -c '[ "$FQ_ATTEMPT" = 2 ]')"
fq push a >/dev/null; fq push b --attempts 1 >/dev/null
is 'one was buried' 1 "$(strict -- sh -c '[ "$(cat)" = a ]')"
fq push a >/dev/null
is 'one that buried itself' 1 "$(strict -- sh -c '"$FQ" bury')"
fq push a >/dev/null
is 'one that acked itself, and then failed' 0 "$(strict -- sh -c '"$FQ" ack; exit 3')"
fq push a >/dev/null
is 'one that was cancelled' 1 "$(strict -- sh -c '"$FQ" cancel $FQ_ID; exec sleep 20')"
fq push -- true >/dev/null
is 'one that does not fit' 1 "$(strict -- true)"
printf 'a\nb\n' | fq push --lines >/dev/null
is 'a batch' 0 "$(strict --batch 2 -- true)"
fq push a >/dev/null
is 'a stream' 1 "$(strict --stream --attempts 1 -- sh -c 'read -r l; echo "retry $(printf %s "$l" | jq -r .receipt)"; read -r l')"
is 'without --strict it is 0' 0 "$(fq push x >/dev/null; worker --drain --attempts 1 -- false 2>/dev/null; echo $?)"
fq cancel --all --state all --yes >/dev/null

# What it waits for, told to whoever looks on.
if command -v tmux >/dev/null; then
  screen() { tmux -L "fq-small-$$" "$@"; }
  tmux_shell="env FQ=$FQ FQ_SPOOL=$FQ_SPOOL PS1='$ ' bash --norc"
  screen -f /dev/null new-session -d -x 160 -y 20 "$tmux_shell"
  pane() { screen capture-pane -p; }
  shows() { pane | grep -qF -- "$1"; }
  count_shown() { pane | grep -cxF -- "$1"; }
  screen send-keys "\$FQ worker -q one -q two -- sh -c 'cat; [ ! -p $work/go ] || read -r x <$work/go'" Enter
  await shows "fq: worker: waits for messages in queues 'one', 'two'; Ctrl-C ends it"
  printf 'no newline' | fq push -q one >/dev/null; printf 'neither' | fq push -q two >/dev/null; fq push -q one 'full' >/dev/null
  await shows full
  is 'no output is glued to another' '1 1 1' "$(count_shown 'no newline') $(count_shown neither) $(count_shown full)"
  printf 'ends\n' | fq push -q one >/dev/null; printf 'so\n' | fq push -q one >/dev/null
  await shows so
  is 'and no empty line is made' 'ends so' "$(pane | grep -A1 -x ends | paste -sd' ')"
  mkfifo "$work/go"
  id=$(fq push -q one 'runs')
  await shows runs
  screen send-keys C-c
  await shows "fq: worker: told to stop; waits for 1 job (message $id), at most 10s; a second signal ends it at once"
  echo >"$work/go"
  await shows '$ '
  screen kill-server 2>/dev/null
else
  left_out "tmux is not installed"
fi
rm -f "$work/go"
is 'nobody looks on: nothing is told' '' "$(timeout -s INT 2 "$FQ" worker -q one -- true 2>&1)"
finish
