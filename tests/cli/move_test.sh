#!/usr/bin/env bash
# move_test - messages go to another queue with all that they have, or stay where they are; killed anywhere, each
# is in one of the two.
. "$(dirname "$0")/lib.sh"

of() { fq -q "$1" show --json "$2" | jq -r "$3"; }
states() { fq -q "$1" peek --state all -n 1000 --json | jq -r '"\(.id) \(.state)"' | sort -n | xargs; }
large() { head -c 100000 /dev/zero | tr '\0' "$1"; }

# With everything that it has.
fq queue create slow; fq push -q slow there >/dev/null
one=$(fq push -t acme -p 3 --tag color=red --timeout 3s --keep 1h --ttl 1h --unique u one)
before=$(of default "$one" '[.tenant, .priority, .tags, .timeout, .keep, .ttl, .unique, .pushed_at, .expires_at, .payload] | tojson')
gives 0 '' fq move "$one" --to slow
is 'OLD NEW is printed' "$one 2" "$(cat "$work/out")"
is 'it is as it was' "$before" \
  "$(of slow 2 '[.tenant, .priority, .tags, .timeout, .keep, .ttl, .unique, .pushed_at, .expires_at, .payload] | tojson')"
is 'and in its old queue no more' '' "$(states default)"
is 'its key is free here' accepted "$(fq push -t acme --unique u again --json | jq -r .status)"
is 'and held there' duplicate "$(fq push -q slow -t acme --unique u again --json | jq -r .status)"
is 'it is served there' 'there one' "$(fq -q slow pop -n 2 | xargs)"
is 'here its end is told' "moved slow 2" "$(of default "$one" '"\(.state) \(.moved_to.queue) \(.moved_to.id)"')"
gives 1 "message $one: was moved to queue 'slow', as message 2" fq wait "$one"
gives 1 "message $one: was moved to queue 'slow', as message 2" fq result "$one"
gives 1 "message $one: was moved to queue 'slow', as message 2" fq result -f "$one"
gives 1 "message $one: was moved to queue 'slow'" fq edit "$one" -p 1
is 'explain says where it went' 1 "$(fq explain "$one" | grep -c "moved to queue 'slow', as message 2, at ")"
for words in move\ --to\ slow cancel kick; do
  # shellcheck disable=SC2086  # words
  gives 1 "message $one: was moved to queue 'slow', as message 2" fq $words "$one"
done
# In a spool a message takes its past with it.
past=
here && past='pushed '
is 'both logs tell it' "leaving slow null left slow 2 arrived default 1" \
  "$({ fq log --json "$one"; fq -q slow log --json 2; } | jq -r 'select(.other_queue) | "\(.event) \(.other_queue) \(.other_id)"' | xargs)"
is 'people read it too' "left to queue slow, message 2" \
  "$(fq log "$one" | sed -n 's/.*\(left\).*\(to queue.*\)/\1 \2/p')"
is 'its history goes on' "${past}arrived freed leased acked" "$(of slow 2 '[.history[].event] | join(" ")')"
gives 0 '' fq check; gives 0 '' fq check -q slow

# Delayed, failed before, dead, with a command, long, for another tenant.
fresh; fq queue create slow
delayed=$(fq push --delay 1h delayed); due=$(of default "$delayed" .due_at)
failed=$(fq push failed); fq retry "$(fq pop --lease 1h | cut -f1)" --reason 'no luck' --delay 2h
dead=$(fq push -t dead x); fq bury "$(fq pop -t dead --lease 1h | cut -f1)" --reason 'no good'
cd "$work" || exit 1
job=$(fq push --env HOME -- echo hello)
long=$(large l | fq push)
gives 0 '' fq move "$delayed" "$failed" "$dead" "$job" "$long" --to slow --tenant new/one
is 'in order' "$delayed 1 $failed 2 $dead 3 $job 4 $long 5" "$(xargs <"$work/out")"
is 'states are what they were' '1 delayed 2 delayed 3 dead 4 ready 5 ready' "$(states slow)"
is 'due when it was' "$due" "$(of slow 1 .due_at)"
is 'attempts and why they failed' '1 no luck' "$(of slow 2 '"\(.attempts) \(.last_error.reason)"')"
here && is 'its past is told' 'pushed leased retried arrived freed' "$(of slow 2 '[.history[].event] | join(" ")')"
is 'the dead too' 'no good' "$(of slow 3 .last_error.reason)"
is 'a command with its directory and variables' "[\"echo\",\"hello\"] $work HOME" \
  "$(of slow 4 '"\(.argv | tojson) \(.cwd) \(.env | keys[0])"')"
