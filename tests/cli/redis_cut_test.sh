#!/bin/bash
# redis_cut_test - connections to a server that are cut before, in and behind each request and answer of a command: it goes
# on, or says what became of it, and nothing is done twice. A run tries a part of that, FQ_ALL all: see cuts.sh.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cuts.sh"

pushed() { fq log --json | jq -r --arg t "$1" 'select(.event == "pushed" and .tenant == $t).id' | wc -l; }

# A push was done, or was not: one whose answer was lost is asked for again.
push() {
  by "$1" push -t "push$1" x
  local code=$? count
  count=$(pushed "push$1")
  case $code in
    0) went_on=$((went_on + 1)); is "cut $1: pushed" 1 "$count" ;;
    75) is "cut $1: nothing was done" 0 "$count" ;;
    *) fail "cut $1: a push ends with $code: $(cat "$work/err")" ;;
  esac
  [ $code = 0 ] || [ -s "$work/err" ] || fail "cut $1: nothing is said of it"
}
story_of_push() { each_cut push; }

# A message that is popped is handed out once, whichever answer was lost, or it is where it was. So is one that is leased for
# an hour: no receipt that nobody has keeps it for so long.
handed_out() {  # CUT TENANT THEN OPTION...: THEN is done with what came
  local code tenant=$2$1 then=$3
  fq push -t "$tenant" "load $1" >"$work/id"
  by "$1" pop -t "$tenant" --json "${@:4}"
  code=$?
  case $code in
    0)
      went_on=$((went_on + 1))
      is "cut $1: its payload" "load $1" "$(jq -r .payload "$work/out")"
      $then
      gives 1 "" fq pop -t "$tenant"
      is "cut $1: nothing is left of it" "0 0" "$(fq stats --json | jq -r '"\(.ready) \(.leased)"')"
      ;;
    75)
      is "cut $1: it is where it was" ready "$(fq peek -t "$tenant" --json | jq -r .state)"
      fq cancel --all --yes >"$work/out"
      ;;
    *) fail "cut $1: a pop of $2 ends with $code: $(cat "$work/err")" ;;
  esac
}
acked() { gives 0 "" fq ack "$(jq -r .receipt "$work/out")"; }
take() { handed_out "$1" taken true; }
hold() { handed_out "$1" held acked --lease 1h; }
story_of_take() { each_cut take; }
story_of_hold() { each_cut hold; }

# What only looks goes on, but for a server that is cut off before it has said anything: that one cannot be reached.
look() {
  local code words
  for words in "${looks[@]}"; do
    # shellcheck disable=SC2086
    by "$1" $words
    code=$?
    case $code in
      0) went_on=$((went_on + 1)) ;;
      75) is "cut $1: $words: why" 1 "$(grep -c 'cannot be reached: it does not answer' "$work/err")" ;;
      *) fail "cut $1: $words ends with $code: $(cat "$work/err")" ;;
    esac
  done
}
story_of_look() {
  looks=("-q default check")
  each_cut look 50
}
story_of_look_at_parts() {
  fq queue create --shards 4 -q looked
  printf '[queue."*"]\nattempts = 7\n' | fq config load -
  looks=("config check" "-q looked stats --json" "-q looked queue list --json")
  each_cut look_at_parts 50
  fq config load /dev/null
  within_s=40 await removed looked
}
look_at_parts() { look "$@"; }

# What becomes fq.toml of all queues is kept, or it is not; and what is kept holds in all of them.
attempts_of() { fq -q "$1" config show --json | jq -r 'select(.key == "attempts" and .tenant == null).value'; }
load() {
  local code attempts=$(($1 + 10))
  printf '[queue."*"]\nattempts = %s\n' $attempts >"$work/policy"
  by "$1" config load "$work/policy"
  code=$?
  case $code in
    0) went_on=$((went_on + 1)); is "cut $1: it is kept" "$(cat "$work/policy")" "$(fq config get)" ;;
    74) [ -s "$work/err" ] || fail "cut $1: nothing is said of it" ;;
    75) is "cut $1: nothing of it is kept" 0 "$(fq config get | grep -cx "attempts = $attempts")" ;;
    *) fail "cut $1: a load ends with $code: $(cat "$work/err")" ;;
  esac
  if [ $code = 0 ]; then is "cut $1: it holds" "$attempts $attempts" "$(attempts_of default) $(attempts_of second)"; fi
}
story_of_load() {
  fq queue create second
  each_cut load 50
  fq config load /dev/null
  within_s=40 await removed second
}

