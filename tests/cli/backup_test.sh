#!/usr/bin/env bash
# backup_test - a copy of a spool in use is a spool: whole, of one moment, with nothing leased; and a backup that
# cannot be is none at all.
. "$(dirname "$0")/lib.sh"

large() { head -c 100000 /dev/zero | tr '\0' "$1"; }
in_copy() { FQ_SPOOL=$work/copy "$FQ" "$@"; }
states() { jq -r '"\(.id) \(.state) \(.tenant) \(.priority) \(.attempts) \(.crashes)"' | sort -n; }

# Everything that a queue may hold.
fq push -t acme -p 3 --tag a=b ready >/dev/null
fq push --delay 1h delayed >/dev/null
after=$(fq push x); fq push --after "$after" held >/dev/null
large l | fq push -t large >/dev/null
fq push -t dead x >/dev/null; fq bury "$(fq pop -t dead --lease 1h | cut -f1)" --reason 'no good'
fq push --unique one unique >/dev/null
fq push -t kept --keep 1h -- sh -c 'echo out' >/dev/null
fq worker --once -q default >/dev/null 2>&1 || :
fq tenant pause acme; fq queue set attempts=7
fq push -q other x >/dev/null
printf '[queue.default]\nconcurrency = 50\n' >"$work/policy.toml"; ln -s "$work/policy.toml" "$FQ_SPOOL/fq.toml"
fq schedule set nightly '0 3 * * *' run; fq schedule set often 'every 1s' run
fq peek --state all -n 100 --json | states >"$work/before"

gives 0 '' fq backup "$work/copy"
is 'the same queues' 'default other' "$(in_copy queue list | xargs)"
is 'the same messages' "$(cat "$work/before")" "$(in_copy peek --state all -n 100 --json | states)"
gives 0 '' in_copy check
is 'payloads beside the journal' "$(large l)" "$(in_copy pop -t large)"
is 'the original keeps its own' 1 "$(fq peek -t large --json | jq -s length)"
is 'a unique key is held there too' duplicate "$(in_copy push --unique one again --json | jq -r .status)"
is 'reasons' 'no good' "$(in_copy peek --state dead --json | jq -r .last_error.reason)"
is 'settings of run time and of fq.toml' '7 50' \
  "$(in_copy config show --json | jq -r 'select(.tenant == null and (.key == "attempts" or .key == "concurrency")).value' | xargs)"
is 'schedules are there, and make nothing' 'nightly true often true' \
  "$(in_copy schedule list --json | jq -r '"\(.name) \(.paused)"' | sort | xargs)"
is 'those of the original go on' 'false false' "$(fq schedule list --json | jq -r .paused | xargs)"
is 'fq.toml is a file of its own' 'regular file' "$(stat -c %F "$work/copy/fq.toml")"
is 'nothing unfinished' 'fq.toml queues' "$(cd "$work/copy" && find . -mindepth 1 -maxdepth 1 | sort | sed "s,^./,," | xargs)"
is 'nobody else can read it' 700 "$(stat -c %a "$work/copy")"
is 'ids go on' yes "$([ "$(in_copy push x)" -gt 10 ] && echo yes)"
rm -r "$work/copy"

# Of all that lies in a queue's directory nothing is forgotten, whatever a later version keeps there: what no copy has
# is named here.
fresh
queue=$FQ_SPOOL/queues/default
short=$(fq push --keep 1h -- echo out); long=$(fq push --keep 1h -- seq 20000)
fq worker --drain >/dev/null 2>&1
large l | fq push -t large >/dev/null; fq push --unique one x >/dev/null; fq queue set attempts=7
echo bytes >"$queue/damaged/of-old"; mkdir "$queue/later"; echo more >"$queue/later/file"
parts() {
  (cd "$1/queues/default" && find . -type f ! -path './journal/*' ! -path ./lock ! -path ./rebuild ! -path ./running \
    ! -path './segment*' ! -path ./ended/lock ! -path ./ended/state -exec cksum {} + | sort -k 3; find . -type d | sort)
}
parts "$FQ_SPOOL" >"$work/before"
for part in blobs damaged ended later output; do
  is "there is something in $part" yes "$(grep -q " ./$part/" "$work/before" && echo yes)"
