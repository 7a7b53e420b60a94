#!/usr/bin/env bash
# last_good_policy_test - a broken fq.toml stops nobody who worked before it broke: what was good last holds, also
# after a rebuild, and a command says so in one line.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

toml=$FQ_SPOOL/fq.toml
attempts() { fq show -q "${2:-default}" "$1" --json 2>/dev/null | jq .max_attempts; }
break_it() { printf '[queue."*"]\nattempts = 3\nnonsense = 1\n' >"$toml"; }
warned="fq.toml:3: unknown key 'nonsense'"

id=$(fq push x)
fq push -q never x >/dev/null
printf '[queue."*"]\nattempts = 7\n[queue."*".tenant.acme]\nconcurrency = 1\n' >"$toml"
is 'a good one holds' 7 "$(attempts "$(fq push y)")"
break_it
for command in 'push z' pop 'push -t acme a' peek stats "show $id" explain log 'tenant list' 'queue pause' 'queue resume' 'pop --lease' 'kick 1'; do
  fq $command </dev/null >/dev/null 2>"$work/err"; code=$?
  is "fq $command says it in one line" 1 "$(grep -c "$warned" "$work/err")"
  [ "$code" -le 1 ] || fail "fq $command: $code"
done
is 'what held before holds' 7 "$(attempts "$(fq push z 2>/dev/null)")"
gives 0 "$warned" fq push -q never y
is 'one that worked without a file goes on without one' 5 "$(attempts 2 never)"

# It outlives the segment: a rebuild, and so a reboot.
rm "$FQ_SPOOL/queues/default/segment"
gives 0 "$warned" fq push z
is 'also after a rebuild' 7 "$(attempts "$(fq push z 2>/dev/null)")"
for n in 1 2; do fq push -t acme $n >/dev/null 2>&1; done
is 'with what it says of tenants' '0 1' "$(for n in 1 2; do fq pop -t acme --lease 1h >/dev/null 2>&1; echo $?; done | paste -sd' ')"
rm "$FQ_SPOOL/queues/default/segment"
is 'and another one' 7 "$(attempts "$(fq push z 2>/dev/null)")"

# A queue that never had a good one.
gives 78 "$warned" fq push -q new x
gives 78 "$warned" fq queue create new
gives 78 "$warned" fq pop -q new --wait=10ms
gives 78 "$warned" timeout 20 "$FQ" worker -q new -- true
is 'it is not made' no "$([ -e "$FQ_SPOOL/queues/new" ] && echo yes || echo no)"
gives 0 '' fq queue create default
gives 78 "$warned" fq config check

# A worker is not stopped, and not loud.
fq cancel --all --state all --yes >/dev/null 2>&1
seq 50 | fq push --lines >/dev/null 2>&1
worker --drain -- true 2>"$work/err"
is 'a worker works' '0 1' "$? $(grep -c "$warned" "$work/err")"
printf '[queue."*"]\nattempts = 4\n' >"$toml"
"$FQ" worker -- true 2>"$work/err" & worker=$!
await_ack() { fq push "$1" >"$work/id" 2>/dev/null; await eval '[ "$(state "$(cat "$work/id")" 2>/dev/null)" = acked ]'; }
await_ack x
break_it
for n in 1 2 3; do await_ack $n; done
is 'one line while it runs' 1 "$(grep -c "$warned" "$work/err")"
kill $worker; wait $worker
is 'a watch says it once' 1 "$(timeout 3 "$FQ" stats --watch=50ms 2>&1 >/dev/null | grep -c "$warned")"

# Nothing of a file that others may write to is believed.
printf '[queue."*"]\nattempts = 9\n' >"$toml"; chmod o+w "$toml"
gives 0 'chmod go-w' fq push x
is 'the last good one holds then, too' 4 "$(attempts "$(fq push x 2>/dev/null)")"
chmod o-w "$toml"
gives 0 '' fq push x
is 'mended' 9 "$(attempts "$(fq push x)")"
rm "$toml"
gives 0 '' fq push x
break_it
rm "$FQ_SPOOL/queues/default/segment"
is 'no file was good, too' 5 "$(attempts "$(fq push x 2>/dev/null)")"

# A schedule that no queue takes is a fault of the file, and keeps nobody from the rest; nor does one that a limit set
# since keeps out.
rm "$toml"
job=$(fq pop --lease 1h --json | jq -r .receipt)
scheduled() { printf '[queue."*".schedule.s]\nspec = "@daily"\n%s\n' "$1"; }
long=$(printf '%70000s' ''); two_thousand=$(printf '%2000s' '')
scheduled "argv = ['echo', '$long']" >"$toml"
gives 78 'fq.toml:3: command: its arguments and variables have' fq config check
for command in 'push x' pop stats 'schedule list'; do gives "$([ "$command" = 'schedule list' ] && echo 1 || echo 0)" 'fq.toml:3: command: its' fq $command; done
gives 0 'the last good one holds' fq ack "$job"
fq schedule set mine @daily x 2>/dev/null
gives 0 'the last good one holds' fq schedule remove mine
{ printf '[queue.default]\nmax_payload = "1KiB"\n'; scheduled "payload = '$two_thousand'"; } >"$toml"
gives 78 'fq.toml:5: payload: has 2000 bytes, more than max_payload = "1KiB" of line 2' fq config check
gives 0 'fq.toml:5: payload: has 2000' fq push x
scheduled "payload = '$two_thousand'" >"$toml"
gives 0 '' fq queue set max_payload=1KiB
for n in 1 2; do touch "$toml"; gives 0 '' fq push x; done
is 'it is there' 1 "$(fq schedule list --names | wc -l)"
gives 0 '' fq queue set max_payload=
rm "$toml"

