#!/usr/bin/env bash
# redis_move_test - a move between shards of a server, in parts: whoever dies or stands still at it, each message is in one of
# the two queues, and is served once.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s"
states() { fq -q "$1" peek --state all -n 1000 --json | jq -r '"\(.payload) \(.state)"' | sort | xargs; }
fq queue create four --shards 4; fq queue create eight --shards 8; fq queue create one
is_over() {  # is_over SENTENCE
  is "$1: nothing is kept of it" '' "$(redis-cli -s "$work/s" --scan --pattern '*}:mv')"
  for queue in four eight one; do gives 0 '' fq check -q $queue; done
}

# Killed anywhere, and so is who finishes it: a move again finds it in one of the two.
for from in four one; do
  for point in sent taken left forgotten; do
    id=$(fq -q $from push -t "$point" "$point")
    killed_at crossing.$point:1 fq -q $from move "$id" --to eight
    is "$from, $point: it is not served here" '' "$(fq -q $from pop)"
    case $point in
      sent | taken)
        is "$from, $point: it is held" "$point held" "$(states $from)"
        is 'explain says so' 1 "$(fq -q $from explain "$id" | grep -c '^waits    is on its way from one queue to another')"
        killed_at crossing.closed:1 fq -q $from move "$id" --to eight
        ;;
    esac
    fq -q $from move "$id" --to eight >"$work/out" 2>"$work/err"
    case $point in
      sent) is "$from, $point: it went then" "$id" "$(cut -d' ' -f1 "$work/out")" ;;
      *) is "$from, $point: it had gone" 1 "$(grep -c "^fq: message $id: was moved to queue 'eight', as message " "$work/err")" ;;
    esac
    is "$from, $point: here it is no more" '' "$(states $from)"
    is "$from, $point: it is served there, once" "$point" "$(fq -q eight pop -n 9)"
    is_over "$from, $point"
  done
done

# While its mover stands still it is nobody's; others bring it to its end, and the mover is told what that was.
id=$(fq -q four push --unique u x)
FQ_STOP_AT=crossing.taken:1 "$FQ" -q four move "$id" --to eight >"$work/moved" & mover=$!
await stopped "$mover"
gives 75 'is on its way to another queue' fq -q four cancel "$id"
gives 75 'is on its way to another queue' fq -q four edit "$id" -p 3
gives 75 'is on its way to another queue' fq -q four push --unique u --unique-mode replace y
gives 1 '' fq -q four cancel --all --yes
gives 1 "message $id: not known (any more), so nothing can come after it" fq -q four push --after "$id" x
gives 1 "was moved to queue 'eight'" fq -q four move "$id" --to eight
is 'and is served there' x "$(fq -q eight pop)"
kill -CONT $mover; wait $mover; is 'its mover ends well' 0 $?
is 'and tells where it is' "$id" "$(cut -d' ' -f1 "$work/moved")"
id=$(fq -q four push x)
FQ_STOP_AT=crossing.sent:1 "$FQ" -q four move "$id" --to eight >"$work/moved" 2>"$work/said" & mover=$!
await stopped "$mover"
gives 0 '' fq -q four move "$id" --to one
kill -CONT $mover; wait $mover; is 'its mover finds it gone' 1 $?
is 'and is told where' 1 "$(grep -c "was moved to queue 'one', as message " "$work/said")"
is 'it is there once' x "$(fq -q one pop -n 9; fq -q eight pop; fq -q four pop)"
is_over 'both'

# What a dead one has left is served by who waits, after its time.
killed_at crossing.sent:1 fq -q four move "$(fq -q four push late)" --to eight
is 'it comes back to who waits for it' late "$(fq -q four pop --wait=60s)"
is_over 'by who waits'
finish