done
gives 0 '' fq backup "$work/copy"
is 'all parts' "$(cat "$work/before")" "$(parts "$work/copy")"
is 'what has ended' "$(fq jobs --state acked --json)" "$(in_copy jobs --state acked --json)"
is 'the outputs of jobs' "out 20000" "$(in_copy result "$short") $(in_copy result "$long" | tail -n 1)"
gives 0 '' in_copy check
rm -r "$work/copy"
# The same where it is copied a second time, since a payload has gone.
FQ_STOP_AT=backup.payloads:1 "$FQ" backup "$work/copy" & backup=$!
await stopped "$backup"
touch "$work/marker"; large g | fq push -t gone >/dev/null
find "$queue/blobs" -type f -newer "$work/marker" -delete
kill -CONT "$backup"; wait "$backup"
is 'a payload is gone: done' 0 $?
is 'what has ended is there' "out 20000" "$(in_copy result "$short") $(in_copy result "$long" | tail -n 1)"
rm -r "$work/copy"
# What ends while it is copied has ended or not, as the journal of the copy says.
late=$(fq push -q late --keep 1h -- echo late)
FQ_STOP_AT=backup.journal:1 "$FQ" backup -q late "$work/copy" & backup=$!
await stopped "$backup"
fq worker -q late --drain >/dev/null 2>&1
kill -CONT "$backup"; wait "$backup"
is 'it has ended' late "$(fq result -q late "$late")"
gives 75 'has not ended' in_copy result -q late "$late"
in_copy worker -q late --drain >/dev/null 2>&1
is 'and is told of as it ends there' late "$(in_copy result -q late "$late")"
rm -r "$work/copy"

# What is at work in the original is free in the copy, uncounted; its receipts are not the copy's.
fresh
receipt=$(fq push --attempts 1 one >/dev/null; fq pop --lease 1h | cut -f1)
fq push -q jobs -t t -- sleep 1000 >/dev/null
"$FQ" worker -q jobs >/dev/null 2>&1 & worker=$!
running() { [ "$(fq peek -q jobs --state leased --json | jq -s length)" = 1 ]; }
await running
gives 0 '' fq backup "$work/copy"
is 'both are free' 'ready 0 0 ready 0 0' \
  "$({ in_copy peek --state all --json; in_copy peek -q jobs --state all --json; } | jq -r '"\(.state) \(.attempts) \(.crashes)"' | xargs)"
gives 1 'is not of queue' in_copy ack "$receipt"
gives 0 '' fq ack "$receipt"
is 'the worker goes on' 1 "$(fq peek -q jobs --state leased --json | jq -s length)"
is 'and leaves the copy alone' 1 "$(in_copy peek -q jobs --json | jq -s length)"
kill -KILL "$worker"; wait "$worker" 2>/dev/null
rm -r "$work/copy"

# Refused, and nothing is left or taken away.
gives 64 'takes one directory' fq backup
gives 64 'takes one directory' fq backup a b
gives 64 'takes one directory' fq backup ''
mkdir "$work/full"; echo mine >"$work/full/file"
gives 64 "'$work/full': is not empty" fq backup "$work/full"
is 'what was there is there' mine "$(cat "$work/full/file")"
echo mine >"$work/file"
gives 64 "'$work/file': is not a directory" fq backup "$work/file"
gives 64 'lies in the spool itself' fq backup "$FQ_SPOOL/copy"
gives 64 'lies in the spool itself' fq backup "$FQ_SPOOL/queues/copy"
is 'nothing was made there' 'default jobs' "$(fq queue list | xargs)"
gives 1 "spool '$work/nowhere'" fq backup "$work/copy" --spool "$work/nowhere"
gives 1 "queue 'none'" fq backup "$work/copy" -q none
is 'and no directory' no "$([ -e "$work/copy" ] && echo yes || echo no)"
mkdir -m 777 "$work/open"; mkdir "$work/open/copy"
gives 77 'others may replace it' fq backup "$work/open/copy"
gives 74 "'$work/nowhere/copy': mkdir: No such file or directory" fq backup "$work/nowhere/copy"
gives 69 "'$work/file/copy': mkdir: Not a directory" fq backup "$work/file/copy"

# An empty directory; one queue; a spool without any.
mkdir -m 700 "$work/empty"
gives 0 '' env FQ_QUEUE=jobs "$FQ" backup "$work/empty/"
is 'FQ_QUEUE leaves out none' 'default jobs' "$(fq queue list --spool "$work/empty" | xargs)"
gives 0 '' fq backup "$work/copy" -q jobs
is 'the one that was named' jobs "$(in_copy queue list)"
rm -r "$work/copy"
mkdir -m 700 "$work/bare"
gives 0 '' fq backup "$work/copy" --spool "$work/bare"
is 'is one without any' '' "$(in_copy queue list)"
rm -r "$work/copy"

