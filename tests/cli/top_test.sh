#!/usr/bin/env bash
# top_test - fq top in a real terminal (tmux): what it shows, its keys, and that the terminal comes back on any exit.
. "$(dirname "$0")/lib.sh"
export FQ
socket=
panes=0
# A pane of COLUMNS by ROWS with a shell that has no name, history or files of its own.
open_pane() {
  socket=$work/tmux.$((++panes))
  tmux -S "$socket" -f /dev/null new-session -d -s s -x "$1" -y "$2" \
    "env -i PATH='$PATH' HOME='$work' TERM=${3:-screen} LC_ALL=C.UTF-8 FQ_SPOOL='$FQ_SPOOL' FQ='$FQ' EDITOR='$work/editor' PS1='shell> ' bash --norc --noprofile"
  awaits 'shell>'
}
close_pane() { tmux -S "$socket" kill-server 2>/dev/null; }
trap '[ "$BASHPID" = "$$" ] && { close_pane; clean_up; }' EXIT
keys() { tmux -S "$socket" send-keys -t s "$@"; }
types() { keys -l "$1"; keys Enter; }
picture() { tmux -S "$socket" capture-pane -p -t s; }
# Until the picture matches, at most 10 s: a view comes each second, and on a busy machine later.
awaits() {
  local i
  for ((i = 0; i < 100; ++i)); do
    if picture | grep -qE -- "$1"; then return 0; fi
    sleep 0.1  # between two looks: tmux tells nobody when a pane changes
  done
  fail "the picture never showed '$1'; it is:"
  picture
  return 1
}
# Those of this spool, with what looks after the terminal for them: other tests may have some of their own.
views() {
  local pid
  for pid in $(pgrep -f "^$FQ top"); do
    if grep -qzsxF "FQ_SPOOL=$FQ_SPOOL" "/proc/$pid/environ"; then echo "$pid"; fi
  done
}
is_back() {
  awaits 'shell> *$'
  types 'stty -a | grep -o -- " -\?icanon\| -\?echo " | tr -d " \n"; echo " as before"'
  awaits '^icanonecho as before'
  is "$1: the cursor shows" 1 "$(tmux -S "$socket" display -p -t s '#{cursor_flag}')"
  is "$1: the screen is the usual one" 0 "$(tmux -S "$socket" display -p -t s '#{alternate_on}')"
  is "$1: nothing of it is left running" 0 "$(views | wc -l)"
  types clear
  awaits '^shell> *$'
}
top_pid() { pgrep -o -P "$(tmux -S "$socket" display -p -t s '#{pane_pid}')" -f "^$FQ top"; }
starts() { types "\"\$FQ\" top $*"; awaits 'q quit'; }

for tenant in alpha beta gamma; do seq 10 | fq push --lines -t "$tenant" >/dev/null; done
seq 5 | fq push --lines -t beta >/dev/null
for receipt in $(fq pop --lease 1h -n 3 | cut -f1); do fq bury "$receipt"; done
fq push x -q mail -t $'evil\u202e"\'' >/dev/null

open_pane 80 24
starts
is 'a line a queue, then a line a tenant' 'QUEUE default mail QUEUE' "$(picture | awk 'NF { print $1 }' | head -4 | paste -sd' ')"
is 'who waits longest is first' alpha "$(picture | awk '$1 == "default" && $2 !~ /^[0-9]/ { print $2; exit }')"
is 'names are escaped' '1 0' "$(picture | grep -ci '202e') $(picture | grep -c $'\u202e')"
is 'it fills the screen, keys below' 'q quit  ? help' "$(picture | tail -1 | cut -c1-14)"

# It changes as the queue does.
fq push now -t delta >/dev/null
awaits 'default  delta'

