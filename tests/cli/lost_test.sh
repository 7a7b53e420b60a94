#!/usr/bin/env bash
# lost_test - a payload that is gone or damaged costs its message its delivery and nothing else: who meets it says
# so, buries it, and serves the next. And journal files that somebody takes away under a running queue.
. "$(dirname "$0")/lib.sh"

queue=$FQ_SPOOL/queues/default
long() { head -c 100000 /dev/zero | tr '\0' "$1"; }
blob_of() { grep -l -- "$1$1$1$1" "$queue"/blobs/*; }  # LETTER
flip() { printf '?' | dd of="$1" bs=1 seek=70000 conv=notrunc status=none; }
# hit TEXT: its record in the journal.
hit() {
  local at
  at=$(grep -abo -- "$1" "$queue/journal/1.fqj" | head -n 1 | cut -d: -f1)
  printf '?' | dd of="$queue/journal/1.fqj" bs=1 seek="$at" conv=notrunc status=none
}
state_of() { fq show "$1" --json | jq -r .state; }

# pop: what is damaged is told, what is behind it is served.
fresh
long a | fq push >/dev/null
long b | fq push >/dev/null
long c | fq push >/dev/null
flip "$(blob_of a)"; rm "$(blob_of b)"
gives 0 "fq: message 1 of queue 'default': its payload is damaged: blobs/" fq pop
is 'each with what is wrong' "2 fq: message 2 of queue 'default': its payload is lost: blobs/*: is gone; buried, see fq check" \
  "$(wc -l <"$work/err") $(sed -n 's/[0-9a-f]\{32\}/*/;2p' "$work/err")"
is 'the next one is served' 100001 "$(wc -c <"$work/out")"
is 'both are buried' 'dead dead acked' "$(state_of 1) $(state_of 2) $(state_of 3)"
is 'and say why' 1 "$(fq show 1 --json | jq -r .last_error.reason | grep -c 'its payload is damaged: blobs/.*: its checksum does not match')"
gives 1 '' fq pop
# Nothing but damage: 65, once.
fresh
for i in 1 2 3; do fq push "payload-$i" >/dev/null; done
hit payload-1
gives 0 "fq: message 1 of queue 'default': its record is damaged: journal/1.fqj at byte" fq pop -n 2
is 'what could be read' 'payload-2 payload-3' "$(paste -sd' ' "$work/out")"
fq push payload-4 >/dev/null; hit payload-4
gives 65 'message 4' fq pop
is 'no payload of it' '' "$(cat "$work/out")"
gives 1 '' fq pop
is 'a dead one can be kicked, and is met again' '1 65' "$(fq kick 4 2>/dev/null; fq pop 2>&1 >/dev/null | grep -c 'message 4.*buried') $(fq kick 4 >/dev/null 2>&1; fq pop >/dev/null 2>&1; echo $?)"
# Whatever the form, and while it waits.
for form in --raw --json '--format sh' '--lease 1m' --null --grouped; do
  fresh
  fq push payload-1 >/dev/null; fq push payload-2 >/dev/null
  hit payload-1
  # shellcheck disable=SC2086  # words
  gives 0 'message 1 of queue' fq pop $form
  is "$form: the other one" 1 "$(grep -ac payload-2 "$work/out")"
done
fresh
fq push payload-1 >/dev/null; hit payload-1
# Mostly the pop waits by then; nothing fails when it does not yet.
(sleep 0.2; "$FQ" push later >/dev/null) &
gives 0 'message 1 of queue' fq pop --wait=20s
is 'a waiting one waits on' later "$(cat "$work/out")"
wait
fresh
fq push payload-1 >/dev/null; hit payload-1
gives 75 'message 1 of queue' fq pop --wait=10ms

# show and peek say so; they bury nothing and leave as ever.
fresh
long a | fq push -t acme >/dev/null; long b | fq push -t acme >/dev/null; long c | fq push -t acme >/dev/null
fq push -t acme -p 3 payload-4 >/dev/null; fq push -t acme -p 2 payload-5 >/dev/null
flip "$(blob_of a)"
gone=$(blob_of b); rm "$gone"; gone=blobs/${gone##*/}
hit payload-4
says_of() { printf "fq: message %s of queue 'default': its %s; see fq check\n" "$1" "$2"; }
gives 0 "$(says_of 2 "payload is lost: $gone: is gone")" fq peek
is 'each has its line' '4 1 2' "$(cut -d' ' -f3 "$work/err" | paste -sd' ')"
is 'for people' '4 (lost) 5 payload-5 1 (lost) 2 (lost) 3 ccc' "$(awk 'NR > 1 { print $1, substr($NF, 1, length($NF) > 10 ? 3 : 99) }' "$work/out" | paste -sd' ')"
gives 0 'message 1 of queue' fq peek --raw
is 'raw has the others' 100009 "$(wc -c <"$work/out")"
gives 0 '' fq peek --json
is 'a key of its own, with the reason' "4 its record is damaged: journal/1.fqj at byte|5 null|1 its payload is damaged: blobs/: its checksum does not match|2 its payload is lost: $gone: is gone|3 null" \
  "$(jq -r '"\(.id) \(.lost)"' "$work/out" | sed 's/ at byte .*/ at byte/; /^1/s:blobs/[0-9a-f]*:blobs/:' | paste -sd'|')"
is 'its place in the object' 'moved_to lost' "$(jq -r 'keys_unsorted | .[-2:] | join(" ")' "$work/out" | sort -u)"
is 'no payload' 'null null' "$(jq -r 'select(.lost) | "\(.payload) \(.payload_base64)"' "$work/out" | sort -u)"
is 'where the payload alone is lost the rest is there' '0 true' "$(jq -r 'select(.id == 1) | "\(.priority) \(.pushed_at != null)"' "$work/out")"
is 'where the record is, what the queue knows' 'acme ready null null 5' "$(jq -r 'select(.id == 4) | "\(.tenant) \(.state) \(.priority) \(.pushed_at) \(.max_attempts)"' "$work/out")"
gives 0 '' fq show 2
is 'show says it' "payload     lost: its payload is lost: $gone: is gone; see fq check" "$(grep ^payload "$work/out")"
gives 0 '' fq show 4
is 'also of a record' 1 "$(grep -c '^payload  *lost: its record is damaged: journal/1.fqj at byte [0-9]*; see fq check$' "$work/out")"
is 'with its tenant and state' 'acme ready' "$(awk '$1 == "tenant" || $1 == "state" { print $2 }' "$work/out" | paste -sd' ')"
is 'and nothing that nobody knows' 0 "$(grep -c '^priority\|^pushed' "$work/out")"
is 'as JSON' "true acme null" "$(fq show 4 --json | jq -r '"\(.lost | startswith("its record is damaged")) \(.tenant) \(.payload)"')"
is 'what is well has the key too' null "$(fq show 3 --json | jq .lost)"
is 'nobody was buried' '5 0' "$(fq stats --json | jq -r '"\(.ready) \(.dead)"')"
fq pop -n 9 >/dev/null 2>&1
gives 0 'message 4 of queue' fq peek --state dead
is 'a dead one is still lost' '1 2 4' "$(fq peek --state dead --json | jq 'select(.lost).id' | sort -n | paste -sd' ')"
is 'what has ended is not' null "$(fq show 3 --json | jq .lost)"
# A file of the journal is gone: of its messages the queue knows the most.
fresh
fq push first >/dev/null
many() { head -c 1500000 /dev/zero | tr '\0' x | fold -w 50000 | nl -w 6 -n rz -s - | fq push --lines >/dev/null; }
many
rm "$queue/journal/2.fqj"
gives 0 'its record is lost: journal/2.fqj is gone; see fq check' fq peek -n 100
is 'the others are shown' "31 $(wc -l <"$work/err")" "$(($(wc -l <"$work/out") - 1)) $(grep -c '(lost)' "$work/out")"
rm "$queue"/journal/*.fqj
gives 0 'its record is lost: journal/1.fqj is gone' fq peek -n 1
gives 0 '' fq show 1
is 'also of the one that is written' 1 "$(grep -c 'lost: its record is lost: journal/1.fqj is gone' "$work/out")"

# worker.
fresh
long a | fq push >/dev/null
fq push payload-2 >/dev/null; fq push payload-3 >/dev/null
flip "$(blob_of a)"; hit payload-2
gives 0 "message 1 of queue 'default': its payload is damaged" fq worker --drain -- cat
is 'a worker says it of each' 2 "$(grep -c '; buried, see fq check$' "$work/err")"
is 'and runs the rest' payload-3 "$(cat "$work/out")"
fresh
fq push payload-1 >/dev/null; hit payload-1
gives 1 'message 1 of queue' fq worker --once -- cat

# A journal file that is gone while nobody needs to write to it: its messages are lost, told, and kept dead.
fresh
many
mv "$queue/journal/2.fqj" "$work/2.fqj"
gives 0 'its record is lost: journal/2.fqj is gone; buried, see fq check' fq pop -n 100
lost=$(wc -l <"$work/err")
is 'the rest is served' 30 "$((lost + $(wc -l <"$work/out")))"
gives 65 '' fq check
is 'the file is the first finding' '  damage: journal/2.fqj: the file is missing' "$(sed -n 2p "$work/out" | cut -d, -f1)"
mv "$work/2.fqj" "$queue/journal/2.fqj"
gives 0 '' fq check
fq kick --all >/dev/null
is 'put back, nothing is lost' "$lost" "$(fq pop -n 100 | wc -l)"

# The one that is written to: nothing is accepted that would be lost, and what to do is said.
fresh
fq push one >/dev/null; fq push two >/dev/null
mv "$queue/journal/1.fqj" "$work/1.fqj"
says="fq: queue 'default': journal/1.fqj is gone; put it back, or run fq check --repair"
gives 74 "$says" fq push three
gives 74 "$says" fq pop
gives 74 "$says" fq check
mv "$work/1.fqj" "$queue/journal/1.fqj"
is 'put back, all goes on' 'one two three four' "$(fq push four >/dev/null; fq pop -n 10 | paste -sd' ')"
fresh
fq push one >/dev/null; fq push two >/dev/null
rm "$queue/journal/1.fqj"
gives 65 '' fq check
is 'check names it first' '  damage: journal/1.fqj: the file is missing' "$(sed -n 2p "$work/out" | cut -d, -f1)"
gives 74 "$says" fq push three
gives 0 '' fq check --repair
is 'repair goes on in another file' 1 "$(grep -c 'journal/1.fqj: the file is missing; the queue goes on in another' "$work/out")"
is 'what is lost is named' '1 2' "$(grep -o 'message [0-9]* of queue .*; cancelled' "$work/out" | cut -d' ' -f2 | paste -sd' ')"
is 'what was not written yet is not' 'three four' "$(fq push four >/dev/null; fq pop -n 10 | paste -sd' ')"
gives 0 '' fq check
rm "$queue/segment"
gives 0 '' fq check
# And one that holds what was never synced, while it is written or after: of that alone what had left memory is lost.
head -c 60000 /dev/zero | tr '\0' u >"$work/60K"
for lazy in 9 13; do
  fresh
  for _ in 1 2 3 4; do fq push --lazy --file "$work/60K" >/dev/null; done
  fq push --file "$work/60K" >/dev/null
  for _ in $(seq $lazy); do fq push --lazy --file "$work/60K" >/dev/null; done
  rm "$queue/journal/2.fqj"
  gives 74 "fq: queue 'default': journal/2.fqj is gone; put it back, or run fq check --repair" fq push more
  gives 0 '' fq check --repair
  is "$lazy: the queue goes on in another file" 1 "$(grep -c 'journal/2.fqj: the file is missing; the queue goes on in another' "$work/out")"
  is "$lazy: what is lost is named" '9 10 11 12 13' "$(grep -o 'message [0-9]* of queue .*; cancelled' "$work/out" | cut -d' ' -f2 | paste -sd' ')"
  gives 0 '' fq push last
  gives 0 '' fq check
  rm "$queue/segment"
  is "$lazy: the rest is served" "$((lazy + 2)) last" "$(fq pop -n 100 >"$work/out"; grep -c . "$work/out") $(tail -n 1 "$work/out" | head -c 9)"
  gives 0 '' fq check
done
# And one that housekeeping was copying older messages to: those of which the older record is there are served, by a
# repair as by a rebuild; also where that was said not to be needed any more, and is there all the same.
for how in repair rebuild; do
  for told in no yes; do
    fresh
    for i in 1 2 3 4 5 6; do fq push -t keep "keep-$i" >/dev/null; done
    fq bury "$(fq pop -t keep --lease 1h | cut -f1)" --reason 'why not'
    for _ in $(seq 60); do fq push --lazy -t bulk --file "$work/60K" >/dev/null; done
    fq push -t bulk last >/dev/null
    killed_at compaction.moved:5 fq pop -t bulk -n 61
    fq push -t bulk synced >/dev/null
    [ $told = no ] || killed_at compaction.low:1 fq pop -t bulk
    current=$(grep -l synced "$queue"/journal/*)
    is "$how, $told: two files tell of them" 2 "$(grep -l keep-1 "$queue"/journal/* | wc -l)"
    rm "$current"
    [ $how = repair ] || rm "$queue/segment"
    fq push -t keep keep-7 >/dev/null 2>&1
    gives 0 '' fq check --repair
    [ $how = rebuild ] || is "$told: the repair says so" 1 "$(grep -c 'repaired: 4 messages copied anew from the older records' "$work/out")"
    is "$how, $told: why it is dead is known" 'why not' "$(fq show 1 --json | jq -r .last_error.reason)"
    fq kick --all >/dev/null
    is "$how, $told: all are there" 'keep-1 keep-2 keep-3 keep-4 keep-5 keep-6 keep-7' "$(fq pop -t keep -n 100 | paste -sd' ')"
    gives 0 '' fq check
  done
done
# A schedule that was seen in memory, and whose file is left for another before it is read, is as it was.
fresh
fq queue create default >/dev/null
fq queue set sync=lazy >/dev/null
fq schedule set tick 'every 1s' --payload ticked >/dev/null
sleep 1.1  # until it is due: who waits for that has it on disk
FQ_STOP_AT=schedule.due:1 "$FQ" pop --wait=20s >"$work/ticked" 2>"$work/said" & popper=$!
await stopped $popper
rm "$queue/journal/1.fqj"
gives 0 '' fq check --repair
kill -CONT $popper
wait $popper
is 'what is due is made' '0 ticked ' "$? $(cat "$work/ticked") $(cat "$work/said")"
gives 0 '' fq check
# One that was ready.
fresh
fq push one >/dev/null
rm "$queue/journal/2.fqj"
gives 65 '' fq check
gives 0 '' fq check --repair
is 'is made again' 1 "$(grep -c 'journal/2.fqj: the file is missing; made again' "$work/out")"
many
is 'and is used' 31 "$(fq pop -n 100 | wc -l)"
gives 0 '' fq check

# Who has the file open writes into nothing: it is told as well.
fresh
fq push one >/dev/null
mkfifo "$work/lines"
"$FQ" push --lines <"$work/lines" >"$work/ids" 2>"$work/said" &
pusher=$!
exec 7>"$work/lines"
echo two >&7
until [ -s "$work/ids" ]; do [ -d /proc/$pusher ] || break; done
rm "$queue/journal/1.fqj"
echo three >&7
exec 7>&-
wait $pusher
is 'who has the file open is told too' "74 $says" "$? $(cat "$work/said")"
is 'and nothing was accepted' 1 "$(wc -l <"$work/ids")"
gives 0 '' fq check --repair
gives 0 '' fq check

# A queue that is taken away, with another one in its place or none, ends who waits for something of it.
for way in none another; do
  fresh
  id=$(fq push --delay 1h x)
  fq queue set max_messages=1
  waiting=()
  for words in "pop --wait" "worker -- true" "wait $id" "log -f" "push --block y"; do
    # shellcheck disable=SC2086
    timeout 30 "$FQ" $words >>"$work/out" 2>"$work/said.${#waiting[@]}" & waiting+=($!)
  done
  await eval '[ "$(fq workers --json | wc -l)" = 1 ]'
  mv "$queue" "$work/taken"
  if [ $way = another ]; then fq push other >/dev/null; fi
  for i in "${!waiting[@]}"; do
    wait "${waiting[i]}"
    is "$way: waiter $i is told" \
      "1 fq: queue 'default': its directory was taken away, or another queue is in its place" "$? $(tail -n 1 "$work/said.$i")"
  done
  if [ $way = another ]; then is 'the other has what it had' other "$(fq pop)"; fi
  rm -r "$work/taken"
done
finish