# Killed at each of its points: no spool with some of its queues, and the original is as it was.
fq push x >/dev/null; large m | fq push >/dev/null; fq pop --lease 1h >/dev/null
fq peek --state all -n 100 --json | states >"$work/before"
for point in place payloads file journal ended freed begun whole renamed; do
  killed_at backup.$point:1 fq backup "$work/copy"
  if [ "$point" = renamed ]; then
    is 'all of it is there' 'default jobs' "$(in_copy queue list | xargs)"
    gives 0 '' in_copy check
  else
    is "killed at $point: no queues" '' "$(in_copy queue list)"
    gives 64 'holds an unfinished backup; remove it' fq backup "$work/copy"
  fi
  rm -r "$work/copy"
done
is 'the original is as it was' "$(cat "$work/before")" "$(fq peek --state all -n 100 --json | states)"
gives 0 '' fq check

# Interrupted: it takes away what it made, and dies as it was told to.
FQ_STOP_AT=backup.payloads:1 "$FQ" backup "$work/copy" 2>/dev/null & backup=$!
await stopped "$backup"
is 'others go on meanwhile' yes "$(fq push x >/dev/null && fq pop >/dev/null && echo yes)"
kill -TERM "$backup"; kill -CONT "$backup"; wait "$backup"
is 'it ended by the signal' 143 $?
is 'nothing is left' no "$([ -e "$work/copy" ] && echo yes || echo no)"

# No queue is passed over: none is renamed while they are copied, and one that is made while a move is waited for, and
# gets what another had, is copied too.
fresh
fq push -q a one >/dev/null; fq push -q z two >/dev/null
FQ_STOP_AT=backup.payloads:1 "$FQ" backup "$work/copy" & backup=$!
await stopped "$backup"
gives 75 "another move, rename or backup is under way in process $backup; try again" fq queue rename z y
gives 1 "queue 'none'" fq queue rename none y
gives 1 "spool '$work/nowhere'" fq queue rename z y --spool "$work/nowhere"
kill -CONT "$backup"; wait "$backup"
is 'both are in the copy' 'one two' "$(in_copy pop -q a) $(in_copy pop -q z)"
gives 0 '' fq queue rename z y
rm -r "$work/copy"
FQ_STOP_AT=move.sent:1 "$FQ" move -q y --all --yes --to a >/dev/null & move=$!
await stopped "$move"
"$FQ" backup "$work/copy" & backup=$!
waits_for_moves() { [ -e "$work/copy/.unfinished" ] && grep -q "^State:.S" "/proc/$backup/status"; }
await waits_for_moves
kill -STOP "$backup"; await stopped "$backup"
kill -CONT "$move"; wait "$move"
fq queue create c; fq move -q a --all --yes --to c >/dev/null
kill -CONT "$backup"; wait "$backup"
is 'what was moved is in the copy' 'one two' "$(in_copy pop -q c -n 2 | xargs)"
rm -r "$work/copy"

# A payload goes while the rest is copied: a later moment then.
fresh
large a | fq push -t a >/dev/null; fq push -t b small >/dev/null
for point in payloads journal; do
  FQ_STOP_AT=backup.$point:1 "$FQ" backup "$work/copy" & backup=$!
  await stopped "$backup"
  fq pop -t a >/dev/null; large b | fq push -t a >/dev/null; large c | fq push -t c >/dev/null
  kill -CONT "$backup"; wait "$backup"
  is "changed at $point: done" 0 $?
  gives 0 '' in_copy check
  rm -r "$work/copy"
  fq pop -t c >/dev/null
done
# What ends while its journal is copied leaves its payload where it is: there is no other moment to wait for.
large e | fq push -t e >/dev/null
files() { find "$FQ_SPOOL/queues/default/blobs" -type f | wc -l; }
fq compact >/dev/null; before=$(files)
FQ_STOP_AT=backup.file:1 "$FQ" backup "$work/copy" & backup=$!
await stopped "$backup"
is 'it is taken meanwhile' "$( (large e; echo) | cksum)" "$(fq pop -t e | cksum)"
is 'its payload stays' "$before" "$(files)"
kill -CONT "$backup"; wait "$backup"
is 'the copy is of the moment before' "$( (large e; echo) | cksum)" "$(in_copy pop -t e | cksum)"
rm -r "$work/copy"
gives 0 '' fq compact
is 'it goes with the next look' $((before - 1)) "$(files)"
# One that was pushed after the payloads were copied, and is acked before it is looked for.
FQ_STOP_AT=backup.payloads:1 "$FQ" backup "$work/copy" & backup=$!
await stopped "$backup"
large d | fq push -t d >/dev/null
kill -CONT "$backup"; wait "$backup"
is 'it is in the copy' "$(large d)" "$(in_copy pop -t d)"
rm -r "$work/copy"

