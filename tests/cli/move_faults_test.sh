#!/usr/bin/env bash
# move_faults_test - fq move on a disk that fills up, into a queue whose journal is damaged, and in a storm of moves
# both ways with kills beside consumers: nothing is lost, nothing is twice.
. "$(dirname "$0")/lib.sh"
FQ_SPOOL=$work/spool
export FQ_SPOOL
fresh() { rm -rf "$FQ_SPOOL"; mkdir "$FQ_SPOOL"; fq queue create default; fq queue create slow; }
large() { head -c 50000 /dev/zero | tr '\0' "$1"; }
# Each message as its first byte and its length, of both queues.
all() { { fq peek -n 999 --json; fq -q slow peek -n 999 --json; } | jq -r '"\(.payload[0:1])\(.payload | length)"' | sort | xargs; }

# A disk that is full after ever more of a move.
disk=$work/disk
mkdir "$disk"
if mount -t tmpfs -o mode=0700,size=16m tmpfs "$disk" 2>/dev/null; then
  trap '[ "$BASHPID" = "$$" ] && { umount -l "$disk"; clean_up; }' EXIT
  FQ_SPOOL=$disk/spool
  outcomes=
  for left in 0 4 8 20 60 100 150 1000; do
    fresh
    for letter in a b c; do large $letter | fq push >/dev/null; done
    fq push d >/dev/null
    room=$(df --output=avail -k "$disk" | tail -1)
    head -c $(((room - left) * 1024)) /dev/zero >"$disk/filler" 2>/dev/null
    "$FQ" move --all --yes --to slow >"$work/out" 2>"$work/err"
    code=$?
    outcomes+=" $code"
    case $code in
      0) is "$left KiB left, moved: all of it is told" 4 "$(wc -l <"$work/out")" ;;
      74 | 75) [ -s "$work/err" ] || fail "$left KiB left: it failed with $code and said nothing" ;;
      *) fail "$left KiB left: exit $code: $(cat "$work/err")" ;;
    esac
    rm "$disk/filler"
    is "$left KiB left: each is in one of the two" 'a50000 b50000 c50000 d1' "$(all)"
    is "$left KiB left: what was told as moved is there" "$(wc -l <"$work/out")" \
      "$(cut -d' ' -f2 "$work/out" | while read -r id; do fq -q slow show "$id" --json; done | jq -r 'select(.state == "ready").id' | wc -l)"
    gives 0 '' fq check; gives 0 '' fq check -q slow
    fq -q slow move --all --yes --to default >/dev/null
    is "$left KiB left: it goes on afterwards" 'a50000 b50000 c50000 d1' "$(all)"
  done
  case $outcomes in *7[45]*0) ;; *) fail "the disk was never full, or always: $outcomes" ;; esac
  FQ_SPOOL=$work/spool
  umount "$disk"
  trap '[ "$BASHPID" = "$$" ] && clean_up' EXIT
else
  left_out "a small disk needs root"
fi

# A target whose journal is damaged and whose segment is gone: it is rebuilt from what can be read, then the move goes on.
damage() {  # in the middle of what the target has written
  local file
  file=$(find "$FQ_SPOOL/queues/slow/journal" -name '*.fqj' | sort | head -1)
  printf 'XXXXXXXX' | dd of="$file" bs=1 seek="$1" conv=notrunc status=none
  rm -f "$FQ_SPOOL/queues/slow/segment"
}
for point in '' move.leaving:1 move.sent:1 move.received:1 move.left:1; do
  for at in 4300 4540 4660 4920; do
    fresh
    fq push -q slow s >/dev/null; fq push a >/dev/null; fq push b >/dev/null
    if [ -n "$point" ]; then killed_at $point fq move 1 2 --to slow; fi
    damage $at
    fq peek >/dev/null 2>&1; fq -q slow peek >/dev/null 2>&1
    fq move --all --yes --to slow >/dev/null 2>&1
    fq peek >/dev/null 2>&1; fq check -q slow --repair >/dev/null 2>&1
    found=$(all)
    # Nothing is twice. What has arrived in the damaged place and has left here is gone with it; all else is kept.
    [ "$(tr ' ' '\n' <<<"$found" | uniq -d)" = '' ] || fail "${point:-before}, byte $at: twice: $found"
    [ "$point" = move.left:1 ] || is "${point:-before}, byte $at: nothing is lost" 'a1 b1' "${found% s1}"
  done
done

