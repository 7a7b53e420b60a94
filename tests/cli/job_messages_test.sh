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
  "convert -q 5 --wait 'it'\\\\''s' '' '*'" "$(fq show "$id" | sed -n 's/^command *//p')"
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
is 'pop --format sh tells no more than before' '' "$(fq pop --format sh | grep -i argv)"
gives 65 'the working directory' bash -c 'mkdir gone && cd gone && rmdir ../gone && "$FQ" push -- true'

# What is refused.
gives 64 '--: needs a command behind it' fq push --
gives 64 '--: needs a command behind it' fq push x -- ''
gives 64 'does not go with a batch' fq push --lines --file "$work/input" -- cat
gives 64 '--: not used here' fq pop -- cat
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

# In lines.
printf '{"payload":"x","timeout":"5m","keep":"1d"}\n{"payload":"y","timeout":null}\n' >"$work/lines"
is 'lines take timeout and keep' 2 "$(fq push --ndjson --file "$work/lines" --timeout 5s | wc -l)"
for bad in '{"payload":"a","timeout":5}' '{"payload":"a","keep":"0s"}' '{"payload":"a","argv":["a"]}' '{"payload":"a","wait":"1s"}'; do
  printf '%s\n' "$bad" >"$work/lines"
  gives 65 'line 1: ' fq push --ndjson --file "$work/lines"
done
finish