# A payload that was half written when payloads were copied, and is pushed by the time of the journal.
touch "$work/marker"
FQ_STOP_AT=blob.written:1 "$FQ" push -t half >/dev/null < <(large h) & push=$!
await stopped "$push"
blob=$(find "$FQ_SPOOL/queues/default/blobs" -type f -newer "$work/marker")
truncate -s 4096 "$blob"
FQ_STOP_AT=backup.payloads:1 "$FQ" backup "$work/copy" & backup=$!
await stopped "$backup"
large h >"$blob"
kill -CONT "$push"; wait "$push"
kill -CONT "$backup"; wait "$backup"
gives 0 '' in_copy check
is 'it is whole' "$( (large h; echo) | cksum)" "$(in_copy pop -t half | cksum)"
rm -r "$work/copy"

# In use: pairs are pushed in one batch and taken together, some beside the journal; no copy has half of one.
pusher() {
  local n=0
  while [ ! -e "$work/enough" ]; do
    n=$((n + 1))
    printf '%s\n%s\n' "$n" "$n" | "$FQ" push -q pairs --lines >/dev/null
    large "$((n % 10))" | "$FQ" push -q pairs -t large >/dev/null
    [ $((n % 3)) != 0 ] || "$FQ" pop -q pairs -n 3 >/dev/null
    [ $((n % 2)) != 0 ] || "$FQ" pop -q pairs -t large -n 2 >/dev/null
  done
}
fq push -q pairs x >/dev/null
pusher & pusher=$!
for copy in 1 2 3 4 5 6; do
  gives 0 '' fq backup "$work/copy"
  gives 0 '' in_copy check
  is "copy $copy: a queue of one moment" '' \
    "$(in_copy log -q pairs --json | jq -r 'select(.event == "pushed") | "\(.id)"' | awk 'NR > 1 && $1 != last + 1 { print "after " last ": " $1 } { last = $1 }')"
  rm -r "$work/copy"
done
# Beside jobs that end: each that has ended in the copy is told of there, with its output.
seq 60 >"$work/jobs"
while read -r job; do fq push -q ends --keep 1h -- seq "$job" $((job + 4000)) >/dev/null; done <"$work/jobs"
"$FQ" worker -q ends -j 2 --drain >/dev/null 2>&1 & worker=$!
for copy in 1 2 3 4 5 6; do
  gives 0 '' fq backup "$work/copy"
  gives 0 '' in_copy check
  is "copy $copy: all jobs" "$(cat "$work/jobs")" \
    "$({ in_copy peek -q ends --state all -n 100 --json; in_copy jobs -q ends --state acked -n 100 --json; } | jq -r .argv[1] | sort -n)"
  is "copy $copy: outputs" '' \
    "$(in_copy jobs -q ends --state acked -n 100 --json | jq -r '"\(.id) \(.argv[1])"' | while read -r id job; do
      [ "$(in_copy result -q ends "$id" | tail -n 1)" = $((job + 4000)) ] || echo "of $id"; done)"
  rm -r "$work/copy"
done
wait "$worker"
# A storm: killed at random, a copy is whole, unfinished and told so, or not there.
killed=0
us=$(took fq backup "$work/copy")
rm -r "$work/copy"
for _ in $(seq 20); do
  killed_within "$us" "$FQ" backup "$work/copy" && killed=$((killed + 1))
  if [ -e "$work/copy/queues" ]; then
    gives 0 '' in_copy check
  elif [ -e "$work/copy" ] && [ -n "$(ls -A "$work/copy")" ]; then
    gives 64 'holds an unfinished backup; remove it' fq backup "$work/copy"
  fi
  rm -rf "$work/copy"
done
[ $killed -gt 0 ] || fail 'no copy was killed'
: >"$work/enough"; wait "$pusher"
gives 0 '' fq backup "$work/copy"
gives 0 '' in_copy check
gives 0 '' fq check

finish