is 'the tenant is the new one' 'new/one' "$(fq -q slow peek --state all --json | jq -r .tenant | sort -u)"
is 'a long payload' "$(large l | cksum)" "$(fq -q slow peek --json | jq -rj 'select(.id == 5).payload' | cksum)"
here && is 'whose file is gone here' 0 "$(find "$FQ_SPOOL/queues/default/blobs" -type f | wc -l)"
gives 0 '' fq -q slow kick 3
is 'a dead one is kicked there' ready "$(of slow 3 .state)"
is 'nothing is left' '' "$(states default)"
gives 0 '' fq check; gives 0 '' fq check -q slow

# By filter: what cancel would take, less what runs; what stays is named.
fresh; fq queue create slow
a=$(fq push -t acme a); fq push -t acme/x --tag k=v b >/dev/null; fq push -t zoo --tag k=v c >/dev/null
waiting=$(fq push -t acme --after "$a" d); fq push -t acme e >/dev/null; gives 0 '' fq cancel 5
fq push -t acme f >/dev/null; lease=$(fq pop -t acme --lease 1h | cut -f1)
gives 1 "message $waiting: is held until what it came after has ended; it stays" fq move -t acme --to slow
is 'what could has gone' '2 1 6 2' "$(xargs <"$work/out")"
gives 1 "message $a: is running; it stays" fq move "$a" --to slow
fq release "$lease"
gives 1 "message $a: others wait for it; it stays" fq move "$a" --to slow
gives 0 '' fq move --tag k=v --to slow
is 'by tag' '3 3' "$(cat "$work/out")"
gives 1 '' fq move --tag k=v --to slow
gives 64 'no tenant has that name' fq move -t 'z*' --to slow
gives 64 '--yes' fq move --all --to slow
gives 64 'running messages cannot be moved' fq move --all --yes --state leased --to slow
gives 64 'running messages cannot be moved' fq move --all --yes --state running --to slow
fq cancel "$waiting"
gives 0 '' fq move --all --yes --to slow
is 'all' "$a 4" "$(cat "$work/out")"
is 'JSON' '{"queue":"slow","id":1,"to_queue":"default","to_id":7}' "$(fq -q slow move 1 --to default --json)"

# Refused.
gives 64 'write --to QUEUE' fq move 7
gives 64 'is the queue that they are in' fq move 7 --to default
gives 64 'is the queue that they are in' fq -q slow move 1 --to slow
gives 64 'which? give ids' fq move --to slow
gives 64 'does not go with' fq move 7 --all --to slow
gives 64 'ID' fq move x --to slow
gives 64 'queue' fq move 7 --to ../x
gives 64 'tenant' fq move 7 --to slow --tenant a//b
gives 1 "queue 'none'" fq move 7 --to none
gives 1 "queue 'none'" fq move --all --yes --state dead --to none
gives 1 "queue 'none'" fq -q none move 1 --to slow
is 'no queue was made' 'default slow' "$(fq queue list | xargs)"
gives 1 "message 99: not in queue 'default'" fq move 99 --to slow
gives 0 '' fq queue set -q slow order=fifo
p=$(fq push -p 5 p)
gives 1 "message $p: has a priority, which the order of queue 'slow' ignores; it stays" fq move "$p" --to slow
gives 0 '' fq queue set -q slow order=
gives 0 '' fq queue set order=key; k=$(fq push --key 5 k)
gives 1 "message $k: has a sort key, which the order of queue 'slow' ignores; it stays" fq move "$k" --to slow
gives 0 '' fq queue set order= ; fq cancel "$k"
u=$(fq push --unique u u); fq -q slow push --unique u u >/dev/null
gives 1 "message $u: its unique key is in use in queue 'slow'; it stays" fq move "$u" --to slow
gives 0 '' fq queue set -q slow max_payload=4B
w=$(fq push 12345)
gives 1 "message $w: its payload is longer than queue 'slow' takes (max_payload); it stays" fq move "$w" --to slow
there=$(fq -q slow peek --state all -n 99 --json | jq -s length)
gives 0 '' fq queue set -q slow max_payload= max_messages=$((there + 1))
v=$(fq push v)
gives 75 "the limit is $((there + 1)) (max_messages)" fq move "$p" "$w" "$v" --to slow
is 'as many as there was room for' "$p" "$(cut -d' ' -f1 "$work/out" | xargs)"
is 'the rest is as it was' "7 ready $u ready $w ready $v ready" "$(states default)"
gives 0 '' fq queue set -q slow max_messages=; fq queue drain slow
gives 75 'is draining' fq move "$v" --to slow
is 'and is served here' "$v ready" "$(states default | grep -o "$v ready")"
gives 0 '' fq queue resume slow
gives 0 '' fq -q slow tenant set quota max_messages=1
gives 75 "tenant 'quota'" fq move "$v" "$w" --to slow --tenant quota
gives 0 '' fq check; gives 0 '' fq check -q slow
is 'ids from standard input' "$w" "$(echo "$w" | fq move - --to slow | cut -d' ' -f1)"

