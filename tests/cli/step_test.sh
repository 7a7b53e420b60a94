#!/usr/bin/env bash
# step_test - fq step: what a job does once, however often it is run, and whatever is killed on the way.
. "$(dirname "$0")/lib.sh"

ran=$work/ran
# lease: the receipt of the next message, as a job has it.
lease() { FQ_RECEIPT=$(fq pop --lease 1h "$@" | cut -f1); export FQ_RECEIPT; }
times() { grep -cx "$1" "$ran" 2>/dev/null; }
check_is_clean() { is "$1: check" 0 "$(fq check >"$work/check" 2>&1; echo $?)"; }

# A job that fails half-way goes on where it was; what it was told is the same.
cat >"$work/job" <<'EOF'
set -e
a=$("$FQ" step one -- sh -c "echo one >>'$ran'; echo result; echo said >&2")
printf '%s\n' "$a" >>"$ran.told"
"$FQ" step two --shell "echo two >>'$ran'; cat" <<<"from stdin"
[ "$FQ_ATTEMPT" = 3 ]
EOF
export ran
fq push m >/dev/null
await eval 'fq worker --once --backoff 1ms..1ms -- bash "$work/job" >"$work/out" 2>"$work/err"; [ "$(fq stats --json | jq .acked)" = 1 ]'
is 'each step ran once' 'one two' "$(paste -sd' ' "$ran")"
is 'each run was told the same' 'result result result' "$(paste -sd' ' "$ran.told")"
is 'and has the output' 'from stdin' "$(cat "$work/out")"

# What fails is passed on and not kept.
fresh; rm -f "$ran"*
fq push m >/dev/null; lease
out=$(fq step s --shell 'echo out; echo err >&2; exit 7' 2>"$work/err"); is 'its status' 7 $?
is 'its output' 'out err' "$out $(cat "$work/err")"
fq step s --shell 'kill -TERM $$' 2>"$work/err"; is 'a signal' 143 $?
gives 127 'No such file' fq step s -- /no/such/command
gives 126 'Permission denied' fq step s -- /etc/passwd
gives 1 '' fq step --list
is 'the environment' "${FQ_RECEIPT%%.*}/outer/inner" \
  "$(fq step outer --shell '"$FQ" step inner --shell "echo \$FQ_STEP"')"
gives 64 'would wait for itself' fq step self -- "$FQ" step self -- true
is 'the umask of the caller' "$(umask)" "$(fq step mask --shell umask)"
printf 'a\0b\n' >"$work/bytes"
fq step bytes -- cat "$work/bytes" >"$work/first"; fq step bytes -- false >"$work/second"
is 'bytes as they are' "$(sum <"$work/bytes") $(sum <"$work/bytes")" "$(sum <"$work/first") $(sum <"$work/second")"
head -c 1048577 /dev/zero >"$work/long"
fq step long -- cat "$work/long" >"$work/first" 2>"$work/err"; is 'too long' 65 $?
is 'passed on all the same' 1048577 "$(wc -c <"$work/first")"
grep -q 'ran and is not kept' "$work/err" || fail 'too long is not said'

# Bad input.
gives 64 'needs a name' fq step
gives 64 'needs -- CMD' fq step s2
gives 64 "NAME: 'a/b'" fq step a/b -- true
gives 64 'takes one name' fq step a b -- true
gives 64 'goes with --list only' fq step --json s -- true
gives 64 'takes no -- CMD' fq step --list -- true
gives 1 'not in queue' fq step --list 99
gives 64 'FQ_RECEIPT is not set' env -u FQ_RECEIPT "$FQ" step s -- true
gives 64 'is not a receipt' env FQ_RECEIPT=17 "$FQ" step s -- true
fq push -q other m >/dev/null
gives 1 "is of queue 'default'" fq step -q other s --shell "touch '$work/not-run'"
fq retry "$FQ_RECEIPT"
gives 1 'no longer valid' fq step s --shell "touch '$work/not-run'"
[ ! -e "$work/not-run" ] || fail 'a command was run under a receipt that does not hold'
lease
gives 64 'is a run, not a sleep; give this step another name' fq step bytes --sleep 1s
gives 64 'is a run, not a wait' fq step bytes --wait-all
gives 64 'is a run, not a push' fq step bytes --push x
gives 1 'ran and is not kept' fq step s --shell '"$FQ" retry'
is 'for people' 'NAME KIND AT BYTES|bytes run 4B' "$(fq step --list 1 | awk '$1 == "NAME" { print $1, $2, $3, $4 } $1 == "bytes" { print $1, $2, $4 }' | paste -sd'|')"
is 'people see local time' '+09:00' "$(TZ=Asia/Tokyo fq step --list 1 | awk '$1 == "bytes" { print substr($3, 24) }')"
is 'told by list' 'bytes run 4' "$(fq step --list --json 1 | jq -r 'select(.name == "bytes") | "\(.name) \(.kind) \(.bytes)"')"
is 'and by show' "$(fq step --list --json 1 | jq -s .)" "$(fq show --json 1 | jq .steps)"
is 'and by the log' 'outer inner' "$(fq log --json | jq -r 'select(.event == "stepped" and (.step | test("er$"))).step' | sort -r | paste -sd' ')"
check_is_clean 'after all that'

