#!/bin/bash
# redis_cut_changes_test - what changes one thing, by a connection that is cut at each place: 0 is done, 75 is not, of 74
# nobody knows; and who says it again has it done, once. A run tries a part of that, FQ_ALL all: see cuts.sh.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cuts.sh"

# once PLACE STATE COMMAND...: STATE tells what there is: 'done', 'not', or how far it went, which only 74 leaves.
once() {
  local place=$1 state=$2 code there said
  shift 2
  by "$place" "$@"
  code=$? said=$(cat "$work/err") there=$($state)
  case $code in
    0) went_on=$((went_on + 1)); is "cut $place: $*: it is done" "done" "$there" ;;
    74) ;;
    75) is "cut $place: $*: nothing is done ($said)" not "$there" ;;
    *) fail "cut $place: $* ends with $code: $said" ;;
  esac
  [ $code = 0 ] || [ -n "$said" ] || fail "cut $place: $*: nothing is said of it"
  [ "$there" = "done" ] || gives 0 "" fq "$@"
  is "cut $place: $*: it is done, once" "done" "$($state)"
}
# done_if EXPECTED ACTUAL, of what there is when it is done.
done_if() { if [ "$1" = "$2" ]; then echo "done"; else echo "${3:-not}"; fi; }
# Past fq, since whoever was cut off is taken for attached for a while; the more queues there are, the more places.
wipe() {
  redis-cli -s "$work/s" --scan --pattern "fq1:fq:{$1[:}]*" | xargs -r redis-cli -s "$work/s" del >"$work/wiped"
  redis-cli -s "$work/s" srem fq1:fq:queues "$1" >"$work/wiped"
}
# What is told of a message, which may have ended.
told() { fq peek --state all --json -t "$1" | jq -r "$2"; }
events() { fq log --json | jq -r --arg t "$2" --arg e "$1" 'select(.event == $e and .tenant == $t).id' | wc -l; }

cancel() {
  is_cancelled() { done_if " 1" "$(told "c$1" .state) $(events cancelled "c$1")"; }
  local id
  id=$(fq push -t "c$1" x)
  once "$1" "is_cancelled $1" cancel "$id"
}
story_of_cancel() { each_cut cancel; }

kick() {
  is_kicked() { done_if ready "$(told "k$1" .state)"; }
  local id
  id=$(fq push -t "k$1" x)
  fq bury "$(fq pop -t "k$1" --lease 1h --json | jq -r .receipt)"
  once "$1" "is_kicked $1" kick "$id"
}
story_of_kick() { each_cut kick; }

edit() {
  is_edited() { done_if "5 eve" "$(told "e$1" '"\(.priority) \(.tags.owner)"')"; }
  local id
  id=$(fq push -t "e$1" x)
  once "$1" "is_edited $1" edit "$id" -p 5 --tag owner=eve
}
story_of_edit() { each_cut edit; }

# Some of it may be in: what is in is not taken twice.
import() {
  are_in() {
    local there
    there=$(fq -q "into$1" peek --json -n 99 | jq -r .payload | sort | paste -sd' ')
    if [ -n "$there" ]; then done_if "1 2 3 4" "$there" "$there"; else echo not; fi
  }
  fq queue create "into$1" --shards 2
  once "$1" "are_in $1" -q "into$1" import "$work/lines"
  wipe "into$1"
}
story_of_import() {
  for i in 1 2 3 4; do fq -q from push -t "t$i" $i >"$work/id"; done
  fq -q from export --live >"$work/lines"
  each_cut import 20
}

create() {
  is_made() { done_if "2 made$1" "$(fq queue list --json 2>"$work/listed" | jq -r --arg q "made$1" 'select(.queue == $q) | "\(.shards) \(.queue)"')"; }
  once "$1" "is_made $1" queue create "made$1" --shards 2
  fq -q "made$1" push x >"$work/id"
  wipe "made$1"
}
story_of_create() { each_cut create 20; }