# A caller is told where its message went; one that follows too.
fresh; fq queue create slow
"$FQ" push --wait -- echo hi 2>"$work/caller" & caller=$!
sleeps() { grep -q "^State:.S" "/proc/$1/status"; }
there() { [ -n "$(fq peek --json 2>/dev/null)" ]; }
await there
"$FQ" result -f 1 2>"$work/follower" & follower=$!
await sleeps "$follower"; await sleeps "$caller"
gives 0 '' fq move 1 --to slow
wait $caller; is 'the caller ends with 1' 1 $?
wait $follower; is 'the follower ends with 1' 1 $?
is 'both are told' "fq: message 1: was moved to queue 'slow', as message 1" "$(sort -u "$work/caller" "$work/follower")"
is 'its job runs there' hi "$(fq worker -q slow --drain)"

if ! here; then finish; exit; fi  # there it goes in one call: redis_cut_test cuts it

# Killed anywhere: it is in one of the two once either is looked at, served once, and both are whole.
begin() { fresh; fq queue create slow; fq push small >/dev/null; large l | fq push -t big >/dev/null; }
is_whole() {  # is_whole SENTENCE LOOK-FIRST
  fq -q "$2" peek >/dev/null
  is "$1, $2: nothing is lost or twice" 'l 100000 s 5' \
    "$({ fq peek --json; fq -q slow peek --json; } | jq -r '"\(.payload[0:1]) \(.payload | length)"' | sort | xargs)"
  is "$1, $2: all of it is served" '' "$(fq peek --state held --json; fq -q slow peek --state held --json)"
  gives 0 '' fq check; gives 0 '' fq check -q slow
}
for look in default slow; do
  for point in leaving:1 leaving:2 sent:1 arrived:1 arrived:2 received:1 left:1 settled:1; do
    begin
    killed_at move.$point fq move 1 2 --to slow
    is_whole "$point" "$look"
  done
  for point in event.appended:1 event.committed:1 event.committed:2 event.committed:3 change.committed:2; do
    begin
    killed_at $point fq move 1 2 --to slow
    is_whole "$point" "$look"
  done
  # Who finishes it may be killed as well, and the queue may have another name by then.
  begin
  killed_at move.received:1 fq move 1 2 --to slow
  killed_at move.looked:2 fq -q "$look" peek
  killed_at move.finished:1 fq -q "$look" peek
  killed_at event.committed:1 fq -q "$look" peek
  is_whole 'killed again' "$look"
done
is 'what had arrived has left' '' "$(states default)"

# Payloads are in memory while their messages are on their way: of long ones only some go at once.
fresh; fq queue create slow
for _ in 1 2 3 4 5; do head -c 5000000 /dev/zero | fq push >/dev/null; done
killed_at move.settled:1 fq move --all --yes --to slow
is 'of five times 5 MB four go at once' '5 ready / 1 ready 2 ready 3 ready 4 ready' "$(states default) / $(states slow)"
gives 0 '' fq move --all --yes --to slow
is 'the rest follows' '1 ready 2 ready 3 ready 4 ready 5 ready' "$(states default)$(states slow)"

# One that is copied forward while it is looked at is not missed: its twin would be served here as well.
for copied in default slow; do
  begin
  killed_at move.received:1 fq move 1 2 --to slow
  look=1; [ $copied = default ] || look=2
  FQ_STOP_AT=move.looked:$look "$FQ" peek >/dev/null & looker=$!
  await stopped "$looker"
  for _ in $(seq 100); do head -c 20000 /dev/zero | tr '\0' c; echo; done | fq push -q $copied -t churn --lines >/dev/null
  fq pop -q $copied -t churn -n 100 >/dev/null
  fq -q $copied compact >/dev/null
  is 'the file with its record is gone' no "$([ -e "$FQ_SPOOL/queues/$copied/journal/1.fqj" ] && echo yes || echo no)"
  kill -CONT "$looker"; wait "$looker"
  is "$copied is copied meanwhile: what has arrived is served there" '1 ready 2 ready' "$(states slow)"
  is_whole "copied forward in $copied meanwhile" default
