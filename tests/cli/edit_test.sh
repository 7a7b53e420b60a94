#!/bin/bash
# edit_test - fq edit: by options, in an editor, and what bad input gets.
. "$(dirname "$0")/lib.sh"

of() { fq show --json "$1" | jq -r "$2"; }

a=$(fq push a) b=$(fq push b) c=$(fq push --tag color=red c)
gives 0 '' fq edit "$c" -p 5
is 'a priority moves it' "$c $a $b" "$(fq peek --json | jq -r .id | paste -sd' ')"
gives 0 '' fq edit "$c" --tag color= --tag size=2 --attempts 2 --timeout 3s --payload other
is 'values are new' '{"size":"2"} 2 3s other' "$(of "$c" '"\(.tags) \(.max_attempts) \(.timeout) \(.payload)"')"
gives 0 '' fq edit "$c" --timeout none --ttl 1h
is 'and taken back' 'null 1h' "$(of "$c" '"\(.timeout) \(.ttl)"')"
gives 0 '' fq edit "$a" --delay 1h
is 'a delay makes it delayed' delayed "$(of "$a" .state)"
is 'the log tells when it is due' "edited $(of "$a" .due_at)" \
  "$(fq log --json "$a" | jq -r 'select(.event == "edited") | "\(.event) \(.due_at)"')"
gives 0 '' fq edit "$a" --delay none
is 'none makes it ready' ready "$(of "$a" .state)"
is 'the history shows each edit' 'pushed edited edited' "$(of "$a" '[.history[].event] | join(" ")')"
printf 'from a file' >"$work/payload"
gives 0 '' fq edit "$a" --file "$work/payload"
is 'a payload comes from a file' 'from a file' "$(of "$a" .payload)"
is 'or from standard input' '0 piped' "$(printf piped | fq edit "$a" --file -; echo $? "$(of "$a" .payload)")"

# Commands.
cd "$work" || exit 1
job=$(fq push --env HOME -- false)
mkdir "$work/elsewhere"
cd "$work/elsewhere" || exit 1
gives 0 '' fq edit "$job" -- echo edited
cd "$work" || exit 1
is 'a new command runs where edit was typed' "[\"echo\",\"edited\"] $work/elsewhere HOME" \
  "$(of "$job" '"\(.argv | tojson) \(.cwd) \(.env | keys[0])"')"
gives 0 '' fq edit "$job" --shell 'echo $((1+1))'
gives 0 '' fq cancel "$a" "$b" "$c"
is 'and is what runs' 2 "$(fq worker --drain)"
dead=$(fq push -- false)
fq worker --drain 2>/dev/null
is 'a command that failed is dead' dead "$(of "$dead" .state)"
gives 64 'is dead, so it is due at no time' fq edit "$dead" --delay 1s
gives 0 '' fq edit "$dead" -- echo again
gives 0 '' fq kick "$dead"
is 'edited and kicked it runs' again "$(fq worker --drain)"

# What is refused.
id=$(fq push m)
gives 64 'which message' fq edit
gives 64 'is one message' fq edit "$id" other
gives 64 'ID' fq edit x -p 1
gives 64 'does not go with --at' fq edit "$id" --delay 1s --at +5m
gives 64 'does not go with --file' fq edit "$id" --payload x --file "$work/payload"
gives 64 'does not go with -- CMD' fq edit "$id" --shell x -- true
gives 64 'is not a priority' fq edit "$id" -p much
gives 64 'which would ignore it' fq edit "$id" --key 5
gives 64 'there is no terminal' fq edit "$id"
gives 1 "message 999: not in queue 'default'" fq edit 999 -p 1
gives 1 'has ended already' fq edit "$dead" -p 1
gives 1 "fq: message $dead: has ended already" fq kick "$dead"
gives 1 "fq: message $dead: has ended already" fq cancel "$dead"
gives 1 "there is none" fq -q nowhere edit 1 -p 1
eval "$(fq pop --lease --format sh)"
gives 1 'is running' fq edit "$id" -p 1
gives 0 '' fq release "$FQ_RECEIPT"
gives 0 '' fq queue set max_payload=4B
gives 65 'max_payload' fq edit "$id" --payload 12345
gives 0 '' fq queue set max_payload= max_bytes=4B
gives 75 'max_bytes' fq edit "$id" --payload 12345
gives 0 '' fq queue set max_bytes=
gives 0 '' fq queue drain
gives 0 '' fq edit "$id" --payload 123456
gives 0 '' fq queue resume
is 'what was refused changed nothing' '123456 0' "$(of "$id" '"\(.payload) \(.priority)"')"