# What had arrived is gone with the end of the target's journal, which looks like a torn one: the source tells.
lost=0
for at in $(seq 4200 90 6000); do
  fresh
  fq push -q slow s >/dev/null; fq push a >/dev/null; fq push b >/dev/null
  fq move 1 2 --to slow >/dev/null
  fq check >/dev/null || fail "byte $at: nothing is wrong yet"
  damage "$at"
  fq -q slow peek >/dev/null 2>&1
  found=$(all)
  fq check -q default >"$work/out"; code=$?
  gone=$(for letter in a b; do grep -q "${letter}1" <<<"$found" || echo "$letter"; done | wc -l)
  lost=$((lost + gone))
  is "byte $at: each that is gone is named" "$gone" "$(grep -c "damage: message . was moved to queue 'slow' as message ., of which nothing is left there" "$work/out")"
  is "byte $at: and is damage" "$((gone > 0 ? 65 : 0))" $code
  fq check -q slow >"$work/out"; code=$?
  is "byte $at: also where only its end is looked at" "$gone 65" \
    "$(grep -c "damage: message . of queue 'default' was moved here as message ., of which nothing is left" "$work/out") $((gone > 0 ? code : 65))"
  fq check >"$work/out"
  is "byte $at: once where both are" "$gone" "$(grep -c 'of which nothing is left' "$work/out")"
done
[ $lost -gt 0 ] || fail 'no damage took what had arrived'
# Not what has come and gone, of which the journal keeps nothing; nor what went to a queue that was removed since.
fresh
fq push a >/dev/null; fq push b >/dev/null
fq move 1 2 --to slow >/dev/null
fq -q slow pop -n 2 >/dev/null
first=$(find "$FQ_SPOOL/queues/slow/journal" -name 1.fqj)
for _ in $(seq 9); do
  for _ in $(seq 40); do large c; echo; done | fq push -q slow --lines >/dev/null
  fq -q slow pop -n 40 >/dev/null
  fq compact -q slow >/dev/null
  [ -e "$first" ] || break
done
[ ! -e "$first" ] || fail 'its journal keeps all of it'
gives 0 '' fq check
rm "$FQ_SPOOL/queues/slow/segment"
gives 0 '' fq check
gives 0 '' fq queue remove slow --yes
gives 0 '' fq queue create slow
gives 0 '' fq check

# Where nothing ever left, the journal is read for what did once at the most.
reads() { strace -f -qq -e trace=openat,openat2 -o "$work/calls" "$FQ" check -q default >/dev/null; grep -c '"journal/1.fqj"' "$work/calls"; }
fresh
fq push a >/dev/null; fq push -q slow s >/dev/null
first=$(reads) once=$(reads)
[ "$once" -lt "$first" ] || fail "read as often as before: $once"
fq move 1 --to slow >/dev/null
for _ in 1 2; do
  again=$(reads)
  [ "$again" -gt "$once" ] || fail "not read where one has left: $again"
done
rm "$FQ_SPOOL/queues/default/segment"
fq peek --state all >/dev/null
is 'also after a rebuild' "$first $first" "$(reads) $(reads)"

# A storm.
fresh
count=120
seq -f 'm%g' $count | fq push --lines >/dev/null
mover() {  # mover FROM TO: killed at random
  while [ ! -e "$work/enough" ]; do
    "$FQ" -q "$1" move --all --yes --to "$2" >/dev/null 2>&1 & local pid=$!
    perl -e 'select(undef, undef, undef, rand(0.04))'  # another moment of its life each time
    kill -KILL $pid 2>/dev/null; wait $pid 2>/dev/null
  done
}
consumer() { while [ ! -e "$work/enough" ]; do "$FQ" -q "$1" pop 2>/dev/null; done }
mover default slow & movers=$!
mover slow default & movers+=" $!"
consumer default >"$work/from.default" & movers+=" $!"
consumer slow >"$work/from.slow" & movers+=" $!"
taken() { [ "$(cat "$work"/from.* | wc -l)" -ge $((count * 2 / 3)) ]; }
await taken
touch "$work/enough"
wait $movers
{ fq peek; fq -q slow peek; } >/dev/null
fq pop -n 999 >"$work/from.rest"; fq -q slow pop -n 999 >>"$work/from.rest"
is 'storm: each was served once' "$(seq -f 'm%g' $count | sort | xargs)" "$(sort "$work"/from.* | xargs)"
is 'storm: nothing is left' '' "$(fq peek --state all)$(fq -q slow peek --state all)"
gives 0 '' fq check; gives 0 '' fq check -q slow
finish