done

# What a dead process has left is finished after a rebuild, in a copy of the spool, and with a queue that has
# another name or is gone.
begin
killed_at move.received:1 fq move 1 2 --to slow
rm "$FQ_SPOOL"/queues/*/segment
is_whole 'without segments' slow
begin
killed_at move.received:1 fq move 1 2 --to slow
cp -a "$FQ_SPOOL" "$work/copy"; rm -r "$FQ_SPOOL"; mv "$work/copy" "$FQ_SPOOL"
is_whole 'in a copy' default
begin
killed_at move.received:1 fq move 1 2 --to slow
mv "$FQ_SPOOL/queues/slow" "$FQ_SPOOL/queues/other"
is 'the other queue has another name' '1 ready 2 ready' "$(fq -q other peek >/dev/null; states other)"
is 'it left for that' 'other 1' "$(of default 1 '"\(.moved_to.queue) \(.moved_to.id)"')"
begin
killed_at move.received:1 fq move 1 2 --to slow
rm -r "$FQ_SPOOL/queues/slow"
is 'the other queue is gone: it stays' '1 ready 2 ready' "$(states default)"
begin
killed_at move.received:1 fq move 1 2 --to slow
rm -r "$FQ_SPOOL/queues/default"
is 'the one it came from is gone: it is here' '1 ready 2 ready' "$(states slow)"

# While one moves, it is held and nobody else does anything with it; a backup waits for its end.
begin
FQ_STOP_AT=move.received:1 "$FQ" move 1 2 --to slow >/dev/null & mover=$!
await stopped "$mover"
fq queue set lock_timeout=100ms; fq -q slow queue set lock_timeout=100ms
is 'held here and there' '1 held 2 held 1 held 2 held' "$(states default) $(states slow)"
is 'explain says so, here and there' 2 \
  "$({ fq explain 1; fq -q slow explain 1; } | grep -c '^waits    is on its way from one queue to another')"
gives 75 'is on its way to another queue' fq cancel 1
gives 75 'is on its way to another queue' fq edit 1 -p 3
gives 75 'is on its way to another queue' fq -q slow cancel 2
gives 1 'nothing can come after it' fq push --after 1 x
gives 1 '' fq pop
gives 1 '' fq -q slow pop
gives 1 '' fq cancel -t big
gives 75 "in process $mover" fq -q slow move 1 --to default
# Nothing can come after it, and while a message is on its way no step waits for it: its end is told elsewhere.
fq push job >/dev/null; receipt=$(fq pop --lease 1m | cut -f1)
gives 1 'is not known, or no more' env FQ_RECEIPT="$receipt" "$FQ" step w --wait 1
fq ack "$receipt"
fq backup "$work/backup" & backup=$!
await sleeps "$backup"
kill -CONT $mover; wait $mover; wait $backup
is 'the backup has each of them once' '1 ready 2 ready' \
  "$(FQ_SPOOL=$work/backup "$FQ" -q slow peek --json | jq -r '"\(.id) \(.state)"' | xargs)$(FQ_SPOOL=$work/backup "$FQ" peek)"
# Nor is its key given another payload meanwhile; who keeps what there is finds it.
fq queue create keyed; id=$(fq push -q keyed --unique k x)
FQ_STOP_AT=move.received:1 "$FQ" -q keyed move "$id" --to slow >/dev/null & mover=$!
await stopped "$mover"
gives 75 "message $id of queue 'keyed': is on its way to another queue; try again" \
  fq push -q keyed --unique k --unique-mode replace y
gives 75 'is on its way to another queue' fq push -q keyed --unique k --unique-mode after y
# From a file: a shell writes into a pipe line by line, and where the input pauses what has come is a batch.
printf '%s\n' '{"payload":"z"}' '{"payload":"y","unique":"k","unique_mode":"replace"}' >"$work/batch"
is 'of a batch nothing is pushed either' '75 0' \
  "$(fq push -q keyed --ndjson --file "$work/batch" >/dev/null 2>&1; echo "$? $(fq -q keyed stats --json | jq .ready)")"
is 'a duplicate of it' "$id" "$(fq push -q keyed --unique k y)"
kill -CONT $mover; wait $mover
# An id that is given twice counts once.
fq queue create twice; id=$(fq push -q once x); other=$(fq push -q once y)
is 'an id that is given twice is moved once' "0 $id 1 $other 2" "$(fq move -q once "$id" "$other" "$id" --to twice 2>&1 | paste -sd' ' | sed 's/^/0 /')"

finish