# config edit.
printf '[queue."*"]\nattempts = 6\n' >"$toml"
cat >"$work/editor" <<'END'
#!/bin/sh
cat "$1" >>"$SEEN"
printf '%s' "$TEXT" >"$1"
END
chmod +x "$work/editor"
edit() { TEXT=$1 SEEN=$work/seen EDITOR=$work/editor VISUAL='' "$FQ" config edit; }
export -f edit
is 'a good edit is put in place' '0 2' "$(edit $'[queue."*"]\nattempts = 2\n'; echo "$? $(attempts "$(fq push x)")")"
is 'the editor saw what was there' $'[queue."*"]\nattempts = 6' "$(cat "$work/seen")"
gives 78 "fq.toml:2: unknown key 'atempts'" edit $'[queue."*"]\natempts = 3\n'
is 'a bad one is not' $'[queue."*"]\nattempts = 2' "$(cat "$toml")"
is 'but not lost' $'[queue."*"]\natempts = 3' "$(cat "$toml.edit")"
rm -f "$work/seen"
edit $'[queue."*"]\nattempts = 3\n' 2>"$work/err"
is 'the next one goes on from there' $'[queue."*"]\natempts = 3 3' "$(cat "$work/seen") $(attempts "$(fq push x)")"
is 'and says so' 1 "$(grep -c 'goes on with the last edit' "$work/err")"
is 'nothing is left of it' no "$([ -e "$toml.edit" ] && echo yes || echo no)"
gives 1 'ended with 3; fq.toml is as it was' env EDITOR='exit 3 #' VISUAL='' "$FQ" config edit
gives 1 'ended by signal 9; fq.toml is as it was' env EDITOR='kill -9 $$ #' VISUAL='' "$FQ" config edit
EDITOR=$work/none VISUAL='' "$FQ" config edit 2>"$work/err"
is 'an editor that is not there' '1 1' "$? $(grep -c '^fq: the editor ended with 127; fq.toml is as it was' "$work/err")"
gives 0 '' env EDITOR=true VISUAL='' "$FQ" config edit
is 'as it was' $'[queue."*"]\nattempts = 3' "$(cat "$toml")"
gives 0 '' env VISUAL=true EDITOR=false "$FQ" config edit
gives 64 'set VISUAL or EDITOR' env -u VISUAL -u EDITOR "$FQ" config edit
gives 75 'was changed meanwhile' env EDITOR="echo '# other' >>'$toml'; echo '# mine' >>" VISUAL='' "$FQ" config edit
is 'what others wrote stays' '# other' "$(tail -n 1 "$toml")"
rm -f "$toml.edit" "$toml"
gives 0 '' edit $'[queue."*"]\nattempts = 8\n'
is 'a file that was not there is made, for us alone' '8 600' "$(attempts "$(fq push x)") $(stat -c %a "$toml")"
gives 64 'takes no operand' fq config edit x
gives 1 'there is none' env EDITOR=true FQ_SPOOL="$work/nospool" "$FQ" config edit
# A link may stand for the file, and one that has lost it is no policy that was taken back.
printf '[queue."*"]\nattempts = 6\n' >"$work/kept.toml"; ln -sf "$work/kept.toml" "$toml"
is 'a link is followed' 6 "$(attempts "$(fq push z)")"
mkdir "$work/shared"; mv "$work/kept.toml" "$work/shared"; ln -sf ../shared/kept.toml "$toml"
gives 0 '' edit $'[queue."*"]\nattempts = 4\n'
is 'the file that it leads to is edited' '4 yes' \
  "$(sed -n 's/attempts = //p' "$work/shared/kept.toml") $([ -L "$toml" ] && echo yes || echo no)"
gives 78 "the edit is in $FQ_SPOOL/../shared/kept.toml.edit" edit 'nonsense = 1'
rm "$work/shared/kept.toml.edit"
gives 0 '' edit $'[queue."*"]\nattempts = 6\n'
is 'nothing is left beside it' kept.toml "$(ls "$work/shared")"
mv "$work/shared/kept.toml" "$work"; ln -sf "$work/kept.toml" "$toml"
mv "$work/kept.toml" "$work/away.toml"
gives 0 'fq.toml: is a link to a file that is not there; the last good one holds' fq push z
is 'what held before its file went holds' 6 "$(attempts "$(fq push z 2>/dev/null)")"
gives 78 'is a link to a file that is not there' fq config check
gives 78 'is a link to a file that is not there' fq push -q new x
mv "$work/away.toml" "$work/kept.toml"
gives 0 '' fq config check
is 'and again where it is back' 6 "$(attempts "$(fq push z)")"
rm "$work/kept.toml"; : >"$work/file"; ln -sf "$work/file/kept.toml" "$toml"
for command in 'push z' pop stats jobs; do gives 0 'Not a directory; the last good one holds' fq $command; done
gives 78 'Not a directory' fq config check
is 'a link through what is no directory is a broken file' 6 "$(attempts "$(fq push z 2>/dev/null)")"
rm "$FQ_SPOOL/queues/default/segment"
is 'also where not even the link can be followed, in a segment that is made anew' 6 "$(attempts "$(fq push z 2>/dev/null)")"
ln -sf fq.toml "$toml"
gives 0 'symbolic links; the last good one holds' fq push z
rm "$toml"
is 'without the link there is no policy' 5 "$(attempts "$(fq push z)")"

finish
