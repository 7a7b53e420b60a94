#!/usr/bin/env bash
# calls_killed_test - calls and followed jobs whose worker, caller or follower is killed, or whose disk is full.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

fq push -- true >/dev/null   # the first message of a worker without a command is a command
start_worker() { "$FQ" worker -j 4 --backoff 1ms..2ms >/dev/null 2>"$work/worker.err" & worker=$!; }
kill_worker() { { kill -KILL $worker; wait $worker; } 2>/dev/null; }
last_id() { fq jobs --json -n 1000 2>/dev/null | jq -s 'map(.id) | max'; }
has() { grep -q "$1" "$2"; }
# last_run OUT ERR: what the last run wrote on standard output, by the place where that was told to begin.
last_run() {
  local begin
  begin=$(sed -n 's/.*begins here, behind byte \([0-9]*\) of standard output.*/\1/p' "$2" | tail -n1)
  tail -c "+$((${begin:-0} + 1))" "$1"
}
well() { is "the queue is well after $1" 0 "$(fq check >/dev/null; echo $?)"; }

# Half-way.
start_worker
"$FQ" push --wait=60s -- sh -c "echo one; until [ -e '$work/go' ]; do sleep 0.01; done; echo two" >"$work/out" 2>"$work/err" & caller=$!
await has one "$work/out"
kill_worker
start_worker
await eval '[ "$(grep -c one "$work/out")" = 2 ]'
: >"$work/go"
wait $caller
is 'a job whose worker died runs anew, and its call ends as that does' '0 one one two' "$? $(paste -sd' ' "$work/out")"
is 'where it begins anew is told' \
  "fq: message $(last_id): its worker died; run 2 begins here, behind byte 4 of standard output and byte 0 of standard error" "$(cat "$work/err")"
kill_worker
well 'a worker that died half-way'

# Whose message ends with its worker: the end is missing, and that wins.
start_worker
"$FQ" push --wait=60s -- sh -c 'echo begun; exec sleep 60' >"$work/out" 2>"$work/err" & caller=$!
await has begun "$work/out"
id=$(last_id)
kill_worker
fq cancel "$id"
wait $caller
is 'where nobody runs it anew, what is missing is told' 74 $?
is 'with why it ended' "fq: message $id: its worker died; the last output of its job may be missing
fq: message $id: was cancelled" "$(cat "$work/err")"

# A worker that dies at each step of an output.
text=$(seq 30000 | cksum)
for point in run.made:1 run.piece:1 run.piece:3 run.closed:1 run.left:1 output.made:1 output.kept:1 ended.noted:1 settle.durable:1 lease.committed:1; do
  FQ_KILL_AT=$point "$FQ" worker >/dev/null 2>&1 & first=$!
  "$FQ" push --wait=60s -- seq 30000 >"$work/out" 2>"$work/err" & caller=$!
  await gone_or_zombie $first
  wait $first 2>/dev/null
  is "a worker is killed at $point" 137 $?
  start_worker
  wait $caller
  is "a call whose worker was killed at $point ends well" 0 $?
  is "and its last run is whole ($point)" "$text" "$(last_run "$work/out" "$work/err" | cksum)"
  kill_worker
  well "a worker killed at $point"
done

# Without a caller nothing waits for what it was writing: that goes when its message comes back.
unfinished() { find "$FQ_SPOOL/queues/default/output" -name '*.*' | wc -l; }
for point in run.piece:1 run.closed:1 output.made:1; do
  id=$(fq push -- seq 30000)
  FQ_KILL_AT=$point "$FQ" worker >/dev/null 2>&1 & worker=$!
  await gone_or_zombie $worker
  wait $worker 2>/dev/null
  is "a worker is killed at $point" 137 $?
  is "something is left of a run ($point)" yes "$([ "$(unfinished)" -gt 0 ] && echo yes)"
  is "and its message is back ($point)" ready "$(state "$id")"
  is "with nothing left ($point)" 0 "$(unfinished)"
  fq cancel "$id" >/dev/null
done