# Two processes of one job at one step: one runs it.
fresh; rm -f "$ran"*
fq push m >/dev/null; lease
for i in 1 2 3 4; do fq step s --shell "echo s >>'$ran'; sleep 0.1; echo $i" >"$work/got$i" & done; wait
is 'one ran it' 1 "$(times s)"
is 'all were told the same' 1 "$(cat "$work"/got? | sort -u | wc -l)"

# Pushes see what steps hold; their messages can go on.
fresh
fq queue create default
fq queue set max_bytes=100B
fq push m >/dev/null; lease
fq step s --shell 'head -c 99 /dev/zero' >/dev/null
gives 75 'max_bytes' fq push x
is 'a step is not refused by it' more "$(fq step more -- echo more)"
fq ack; fq push x >/dev/null; is 'room again' 0 $?

# Killed at each point: what was not kept runs again, what was is told, and nothing is in the way.
for point in begun appended committed durable; do
  here || [ "$point" = durable ] || continue
  fresh; rm -f "$ran"*
  fq push m >/dev/null; lease
  killed_at step.$point:1 fq step s --shell "echo s >>'$ran'; echo out \$\$"
  fq step s --shell "echo s >>'$ran'; echo out \$\$" >"$work/second"
  fq step s -- false >"$work/third"
  is "killed at $point: the same is told" "$(cat "$work/second")" "$(cat "$work/third")"
  case $point in appended) wanted=2 ;; *) wanted=1 ;; esac
  is "killed at $point: runs" "$wanted" "$(times s)"
  check_is_clean "killed at $point"
done

# A step pushes one message, however often its job is run; killed on the way too, and in a rebuild.
cat >"$work/job" <<'EOF'
id=$("$FQ" step child --push -t kids --tag k=v "for $FQ_ID") || exit 75
echo "$id" >>"$jobs"
[ "$FQ_ATTEMPT" = 3 ]
EOF
export jobs=$work/ids
deaths=(step.pushing:1 push.appended:1 push.committed:1 step.pushed:1 change.committed:1)
here || deaths=(step.pushed:1)
for point in '' "${deaths[@]}"; do
  fresh; rm -f "$jobs"
  fq push -t parents m >/dev/null
  fq tenant pause kids
  lease -t parents
  child=(fq step child --push -t kids 'for 1')
  if [ -n "$point" ]; then killed_at "$point" "${child[@]}"; else "${child[@]}" >/dev/null; fi
  fq retry "$FQ_RECEIPT"; unset FQ_RECEIPT
  [ "$point" != push.committed:1 ] || rm -f "$FQ_SPOOL/queues/default/segment"
  await eval 'fq worker --once --attempts 9 --backoff 1ms..1ms -- bash "$work/job" 2>/dev/null; fq show 1 --json | jq -e ".state == \"acked\""' >/dev/null
  is "pushed once, killed at '$point'" 1 "$(sort -u "$jobs" | wc -l)"
  fq tenant resume kids
  is "and is there, killed at '$point'" 'for 1' "$(fq pop -t kids -n 9)"
  check_is_clean "killed at '$point'"
