#!/usr/bin/env bash
# ended_test - what is told of messages after their end: of which ones, what, how long, and what it costs.
. "$(dirname "$0")/lib.sh"

show() { fq show "$1" --json | jq -c "$2"; }
queue=$FQ_SPOOL/queues/default

# A command message, by default.
id=$(fq push -t a/b --tag K=v --attempts 2 --env HOME -- sh -c 'echo out; echo err >&2; exit $((FQ_ATTEMPT % 2 * 3))')
fq worker --drain --backoff 1ms..1ms >"$work/out" 2>/dev/null
is 'an acked command is told with what it was' '["acked","a/b",{"K":"v"},"sh"]' "$(show "$id" '[.state, .tenant, .tags, .argv[0]]')"
is 'how often it ran and how it ended' '[1,2,2,0,0,null]' "$(show "$id" '[.attempts, .max_attempts, .deliveries, .crashes, .exit, .signal]')"
is 'when' true "$(show "$id" '.pushed_at <= .started_at and .started_at <= .ended_at and .run_ms >= 0 and .worker.pid > 1')"
is 'and why it failed before' '[3,"err\n"]' "$(show "$id" '[.last_error.exit, .last_error.stderr]')"
is 'not its payload' '[null,null]' "$(show "$id" '[.payload, .payload_base64]')"
is 'its output is kept' 'out' "$(fq result "$id" 2>/dev/null)"
fq show "$id" >"$work/out"
for word in 'command .*sh -c' 'tag .*K=v' 'attempts .*1 of 2' 'started at' 'ended at' 'ran ' 'exit .*0' 'worker .*process'; do
  is "a person is told: $word" 1 "$(grep -c "^$word" "$work/out")"
done
is 'its variables are not kept' 0 "$(grep -c "HOME=" "$queue"/ended/1)"

# One that nobody asked about leaves nothing, not even a directory.
fq push -q plain x >/dev/null
fq pop -q plain >/dev/null
is 'a plain message is not noted' no "$([ -e "$FQ_SPOOL/queues/plain/ended" ] && echo yes || echo no)"

# --keep, cancel and dead letters.
id=$(fq push --keep 1h kept)
gives 0 '' fq pop
is 'an acked message with --keep is told' '["acked",true]' "$(show "$id" '[.state, .ended_at != null]')"
id=$(fq push --keep 1h doomed)
fq cancel "$id"
is 'so is a cancelled one' '["cancelled",true]' "$(show "$id" '[.state, .ended_at != null]')"
id=$(fq push --keep 1h short)
fq push --keep 20ms -q brief x >/dev/null
fq pop -q brief >/dev/null
sleep 0.05  # its time has to be over
is 'after its time only the outcome is known' '["acked",null]' "$(fq show 1 -q brief --json | jq -c '[.state, .ended_at]')"
fq pop >/dev/null

# retention: what it takes.
for bad in 0s -1s unlimited forever 7 'auto '; do
  gives 64 'must be a duration' fq queue set "retention=$bad"
  printf '[queue."*"]\nretention = "%s"\n' "$bad" >"$FQ_SPOOL/fq.toml"
  gives 78 'must be a duration' fq push x -q new
done
rm "$FQ_SPOOL/fq.toml"
is 'its default is auto' 'auto' "$(fq config show --json | jq -r 'select(.key == "retention").value' | head -n1)"
fq queue set retention=none
id=$(fq push -- true)
fq worker --once >/dev/null
is 'with none a command is not told' '["acked",null]' "$(show "$id" '[.state, .ended_at]')"
is 'and its output not kept' 1 "$(fq result "$id" 2>/dev/null; echo $?)"
fq queue set retention=auto
id=$(fq push -- true)
fq worker --once >/dev/null
is 'with auto it is' true "$(show "$id" '.ended_at != null')"
fq queue set retention=

# What is told stands as long as it says, and far behind the last 65,536 that ended.
first=$(fq push -- echo first)
fq worker --once >/dev/null
fq queue set retention=none sync=lazy
for _ in 1 2 3; do
  seq 50000 | fq push --lines >/dev/null
  fq pop -n 50000 >/dev/null
done
fq queue set retention= sync=
is 'a command that ended 150,000 messages ago is told' '["acked","echo","first",0]' "$(show "$first" '[.state, .argv[0], .argv[1], .exit]')"
is 'with what happened to it' 'pushed leased acked' "$(fq show "$first" --json | jq -r '[.history[].event] | join(" ")')"
gives 0 '' fq wait "$first"
is 'and its output' first "$(fq result "$first")"

# A copied spool, a lost segment and check have no trouble with it.
cp -r "$FQ_SPOOL" "$work/copy"
is 'a copy tells it too' acked "$(FQ_SPOOL=$work/copy fq show "$first" --json | jq -r .state)"
rm "$queue/segment"
is 'a rebuild tells it too' true "$(show "$first" '.ended_at != null')"
gives 0 '' fq check
fq doctor >/dev/null || fail 'doctor complains'

# A full disk, or somebody who sits on the log, costs the record, and never the verdict.
id=$(fq push --keep 1h x)
receipt=$(fq pop --lease 1h | cut -f1)
flock "$queue/ended/lock" sleep 60 & holder=$!
until ! flock -n "$queue/ended/lock" true; do sleep 0.01; done  # until it is held
gives 0 'is not kept: another process has held ended/lock for too long' fq ack "$receipt"
pkill -P $holder; kill $holder 2>/dev/null; wait $holder 2>/dev/null
is 'the verdict holds' '["acked",null]' "$(show "$id" '[.state, .ended_at]')"

# What is in the way of many ends is said of the first, and for all others once.
seq 50 | fq push --lines --keep 1h >/dev/null
mv "$queue/ended" "$work/ended"
: >"$queue/ended"
not_kept() { grep -c 'not kept' "$work/err"; }
fq worker --drain -- true 2>"$work/err" >/dev/null
is 'what many ends have in common is said for all' 2 "$(not_kept)"
grep -q 'the ends of later messages are not kept either' "$work/err" || fail "it is not said for all: $(cat "$work/err")"
rm "$queue/ended"
mv "$work/ended" "$queue/ended"

# What killed workers left goes; what is written stays.
head -c 100000 /dev/zero >"$queue/output/77.4711.new"
head -c 100 /dev/zero >"$queue/output/78.new"
id=$(fq push --keep 1h -- head -c 100000 /dev/zero)
fq worker --once >/dev/null
gives 0 '' fq compact
is 'outputs that killed workers left are given back' "$id" "$(ls "$queue/output")"
fq result "$id" | cmp -s - <(head -c 100000 /dev/zero) || fail 'the output is not what was written'

# Many outputs of an older fq are in nobody's way.
if command -v strace >/dev/null; then
  for ((n = 100000; n < 101000; ++n)); do cp "$queue/output/$id" "$queue/output/$n" 2>/dev/null; done
  fq push --keep 1h -- true >/dev/null
  strace -f -qq -e trace=openat,openat2 -o "$work/trace" "$FQ" worker --once >/dev/null 2>&1
  is 'a worker does not look at all outputs' 1 "$(($(grep -c 'output/' "$work/trace") < 10))"
else
  left_out "strace is not installed"
fi
finish
