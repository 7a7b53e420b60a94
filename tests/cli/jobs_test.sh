#!/usr/bin/env bash
# jobs_test - fq jobs: what runs, what waits, what has ended; what failed.
. "$(dirname "$0")/lib.sh"

columns() { sed 's/  */ /g; s/^ //'; }  # one blank between two
ids() { jq -r .id | paste -sd' '; }

# Something of everything.
good=$(fq push -- true)
bad=$(fq push -t acme -- sh -c 'exit 3')
dead=$(fq push --attempts 1 -- sh -c 'exit 4')
"$FQ" worker --attempts 1 --drain 2>/dev/null
gone=$(fq push --keep 1h -- sleep 100); fq cancel "$gone"
mkfifo "$work/gate"
runs=$(fq push -t acme --tag k=v -- cat "$work/gate")
"$FQ" worker >/dev/null 2>&1 & worker=$!
started() { [ "$(fq jobs --state running --json | ids)" = "$runs" ]; }
await started
waits=$(fq push -t b -p 1 -- make 'a b')
first=$(fq push -t b -p 2 plain)
later=$(fq push --delay 1h later)
held=$(fq push --after "$later" behind)
late=$(fq push --ttl 1ms late); await test "$(fq peek --state dead --json | ids)" = "$bad $dead $late"
is 'running, then waiting in order, then ended from the newest' \
  "$runs $first $waits $later $held $late $gone $dead $bad $good" "$(fq jobs --json | ids)"
is 'with exits' "$late - $gone - $dead 4 $bad 3 $good 0" \
  "$(fq jobs | columns | tail -5 | cut -d' ' -f1,3 | paste -sd' ')"
is 'a row of what runs' "$runs running - now $worker acme cat $work/gate" "$(fq jobs --state running | columns | sed -n 2p | sed -E 's/[0-9]+s ago/now/')"
is 'the heading' 'ID STATE EXIT TIME WORKER TENANT COMMAND' "$(fq jobs | columns | head -1)"
is 'a command and a payload' "plain,make 'a b'" "$(fq jobs -t b | columns | sed -E '1d; s/[0-9]+s ago/now/' | cut -d' ' -f7- | paste -sd,)"
is 'states' 'running ready ready delayed held dead cancelled dead dead acked' "$(fq jobs | columns | sed 1d | cut -d' ' -f2 | paste -sd' ')"
is 'JSON has the state of the message' leased "$(fq jobs --state running --json | jq -r .state)"
is 'and since when it runs' false "$(fq jobs --state running --json | jq '.started_at == null')"
is 'of what has ended its command, times, exit and attempts' '["sh","-c","exit 3"] 3 1 true true' \
  "$(fq jobs "$bad" --json | jq -r '"\(.argv) \(.exit) \(.attempts) \(.started_at != null) \(.ended_at != null or .state == "dead")"')"
is 'failed' "$late $dead $bad" "$(fq jobs --state failed --json | ids)"
is 'failed of a tenant' "$bad" "$(fq jobs --state failed -t acme --json | ids)"
for each in "ready $first $waits" "delayed $later" "held $held" "dead $late $dead $bad" "acked $good" "cancelled $gone" "running $runs" "leased $runs"; do
  is "${each%% *}" "${each#* }" "$(fq jobs --state "${each%% *}" --json | ids)"
done
is 'its word for what is leased is known where a state is typed' "$runs" "$(fq peek --state running --json | ids)"
gives 64 'did you mean running?' fq peek --state runing
gives 1 '' fq cancel -t b --state running
is 'by tag' "$runs" "$(fq jobs --tag k=v --json | ids)"
is 'by tenant' "$runs $bad" "$(fq jobs -t acme --json | ids)"
is '-n of each' "$runs $first $late" "$(fq jobs -n 1 --json 2>/dev/null | ids)"
is 'by id, as named' "$dead $runs" "$(fq jobs "$dead" "$runs" --json | ids)"
is 'ids from standard input' "$good" "$(echo "$good" | fq jobs - --json | ids)"
gives 1 "message 999: not in queue 'default'" fq jobs 999 "$runs"
is 'the others are shown' 2 "$(fq jobs 999 "$runs" 2>/dev/null | wc -l)"
is 'on a terminal too' 0 "$(on_terminal 60 20 "'$FQ' jobs" | widest | awk '{ print ($1 > 60) }')"
is 'again and again' 2 "$("$FQ" jobs --watch=10ms --json --state running | sed 2q | grep -c "\"id\":$runs,")"

# The run ends while it is watched.
echo x >"$work/gate"
ended() { [ "$(fq jobs "$runs" --json | jq -r '"\(.state) \(.exit)"')" = 'acked 0' ]; }
await ended
kill "$worker"; wait "$worker"

# More than are shown.
fresh
seq 210 | fq push --lines >/dev/null
gives 0 'more messages wait' fq jobs
is 'no more than 200 of them' 201 "$(fq jobs 2>/dev/null | wc -l)"
gives 0 '' fq jobs -n 300
is 'all of them' 210 "$(fq jobs -n 300 --json | wc -l)"
is 'as many as wait' 200 "$(fq cancel -t default -n 10 >/dev/null; fq jobs --json | wc -l)"
gives 0 '' fq jobs
is 'in the order of turns' "$(fq peek -n 200 --json | ids)" "$(fq jobs --json | ids)"
fq push -- printf '\e[31m' >/dev/null
is 'escaped' '' "$(fq jobs -n 300 | grep -a $'\e')"

# Nothing, and bad input.
fresh
gives 1 "there is none" fq jobs
fq queue create
gives 1 '' fq jobs
gives 1 '' fq jobs --state failed
gives 64 'is not a state; did you mean failed?' fq jobs --state faild
gives 64 'is not a state; use running' fq jobs --state 7
gives 64 'is not a message id' fq jobs x
gives 64 'give one of them' fq jobs 1 --state dead
gives 64 'give one of them' fq jobs 1 -t a
gives 64 "'a*': no tenant has that name" fq jobs -t 'a*'
gives 64 '-n' fq jobs -n 0
gives 64 '--watch' fq jobs --watch=0s
gives 64 '--state: what was moved is in another queue, and listed there; fq jobs ID says where one is' fq jobs --state moved
gives 64 'is not a tag' fq jobs --tag x
is 'no line is no message' 0 "$(printf '' | fq jobs -; echo $?)"
finish