done
gives 64 'goes with --push only' fq step s -t x -- true
gives 64 'needs PAYLOAD' fq step s --push
gives 64 'takes no --push' fq step --list --push
fq push -t parents m >/dev/null; lease -t parents
first=$(fq step cmd --push -- echo hi)
is 'a command' "$first" "$(fq step cmd --push -- echo hi)"
fq queue set max_messages=2
gives 75 'max_messages' fq step full --push x
fq queue set max_messages=
is 'once there is room' $((first + 1)) "$(fq step full --push x)"
is 'kinds' 'push push' "$(fq step --list --json | jq -r .kind | paste -sd' ')"
fq queue drain
gives 75 'draining' fq step drained --push x
is 'what it has pushed is told all the same' $((first + 1)) "$(fq step full --push x)"
fq queue resume
unset FQ_RECEIPT

# Sleeping and waiting: the slot is free meanwhile, nothing counts, and the job goes on behind it.
fresh; rm -f "$ran"*
cat >"$work/job" <<'EOF'
set -e
"$FQ" step before --shell "echo before >>'$ran'"
"$FQ" step nap --sleep 100ms
[ "$FQ_TENANT" = kids ] || child=$("$FQ" step child --push -t kids 'a child')
[ "$FQ_TENANT" = kids ] || "$FQ" step all --wait-all
echo "end of $FQ_TENANT, attempt $FQ_ATTEMPT" >>"$ran"
EOF
fq push -t parents --attempts 1 m >/dev/null
is 'a worker says nothing of it' '' "$(fq worker --drain -- bash "$work/job" 2>&1)"
is 'in this order' 'before before end of kids, attempt 1 end of parents, attempt 1' "$(paste -sd' ' "$ran")"
is 'events of the parent' 'pushed leased released leased released freed leased acked' \
  "$(fq log --json 1 | jq -r 'select(.event != "stepped").event' | paste -sd' ')"
check_is_clean 'slept'
fq push m >/dev/null; lease
gives 75 '' fq step later --until '+1h'
is 'delayed' delayed "$(fq show --json "${FQ_RECEIPT%%.*}" | jq -r .state)"
asleep="receipt '$FQ_RECEIPT': no longer valid; its message sleeps in step 'later', and the job that had it is to end now"
gives 1 "$asleep" fq step after -- true
for verdict in ack retry release bury 'extend 5m'; do
  # shellcheck disable=SC2086  # words
  gives 1 "$asleep" fq $verdict
done
fq kick "${FQ_RECEIPT%%.*}"; lease
gives 0 '' fq step later --until '+1h'
# What it waits for is told as of one that was pushed to come after it, however that ends.
fq push -q told a >/dev/null; fq push -q told b >/dev/null; fq push -q told m >/dev/null; fq push -q told --after 1 n >/dev/null
fq pop -q told -n 2 --lease >/dev/null
gives 0 '' fq worker -q told --once -- sh -c '"$FQ" step both --wait 1 2'
waiting() { fq -q told "$@" --json | jq -c 'select(.id > 2) | [.id, .state, .after, .after_any]' | sort | paste -sd' '; }
is 'a step that waits is told with what it waits for' '[3,"held",null,[1,2]] [4,"held",[1],null]' "$(waiting peek --state held)"
is 'also to people' 1 "$(fq -q told show 3 | grep -c '^comes after  *1, 2, however they end$')"
fq -q told compact >/dev/null
is 'and after a compaction' '[3,"held",null,[1,2]]' "$(waiting show 3)"
gives 64 'would wait for its own message' fq step own --wait "${FQ_RECEIPT%%.*}"
gives 1 'is not known' fq step who --wait 99
gives 64 'needs the ids' fq step who --wait
gives 64 'takes one name' fq step a b --sleep 1s
gives 64 'is one of' fq step a --sleep 1s -- true
gives 64 '--sleep' fq step a --sleep 5
gives 1 '' fq step seen --wait 1 2 "$(id=$(fq push x); fq cancel "$id"; echo "$id")"
gives 1 '' fq step seen --wait 1
gives 0 '' fq step good --wait 1 2
points='step.appended step.committed step.durable change.committed'
here || points='step.durable step.durable step.durable step.durable'
for point in $points; do
  for kind in '--sleep 1h' "--wait $(fq push -t other x)"; do
    fq push -t sleeper --attempts 1 m >/dev/null; lease -t sleeper
    # shellcheck disable=SC2086
    killed_at $point:1 fq step s $kind
    check_is_clean "killed at $point of $kind"
    # shellcheck disable=SC2086
    fq step s $kind 2>/dev/null
    is "killed at $point of $kind" true "$(fq show --json "${FQ_RECEIPT%%.*}" | jq '.state == "delayed" or .state == "held"')"
  done