# A limit of a queue of several shards is never exceeded, and nothing of it is lost: what one brings to a shard comes from
# another.
lend() {
  local code
  fq -q lent push -t "lent$1" "load $1" >"$work/id"
  by "$1" -q lent pop
  code=$?
  case $code in
    0) went_on=$((went_on + 1)); is "cut $1: its payload" "load $1" "$(cat "$work/out")" ;;
    75) is "cut $1: it is where it was" "load $1" "$(fq -q lent pop --wait=30s)" ;;
    *) fail "cut $1: a pop ends with $code: $(cat "$work/err")" ;;
  esac
  is "cut $1: nothing is left of it" "0 0" "$(fq -q lent stats --json | jq -r '"\(.ready) \(.leased)"')"
}
story_of_lend() {
  fq queue create --shards 4 -q lent
  fq -q lent queue set concurrency=1
  each_cut lend 15
  gives 0 "" fq check -q lent
  fq -q lent push -t one x >"$work/id"
  fq -q lent push -t two x >"$work/id"
  is "one runs" x "$(fq -q lent pop --lease 1h --json | jq -r .payload)"
  gives 1 "" fq -q lent pop --lease 1h
  within_s=40 await removed lent
}

# Nor does such a queue hold more than it may, and no room is lost.
make_room() {
  local code
  by "$1" -q room push -t "room$1" x
  code=$?
  case $code in
    0) went_on=$((went_on + 1)); is "cut $1: it has its room" 1 "$(fq -q room stats --json | jq .ready)" ;;
    75) is "cut $1: nothing was done" 0 "$(fq -q room stats --json | jq .ready)" ;;
    *) fail "cut $1: a push for which there is room ends with $code: $(cat "$work/err")" ;;
  esac
  fq -q room cancel --all --yes >"$work/out"
  is "cut $1: there is room again" yes "$(fq -q room push --block=30s -t "next$1" x >"$work/id" && echo yes)"
  gives 75 "max_messages" fq -q room push -t "over$1" x
  fq -q room cancel --all --yes >"$work/out"
}
story_of_make_room() {
  fq queue create --shards 4 -q room
  fq -q room queue set max_messages=1
  each_cut make_room 15
  gives 0 "" fq check -q room
  within_s=40 await removed room
}

# What goes to several shards is sent to all of them before any answers: each has its part once, and each verdict counts once.
write_parts() { for i in 1 2 3 4 5 6 7 8; do printf '{"tenant": "parts%s.%s", "payload": "%s"}\n' "$1" $i $i; done >"$work/lines"; }
push_parts() {
  local code there
  write_parts "$1"
  by "$1" -q parts push --ndjson --file "$work/lines"
  code=$?
  there=$(fq -q parts peek -n 100 --json | jq -r .id | sort | paste -sd' ')
  case $code in
    0)
      went_on=$((went_on + 1))
      is "cut $1: all parts, once" "1 2 3 4 5 6 7 8" "$(fq -q parts peek -n 100 --json | jq -r .payload | sort | paste -sd' ')"
      is "cut $1: what is there is told" "$(sort "$work/out" | paste -sd' ')" "$there"
      ;;
    75) is "cut $1: what is there is told" "$(sort "$work/out" | paste -sd' ')" "$there" ;;
    *) fail "cut $1: a push of parts ends with $code: $(cat "$work/err")" ;;
  esac
  fq -q parts cancel --all --yes >"$work/out"
}
story_of_push_parts() {
  fq queue create parts --shards 4
  each_cut push_parts 20
}

ack_parts() {
  local code receipts before after
  write_parts "$1"
  fq -q parts push --ndjson --file "$work/lines" >"$work/out"
  mapfile -t receipts < <(fq -q parts pop -n 8 --lease 1h --json | jq -r .receipt)
  before=$(fq -q parts stats --json | jq .acked)
  by "$1" -q parts ack "${receipts[@]}"
  code=$?
  after=$(fq -q parts stats --json | jq .acked)
  case $code in
    0) went_on=$((went_on + 1)); is "cut $1: all parts, once" 8 $((after - before)) ;;
    75) is "cut $1: nothing was done" 0 $((after - before)) ;;
    *) fail "cut $1: an ack of parts ends with $code: $(cat "$work/err")" ;;
  esac
  [ $code = 0 ] || fq -q parts ack "${receipts[@]}"
  is "cut $1: nothing is left" "0 0" "$(fq -q parts stats --json | jq -r '"\(.ready) \(.leased)"')"
}
story_of_ack_parts() {
  fq queue create parts --shards 4
  each_cut ack_parts 20
  gives 0 "" fq check -q parts
  within_s=40 await removed parts
}

