#!/usr/bin/env bash
# worker_jobs_test - jobs that behave badly, decide themselves, run too long or are stopped.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

# start WORDS...: a worker in the background, its pid in $worker (nothing stands between us and its signals).
start() { "$FQ" worker "$@" >"$work/worker.out" 2>"$work/worker.err" & worker=$!; }
# ends EXIT "sentence": within 20 s, with that status.
ends() {
  await gone_or_zombie "$worker" || kill -KILL "$worker"
  wait "$worker"
  is "$2" "$1" $?
}
gone_or_zombie() { ! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status"; }
clear_all() { fq cancel --all --state all --yes >/dev/null; rm -f "$work"/job*; }
tell='echo $$ >"$0.new"; mv "$0.new" "$0"'  # a job says that it runs, whole

# What a job settles itself: it ends before its worker has heard of it, or goes on until then.
heard='; until grep -q "settled by its job" "$0"; do :; done'
for then in '' "$heard"; do
  for verdict in ack bury retry release; do
    id=$(fq push x)
    worker -v --once -- sh -c '"$FQ" '"$verdict$then" "$work/said" 2>"$work/said"
    is "-v tells once that a job did $verdict itself" '1 1' \
      "$(grep -c "message $id: settled by its job" "$work/said") $(grep -c "message ${id}[ :]" "$work/said")"
    clear_all
  done
done
for verdict in ack bury; do
  fq push x >/dev/null
  worker --once -- sh -c '"$FQ" '$verdict 2>"$work/$verdict.said"
done
is 'without -v that is told where it is dead' '0 1' "$(wc -l <"$work/ack.said") $(grep -c 'settled by its job or by hand; buried$' "$work/bury.said")"
# How it ends then is no verdict any more, whether its worker has heard of that or not.
for verdict in ack 'release --delay 1h'; do
  start -j4 -- sh -c '"$FQ" '"$verdict; exit 9"
  for _ in {1..30}; do
    id=$(fq push x)
    until [[ "$(state "$id")" = [ad][ce]* ]]; do :; done
  done
  kill "$worker"
  ends 0 "a worker of jobs that end by their $verdict"
  is 'a job that fails once it has settled its message has not failed' '' "$(cat "$work/worker.err")"
  clear_all
done
start --stream -- sh -c 'while read -r line; do receipt=$(echo "$line" | jq -r .receipt); "$FQ" ack "$receipt"; echo "bury $receipt"; done'
for _ in {1..30}; do fq wait "$(fq push x)"; done
kill "$worker"
ends 0 'a stream that buries what it has acked'
is 'nor is that buried which a stream had acked' 0 "$(grep -c '; buried' "$work/worker.err")"
clear_all
id=$(fq push x)
worker -v --once -- true 2>"$work/said"
is 'what it did not settle is done' 1 "$(grep -c "message $id of tenant 'default': done$" "$work/said")"
clear_all

# Daemons.
id=$(fq push x)
mkfifo "$work/job.live"
gives 0 '' worker --once -- sh -c 'setsid sh -c "echo \$\$ >\"\$0.pid\"; exec cat \"\$0.live\"" "$0" >/dev/null 2>&1 & until [ -s "$0.pid" ]; do :; done' "$work/job"
is 'a job that leaves a daemon is done' acked "$(state "$id")"
is 'and the daemon lives' 0 "$(kill -0 "$(cat "$work/job.pid")"; echo $?)"
kill "$(cat "$work/job.pid")"
clear_all

# Time limits.
id=$(fq push x)
started=$(now_ms)
gives 0 'timed out' worker --once --timeout 200ms --grace 200ms --backoff "$long" -- sh -c 'trap "" TERM; while :; do read -r x; done </dev/zero'
is 'a job that ignores TERM is killed, and that counts' 'delayed 1 ["timed out",9]' \
  "$(state "$id") $(json .attempts "$id") $(json '.last_error | [.reason, .signal]' "$id")"
is 'not before its time' yes "$([ $(($(now_ms) - started)) -ge 400 ] && echo yes)"
id=$(fq push x)
gives 0 'timed out' worker --once --timeout 200ms --grace 1h --backoff "$long" -- sh -c 'kill -STOP $$'
is 'one that stops itself hears TERM' 'delayed [15]' "$(state "$id") $(json '.last_error | [.signal]' "$id")"
id=$(fq push x --timeout 200ms)
gives 0 'timed out' worker --once --timeout 1h --backoff "$long" -- sleep 60
is "a message's own limit goes first" delayed "$(state "$id")"
id=$(fq push x)
# The sleep outlasts the limit that was moved; the limit leaves a loaded machine the time to start fq.
gives 0 '' worker --once --timeout 2s -- sh -c 'fq=$0; "$fq" extend 20s && sleep 2.2' "$FQ"
is 'fq extend in a job moves its limit' acked "$(state "$id")"
id=$(fq push x)
# The sleep outlasts the limit that must not be there.
gives 0 '' worker --once -- sh -c 'fq=$0; "$fq" extend 100ms && sleep 0.3' "$FQ"
is 'and sets none where there was none' acked "$(state "$id")"
clear_all

# A service that asks for a pause: its tenant waits, the others go on, and no attempt is counted.
busy=$(fq push busy -t slow --attempts 1); also=$(fq push also -t slow --attempts 1); other=$(fq push other -t quick)
# shellcheck disable=SC2016
worker --drain -- sh -c '[ "$FQ_TENANT" = slow ] && [ ! -e "$1" ] || exit 0
  date +%s%3N >"$1"; "$0" tenant limit --for 300ms && "$0" release' "$FQ" "$work/asked"
is 'a job may limit its tenant, and gives its message back uncounted' 'acked 0 acked acked' \
  "$(state "$busy") $(json .attempts "$busy") $(state "$also") $(state "$other")"
is 'nothing of it starts meanwhile' yes "$(fq show "$also" --json | jq -r --argjson asked "$(cat "$work/asked")" \
  'def ms: (.[:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber);
   if ([.history[] | select(.event == "leased").at][0] | ms) - $asked >= 300 then "yes" else "no" end')"
clear_all

# Descriptors, limits.
id=$(fq push x)
gives 0 '' bash -c 'ulimit -n 1100; exec timeout 20 "$FQ" worker --once -- bash -c "for ((i = 0; i < 1000; ++i)); do exec {fd}</dev/null || exit 1; done"'
is 'a job may use 1,000 descriptors' acked "$(state "$id")"
fq push x >/dev/null
is 'it gets its three, and one that keeps its message' '0 1 2 57' \
  "$(worker --once -- sh -c 'ls /proc/$$/fd' | sort -n | paste -sd' ')"
if [ "$(ulimit -Hc)" != 0 ]; then
  fq push x >/dev/null
  is 'what a worker holds is in no core dump, and its job has the limit that it was started with' '0 1024' \
    "$(ulimit -Sc 1; worker --once -- sh -c 'awk "/^Max core file size/ { printf \"%s \", \$5 }" /proc/$PPID/limits; awk "/^Max core file size/ { print \$5 }" /proc/self/limits')"
else
  left_out "no process here may leave a core dump"
fi
fq push x >/dev/null
is '--rlimit and --nice hold' '77 5' "$(worker --once --rlimit nofile=77 --nice 5 -- sh -c 'echo $(ulimit -n) $(nice)')"
if [ "$(id -u)" = 0 ] && chmod 711 "$work" 2>/dev/null; then
  mkdir -m 700 "$work/other"
  chown 65534:65534 "$work/other"
  # shellcheck disable=SC2016
  is 'without permission for --nice or --rlimit the worker leaves, and no message pays for it' '78 78 ready 1' \
    "$(FQ_SPOOL=$work/other/spool setpriv --reuid 65534 --regid 65534 --clear-groups bash -c 'cd /
      ulimit -n 200; "$FQ" push -- true >/dev/null
      for option in "--nice -5" "--rlimit nofile=300"; do
        timeout 15 "$FQ" worker --once $option 2>"$FQ_SPOOL/said"; echo $?
      done; "$FQ" show 1 --json | jq -r .state; grep -c "cannot be set: Operation" "$FQ_SPOOL/said"' | paste -sd' ')"
fi
fq push x >/dev/null
is 'signals are as a shell expects them' '0000000000000000 0000000000000000' \
  "$(trap '' INT QUIT USR1; worker --once -- awk '/^Sig(Blk|Ign)/ { print $2 }' /proc/self/status | paste -sd' ')"
fq push x >/dev/null
is 'a job is a process group of its own' yes "$(worker --once -- sh -c '[ "$(ps -o pgid= -p $$ | tr -d " ")" = $$ ] && echo yes')"

# What the job decides stands.
for verdict in ack:acked 'release --delay 1h:delayed' bury:dead 'retry --delay 1h:delayed'; do
  for status in 0 1 65; do
    id=$(fq push x)
    # shellcheck disable=SC2086
    worker --once --backoff 0s..0s -- sh -c 'fq=$0 status=$1; shift; "$fq" "$@"; exit $status' "$FQ" "$status" ${verdict%:*} 2>/dev/null
    is "fq ${verdict%:*} of a job stands, whatever its exit ($status)" "${verdict#*:}" "$(state "$id")"
    clear_all
  done
done

# Cancel.
id=$(fq push x)
start --grace 1h -- sh -c "trap '' TERM; $tell; while :; do sleep 1; done" "$work/job"
await holds_text "$work/job"
started=$(now_ms)
fq cancel "$id"
await gone "$(cat "$work/job")"
is 'fq cancel ends a running job within a second' yes "$([ $(($(now_ms) - started)) -lt 1000 ] && echo yes)"
rm -f "$work/job"
other=$(fq push y)
await holds_text "$work/job"
is 'and the worker goes on' leased "$(state "$other")"
kill -TERM "$worker"; kill -INT "$worker"  # two of one kind may come as one
ends 0 'a second signal does not wait for --grace'
is 'and what it ended is back, uncounted' 'ready 0' "$(state "$other") $(json .attempts "$other")"
clear_all

# TERM.
good=$(fq push good); bad=$(fq push bad); third=$(fq push third)
mkfifo "$work/job.go"
start -j2 --grace 500ms -- sh -c "read -r x || :; echo \$\$ >\"\$0.\$x\"; case \$x in good) read -r y <\"\$0.go\" || : ;; *) trap '' TERM; while :; do sleep 1; done ;; esac" "$work/job"
await holds_text "$work/job.good"
await holds_text "$work/job.bad"
kill -TERM "$worker"
echo >"$work/job.go"
ends 0 'TERM: the worker ends well'
is 'what ends within --grace is done, the rest is given back uncounted' 'acked ready ready 0 0' \
  "$(state "$good") $(state "$bad") $(state "$third") $(json .attempts "$bad") $(json .crashes "$bad")"
is 'and nothing is left running' gone "$(kill -0 "$(cat "$work/job.bad")" 2>/dev/null || echo gone)"
clear_all
fq push x >/dev/null
start -- sh -c "$tell" "$work/job"
await holds_text "$work/job"
kill -INT "$worker"
ends 0 'INT ends an idle worker'

# A reader that stands still.
mkfifo "$work/pipe"
for n in {1..40}; do fq push "$n" >/dev/null; done
exec 7<>"$work/pipe"
"$FQ" worker --backoff "$long" --grace 100ms -- sh -c 'echo started >>"$0"; head -c 60000 /dev/zero >&2; exit 1' "$work/job" >&7 2>&7 & worker=$!
await holds_text "$work/job"
await grep -q '^State:.*S' "/proc/$worker/status"
kill -TERM "$worker"
ends 0 'a worker whose reader stands still hears TERM'
exec 7>&-
clear_all
fq push x >/dev/null
exec 7<>"$work/pipe"
"$FQ" worker --grace 100ms -- sh -c "$tell"'; exec yes' "$work/job" >&7 2>/dev/null & worker=$!
await holds_text "$work/job"
kill -TERM "$worker"
ends 0 'so does one whose job floods its stdout'
exec 7>&-
clear_all
fq push x >/dev/null
worker --once -- sh -c 'yes | head -c 50000000 >&2; exit 0' 2>&1 | head -c 10 >/dev/null
is 'a reader that leaves is no failure' '' "$(fq peek --state all)"

# HUP.
mkdir -p "$FQ_SPOOL"
printf '[queue."*"]\nattempts = 1\n' >"$FQ_SPOOL/fq.toml"
start --verbose -- false
id=$(fq push x)
fq wait --for 20s "$id"; is 'a policy' dead "$(state "$id")"
printf '[queue."*"]\nattempts = x\n' >"$FQ_SPOOL/fq.toml"
kill -HUP "$worker"
await grep -q 'fq.toml' "$work/worker.err"
printf '[queue."*"]\n' >"$FQ_SPOOL/fq.toml"
kill -HUP "$worker"
await kill -0 "$worker"
kill -TERM "$worker"
ends 0 'HUP reads fq.toml again, and a broken one is told'
gives 78 'fq.toml' env sh -c 'echo "x = 1" >"$FQ_SPOOL/fq.toml"; exec timeout 20 "$FQ" worker -q new -- true'
rm "$FQ_SPOOL/fq.toml"
finish