# What runs and waits, with a key to cancel it.
mkfifo "$work/hold"
fq push -q jobs -t run -- sh -c 'read -r line <"$0"' "$work/hold" >/dev/null
fq push -q jobs -t wait -- echo waits >/dev/null
"$FQ" worker -q jobs >/dev/null 2>&1 & worker=$!
keys Tab; awaits "^.?jobs +1 +running +[0-9]+s +$worker +run +sh -c"
keys Home  # what was there before it ran was chosen
is 'first what runs, then what waits' 'running ready' "$(picture | awk '$3 ~ /^(running|ready)$/ { print $3 }' | head -2 | paste -sd' ')"
is 'the keys are those of jobs' 1 "$(picture | tail -1 | grep -c 'Tab tenants  f follow  e edit  c cancel')"
keys c; awaits "y for yes: cancel message 1 of queue 'jobs'"
keys n; awaits 'Tab tenants'
is 'any other key cancels nothing' running "$(fq jobs -q jobs 1 | awk 'NR == 2 { print $2 }')"
keys c; awaits 'y for yes'; keys y; awaits "message 1 of queue 'jobs' is cancelled"
gives 1 '' fq wait -q jobs 1
gives 0 '' fq wait -q jobs 2
kill -KILL $worker; wait $worker 2>/dev/null
fq queue remove jobs --yes
keys Tab; awaits 'Tab jobs'

