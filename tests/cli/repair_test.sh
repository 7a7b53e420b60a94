#!/usr/bin/env bash
# repair_test - check --repair of a journal that was flipped, cut or lost a file, and of a segment that was
# damaged or is gone: all that can be read is still there, the bytes are kept, and the next check says well.
# And compact, which works with the same steps.
. "$(dirname "$0")/lib.sh"

queue=$FQ_SPOOL/queues/default
# flip FILE TEXT: a bit of the first place where TEXT stands.
flip() {
  local at byte
  at=$(grep -abo -- "$2" "$1" | head -n 1 | cut -d: -f1)
  byte=$(od -An -tu1 -j "$at" -N 1 "$1")
  printf "\\x$(printf %x $((byte ^ 4)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}
payloads() { fq peek -n 1000 --json | jq -r '.payload[0:12]' | sort | paste -sd' '; }
# nine: payloads one-1 to one-9, a record each; three is acked.
nine() {
  fresh
  for i in 1 2 3 4 5 6 7 8 9; do fq push "one-$i" >/dev/null; done
  fq cancel 3 >/dev/null 2>&1
}

# A bit in a message that still waits.
nine
gives 0 '' fq check
gives 0 '' fq check --repair
is 'a repair of what is well does nothing' 0 "$(fq check --repair --json | jq '.repairs | length')"
flip "$queue/journal/1.fqj" one-5
gives 65 '' fq check
is 'check says where' 1 "$(fq check | grep -c 'journal/1.fqj: records are damaged at byte')"
is 'and as JSON' 'false true' "$(fq check --json | jq -r '"\(.ok) \(.findings | length > 0)"')"
gives 0 '' fq check --repair
is 'what was hit is told' 1 "$(grep -c "message 5 of queue 'default': its record is damaged; cancelled" "$work/out")"
is 'what could be read is there' 'one-1 one-2 one-4 one-6 one-7 one-8 one-9' "$(payloads)"
is 'the bytes are kept' 1 "$(cat "$queue"/damaged/*.bin | grep -ac 'ne-5')"
gives 0 '' fq check
is 'and the next check says well' 1 "$(grep -c 'all is well' "$work/out")"
is 'and names what was kept' 1 "$(grep -c 'damaged/.*kept of damage' "$work/out")"
rm "$queue/segment"
is 'also a rebuild finds only that' 'one-1 one-2 one-4 one-6 one-7 one-8 one-9' "$(payloads)"
gives 0 '' fq check

# A bit in the record of an ack: the segment still knows of it.
nine
fq pop --raw >/dev/null  # one-1
end=$(grep -abo fqr1 "$queue/journal/1.fqj" | tail -n 1 | cut -d: -f1)
printf '\377' | dd of="$queue/journal/1.fqj" bs=1 seek=$((end + 50)) conv=notrunc status=none
fq push last >/dev/null
gives 65 '' fq check
gives 0 '' fq check --repair
is 'what was acked does not come back' 'last one-2 one-4 one-5 one-6 one-7 one-8 one-9' "$(payloads)"
gives 0 '' fq check

# A recovery has met the damage first.
nine
flip "$queue/journal/1.fqj" one-5
rm "$queue/segment"
is 'a recovery says so' 1 "$(fq push next 2>&1 >/dev/null | grep -c 'kept in damaged/')"
gives 65 '' fq check
gives 0 '' fq check --repair
is 'what it could read is there' 'next one-1 one-2 one-4 one-6 one-7 one-8 one-9' "$(payloads)"
gives 0 '' fq check

# What is damaged more by the next recovery is kept beside what was kept then.
nine
flip "$queue/journal/1.fqj" one-5
rm "$queue/segment"
fq push next >/dev/null 2>&1
flip "$queue/journal/1.fqj" one-6
rm "$queue/segment"
told=$(fq push another 2>&1 >/dev/null | sed -n 's/.* lost; \(.*\) bytes kept in damaged.*/\1/p')
is 'all bytes that it says are kept' "$told" "$(find "$queue/damaged" -name '1-*.2.bin' -size -64k -printf '%s\n')"
is 'and those of before too' 2 "$(find "$queue/damaged" -type f | wc -l)"

# A torn tail is no damage.
nine
head -c 700 /dev/urandom | dd of="$queue/journal/1.fqj" bs=1 seek="$(($(grep -abo fqr1 "$queue/journal/1.fqj" | tail -n 1 | cut -d: -f1) + 200))" conv=notrunc status=none
rm "$queue/segment"
gives 0 '' fq check --repair
is 'nothing to repair' 0 "$(fq check --repair --json | jq '.repairs | length')"

# A journal that was cut, or is gone, shows no damage: the segment knows what is missing, and is not given up for it.
nine
truncate -s "$(($(grep -abo fqr1 "$queue/journal/1.fqj" | sed -n 8p | cut -d: -f1) + 20))" "$queue/journal/1.fqj"
gives 65 '' fq check
gives 0 '' fq check --repair
is 'each that could not be read is told' "$((8 - $(payloads | wc -w)))" "$(grep -c 'its record is damaged; cancelled' "$work/out")"
is 'what could be read is there' 'one-1 one-2 one-4 one-5' "$(payloads)"
gives 0 '' fq check
# The last acks are gone.
nine
fq pop -n 2 >/dev/null
truncate -s "$(grep -abo fqr1 "$queue/journal/1.fqj" | tail -n 2 | head -n 1 | cut -d: -f1)" "$queue/journal/1.fqj"
gives 65 '' fq check
gives 0 '' fq check --repair
is 'what was acked stays so' 'one-4 one-5 one-6 one-7 one-8 one-9' "$(payloads)"

# The segment.
nine
rm "$queue/segment"
gives 0 '' fq check --repair
is 'a segment that is gone is made anew' 'one-1 one-2 one-4 one-5 one-6 one-7 one-8 one-9' "$(payloads)"
dd if=/dev/urandom of="$queue/segment" bs=4096 count=8 seek=260 conv=notrunc status=none
fq check --repair >"$work/out" 2>"$work/err"
is 'one that was overwritten too' '0 one-1 one-2 one-4 one-5 one-6 one-7 one-8 one-9' "$? $(payloads)"
gives 0 '' fq check

# A file in the middle is gone.
fresh
head -c 1500000 /dev/zero | tr '\0' x | fold -w 50000 | nl -w 6 -n rz -s - | fq push --lines >/dev/null
[ -e "$queue/journal/3.fqj" ] || fail 'there are three files'
rm "$queue/journal/2.fqj"
gives 65 '' fq check
gives 0 '' fq check --repair
is 'what its neighbours hold is there' '000001 000030' "$(fq peek -n 1000 --json | jq -r '.payload[0:6]' | sort | sed -n '1p;$p' | paste -sd' ')"
gives 0 '' fq check

# What fq did not make is not touched.
nine
echo mine >"$queue/journal/mine"
gives 65 '' fq check --repair
is 'it is named' 1 "$(grep -c 'journal/mine: not made by fq' "$work/out")"
is 'and stays' mine "$(cat "$queue/journal/mine")"

# compact.
fresh
gives 1 'there is none' fq compact
fq push keep -t acme >/dev/null
head -c 3000000 /dev/zero | tr '\0' x | fold -w 50000 | fq push --lines -t churn >/dev/null
fq cancel -t churn >/dev/null
before=$(du -sk "$queue/journal" | cut -f1)
is 'compact says what it gained' 1 "$(fq compact | grep -c '^default: .* gained, the journal has')"
is 'and has no more than before' 1 "$((before >= $(du -sk "$queue/journal" | cut -f1)))"
is 'what waits is still there' keep "$(fq peek --json | jq -r .payload)"
is 'a second one gains nothing' 'default: nothing gained' "$(fq compact | cut -d, -f1)"
is 'as JSON' 'default 0' "$(fq compact --json | jq -r '"\(.queue) \(.gained_bytes)"')"
gives 0 '' fq check
rm "$queue/segment"
is 'and after a rebuild' keep "$(fq peek --json | jq -r .payload)"
fq push x -q other >/dev/null
is 'every queue unless one is named' 'default other' "$(fq compact --json | jq -r .queue | paste -sd' ')"
is 'one that is named' other "$(fq compact --json -q other | jq -r .queue)"
is 'or that the environment names' other "$(FQ_QUEUE=other fq compact --json | jq -r .queue)"
checked() { fq check --json "$@" | jq -r .queue | paste -sd' '; }
is 'so does check' 'default other|other|other' "$(checked)|$(checked -q other)|$(FQ_QUEUE=other checked)"

# What is wrong with what was typed.
gives 64 'takes no operand' fq compact default
gives 64 'takes no operand' fq check default
gives 64 'unknown option' fq check --fix
gives 64 'not a format' fq compact --format raw
gives 1 'there is none' fq compact -q none
gives 1 'there is none' fq check --repair -q none
# The secret with which keys are hashed is lost, or is another.
fresh
fq push --unique K1 one >/dev/null; fq push --unique ended two -t t >/dev/null; fq pop -t t >/dev/null
cp "$queue/secret" "$work/secret"
is_anew() {
  gives 65 '' fq check
  is "$1: check says so" 1 "$(grep -c 'secret: is missing or damaged; fq check --repair writes it anew' "$work/out")"
  gives 0 '' fq check --repair
  is "$1: it is what it was" '' "$(cmp "$work/secret" "$queue/secret")"
  gives 0 '' fq check
}
rm "$queue/secret"; is_anew missing
truncate -s 7 "$queue/secret"; is_anew cut
printf 'another' | dd of="$queue/secret" conv=notrunc status=none; is_anew another
# With the segment.
rm "$queue/secret" "$queue/segment"
gives 0 'secret is missing; made anew, unique keys of messages that ended long ago are forgotten' fq push --unique K1 again
is 'the key of what is queued is held' duplicate "$(fq push --unique K1 --json again | jq -r .status)"
is 'that of what has just ended too' duplicate "$(fq push -t t --unique ended --json again | jq -r .status)"
gives 0 '' fq check
rm "$queue/segment"
is 'the new one stays' duplicate "$(fq push --unique K1 --json again | jq -r .status)"
# A queue without keys needs none.
fresh
fq push one >/dev/null; rm "$queue/segment"
gives 0 '' fq push two
is 'none is made' no "$([ -e "$queue/secret" ] && echo yes || echo no)"
gives 0 '' fq check

# A copy that lacks the newest file: the one that is ready tells of it, and the journal that goes on does.
# lack NUMBER...: a copy without these files.
copy=$work/copy/queues/default
lack() {
  rm -rf "$work/copy"; cp -a "$FQ_SPOOL" "$work/copy"
  for n; do rm "$copy/journal/$n.fqj"; done
}
of_copy() { fq --spool "$work/copy" "$@"; }
# missing NUMBER [TEXT]: is told until it is repaired, and then no more; TEXT by the rebuild, too.
missing() {
  gives 65 "${2-journal/$1.fqj: the file is missing}" of_copy check
  is 'check names the file that is missing' 1 "$(grep -c "damage: journal/$1.fqj: the file is missing" "$work/out")"
  rm "$copy/segment"
  gives 65 "journal/$1.fqj: the file is missing" of_copy check
  fq --spool "$work/copy" push again >"$work/ids" 2>&1
  gives 65 '' of_copy check
  gives 0 '' of_copy check --repair
  gives 0 '' of_copy check
  rm "$copy/segment"
  gives 0 '' of_copy check
}
nine
head -c 300000 /dev/urandom | fq push >/dev/null
[ -e "$queue/journal/2.fqj" ] || fail 'a file is ready'
lack
gives 0 '' of_copy check
lack 1
missing 1
lack 1
gives 65 'journal/1.fqj: the file is missing' of_copy check
gives 0 '' of_copy compact
is 'and keeps payloads of lost messages' 1 "$(find "$copy/damaged" -type f -size +200k | wc -l)"
lack 1 2
missing 1 "queue 'default': journal/ is empty, and all messages with it; begun anew"
# Nor is what a rebuild leaves that was killed while it made its first file a journal.
lack 1 2; : >"$copy/journal/new-2.tmp"
missing 1 "queue 'default': journal/ is empty, and all messages with it; begun anew"
lack 1 2; rmdir "$copy/journal"
missing 1 "queue 'default': journal/ is missing, and all messages with it; begun anew"
# Nothing of the only file can be read.
lack 2; truncate -s 1500 "$copy/journal/1.fqj"
gives 65 'kept as damaged/1-0.bin' of_copy check
is 'check goes on telling of it' 1 "$(of_copy check | grep -c 'damage: journal/1.fqj: the file is missing')"
# Three files, and one that is ready.
fresh
head -c 1500000 /dev/zero | tr '\0' x | fold -w 50000 | nl -w 6 -n rz -s - | fq push --lines >/dev/null
[ -e "$queue/journal/4.fqj" ] || fail 'there are four files'
ready=$(find "$queue/journal" -name '*.fqj' | wc -l)
lack $((ready - 1))
missing $((ready - 1))
is 'what the others hold is there' 000001 "$(of_copy peek -n 1 --json | jq -r '.payload[0:6]')"
# A queue that was only made, or whose maker was killed, lacks nothing.
rm -rf "$work/copy"; mkdir -p "$copy/journal" "$copy/blobs"
is 'a queue whose maker was killed lacks nothing' 1 "$(of_copy push first 2>&1)"
gives 0 '' of_copy check
finish
