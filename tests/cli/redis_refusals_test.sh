#!/bin/bash
# redis_refusals_test - a server that cannot save, and one that has lost its master: what changes something is 75 there, says
# why, and does nothing; doctor tells of it; and afterwards all is as it was.
. "$(dirname "$0")/lib.sh"

start_server "$work/s" --enable-protected-configs yes
export FQ_SPOOL="redis+unix://$work/s"
server() { redis-cli -s "$work/s" "$@" >>"$work/made"; }
fq push -t ready --unique one x >"$work/ready"
fq push -t dead x >"$work/dead"
fq bury "$(fq pop -t dead --lease 1h --json | jq -r .receipt)"
fq push -t held x >"$work/held"
receipt=$(fq pop -t held --lease 1h --json | jq -r .receipt)
fq schedule set nightly @daily x
fq export --live >"$work/lines" 2>"$work/said"
fq queue create spare
all_there_is() { redis-cli -s "$work/s" debug digest; }

# refused WHY: whatever changes something. What looks is served, where `looks` says so.
changes=("push x" "push -t ready --unique one y" "pop -t ready" "pop -t ready --lease 1m" "ack $receipt" "retry $receipt" "release $receipt"
  "bury $receipt" "extend $receipt 2h" "cancel $(cat "$work/ready")" "kick $(cat "$work/dead")" "edit $(cat "$work/ready") -p 3"
  "move $(cat "$work/ready") --to spare" "import $work/lines" "queue create another" "queue pause" "queue set attempts=3"
  "queue rename spare other" "queue remove spare --yes" "tenant set ready weight=2" "schedule set hourly @hourly x"
  "schedule run nightly" "schedule remove nightly" "config load $work/policy" "check --repair" "worker --once -- true")
looks=("peek" "stats" "explain $(cat "$work/ready")" "log" "queue list" "schedule list" "check" "config get" "jobs")
printf '[queue."*"]\nattempts = 2\n' >"$work/policy"
refused() {
  local words before
  before=$(all_there_is)
  for words in "${changes[@]}"; do
    # shellcheck disable=SC2086
    gives 75 "$1" fq $words
    is "$words: nothing is done" "$before" "$(all_there_is)"
  done
}
served() {
  local words
  for words in "${looks[@]}"; do
    # shellcheck disable=SC2086
    gives 0 "" fq $words
  done
}
# doctor_says ABOUT WORDS
doctor_says() {
  gives 69 "" fq doctor --json
  is "doctor tells of $1" fault "$(jq -r --arg a "$1" 'select(.about == $a).health' "$work/out")"
  case $(jq -r --arg a "$1" 'select(.about == $a).found' "$work/out") in
    *"$2"*) ;;
    *) fail "doctor says of $1: $(jq -c . "$work/out")" ;;
  esac
}

# It has times of snapshots, and nowhere to write them.
why="cannot save its data and takes none; see its log"
mkdir "$work/full"
server config set dir "$work/full"
server config set save "3600 1"
rmdir "$work/full"
server bgsave
await eval 'redis-cli -s "$work/s" info persistence | grep -q rdb_last_bgsave_status:err'
is "a server that cannot save says so" MISCONF "$(redis-cli -s "$work/s" set a b | cut -d' ' -f1)"
refused "$why"
served
doctor_says changes "$why"
server config set dir "$work"
server bgsave
await eval 'redis-cli -s "$work/s" info persistence | grep -q rdb_last_bgsave_status:ok'
gives 0 "" fq doctor

# It is a replica of one that is dead, and tells nothing that may be old. Who was there goes on when it is a master again.
"$FQ" stats --watch=50ms >"$work/stats" 2>"$work/stats.err" & looker=$!
looked() { [ "$(grep -c ^QUEUE "$work/stats")" -ge "$1" ]; }
await looked 2
server config set replica-serve-stale-data no
server replicaof 127.0.0.1 1
is "one that lost its master says so" MASTERDOWN "$(redis-cli -s "$work/s" get a | cut -d' ' -f1)"
all_there_is() { echo "not told"; }
refused "is a replica; name the master"
changes=("${looks[@]}")
refused "is a replica; name the master"
doctor_says server "is a replica; name the master"
await grep -q "is a replica; name the master; goes on trying" "$work/stats.err"
server replicaof no one
seen=$(grep -c ^QUEUE "$work/stats")
await looked $((seen + 2))
kill $looker; wait $looker
served
is "what is held is held" "ok" "$(fq ack "$receipt" && echo ok)"
is "and what is ready ready" "x" "$(fq pop -t ready)"
gives 0 "" fq check
finish