# Sorting, moving, help.
keys s; awaits 's sort: ready'
is 'most that is ready is first' beta "$(picture | awk '$1 == "default" && $2 !~ /^[0-9]/ { print $2; exit }')"
keys s s s s; awaits 's sort: name'
is 'by name' 'alpha beta delta gamma' "$(picture | awk '$1 == "default" && $2 !~ /^[0-9]/ { print $2 }' | paste -sd' ')"
# What cannot be seen behind it is not changed: a key there only leads back.
keys '?'; awaits 'this help'; keys p; awaits 'q quit'
is 'a key on the help pauses nobody' '' "$(fq stats --tenants --json | grep -o '"blocked":"[^"]*"')"
keys '?'; awaits 'this help'; keys Escape; awaits 'q quit'
chosen() { tmux -S "$socket" capture-pane -p -e -t s | grep -aE $'\e\\[([0-9]+;)*7m' | sed 's/\x1b\[[0-9;]*m//g' | awk '{ print $2 }'; }
is_chosen() {
  local i
  for ((i = 0; i < 100; ++i)); do [ "$(chosen)" != "$2" ] || return 0; sleep 0.1; done  # as above
  is "$1" "$2" "$(chosen)"
}
is_chosen 'the first is chosen' alpha
keys Down
is_chosen 'down goes to the next' beta
keys End; keys Up
is_chosen 'End and up to the last but one' gamma
keys Home; keys j; keys k; keys j
is_chosen 'and so on' beta
keys s; awaits 's sort: waiting'

# Doing something to the one that is chosen.
is_chosen 'alpha waits longest' alpha
keys p; awaits "'alpha' of queue 'default' is paused"
is 'it is' '"parked_tenants":1' "$(fq stats -q default --tenants --json | grep '"tenant":"alpha"' | grep -o '"parked_tenants":[0-9]')"
keys r; awaits "'alpha' of queue 'default' is no longer paused"
is 'and no more' '"parked_tenants":0' "$(fq stats -q default --tenants --json | grep '"tenant":"alpha"' | grep -o '"parked_tenants":[0-9]')"
keys K; awaits "y for yes: kick the dead messages of 'alpha' of queue 'default' and al"
keys n; awaits 'q quit'
is 'nothing is kicked without a yes' 3 "$(fq stats -q default --json | jq .dead)"
keys K; awaits 'y for yes'; awaits 'q quit'  # the question goes by itself
keys y; keys K; awaits 'y for yes'
is 'nor by a yes that comes too late' 3 "$(fq stats -q default --json | jq .dead)"
keys y; awaits "1 of 'alpha' of queue 'default' kicked"
is 'only its own' 2 "$(fq stats -q default --json | jq .dead)"
fq tenant set alpha weight=2 && fq tenant set alpha weight= # a setting that it does not know is not its own
keys K; awaits "'alpha' of queue 'default' has no dead messages"
# What is below it counts, and what is above it holds.
fq push x -t acct >/dev/null; fq push x -t acct/x >/dev/null; fq bury "$(fq pop --lease 1h -t acct/x | cut -f1)"
fq tenant pause acct
keys s s s s s; awaits 's sort: name'
keys Home
is_chosen 'by name acct is the first' acct
keys K; awaits "y for yes: kick the dead messages of 'acct' of"
keys y; awaits "1 of 'acct' of queue 'default' kicked"
keys Down
is_chosen 'then what is below it' acct/x
keys p; awaits "'acct/x' of queue 'default' is paused"
keys r; awaits "'acct/x' of queue 'default' is no longer paused; still held by 'acct': pau"
keys Up; is_chosen 'and up again' acct
keys r; awaits "'acct' of queue 'default' is no longer paused *$"
fq cancel -t acct >/dev/null
keys s; awaits 's sort: waiting'

# Windows of another size.
tmux -S "$socket" resize-window -t s -x 40 -y 10
awaits 'QUEUE +TENANT +READY +DEAD'; awaits 'q quit'
[ "$(picture | wc -l)" = 10 ] || fail 'ten lines are ten lines'
is 'the keys are still there' 'q quit' "$(picture | tail -1 | cut -c1-6)"
keys K; awaits "^y for yes: kick the dead|'alpha' of queue"; keys n; awaits 'q quit'
tmux -S "$socket" resize-window -t s -x 120 -y 40
awaits 'DELAYED.*TENANTS'
tmux -S "$socket" resize-window -t s -x 1 -y 1; tmux -S "$socket" resize-window -t s -x 80 -y 24
awaits 'q quit'

# Ends.
keys q; is_back 'q'
starts; keys C-c; is_back 'Ctrl-C'
for signal in TERM HUP QUIT KILL SEGV; do
  starts
  kill "-$signal" "$(top_pid)"
  # A killed one's keeper gives the screen back; should the shell have been faster, its prompt went with the old one.
  for ((i = 0; i < 100; ++i)); do [ -n "$(views)" ] || break; sleep 0.1; done  # nobody tells of another's child
  keys Enter
  is_back "SIG$signal"
done
starts; keys C-z; awaits 'Stopped'; is 'Ctrl-Z gives the screen back' 0 "$(tmux -S "$socket" display -p -t s '#{alternate_on}')"
types fg; awaits 'q quit'
is 'and fg takes it again' 1 "$(tmux -S "$socket" display -p -t s '#{alternate_on}')"
kill -STOP "$(top_pid)"; awaits 'Stopped'; types bg; awaits 'top &'; types fg; awaits 'q quit'
is 'nor does it need to know that it was stopped' 1 "$(tmux -S "$socket" display -p -t s '#{alternate_on}')"
keys '?'; awaits 'this help'; keys '?'; awaits 'q quit'
keys q; is_back 'after a stop'
close_pane

# Following a job: the terminal is that of fq result -f, and the view's again by Ctrl-C, or by a key once it has ended.
open_pane 80 24
fq push -q jobs -- cat "$work/hold" >/dev/null
fq push -q jobs -- echo waits >/dev/null
"$FQ" worker -q jobs >/dev/null 2>&1 & worker=$!
starts -q jobs; keys Tab; awaits '1 +running'; keys Home; awaits 'f follow'
keys f; awaits "^fq: follows message 1 of queue 'jobs'; Ctrl-C leads back"
is 'what is followed stands below the lines of the shell' 0 "$(tmux -S "$socket" display -p -t s '#{alternate_on}')"
follower() { pgrep -P "$(top_pid)" -f 'result -f [13]$'; }
await follower >/dev/null
keys C-c; awaits 'f follow'
is 'the job goes on' running "$(fq jobs -q jobs 1 | awk 'NR == 2 { print $2 }')"
keys f; await follower >/dev/null; keys C-z; awaits 'Stopped'
is 'Ctrl-Z stops both' 'T T' "$(for pid in $(top_pid) $(follower); do awk '/^State/ { print $2 }' "/proc/$pid/status"; done | xargs)"
types fg; awaits '^"\$FQ" top -q jobs$'
kill -KILL "$(follower)"; awaits 'leads back to fq top$'; keys x; awaits 'f follow'

# Editing one: the editor has the terminal; what was changed shows. What it asked before still stands there: it counts.
cat >"$work/editor" <<'END'
#!/bin/sh
echo asked >>"$0.times"
printf 'change it (%s)? ' "$(grep -c asked "$0.times")"; read -r answer
[ "$answer" = yes ] && sed -i 's/waits/changed/' "$1" && exit
exit "$answer"
END
chmod +x "$work/editor"
# What is typed while the shell has the terminal still is typed to the shell.
edits() { ps -o stat= -p "$(pgrep -of "^/bin/sh $work/editor")" | grep -q '^[SR].*+'; }
keys Down; keys e; awaits 'change it .1.'; types yes; awaits 'ready .* echo changed'
is 'it is changed' '["echo","changed"]' "$(fq show -q jobs --json 2 | jq -c .argv)"
keys e; awaits 'change it .2.'; types 7; awaits '^fq: message 2: the editor ended with 7; nothing was changed'
awaits 'leads back to fq top$'; keys Enter; awaits 'f follow'
keys e; awaits 'change it .3.'; keys C-c; awaits 'fq: message 2: the editor ended by signal 2'
awaits 'leads back to fq top$'; keys q; awaits 'f follow'
keys e; awaits 'change it .4.'; keys C-z; awaits 'Stopped'; types fg; await edits; types yes; awaits 'f follow'
keys Up; keys e; awaits '^fq: message 1: is running'; awaits 'leads back to fq top$'; keys x; awaits 'f follow'
keys f; awaits 'follows'; echo 'comes through' >"$work/hold"
awaits '^comes through'; awaits 'leads back to fq top$'; keys x; awaits 'f follow'
gives 0 '' fq wait -q jobs 1 2
fq queue pause jobs; fq push -q jobs -- true >/dev/null; awaits '3 +ready'
keys e; awaits 'change it'; kill -TERM "$(top_pid)"
keys C-z; awaits 'Stopped'  # so it is still there: what is typed into an editor is not lost
types fg; await edits; types yes; awaits 'Terminated'; is_back 'TERM while it edits'
starts -q jobs; keys Tab; awaits 'f follow'; keys f; await follower >/dev/null
kill -TERM "$(top_pid)"; awaits 'Terminated'; is_back 'TERM while it follows'
kill -KILL $worker; wait $worker 2>/dev/null
fq queue remove jobs --yes
close_pane

# No flicker: a frame is one write and clears nothing that it does not draw.
open_pane 80 24
types "strace -f -o '$work/trace' -e trace=write -s 20000 \"\$FQ\" top -q default"
frames() { grep -c 'write(1, "\\33\[H' "$work/trace"; }
has_frames() { [ "$(frames)" -ge "$1" ]; }
await has_frames 3  # the second and the third show what the first does: no picture tells of them
keys q; awaits 'shell> *$'
frames=$(frames)
is 'each frame is one write' "$((frames + 2))" "$(grep -c 'write(1, ' "$work/trace")"
is 'the screen is cleared once' 1 "$(grep -o '\\33\[2J' "$work/trace" | wc -l)"
close_pane

# No colours; no terminal.
open_pane 80 24
types 'NO_COLOR=1 "$FQ" top -q default'; awaits '^>default'
is 'without colours there are none' 0 "$(tmux -S "$socket" capture-pane -p -e -t s | grep -c $'\e\\[3[0-9]m')"
keys q; awaits 'shell> *$'
types 'clear; "$FQ" top -q default'; awaits 'q quit'
keys p; awaits "'alpha' is paused"  # it still waits longest; a single queue is not named
keys r; awaits "'alpha' is no longer paused"
fq queue pause default
keys r; awaits "'alpha' is no longer paused; still held by the queue: paused"
awaits '^default .* paused$'
fq queue resume default
keys q; awaits 'shell> *$'
types 'clear; FQ_QUEUE=mail "$FQ" top'; awaits 'q quit'
is 'the environment names a queue too' 0 "$(picture | grep -c default)"
keys q; awaits 'shell> *$'
types 'clear; TERM=dumb "$FQ" top; echo "left with $?"'; awaits 'left with 64'
types 'clear; "$FQ" top </dev/null; echo "left with $?"'; awaits 'left with 64'
types 'clear; "$FQ" top -q nowhere; echo "left with $?"'; awaits 'left with 1$'
close_pane
gives 64 'needs a terminal; use fq stats --watch' fq top
gives 64 'takes no operand' fq top mail
finish