# A message that moves is in one of two queues, whatever is cut.
move() {
  local id code found
  id=$(fq push -t "moved$1" x)
  by "$1" move "$id" --to other
  code=$?
  found="$(fq peek -t "moved$1" --json | jq -r .queue) $(fq -q other peek -t "moved$1" --json | jq -r .queue)"
  case $code in
    0) went_on=$((went_on + 1)); is "cut $1: it is there" " other" "$found" ;;
    74) [ "$found" = "default " ] || is "cut $1: it is in one of the two" " other" "$found" ;;
    75) is "cut $1: it is here" "default " "$found" ;;
    *) fail "cut $1: a move ends with $code: $(cat "$work/err")" ;;
  esac
  if [ "$found" = " other" ]; then gives 1 "message $id: was moved to queue 'other'" fq move "$id" --to other; fi
}
story_of_move() {
  fq queue create other
  each_cut move
  gives 0 '' fq check -q other
}

# Nor is one twice that goes in parts, to another shard. What nobody knows the end of is on its way until somebody asks.
move_apart() {
  local id code said
  id=$(fq -q wide push -t "apart$1" "load $1")
  by "$1" -q wide move "$id" --to wider
  code=$? said=$(cat "$work/err")
  [ $code != 0 ] || went_on=$((went_on + 1))
  case $code in
    0) is "cut $1: it is there" "load $1" "$(fq -q wider peek -t "apart$1" --json | jq -r .payload)" ;;
    74) [ -n "$said" ] || fail "cut $1: nothing is said of it" ;;
    75) is "cut $1: it is here" ready "$(fq -q wide peek -t "apart$1" --state all --json | jq -r .state)" ;;
    *) fail "cut $1: a move ends with $code: $said" ;;
  esac
  fq -q wide move "$id" --to wider >"$work/out" 2>"$work/err" || is "cut $1: it has gone" 1 "$(grep -c "was moved to queue 'wider'" "$work/err")"
  is "cut $1: it is there, once" "load $1" "$(fq -q wider pop -t "apart$1" -n 9)"
  is "cut $1: and nowhere else" "" "$(fq -q wide peek --state all --json)"
}
story_of_move_apart() {
  fq queue create wide --shards 4; fq queue create wider --shards 8
  each_cut move_apart 40
  gives 0 '' fq check -q wide; gives 0 '' fq check -q wider
  is 'nothing is kept of any move' '' "$(redis-cli -s "$work/s" --scan --pattern '*}:mv')"
}

# A call is answered with its job's status and all of its output, or likewise.
worked() {  # by somebody who runs the commands: STORY'S COMMANDS...
  "$FQ" worker -j 4 >"$work/worker.out" 2>"$work/worker.err" & local worker=$!
  "$@"
  kill -TERM $worker; wait $worker
}
call() {
  by "$1" push --wait=30s -t "call$1" -- sh -c 'echo one; echo two; exit 3'
  local code=$? count
  count=$(pushed "call$1")
  case $code in
    3)
      went_on=$((went_on + 1))
      is "cut $1: its output" "one two" "$(paste -sd' ' "$work/out")"
      is "cut $1: pushed once" 1 "$count"
      ;;
    74) [ "$count" -le 1 ] || fail "cut $1: unknown, and pushed $count times" ;;
    75) is "cut $1: nothing was done" 0 "$count" ;;
    *) fail "cut $1: a call ends with $code: $(cat "$work/err")" ;;
  esac
  [ $code = 3 ] || [ -s "$work/err" ] || fail "cut $1: nothing is said of it"
}
story_of_call() { worked each_cut call 25; }

# Whoever follows reads all of it, whatever is cut once the queue is found.
follow() {
  local id
  id=$(fq push --keep 1h -- sh -c 'echo one; echo two >&2; exit 4')
  by "$1" result -f "$id"
  local code=$?
  case $code in
    4) went_on=$((went_on + 1)); is "cut $1: all that it wrote" "one two" "$(cat "$work/out" "$work/err" | paste -sd" ")" ;;
    74 | 75) is "cut $1: nothing is half told" "" "$(cat "$work/out")" ;;
    *) fail "cut $1: who follows ends with $code: $(cat "$work/err")" ;;
  esac
}
story_of_follow() { worked each_cut follow; }

tell push take hold look look_at_parts load lend make_room push_parts ack_parts move move_apart call follow
gives 0 '' fq check
finish
