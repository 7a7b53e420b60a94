#!/usr/bin/env bash
# journal_files_test - journal files that lost their front, were cut, emptied or replaced, in use or not yet: what
# can be read is served, check names the file, and --repair or a rebuild puts it right and keeps the bytes.
. "$(dirname "$0")/lib.sh"

queue=$FQ_SPOOL/queues/default
nine() {
  fresh
  for i in 1 2 3 4 5 6 7 8 9; do fq push "one-$i" >/dev/null; done
  fq cancel 3 >/dev/null 2>&1
}
# lines N LETTER: N messages of 50,000 bytes.
lines() { head -c "$(($1 * 50000))" /dev/zero | tr '\0' "$2" | fold -w 50000 | nl -w 6 -n rz -s - | fq push --lines >/dev/null; }
payloads() { fq peek -n 1000 --json 2>/dev/null | jq -r '.payload[0:6]' | sort | paste -sd' '; }
# front FILE BYTES SOURCE: its first bytes are written over.
front() { dd if="$3" of="$1" bs=1 count="$2" conv=notrunc status=none; }
well() { is "$1: well" 1 "$(fq check | grep -c 'all is well')"; }
eight='one-1 one-2 one-4 one-5 one-6 one-7 one-8 one-9'
without_first='new one-2 one-4 one-5 one-6 one-7 one-8 one-9'

for with in /dev/zero /dev/urandom; do
  # The header is lost. All goes on by the segment's key.
  nine
  front "$queue/journal/1.fqj" 4096 $with
  head -c 4096 "$queue/journal/1.fqj" >"$work/damaged"
  gives 65 '' fq check
  is 'check says it once' 'default: 12 records, 8 messages, 1 finding;  damage: journal/1.fqj: the file header is damaged, 4096 bytes' "$(paste -sd';' "$work/out")"
  is 'check without --repair writes nothing' '' "$(cmp "$work/damaged" <(head -c 4096 "$queue/journal/1.fqj"))"
  gives 0 '' fq pop
  is 'what lies there is served' one-1 "$(cat "$work/out")"
  gives 0 '' fq push new
  gives 0 '' fq check --repair
  is 'the repair says so' 1 "$(grep -c 'repaired: journal/1.fqj: its header is damaged; written anew' "$work/out")"
  is 'and keeps the bytes' '' "$(cmp "$work/damaged" "$queue/damaged/1-0.bin")"
  well 'a lost header'
  rm "$queue/segment"
  is 'a rebuild reads all of it' "$without_first" "$(payloads)"

  # And what opens the file for its records, too: what the segment knows is copied.
  nine
  front "$queue/journal/1.fqj" 4224 $with
  gives 65 '' fq check
  gives 0 '' fq push new
  gives 0 '' fq check --repair
  is 'without OPENED all is kept' "$eight" "$(payloads | sed 's/^new //')"
  well 'a lost OPENED'
  rm "$queue/segment"
  is 'also for a rebuild' "new $eight" "$(payloads)"

  # Nothing is left that shows whose file it is, and it is the one that is written.
  nine
  front "$queue/journal/1.fqj" 9000 $with
  gives 65 '' fq check
  is 'check names the file' 1 "$(grep -c 'damage: journal/1.fqj: nothing in the file can be read, 524288 bytes' "$work/out")"
  gives 74 'journal/1.fqj: its header is damaged; run fq check --repair' fq push new
  gives 74 'run fq check --repair' fq pop
  gives 0 '' fq check --repair
  is 'each that was lost is told' 8 "$(grep -c 'its record is damaged; cancelled' "$work/out")"
  is 'and the bytes are kept' 524288 "$(stat -c %s "$queue/damaged/1-0.bin")"
  well 'a lost file'
  gives 0 '' fq push later

  # No segment: the records tell the key.
  nine
  front "$queue/journal/1.fqj" 4096 $with
  rm "$queue/segment"
  gives 0 'journal/1.fqj: the file header is damaged; 4096 bytes kept in damaged/; written anew' fq push new
  is 'a rebuild loses nothing' "new $eight" "$(payloads)"
  well 'a rebuild'
  rm "$queue/segment"
  is 'nor does the next one' "new $eight" "$(payloads)"

  # No segment, and nothing tells it: what is lost is told, and kept.
  nine
  front "$queue/journal/1.fqj" 4224 $with
  rm "$queue/segment"
  gives 0 'journal/1.fqj: nothing in the file can be read; kept as damaged/1-0.bin' fq push new
  is 'the bytes are kept' 524288 "$(stat -c %s "$queue/damaged/1-0.bin")"
  is 'check names them' 1 "$(fq check | grep -c 'damaged/1-0.bin: kept of damage')"
done

# One in the middle.
fresh
lines 30 x
[ -e "$queue/journal/3.fqj" ] || fail 'there are three files'
front "$queue/journal/2.fqj" 4096 /dev/zero
gives 65 '' fq check
gives 0 '' fq check --repair
is 'in the middle' 30 "$(payloads | wc -w)"
fresh
lines 30 x
rm "$queue/segment"
front "$queue/journal/2.fqj" 600000 /dev/urandom
gives 0 'records lost; kept as damaged/2-0.bin' fq pop
is 'its neighbours are there' '000002 000030' "$(payloads | tr ' ' '\n' | sed -n '1p;$p' | paste -sd' ')"

# A file in use that was cut.
for bytes in 0 100 4100; do
  nine
  truncate -s "$bytes" "$queue/journal/1.fqj"
  gives 65 '' fq check
  is "check names it, cut at $bytes" 1 "$(grep -c 'damage: journal/1.fqj: ' "$work/out")"
  gives 0 '' fq check --repair
  is 'what was in it is told' 8 "$(grep -c 'its record is damaged; cancelled' "$work/out")"
  well "a file cut at $bytes"
  nine
  truncate -s "$bytes" "$queue/journal/1.fqj"
  rm "$queue/segment"
  gives 0 'kept as damaged/1-0.bin' fq push new