done
rm -f "$FQ_SPOOL/queues/default/segment"
is 'all asleep in a rebuild' '4 4' "$(fq stats -q default --json | jq -r '"\(.held) \(.delayed)"')"
check_is_clean 'rebuilt asleep'
unset FQ_RECEIPT

# Two that wait for each other: nothing ends that, and explain says so.
fresh
fq push a >/dev/null; fq push b >/dev/null; fq push c >/dev/null
mapfile -t receipts < <(fq pop --lease 1h -n 3 | cut -f1)
step_of() { env FQ_RECEIPT="${receipts[$1]}" "$FQ" step s --wait "${@:2}"; }
step_of 0 2 2>/dev/null; step_of 1 3 2>/dev/null
is 'no cycle yet' '[]' "$(fq explain --json 1 | jq -c '.reasons[0].cycle')"
step_of 2 1 2>/dev/null
is 'the way round' '[1,2,3]' "$(fq explain --json 1 | jq -c '.reasons[0].cycle')"
fq explain 2 | grep -q 'waits for itself: 2 waits for 3 waits for 1 waits for 2' || fail "a cycle is not said: $(fq explain 2)"
fq explain 2 | grep -q 'fq cancel 2' || fail 'what ends a cycle is not said'
fq cancel 3
is 'once one is gone the others go on' 'ready held' "$(fq show --json 2 | jq -r .state) $(fq show --json 1 | jq -r .state)"
is 'and there is no cycle' '[]' "$(fq explain --json 1 | jq -c '.reasons[0].cycle')"
check_is_clean 'a cycle'

# A worker that is killed while a job winds up after its sleep: the message sleeps, and no crash counts.
fresh
fq push --attempts 1 m >/dev/null
"$FQ" worker -- bash -c '"$FQ" step nap --sleep 1h; exec sleep 60' 2>/dev/null & worker=$!
await eval '[ "$(fq step --list --json 1 | jq -r .kind)" = sleep ]'
is 'its job is still there' leased "$(fq show --json 1 | jq -r .state)"
fq compact >/dev/null; check_is_clean 'suspended'
mapfile -t alive < <(left_behind)
{ kill -KILL "${alive[@]}"; wait "$worker"; } 2>/dev/null
# A server waits 23 s for its guard, which was killed too, since nobody else calls.
within_s=30 await eval '[ "$(fq show --json 1 | jq -r .state)" = delayed ]'
is 'no attempt, no crash' '0 0' "$(fq show --json 1 | jq -r '"\(.attempts) \(.crashes)"')"
check_is_clean 'its worker was killed'

# What follows is about files.
here || { finish; exit; }

