#!/usr/bin/env bash
# job_messages_test - `fq push -- CMD` and what a push says about its run: stored as typed, shown, never run.
. "$(dirname "$0")/lib.sh"

# json FILTER ID: what jq makes of the message.
json() { fq show "$2" --json | jq -c "$1"; }

# Words, directory, input.
mkdir "$work/a dir"; cd "$work/a dir" || exit 1
id=$(fq push -t acme -- convert -q 5 --wait "it's" '' '*' </dev/null)
is 'what follows -- is stored word for word' '["convert","-q","5","--wait","it'\''s","","*"]' "$(json .argv "$id")"
is 'with the directory' "\"$work/a dir\"" "$(json .cwd "$id")"
is 'and an empty input' '""' "$(json .payload "$id")"
is 'a person sees it as a shell would take it' \
  "convert -q 5 --wait 'it'\\''s' '' '*'" "$(fq show "$id" | sed -n 's/^command *//p')"
words=(printf '%s|' "it's" 'a\b "$x"' $'a\nb\t\a\377' ü '' $'\'\e7')
odd=$(fq push -q odd -- "${words[@]}")
pasted() { eval "$(LC_ALL=$1 "$FQ" show -q odd "$odd" | sed -n 's/^command *//p')"; }
is 'what a person sees can be pasted' "$("${words[@]}")" "$(pasted C.UTF-8)"
is 'in any locale' "$("${words[@]}")" "$(pasted C)"
is 'and where it runs' "$work/a dir" "$(fq show "$id" | sed -n 's/^cwd *//p')"
is 'peek and pop tell it as well' '["convert","acme"] ["convert","acme"]' \
  "$({ fq peek --json; fq pop --json; } | jq -c '[.argv[0], .tenant]' | paste -sd' ')"
is 'a second -- belongs to the command' '["a","--","b"]' "$(json .argv "$(fq push -- a -- b)")"
is 'what is no UTF-8 does not break the JSON' '["�x"]' "$(json .argv "$(fq push -- $'\xffx')")"
is 'control characters do not reach a terminal' 0 "$(fq show "$(fq push -- $'\e[2J')" | grep -c $'\e')"
fq cancel --all --yes >/dev/null

# Its standard input; ours is left alone.
is 'PAYLOAD is the input of the command' '"in"' "$(json .payload "$(fq push in -- cat)")"
is 'so is --payload' '"-in"' "$(json .payload "$(fq push --payload=-in -- cat)")"
printf 'from a file' >"$work/input"
is 'so is --file' '"from a file"' "$(json .payload "$(fq push --file "$work/input" -- cat)")"
is 'so is - for stdin' '"piped"' "$(json .payload "$(printf piped | fq push - -- cat)")"
is 'unasked stdin is not touched' $'a\nb' "$(printf 'a\nb\n' | while read -r line; do fq push -- true >/dev/null; echo "$line"; done)"
is 'a message without a command has none' 'null null' "$(echo "$(json .argv "$(fq push x)") $(json .cwd "$(fq push x)")")"
is 'pop --format sh tells no more than before' '' "$(fq pop --format sh 2>/dev/null | grep -i argv)"
popped() { fq push -q taken x -- cat >/dev/null; gives 0 "message $1: is a command, to be run by fq worker; --json tells which" fq -q taken pop "${@:2}"; }
popped 1; popped 2 --raw; popped 3 --null; popped 4 --format sh; popped 5 --lease
fq push -q taken -- cat >/dev/null
gives 0 '' fq -q taken pop --json
for job in true false; do fq push -q taken x >/dev/null; fq push -q taken -- $job >/dev/null; done
gives 0 'message 8 and 1 more: are commands, to be run by fq worker' fq -q taken pop -n 10
gives 65 'the working directory' bash -c 'mkdir gone && cd gone && rmdir ../gone && "$FQ" push -- true'

# What is refused.
gives 64 '--: needs a command behind it' fq push --
gives 64 '--: needs a command behind it' fq push x -- ''
gives 64 'does not go with a batch' fq push --lines --file "$work/input" -- cat
gives 64 "takes no operand 'cat'" fq pop -- cat
gives 64 'one argument, 2 were given' fq push a b -- cat
gives 64 '--env: is for a command' fq push x --env HOME
for bad in '' A=b =; do gives 64 "not a variable's name" fq push --env="$bad" -- env; done
gives 64 '-t: needs a value' fq push -t -- cat
for bad in 0s 5 x ''; do
  gives 64 '--timeout: ' fq push x --timeout="$bad"
  gives 64 '--keep: ' fq push x --keep="$bad"
done
long=$(printf 'x%.0s' $(seq 20000))
gives 65 'the limit is 61440' fq push -- cat "$long" "$long" "$long" "$long"
gives 65 'the limit is 61440' env "A=$long$long" "$FQ" push --env A -- cat "$long" "$long"