done

# One copy of a header: nothing is lost yet.
nine
printf 'yyyy' | dd of="$queue/journal/1.fqj" bs=1 seek=20 conv=notrunc status=none
gives 0 '' fq check
is 'a copy is a remark' 1 "$(grep -c 'journal/1.fqj: one of the two copies of its header is damaged; harmless' "$work/out")"
gives 0 '' fq check --repair
is 'and written anew' 1 "$(grep -c 'repaired: journal/1.fqj: a copy of its header is damaged; written anew' "$work/out")"
is 'then it is whole' 0 "$(fq check --json | jq '.remarks | length')"
is 'and nothing was moved' "$eight" "$(payloads)"

# A file that is not in use yet.
spare() {
  fresh
  lines 8 x
  [ -e "$queue/journal/2.fqj" ] || fail 'there is a file not in use yet'
  case $1 in
    empty) : >"$queue/journal/2.fqj" ;;
    short) echo short >"$queue/journal/2.fqj" ;;
    cut) truncate -s 4100 "$queue/journal/2.fqj" ;;
    overwritten) front "$queue/journal/2.fqj" 300000 /dev/urandom ;;
    another) cp "$queue/journal/1.fqj" "$queue/journal/2.fqj" ;;
    missing) rm "$queue/journal/2.fqj" ;;
  esac
}
for how in empty short cut overwritten another missing; do
  spare $how
  gives 65 '' fq check
  gives 0 '' lines 12 y
  is "$how: the queue goes on without it" 20 "$(payloads | wc -w)"
  gives 0 '' fq pop
  rm "$queue/segment"
  is "$how: and a rebuild has all" 19 "$(payloads | wc -w)"

  spare $how
  gives 0 '' fq check --repair
  is "$how: it is made again" 1 "$(grep -c 'journal/2.fqj: .*; made again, it was not in use yet' "$work/out")"
  is "$how: what was there is kept" "$([ $how = missing ] && echo 0 || echo 1)" "$(find "$queue/damaged" -type f | wc -l)"
  gives 0 '' fq check
  gives 0 '' lines 12 y
  is "$how: and used" 20 "$(payloads | wc -w)"
  well "$how, repaired"

  spare $how
  rm "$queue/segment"
  [ $how = missing ] || gives 0 'journal/2.fqj: ' fq push new
  gives 0 '' lines 12 y
  well "$how, rebuilt"
done
# Another one a second time: neither is written over.
spare overwritten
gives 0 '' fq check --repair
front "$queue/journal/2.fqj" 300000 /dev/urandom
gives 0 '' fq check --repair
is 'both are kept' 2 "$(find "$queue/damaged" -name '2-0*.bin' | wc -l)"

# A directory that somebody took away.
large() { head -c 80000 /dev/zero | tr '\0' "$1" | fq push; }
nine
rm -r "$queue/blobs"
gives 0 '' large b
is 'blobs/ is made where it is needed' 1 "$(find "$queue/blobs" -type f | wc -l)"
rm -r "$queue/blobs" "$queue/output"
gives 65 '' fq check
gives 0 '' fq check --repair
is 'it is made anew' 2 "$(grep -c 'repaired: .*/: is missing; made anew' "$work/out")"
is 'and what was lost is told' 1 "$(grep -c 'blobs/.*: is gone; cancelled' "$work/out")"
well 'without blobs/'
is 'nothing else is' "$eight" "$(payloads)"
nine
rm -r "$queue/journal"
gives 65 '' fq check
is 'journal/ is missing' 1 "$(grep -c 'journal/1.fqj: the file is missing' "$work/out")"
gives 74 'put it back, or run fq check --repair' fq push new
gives 0 '' fq check --repair
is 'what was in it is told' 8 "$(grep -c 'its record is damaged; cancelled' "$work/out")"
gives 0 '' fq push later
well 'without journal/'
nine
rm -r "$queue/journal" "$queue/segment"
gives 0 "queue 'default': journal/ is missing, and all messages with it; begun anew" fq push new
well 'with nothing'

# A repair that fails half-way tells what it did before: no copy of the damage can be made here.
nine
printf 'yyyy' | dd of="$queue/journal/1.fqj" bs=1 seek=20 conv=notrunc status=none
printf '?' | dd of="$queue/journal/1.fqj" bs=1 seek="$(grep -abo one-5 "$queue/journal/1.fqj" | head -n 1 | cut -d: -f1)" conv=notrunc status=none
at=$(fq check | grep -o 'damaged at byte [0-9]*' | grep -o '[0-9]*$')
mkdir "$queue/damaged/1-$at.bin.tmp"
gives 74 'fq: repaired: journal/1.fqj: a copy of its header is damaged; written anew' fq check --repair
is 'then the error' 1 "$(tail -n 1 "$work/err" | grep -c "Is a directory; the rest was not repaired")"
rmdir "$queue/damaged/1-$at.bin.tmp"
gives 0 '' fq check --repair
well 'a second try'

# A look makes nothing.
nine
mkdir "$FQ_SPOOL/queues/bare"
gives 1 "queue 'bare': there is none" fq check -q bare
gives 1 "queue 'bare': there is none" fq stats -q bare
is 'an empty directory stays one' 0 "$(find "$FQ_SPOOL/queues/bare" -mindepth 1 | wc -l)"
fq push -q bare now >"$work/out" || fail 'a push makes it'
finish
