#!/usr/bin/env bash
# blobs_test - payloads that lie in blobs/, damaged, lost, or left behind by nobody's message: check names them,
# --repair sets them aside and deals with their messages, and nothing else is touched.
. "$(dirname "$0")/lib.sh"

queue=$FQ_SPOOL/queues/default
# long LETTER: a payload too long for the journal.
long() { head -c 100000 /dev/zero | tr '\0' "$1"; }
blob_of() { grep -l -- "$1$1$1$1" "$queue"/blobs/*; }  # LETTER
flip() { printf '?' | dd of="$1" bs=1 seek=70000 conv=notrunc status=none; }
letters() { fq peek -n 1000 --json | jq -r '.payload[0:1]' | sort | paste -sd' '; }
# three: a, b and c in blobs, and a short one.
three() {
  fresh
  for letter in a b c; do long $letter | fq push >/dev/null; done
  fq push short >/dev/null
}

three
gives 0 '' fq check
is 'all three are there' 3 "$(find "$queue/blobs" -type f | wc -l)"

# One is damaged, one is gone, one is cut.
for harm in flipped gone cut longer; do
  three
  b=$(blob_of b)
  case $harm in
    flipped) flip "$b"; what='its checksum does not match' ;;
    gone) rm "$b"; what='is gone' ;;
    cut) truncate -s 99999 "$b"; what='has 99999 bytes instead of 100000' ;;
    longer) truncate -s 100001 "$b"; what='has 100001 bytes instead of 100000' ;;
  esac
  gives 65 '' fq check
  is "$harm: check names message, queue and what is wrong" 1 \
    "$(grep -c "^  damage: message 2 of queue 'default': its payload blobs/${b##*/}: $what" "$work/out")"
  is "$harm: and nothing else" 1 "$(fq check --json | jq .findings_count)"
  gives 0 '' fq check --repair
  is "$harm: the message is named" 1 "$(grep -c "repaired: message 2 of queue 'default': its payload blobs/${b##*/}: $what.*; cancelled" "$work/out")"
  is "$harm: and counted" 1 "$(grep -c 'repaired: 1 message cancelled' "$work/out")"
  is "$harm: the others are there" 'a c s' "$(letters)"
  is "$harm: the bytes are kept" "$([ $harm = gone ] || echo "damaged/${b##*/}.blob")" "$(cd "$queue" && find damaged -name '*.blob')"
  gives 0 '' fq check
  rm "$queue/segment"
  is "$harm: also after a rebuild" 'a c s' "$(letters)"
done

# As JSON, of several.
three
rm "$queue"/blobs/*
is 'counts as JSON' 'false 3 3 0 0' "$(fq check --json | jq -r '"\(.ok) \(.findings_count) \(.findings | length) \(.repairs_count) \(.messages_cancelled)"')"
is 'and of a repair' 'true 0 3 3' "$(fq check --repair --json | jq -r '"\(.ok) \(.findings_count) \(.repairs_count) \(.messages_cancelled)"')"
is 'what lay in the journal is there' s "$(letters)"

# Something else in a blob's place: never followed, never waited for, and a lost payload like any other.
# put WHAT PATH: that, in its place; what it says is in $what.
put() {
  mv "$2" "$work/moved"
  case $1 in
    link) ln -s "$work/moved" "$2"; what='is a symbolic link; fq follows none inside a spool' ;;
    loop) ln -s "${2##*/}" "$2"; what='is a symbolic link; fq follows none inside a spool' ;;
    directory) mkdir "$2"; echo mine >"$2/mine"; what='is not a regular file' ;;
    fifo) mkfifo "$2"; what='is not a regular file' ;;
    socket) perl -MIO::Socket::UNIX -e 'chdir shift; IO::Socket::UNIX->new(Local => shift, Listen => 1) or die' "${2%/*}" "${2##*/}"; what='is not a regular file' ;;
  esac
}
for harm in link loop directory fifo socket; do
  three
  b=$(blob_of b)
  put $harm "$b"
  lost="message 2 of queue 'default': its payload blobs/${b##*/}: $what"
  gives 65 '' timeout 20 "$FQ" check
  is "$harm: check names it as it names any" "  damage: $lost" "$(sed -n 2p "$work/out")"
  is "$harm: once" 2 "$(wc -l <"$work/out")"
  gives 0 '' timeout 20 "$FQ" check --repair
  is "$harm: repair too" 1 "$(grep -cxF "  repaired: $lost; kept in damaged/; cancelled" "$work/out")"
  is "$harm: it is kept as it was" "$(case $harm in link | loop) echo l ;; directory) echo d ;; fifo) echo p ;; socket) echo s ;; esac)" \
    "$(find "$queue/damaged/${b##*/}.blob" -maxdepth 0 -printf %y)"
  is "$harm: the others are there" 'a c s' "$(letters)"
  is "$harm: what a link led to is not touched" 100000 "$(wc -c <"$work/moved")"
  gives 0 '' fq check

  three
  b=$(blob_of b)
  put $harm "$b"
  gives 0 "fq: message 2 of queue 'default': its payload is damaged: blobs/${b##*/}: $what; buried, see fq check" timeout 20 "$FQ" pop -n 9
  is "$harm: pop goes on to the next" 3 "$(wc -l <"$work/out")"
  is "$harm: nobody read it" 0 "$(grep -c b "$work/out")"
  is "$harm: its message is dead" 'dead 1' "$(fq show 2 --json | jq -r .state) $(fq stats --json | jq .dead)"
  # Put back by somebody, it can be served.
  rm -r "$b"; mv "$work/moved" "$b"
  is "$harm: put back, it can be kicked" 100000 "$(fq kick 2 2>/dev/null; fq pop | tr -d '\n' | wc -c)"
  gives 0 '' fq check
done
# What was kept before under that name stays.
three
b=$(blob_of b)
mkdir -p "$queue/damaged"; echo before >"$queue/damaged/${b##*/}.blob"
put directory "$b"
gives 0 '' fq check --repair
is 'what was kept before stays' 'before mine' "$(cat "$queue/damaged/${b##*/}.blob" "$queue/damaged/${b##*/}.2.blob/mine" | paste -sd' ')"
# As an orphan it is nobody's payload: named, and left where it is.
three
ln -s /etc/passwd "$queue/blobs/00112233445566778899aabbccddeeff"
gives 65 '' fq check --repair
is 'a link that no message names is told' '  blobs/00112233445566778899aabbccddeeff: is a symbolic link; fq follows none inside a spool' "$(sed -n 2p "$work/out")"
is 'and stays' yes "$([ -L "$queue/blobs/00112233445566778899aabbccddeeff" ] && echo yes)"
# Where it is the directory that is wrong no payload is lost: nothing is buried.
three
mv "$queue/blobs" "$work/blobs-moved" && ln -s "$work/blobs-moved" "$queue/blobs"
gives 69 "blobs: is a symbolic link" fq pop
is 'blobs/ as a link buries nobody' '4 0' "$(fq stats --json | jq -r '"\(.ready) \(.dead)"')"
rm "$queue/blobs"; mv "$work/blobs-moved" "$queue/blobs"
is 'put back, all is well' 4 "$(fq pop -n 9 | wc -l)"
# A second name, say of a backup by hard links, is no loss either: to be put right, and nothing is buried.
three
b=$(blob_of a)
ln "$b" "$work/second"
gives 69 'second hard link' fq pop
rm "$work/second"
is 'without it, all is well' 4 "$(fq pop -n 9 | wc -l)"

# Orphans: what a push left that was killed before its record. No finding, and gone with --repair.
three
orphan=$queue/blobs/00112233445566778899aabbccddeeff
long o >"$orphan"
gives 0 '' fq check
is 'an orphan is told as what it is' 1 "$(grep -c 'blobs/: 1 payload of no message, 97.7KiB; harmless, removed by fq check --repair and fq compact' "$work/out")"
is 'as JSON too' 'true 1' "$(fq check --json | jq -r '"\(.ok) \(.remarks | length)"')"
is 'and stays' yes "$([ -e "$orphan" ] && echo yes)"
gives 0 '' fq check --repair
is 'repair says what it did' 1 "$(grep -c 'repaired: 1 payload of no message removed' "$work/out")"
is 'and did it' no "$([ -e "$orphan" ] && echo yes || echo no)"
is 'to nothing else' 'a b c s' "$(letters)"
long o >"$orphan"
gives 0 '' fq compact
is 'compact removes it too' no "$([ -e "$orphan" ] && echo yes || echo no)"
is 'and nothing else' 'a b c s' "$(letters)"
# One that somebody holds is a push under way.
long o >"$orphan"
exec 8<"$orphan" && flock 8
gives 0 '' fq check --repair
is 'a held one is nobody to judge' '0 yes' "$(fq check --json | jq '.remarks | length') $([ -e "$orphan" ] && echo yes)"
exec 8<&-
# Beside damage of the journal it may be what is left of a message: kept.
byte=$(grep -abo short "$queue/journal/1.fqj" | head -n 1 | cut -d: -f1)
printf '?' | dd of="$queue/journal/1.fqj" bs=1 seek="$byte" conv=notrunc status=none
gives 0 '' fq check --repair
is 'beside damage an orphan is kept' yes "$([ -e "$queue/damaged/${orphan##*/}.blob" ] && echo yes)"
is 'the rest is there' 'a b c' "$(letters)"
gives 0 '' fq check

# A recovery from a damaged journal takes no payload away: whose it was is not known any more.
three
at=$(grep -abo fqr1 "$queue/journal/1.fqj" | sed -n 4p | cut -d: -f1)
printf '\377' | dd of="$queue/journal/1.fqj" bs=1 seek=$((at + 60)) conv=notrunc status=none
rm "$queue/segment"
fq push next >/dev/null 2>&1
is 'a recovery from damage keeps all payloads' 3 "$(find "$queue/blobs" -type f | wc -l)"
# What housekeeping then finds that belongs to nobody is kept too.
fq pop -n 9 >"$work/out" 2>/dev/null
is 'each is delivered or kept' "0 $((5 - $(grep -c . "$work/out")))" \
  "$(find "$queue/blobs" -type f | wc -l) $(find "$queue/damaged" -name '*.blob' | wc -l)"

# What fq did not make.
three
echo mine >"$queue/blobs/mine"
gives 65 '' fq check --repair
is 'an unknown file is named' 1 "$(grep -c 'blobs/mine: not made by fq; move it away' "$work/out")"
is 'and stays' mine "$(cat "$queue/blobs/mine")"
rm "$queue/blobs/mine"

# Any state: delayed, leased, held, dead.
fresh
long a | fq push --delay 1h >/dev/null
long b | fq push >/dev/null
fq pop --lease 1h >/dev/null
long c | fq push --after 2 >/dev/null
long d | fq push >/dev/null
fq pop --lease 1h --format sh >"$work/m" && (. "$work/m" && fq bury)
flip "$(blob_of a)"; flip "$(blob_of b)"; flip "$(blob_of c)"; rm "$(blob_of d)"
is 'in any state' '1 2 3 4' "$(fq check | grep -o 'damage: message [0-9]*' | cut -d' ' -f3 | sort | paste -sd' ')"
gives 0 '' fq check --repair
is 'each is cancelled' 0 "$(fq peek --state all --json | wc -l)"

# More than a hundred: all are dealt with, the first are shown.
fresh
for _ in $(seq 30); do printf '%s\n' "$(long x)" "$(long y)" "$(long z)" "$(long w)"; done | fq push --lines >/dev/null
rm "$queue"/blobs/*
is 'a hundred are shown, all are counted' 'false 120 100' "$(fq check --json | jq -r '"\(.ok) \(.findings_count) \(.findings | length)"')"
is 'the rest in a line' '  and 20 more' "$(fq check | tail -n 1)"
gives 0 '' fq check --repair
is 'all are cancelled' '0 1' "$(fq stats --json | jq .ready) $(grep -c 'repaired: 120 messages cancelled' "$work/out")"

# One whose message ended a moment ago may be taken away by who ended it while it is looked at.
for how in '' '--repair'; do
  fresh
  fq push short >/dev/null
  orphan=$queue/blobs/0123456789abcdef0123456789abcdef
  mkdir -p "$queue/blobs"; long o >"$orphan"
  FQ_STOP_AT=orphan.found "$FQ" check $how >"$work/out" 2>&1 & checking=$!
  await stopped $checking
  rm "$orphan"
  kill -CONT $checking; wait $checking
  is "check $how: one that goes meanwhile is nothing to tell" 0 $?
  is "check $how: and nothing of it is told" 0 "$(grep -c 'of no message' "$work/out")"
done

# While work goes on nothing is told that is not so: long payloads pushed, replaced, and acked.
fresh
long q | fq push >/dev/null
(while [ ! -e "$work/stop" ]; do long p | fq push >/dev/null; long r | fq push --unique k --unique-mode replace >/dev/null; done) &
pusher=$!
(while [ ! -e "$work/stop" ]; do fq pop --raw >/dev/null; done) &
popper=$!
for _ in $(seq 25); do fq check --repair >"$work/out" 2>"$work/err" || fail "a check beside work: $? $(cat "$work/out" "$work/err")"; done
touch "$work/stop"; wait $pusher $popper
gives 0 '' fq check
is 'what was accepted can be read' "$(fq stats --json | jq .ready)" "$(fq pop -n 100000 --json | jq -r 'select(.payload | length == 100000).id' | wc -l)"
finish