# Nor where it died behind the end of its message, or that ended while a leftover of its job had it.
fq push -- seq 30000 >"$work/made"
FQ_KILL_AT=settle.durable:1 "$FQ" worker --drain >/dev/null 2>&1 & worker=$!
{ await gone_or_zombie $worker; wait $worker; } 2>/dev/null
is "something is left of a run whose message has ended" "1 0" "$(unfinished) $(find "$FQ_SPOOL/queues/default/blobs" -type f | wc -l)"
is "and nothing once somebody looks" 0 "$(fq stats >/dev/null; unfinished)"
for looks in stats 'worker --once'; do
  id=$(fq push -- sh -c "seq 30000; echo begun >'$work/begun'; (until [ -e '$work/ended.${looks%% *}' ]; do sleep 0.01; done); echo end")
  start_worker
  await test -s "$work/begun"
  await eval '[ "$(unfinished)" = 1 ]'
  kill_worker
  is "a leftover of its job has a message ($looks)" "leased 1" "$(state "$id") $(unfinished)"
  fq cancel "$id" >/dev/null
  # shellcheck disable=SC2086
  fq $looks >"$work/made" 2>&1
  is "nothing is left of the run of one that was cancelled then ($looks)" 0 "$(unfinished)"
  : >"$work/ended.${looks%% *}"
  rm "$work/begun"
done
# Of another boot.
fq push -- sh -c "seq 30000; echo begun >'$work/begun'; exec sleep 60" >"$work/made"
start_worker
await test -s "$work/begun"
await eval '[ "$(unfinished)" = 1 ]'
kill_worker
rm "$FQ_SPOOL/queues/default/segment"
is "something is left of a run of another boot" 1 "$(unfinished)"
fq cancel --all --yes >"$work/made"
is "and nothing once the segment was made anew" 0 "$(unfinished)"

# A caller or a follower that dies: its job knows nothing of it.
start_worker
for point in push.committed:1 follow.run_read:1; do
  killed_at $point fq push --wait -- seq 30000
  is "the job of a caller killed at $point ends" 0 "$(fq wait --for 20s --all; echo $?)"
  is "what it wrote is there ($point)" "$text" "$(fq result "$(last_id)" | cksum)"
  well "a caller killed at $point"
done
id=$(fq push -- sh -c "seq 30000; until [ -e '$work/go2' ]; do sleep 0.01; done; echo end")
"$FQ" result -f "$id" >"$work/out" 2>/dev/null & follower=$!
await has 30000 "$work/out"
{ kill -KILL $follower; wait $follower; } 2>/dev/null
"$FQ" result -f "$id" >"$work/out2" & follower=$!
await has 30000 "$work/out2"
: >"$work/go2"
wait $follower
is 'a job whose follower died is followed by another to its end' "0 $({ seq 30000; echo end; } | cksum)" "$? $(cksum <"$work/out2")"
kill_worker

# A storm: calls whose workers are killed again and again.
start_worker
for i in $(seq 12); do
  "$FQ" push --wait=120s -- sh -c "seq 20000; sleep 0.0$i; seq $i" >"$work/storm.$i" 2>"$work/storm.$i.err" &
  callers[i]=$!
done
for _ in 1 2 3; do
  read -rt 0.15 <>"$work/never" || :
  kill_worker
  start_worker
done
wrong=0
for i in $(seq 12); do
  wait "${callers[i]}" || wrong=$((wrong + 1))
  [ "$(last_run "$work/storm.$i" "$work/storm.$i.err" | cksum)" = "$({ seq 20000; seq "$i"; } | cksum)" ] || wrong=$((wrong + 1))
done
is 'in a storm each call has its last run, whole' 0 $wrong
kill_worker
well 'a storm'

# A full disk. It needs a file system of its own, and so root.
mkdir "$work/disk"
if mount -t tmpfs -o mode=0700,size=16m tmpfs "$work/disk" 2>/dev/null; then
  export FQ_SPOOL=$work/disk/spool
  fq push -- true >/dev/null
  start_worker
  fq wait --all
  "$FQ" push --wait=60s -- sh -c "seq 1000; until [ -e '$work/go3' ]; do sleep 0.01; done; head -c 3000000 /dev/zero" >"$work/out" 2>"$work/err" & caller=$!
  await has 1000 "$work/out"
  head -c 100000000 /dev/zero >"$work/disk/ballast" 2>/dev/null
  : >"$work/go3"
  wait $caller
  is 'on a full disk a call has what there was room for, and is told of the rest' 74 $?
  seq 1000 >"$work/begin"
  is 'what it has is exact' 0 "$(head -c "$(wc -c <"$work/begin")" "$work/out" | cmp - "$work/begin"; echo $?)"
  missing=$(sed -n 's/.*: \([0-9]*\) bytes of its standard output are missing here.*/\1/p' "$work/err")
  is 'and nothing is neither there nor missing' "$(($(wc -c <"$work/begin") + 3000000))" "$(($(wc -c <"$work/out") + missing))"
  kill_worker
  umount "$work/disk"
else
  left_out "a small disk needs root"
fi
finish