rename() {
  has_its_name() { done_if "new$1" "$(fq queue list --json 2>"$work/listed" | jq -r .queue | grep -x "new$1\|old$1" | paste -sd' ')"; }
  fq queue create "old$1"
  once "$1" "has_its_name $1" queue rename "old$1" "new$1"
  wipe "new$1"
}
story_of_rename() { each_cut rename; }

remove() {
  is_removed() { done_if "" "$(fq queue list --json 2>"$work/listed" | jq -r .queue | grep -x "gone$1")$(redis-cli -s "$work/s" keys "*{gone$1[:}]*")"; }
  fq queue create "gone$1" --shards 2
  once "$1" "is_removed $1" queue remove "gone$1" --yes
}
story_of_remove() { each_cut remove; }

# What was kept is not run again.
step() {
  is_kept() { done_if "s$1" "$(fq step --list --json | jq -r .name)"; }
  fq push -t "s$1" x >"$work/id"
  FQ_RECEIPT=$(fq pop -t "s$1" --lease 1h --json | jq -r .receipt)
  export FQ_RECEIPT
  once "$1" "is_kept $1" step "s$1" --shell "echo ran >>'$work/ran.$1'"
  local runs
  runs=$(wc -l <"$work/ran.$1")
  gives 0 "" fq step "s$1" --shell "echo ran >>'$work/ran.$1'"
  is "cut $1: it is not run again" "$runs" "$(wc -l <"$work/ran.$1")"
  fq ack "$FQ_RECEIPT"
  unset FQ_RECEIPT
}
story_of_step() { each_cut step; }

schedule() {
  is_set() { done_if "@daily" "$(fq schedule list --json | jq -r --arg n "daily$1" 'select(.name == $n).spec')"; }
  once "$1" "is_set $1" schedule set "daily$1" @daily x
}
story_of_schedule() { each_cut schedule; }

# A worker runs a job and acks it, or has not begun; what it has run and nobody knows of it is served again.
work() {
  local code runs there
  fq push -t "w$1" x >"$work/id"
  by "$1" worker --once -- sh -c "echo ran >>'$work/worked.$1'"
  code=$? runs=$(cat "$work/worked.$1" 2>/dev/null | wc -l) there=$(told "w$1" .state)
  case $code in
    0) went_on=$((went_on + 1)); is "cut $1: it ran and is acked" "1 " "$runs $there" ;;
    74) [ "$runs" = 1 ] || fail "cut $1: a worker that knows not how its job ended ran it $runs times" ;;
    75) is "cut $1: it is where it was" "0 ready" "$runs $there" ;;
    *) fail "cut $1: a worker ends with $code: $(cat "$work/err")" ;;
  esac
  [ $code = 0 ] || [ -s "$work/err" ] || fail "cut $1: nothing is said of it"
  fq cancel --all --yes >"$work/out"
}
story_of_work() { each_cut work; }

# Who waits for a message is told how it ended, or that nobody knows.
await_end() {
  by "$1" wait --for 30s "$id"
  local code=$?
  case $code in
    0) went_on=$((went_on + 1)) ;;
    74 | 75) [ -s "$work/err" ] || fail "cut $1: nothing is said of it" ;;
    *) fail "cut $1: a wait ends with $code: $(cat "$work/err")" ;;
  esac
}
story_of_wait() {
  id=$(fq push -t awaited x)
  fq ack "$(fq pop -t awaited --lease 1h --json | jq -r .receipt)"
  each_cut await_end
}

repair() {
  is_mended() { done_if 0 "$(fq -q hurt check >"$work/check"; echo $?)"; }
  redis-cli -s "$work/s" del "fq1:fq:{hurt:0:0}:q:t" >"$work/deleted"
  is "cut $1: it is damaged" not "$(is_mended)"
  once "$1" is_mended -q hurt check --repair
}
story_of_repair() {
  fq queue create hurt
  fq -q hurt push -t t x >"$work/id"
  each_cut repair
  is "nothing is lost" x "$(fq -q hurt pop)"
}

tell cancel kick edit import create rename remove step schedule work wait repair
gives 0 '' fq check
finish