# An output that is lost on disk: said, never made up and never run again unasked.
fresh; rm -f "$ran"
fq push m >/dev/null; lease
fq step long --shell "echo s >>'$ran'; head -c 100000 /dev/zero" >/dev/null
rm "$FQ_SPOOL"/queues/default/blobs/*
gives 65 'its output is lost' fq step long --shell "echo s >>'$ran'"
is 'check names it' 1 "$(fq check | grep -c 'the output of one of its steps')"
is 'a repair does not forget that it ran' 65 "$(fq check --repair >/dev/null; fq step long -- true 2>/dev/null; echo $?)"
fq bury; fq kick --fresh 1; lease
is 'forgotten where one asks for that' anew "$(fq step long -- echo anew)"
is 'it ran once' 1 "$(times s)"
check_is_clean 'a lost output'

# Copied forward when the files of the old records go, killed on the way too; a long output as well.
carried() {
  fresh
  fq push -t keeper m >/dev/null; lease -t keeper
  for i in 1 2 3; do fq step "s$i" -- echo "out $i" >/dev/null; done
  fq step long --shell 'head -c 100000 /dev/zero | tr "\0" x' >/dev/null
  head -c 4000000 /dev/zero | tr '\0' x | fold -w 60000 | fq push -t churn --lines >/dev/null
  fq pop -t churn -n 100 >/dev/null
}
for kill in '' steps.carried:1 compaction.moved:1 compaction.low:1 compaction.low_durable:1 change.committed:3; do
  carried
  if [ -n "$kill" ]; then killed_at $kill fq compact; fi
  fq compact >/dev/null
  check_is_clean "compacted, killed at '$kill'"
  rm -f "$FQ_SPOOL/queues/default/segment"
  is "compacted, killed at '$kill'" 'out 1 out 2 out 3' "$(for i in 1 2 3; do fq step "s$i" -- false; done | paste -sd' ')"
  is "compacted, killed at '$kill': the long one" 100000 "$(fq step long -- false | wc -c)"
done
fq ack
is 'its payload is gone with its message' 0 "$(ls "$FQ_SPOOL/queues/default/blobs" | wc -l)"

# The disk fills up while CMD runs: what it did is done, and that its output is not kept is said. It needs a file
# system of its own, and so root.
mkdir "$work/disk"
if mount -t tmpfs -o mode=0700,size=8m tmpfs "$work/disk" 2>/dev/null; then
  export FQ_SPOOL=$work/disk/spool
  fq push m >/dev/null; lease
  fill="head -c 100000000 /dev/zero >'$work/disk/ballast' 2>/dev/null"
  fq step long --shell "echo ran >>'$ran.full'; $fill; head -c 900000 /dev/zero" >"$work/out" 2>"$work/err"
  is 'a full disk between the end of CMD and its record' 75 $?
  grep -q 'ran and is not kept' "$work/err" || fail "a full disk is not said: $(cat "$work/err")"
  is 'its output is not told as if it were kept' 0 "$(wc -c <"$work/out")"
  gives 1 '' fq step --list
  check_is_clean 'on a full disk'
  rm "$work/disk/ballast"
  fq step long --shell "echo ran >>'$ran.full'; head -c 900000 /dev/zero" >"$work/out"
  is 'once there is room it runs again' '2 900000' "$(wc -l <"$ran.full") $(wc -c <"$work/out")"
  is 'and is kept' 900000 "$(fq step long -- false | wc -c)"
  fq ack
  check_is_clean 'after a full disk'
  unset FQ_RECEIPT
  umount "$work/disk"
else
  left_out "a small disk needs root"
fi

# Jobs, steps and workers killed anywhere: no kept step runs again, no told output changes, all come to an end.
fresh; rm -f "$ran"*
export jobs=$work/told
cat >"$work/job" <<'EOF'
for name in a b c; do
  value=$("$FQ" step "$name" --shell 'echo $RANDOM$RANDOM$$') || exit 75
  echo "$FQ_ID $name $value" >>"$jobs"
done
EOF
kills=${STEP_KILLS:-30} killed=0 pushed=10
seq 10 | fq push --lines --attempts 1000 >/dev/null
until [ "$killed" -ge "$kills" ] && [ "$(fq stats --json | jq '.ready + .delayed + .leased + .dead')" = 0 ]; do
  if [ "$killed" -ge "$kills" ]; then
    fq worker -j 4 --drain --backoff 1ms..1ms -- bash "$work/job" >/dev/null 2>&1
    fq kick --all --state delayed >/dev/null 2>&1
    continue
  fi
  fq push --attempts 1000 more >/dev/null; pushed=$((pushed + 1))
  "$FQ" worker -j 4 --backoff 1ms..1ms -- bash "$work/job" >/dev/null 2>&1 & worker=$!
  read -rt "0.0$((RANDOM % 90 + 10))" <>"$work/never" || :
  mapfile -t alive < <(left_behind)
  # On a busy machine nobody may have begun yet.
  if [ ${#alive[@]} -gt 0 ]; then
    { kill -KILL "${alive[RANDOM % ${#alive[@]}]}"; [ $((RANDOM % 2)) = 0 ] || kill -KILL "$worker"; } 2>/dev/null
    killed=$((killed + 1))
  fi
  { kill -TERM "$worker"; wait "$worker"; } 2>/dev/null
done
is "after $killed kills each step was told one value" $((3 * pushed)) "$(sort -u "$jobs" | wc -l)"
check_is_clean "after $killed kills"
echo "step_test: $killed kills"

finish