# A text for a shell.
is '--shell is a text for sh -c' '["sh","-c","echo a; echo b"]' "$(json .argv "$(fq push --shell 'echo a; echo b')")"
is 'whatever it begins with' '["sh","-c","--","-x"]' "$(json .argv "$(fq push --shell=-x)")"
is 'with an input' '"in"' "$(json .payload "$(fq push in --shell cat)")"
gives 64 '--shell: does not go with -- CMD' fq push --shell 'a' -- b
gives 64 '--shell: is empty' fq push --shell ''
gives 64 '--shell: needs a value' fq push --shell
gives 64 'does not go with a batch' fq push --lines --file "$work/input" --shell cat
fq cancel --all --yes >/dev/null
is 'it runs' $'2\n-x' "$(fq push x --shell 'cat >/dev/null; echo $((1 + 1)); set -- -x; echo "$1"' >/dev/null; fq worker --once)"

# All variables, shown to nobody who did not ask for JSON.
gives 64 '--env-all: is for a command' fq push x --env-all
id=$(env SECRET_X=hush SECRET_Y=hush "$FQ" push -q told --env SECRET_X --env SECRET_Y --timeout 90s --keep 1d --unique 'a key' -- true)
is 'a person sees all that a push said, and of variables their names' \
  'env SECRET_X, SECRET_Y/timeout 1m30s/keep 1d/unique a key/unique for 1h' \
  "$(fq show -q told "$id" | sed -nE 's/^(env|timeout|keep|unique|unique for)  +/\1 /p' | paste -sd/)"
id=$(env SECRET_X=hush FQ_TENANT=acme FQ_FOO=1 "$FQ" push --env-all -- sh -c 'echo "$SECRET_X ${FQ_FOO-none} $FQ_TENANT"')
for view in "show $id" peek "explain $id" log stats "peek -n 1" top; do is "fq $view does not tell the value" 0 "$(fq $view 2>&1 </dev/null | grep -c hush)"; done
is '--env-all gives all but FQ_*' 'hush none acme' "$(env -u SECRET_X -u FQ_FOO "$FQ" worker --once)"
gives 65 'the limit is 61440' env "A=$long$long$long$long" "$FQ" push --env-all -- true

# CMD is looked up in the job's PATH.
mkdir -p "$work/bin" "$work/other" "$work/a dir/rel"
printf '#!/bin/sh\necho mine "$@"\n' >"$work/bin/only_here"
printf 'echo no interpreter "$@"\n' >"$work/bin/bare"
printf '#!/bin/sh\necho relative\n' >"$work/a dir/rel/only_rel"
printf 'x' >"$work/other/only_here"
chmod +x "$work/bin/only_here" "$work/bin/bare" "$work/a dir/rel/only_rel"
ran() { "$FQ" worker --once 2>"$work/err"; sed 's/.*: message/message/' "$work/err"; }
PATH=$work/nowhere:$work/other:$work/bin:$PATH "$FQ" push --env PATH -- only_here 'a b' >/dev/null
is 'the stored PATH finds it, past what cannot be run' 'mine a b' "$(ran)"
PATH=$work/bin:$PATH "$FQ" push --env-all -- bare x >/dev/null
is 'a script without an interpreter is the shell'"'"'s' 'no interpreter x' "$(ran)"
PATH=rel:$PATH "$FQ" push --env PATH -- only_rel >/dev/null
is 'a relative one is meant from the directory of the push' relative "$(cd / && ran)"
PATH=$work/bin:$PATH "$FQ" push -- only_here >/dev/null
is 'without a stored one it is the worker'"'"'s' 'mine' "$(PATH=$work/bin:$PATH ran)"
id=$(PATH=$work/bin:$PATH "$FQ" push -- only_here)
is 'where it is not' 1 "$(ran | grep -c "message $id of tenant 'default': only_here: cannot be started: No such file or directory; buried")"
id=$(PATH=$work/other "$FQ" push --env PATH -- only_here)
is 'or may not be run' 1 "$(ran | grep -c 'only_here: cannot be started: Permission denied; buried')"
mkdir "$work/bin/directory"
PATH=$work/bin:$PATH "$FQ" push --env PATH -- directory >/dev/null
is 'or is a directory' 1 "$(ran | grep -c 'directory: cannot be started: Permission denied; buried')"