# In an editor: on_form 'SCRIPT' [EDITOR], which has the form as $1; sets said and status.
on_form() {
  printf '#!/bin/sh\n%s\n' "$1" >"$work/editor"
  chmod +x "$work/editor"
  said=$(TMPDIR=$work EDITOR=${2:-$work/editor} VISUAL='' on_terminal 200 24 "$FQ edit $id; echo =\$?")
  status=${said##*=}
  status=${status%%[!0-9]*}
}
forms() { find "$work" -name 'fq-edit-*' | wc -l; }
on_form "cp \"\$1\" '$work/form'"
is 'a form that is left as it is changes nothing' '0 0' "$status $(forms)"
is 'it has what may be edited' 'argv cwd due_at env keep key max_attempts payload payload_base64 priority tags timeout ttl' \
  "$(jq -r 'keys | join(" ")' "$work/form")"
is 'nobody else reads it' 600 "$(on_form "stat -c %a \"\$1\" >'$work/mode'"; cat "$work/mode")"
edits() { of "$id" '[.history[] | select(.event == "edited")] | length'; }
before=$(edits)
on_form 'sed -i "s/\"priority\": *0/\"priority\":7/; s/\"tags\":{}/\"tags\":{\"a\":\"b\"}/" "$1"'
is 'what was changed is changed' '0 7 {"a":"b"} 123456' "$status $(of "$id" '"\(.priority) \(.tags) \(.payload)"')"
is 'in one step' $((before + 1)) "$(edits)"
on_form 'echo "{\"payload\": \"short\", \"delay\": \"1h\"}" >"$1"'
is 'what is left out is no value' '0 0 {} short delayed' "$status $(of "$id" '"\(.priority) \(.tags) \(.payload) \(.state)"')"
on_form 'sed -i /due_at/d "$1"'
is 'no time is at once' '0 ready' "$status $(of "$id" .state)"
before=$(edits)

# stays STATUS WORDS KEPT: the last edit said so, changed nothing and kept so many forms.
stays() {
  is "$2: status" "$1" "$status"
  case $said in *"$2"*"nothing was changed"*) ;; *) fail "said '$said' and not '$2'" ;; esac
  is "$2: forms" "$3" "$(forms)"
  is "$2: edits" "$before" "$(edits)"
  rm -f "$work"/fq-edit-*
}
on_form 'echo "{ not json" >"$1"'
stays 65 "message $id: the form has no key in quotes at character 3" 1
on_form 'sed -i "/payload/d" "$1"'
stays 65 "message $id: the form has no key in quotes in line 12 at character 1" 1
on_form 'echo "{\"payload\":\"x\",\"tenant\":\"other\"}" >"$1"'
stays 65 "message $id: tenant: is not edited" 1
on_form 'echo "{\"payload\":\"x\",\"pirority\":1}" >"$1"'
stays 65 "did you mean 'priority'" 1
on_form 'echo "{\"payload\":\"x\",\"key\":\"1\"}" >"$1"'
stays 65 'which would ignore it' 1
on_form ': >"$1"'
stays 65 'the form is empty' 0
on_form 'rm "$1"'
stays 65 'the form is empty' 0
on_form 'exit 3'
stays 1 'the editor ended with 3' 0
on_form 'echo typed >"$1"; exit 3'
stays 1 'the editor ended with 3' 1
on_form '' 'kill -9 $$ #'
stays 1 'the editor ended by signal 9' 0
on_form "sed -i 's/\"priority\":0/\"priority\":9/' \"\$1\"; $FQ pop --lease 1h >/dev/null"
stays 1 'is running' 1
is 'it runs as it was' '2 short' "$(of "$id" '"\(.deliveries) \(.payload)"')"
is 'check finds nothing' 0 "$(fq check >/dev/null; echo $?)"

# The form is text. Of a command that is not, all but the command is edited there.
of_command() { fq export --live 2>/dev/null | jq -c 'select(.argv_base64) | [.argv_base64, .env_base64]'; }
id=$(A=$'v\xff' fq push --env A -- cat $'f\xff' /etc/hostname)
before=$(edits) was=$(of_command)
on_form 'sed -i s/hostname/issue/ "$1"'
stays 65 'have bytes that are not UTF-8' 1
is 'its command is as it was' "$was" "$(of_command)"
on_form 'sed -i "s/\"priority\": *0/\"priority\":4/" "$1"'
is 'a priority is edited' "0 4 $was" "$status $(of "$id" .priority) $(of_command)"
gives 0 '' fq edit "$id" -- true
gives 0 '' fq cancel "$id"

# A storm: editors killed at random. Each message is as it was or as one edit made it, and is there once.
fresh
seq -f 'm%g' 20 | fq push --lines >/dev/null
dead=$(fq push -t dead x); fq bury "$(fq pop -t dead --lease 1h | cut -f1)"
a_while() { printf '0.%03d' $((RANDOM % 150 + 1)); }
editor() {
  local n
  for n in $(seq 30); do
    timeout -s KILL "$(a_while)" "$FQ" edit $((RANDOM % 20 + 1)) -p $((n % 7)) --tag "n=$((n % 7))" --payload "p$((n % 7))"
    timeout -s KILL "$(a_while)" "$FQ" edit "$dead" -p $((n % 7)) --tag "n=$((n % 7))"
  done >/dev/null 2>&1
}
editor & editors=$!
editor & editors+=" $!"
wait $editors
[ "$(fq log --json | grep -c '"event":"edited"')" -gt 0 ] || fail 'none of them edited anything'
is 'in a storm each is one of what was asked for' '21 21' \
  "$(fq peek --state all -n 100 --json | jq -c 'select((.tags == {} and .priority == 0) or (.tags.n == "\(.priority)" and
    (.state == "dead" or .payload == "p\(.priority)")))' | wc -l) $(fq stats --json | jq '.ready + .dead')"
is 'and the queue is well' 0 "$(fq check >/dev/null; echo $?)"
finish