# What fails is not run again; what was cut off is, four times.
fq cancel --all --state all --yes >/dev/null
id=$(fq push -- sh -c 'exit 3')
fq worker --drain 2>/dev/null
is 'a command that fails is dead at once' '["dead",1,1,0]' "$(json '[.state, .attempts, .max_attempts, .crashes]' "$id")"
id=$(fq push --attempts 2 -- sh -c 'exit 3')
fq worker --drain --backoff 0s..0s 2>/dev/null
is 'unless it says so' '["dead",2,2]' "$(json '[.state, .attempts, .max_attempts]' "$id")"
id=$(fq push -- sh -c 'exit 3')
fq worker --drain --backoff 0s..0s --attempts 3 2>/dev/null
is 'or the worker' '["dead",3,3]' "$(json '[.state, .attempts, .max_attempts]' "$id")"
fq queue set attempts=5
id=$(fq push -- sh -c 'exit 3'); is 'or the queue' 5 "$(json .max_attempts "$id")"
fq worker --drain --backoff 0s..0s 2>/dev/null
is 'also when it is what others have by themselves' '["dead",5]' "$(json '[.state, .attempts]' "$id")"
fq queue set attempts=
is 'taken back' '1 5' "$(json .max_attempts "$(fq push -- true)") $(json .max_attempts "$(fq push x)")"
fq cancel --all --state all --yes >/dev/null
id=$(fq push --shell 'kill -KILL $PPID; exec sleep 20')
for crash in 1 2 3 4; do
  fq worker --once 2>/dev/null
  # What a job does not outlive is its worker, but by a moment.
  await eval '[ "$(json .state "$id")" != leased ]'
  is "crash $crash is no attempt" "[\"ready\",0,$crash,1]" "$(json '[.state, .attempts, .crashes, .max_attempts]' "$id")"
done
fq worker --once 2>/dev/null
await eval '[ "$(json .state "$id")" != leased ]'
is 'the fifth crash buries' '["dead",0,5]' "$(json '[.state, .attempts, .crashes]' "$id")"
fq kick "$id"
is 'kick begins anew' '["ready",0,0]' "$(json '[.state, .attempts, .crashes]' "$id")"
fq cancel "$id"
id=$(fq push -- true); fq pop --lease 1ms >/dev/null
await [ "$(fq peek --json | jq -c '[.id, .attempts, .crashes]')" = "[$id,0,1]" ]
fq cancel "$id"

# In lines.
printf '{"payload":"x","timeout":"5m","keep":"1d"}\n{"payload":"y","timeout":null}\n' >"$work/lines"
is 'lines take timeout and keep' 2 "$(fq push --ndjson --file "$work/lines" --timeout 5s | wc -l)"
for bad in '{"payload":"a","timeout":5}' '{"payload":"a","keep":"0s"}' '{"payload":"a","argv":"a"}' '{"payload":"a","cwd":"/"}' '{"payload":"a","wait":"1s"}'; do
  printf '%s\n' "$bad" >"$work/lines"
  gives 65 'line 1: ' fq push --ndjson --file "$work/lines"
done

# What JSON tells of a message a line takes.
cd "$work" || exit 1
fq push -q from -t acme/x -p 7 --tag order=17 --delay 1h --ttl 2h --attempts 4 --timeout 5m --keep 2d --unique once 'text' >/dev/null
head -c 20 /dev/urandom | fq push -q from >/dev/null
printf 'in\0put' | env A=1 "$FQ" push -q from --env A -t b --file - -- sh -c 'echo "it'"'"'s"' >/dev/null
fq push -q from -t c failed >/dev/null
"$FQ" worker -q from --once --attempts 1 -- true 2>/dev/null; fq peek -q from --state all --json >"$work/all"
fq push -q to --ndjson --file "$work/all" >/dev/null
same() { fq peek -q "$1" --state all -n 100 --json | jq -cS 'del(.id, .queue, .pushed_at, .expires_at, .attempts, .deliveries, .crashes, .last_error, .due_at)' | sort; }
is 'all that can be said of them goes over' "$(same from)" "$(same to)"
is 'with when they are due' "$(fq peek -q from --state delayed --json | jq -r .due_at)" "$(fq peek -q to --state delayed --json | jq -r .due_at)"
is 'the terms are told' '"5m","2h","2d","once",null' "$(fq peek -q to --state delayed --json | jq -r '[.timeout, .ttl, .keep, .unique, .env] | @json' | tr -d '[]')"
is 'and variables' '{"A":"1"}' "$(fq peek -q to -t b --json | jq -c .env)"
is 'a command from a line runs' hello "$(printf '{"argv":["sh","-c","echo $G"],"env":{"G":"hello"}}\n' | fq push -q run --ndjson >/dev/null; fq worker -q run --once)"
gives 65 "line 2: unknown key 'priorty'; did you mean 'priority'?" bash -c 'printf "{\"payload\":\"a\"}\n{\"payload\":\"a\",\"priorty\":1}\n" | "$FQ" push -q none --ndjson'
gives 65 "line 1: argv: must be" bash -c 'echo "{\"argv\":[]}" | "$FQ" push --ndjson'
is 'after is told while it is held' $'[1]\nnull' "$(a=$(fq push -q after a); b=$(fq push -q after --after "$a" b); json() { fq show -q after "$b" --json | jq -c .after; }; json; fq pop -q after >/dev/null; json)" 
finish
