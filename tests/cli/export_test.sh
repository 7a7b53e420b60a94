#!/usr/bin/env bash
# export_test - a queue goes out as lines and comes into another one, with all that it has; what breaks off goes on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/one_of_each.sh"

of() { fq -q "$1" show --json "$2" | jq -r "$3"; }
states() { fq -q "$1" peek --state all -n 1000 --json | jq -r '"\(.id) \(.state)"' | sort -n | xargs; }
moved_on() { # by one
  told "$1" | jq -c 'def on: if . then map(. + 1) else . end;
    if .id then .id += 1 else . end | if .child then .child += 1 else . end | if .behind then .behind += 1 else . end |
    if .after then .after |= on else . end | if .after_any then .after_any |= on else . end |
    if .after_closed then .after_closed |= on else . end | if .waits_for then .waits_for |= on else . end'
}

fill
gives 0 "queue 'default': is paused now" fq export
cp "$work/out" "$work/e"
is 'all of it' 15 "$(jq -r 'select(.type == "message").id' "$work/e" | wc -l)"
is 'the last line counts' 15 "$(tail -n 1 "$work/e" | jq .messages)"
is 'the queue stays paused' true "$(fq queue list --json | jq .paused)"
gives 0 'is paused, which is not in the export' fq export --live
is 'and told again so' "$(told "$work/e")" "$(told "$work/out")"
fq queue resume
gives 0 '' fq export --live
is 'live pauses nothing' false "$(fq queue list --json | jq .paused)"

# Into a queue that has had a message: new ids, and what came after one comes after it there.
gives 0 "queue 'elsewhere': did not exist; created" fq import -q elsewhere "$work/e"
is 'and the made queue has them' "$(fq peek --state all -n 999 --json | jq -r .payload | sort | cksum)" \
  "$(fq peek -q elsewhere --state all -n 999 --json | jq -r .payload | sort | cksum)"
fq queue remove elsewhere --yes
fq push -q other first >/dev/null; fq pop -q other >/dev/null
gives 0 '' fq import -q other "$work/e"
is 'OLD NEW' '1 2 15 16' "$(sed -n '1p;$p' "$work/out" | xargs)"
fq export -q other --live >"$work/e2"
is 'with all that it has' "$(moved_on "$work/e")" "$(told "$work/e2")"
shown='[.tenant,.priority,.tags,.timeout,.keep,.ttl,.pushed_at,.expires_at,.payload] | tojson'
is 'as people see it' "$(of default 1 "$shown")" "$(of other 2 "$shown")"
is 'its past begins with it' 'pushed arrived' "$(of other 2 '[.history[].event] | join(" ")')"
is 'its key is held there' duplicate "$(fq push -q other --unique U z --json | jq -r .status)"
gives 0 '' fq check -q other
rm -f "$FQ_SPOOL/queues/other/segment"
fq export -q other --live >"$work/e3"
is 'a rebuild knows it too' "$(told "$work/e2")" "$(told "$work/e3")"
gives 0 '' fq check -q other

# Again: nothing twice, also after what came has gone, after a rebuild and in what was compacted.
gives 0 '' fq import -q other "$work/e" --json
is 'known' known "$(jq -r .status "$work/out" | sort -u)"
for _ in 1 2; do fq cancel -q other --all --yes --state all; done >/dev/null # what waited is ready then
fq -q other compact >/dev/null; rm "$FQ_SPOOL/queues/other/segment"
gives 0 '' fq import -q other "$work/e"
is 'what came once and ended does not come again' '' "$(states other)"
gives 0 '' fq check -q other

# What is new since comes with the next export.
fq push new >/dev/null
fq export --live 2>/dev/null | fq import -q other >/dev/null
is 'only that' new "$(fq -q other peek --state all --json | jq -r .payload)"
fq queue remove other --yes

# It goes on there: what it came after, keys, attempts, kick with dependents.
fq queue create other; fq import -q other "$work/e" >/dev/null; fq queue resume other
fq -q other tenant set acme concurrency=
is 'held until the other is acked' held "$(of other 10 .state)"
fq -q other ack "$(fq -q other pop -t acme --lease 1h | cut -f1)"
is 'then delayed until it was due there' delayed "$(of other 10 .state)"
gives 0 '' fq -q other kick 8
is 'its dependent is held again' held "$(of other 12 .state)"
is 'the one behind has its turn' held "$(of other 14 .state)"
fq -q other ack "$(fq -q other pop -t first --lease 1h | cut -f1)"
is 'after the leader' ready "$(of other 14 .state)"
is 'attempts were counted' '1 5' "$(of other 9 '"\(.attempts) \(.max_attempts)"')"
is 'a command runs with its input' in "$(fq -q other pop --json -n 20 | jq -r 'select(.argv[2] == "exit 1").payload')"

# Steps: what was done is not done again, its messages are known by their new ids, and what has ended is told so.
fresh; fq queue create other
cd "$work" || exit 1
PATH=$(dirname "$FQ"):$PATH fq push -t parent --env-all --shell "${job:?}" >/dev/null
fq worker --once 2>/dev/null >"$work/job"
fq pop -t gone >/dev/null
is 'the parent waits' 'held ready' "$(of default 1 .state) $(of default 2 .state)"
fq export 2>/dev/null >"$work/e"
is 'children come first' 'held' "$(jq -r 'select(.type == "message").state' "$work/e" | tail -n 1)"
fq push -q other x >/dev/null; fq pop -q other >/dev/null
gives 0 '' fq import -q other "$work/e"
parent=$(sed -n 's/^1 //p' "$work/out") kid=$(sed -n 's/^2 //p' "$work/out") gone=$(sed -n 's/^3 //p' "$work/out")
is 'its steps' "one run 4 kid push 0 gone push 0 big run 200000 stay wait 0" \
  "$(fq -q other step --list "$parent" --json | jq -r '"\(.name) \(.kind) \(.bytes)"' | xargs)"
is 'it waits for its child' "[$kid]" "$(fq -q other export --live | jq -c 'select(.type == "message" and .state == "held").after_any')"
is 'what has ended is known' acked "$(of other "$gone" .state)"
fq queue resume other
fq -q other pop -t kids >/dev/null
fq -q other worker --once >"$work/job" 2>/dev/null
is 'and goes on' "$(printf 'one\n%s\n%s' "$kid" "$gone")" "$(head -n 3 "$work/job")"
is 'what had run does not run again' 1 "$(wc -l <ran)"
is 'it sleeps now' delayed "$(of other "$parent" .state)"
gives 0 '' fq check -q other
fq export -q other 2>/dev/null >"$work/e2"; rm "$FQ_SPOOL/queues/other/segment"
fq export -q other --live >"$work/e3"
is 'a rebuild knows the steps' "$(told "$work/e2")" "$(told "$work/e3")"

# One that is held and was killed between its steps is not run without the others, whoever lets it go.
fresh; fq queue create other
cat >steps_job <<'END'
set -e; fq step one -- sh -c 'echo one; echo ran >>ran2'; fq step two -- sh -c 'echo two; echo ran >>ran2'; fq step stay --wait 1
END
fq push --delay 1h kid >/dev/null
PATH=$(dirname "$FQ"):$PATH fq push -t parent --env-all -- sh steps_job >/dev/null
fq worker --once >/dev/null 2>&1
fq export 2>/dev/null >"$work/e"
is 'it is held' held "$(jq -r 'select(.type == "message" and .id == 2).state' "$work/e")"
killed_at import.step_added:1 fq import -q other "$work/e"
is 'with that one' one "$(fq -q other step --list 2 --json | jq -r .name | xargs)"
fq -q other queue resume
fq -q other cancel 1
is 'let go it waits for what is missing' 'delayed 9999' "$(of other 2 '"\(.state) \(.due_at[0:4])"')"
gives 1 '' fq -q other worker --once
gives 0 '' fq import -q other "$work/e"
is 'then it may start' ready "$(of other 2 .state)"
fq -q other worker --once >"$work/job" 2>/dev/null
is 'and what had run does not run again' 'one two 2' "$(head -n 2 "$work/job" | xargs) $(wc -l <ran2)"
# Nor do steps that a kick has thrown away come back.
fq push --after 1 -t parent --env-all -- sh steps_job >/dev/null
gives 0 '' fq check -q other

# A job whose step waits for one that is held behind the job itself, by their key: the job comes first, and has its key.
fresh; fq queue create other
PATH=$(dirname "$FQ"):$PATH fq push -t parent --unique k --env-all --shell \
  'until [ -e pushed ]; do sleep 0.01; done; fq step stay --wait 2' >/dev/null
fq worker --once >/dev/null 2>&1 & worker=$!
until [ "$(of default 1 .state)" = leased ]; do sleep 0.01; done  # nothing tells that it runs
fq push -t parent --unique k --unique-mode after next >/dev/null
touch pushed
wait "$worker"
is 'each waits for the other' 'held held' "$(of default 1 .state) $(of default 2 .state)"
fq export 2>/dev/null >"$work/e"
is 'first the job' '1 2' "$(jq -r 'select(.type == "message").id' "$work/e" | xargs)"
gives 0 '' fq import -q other "$work/e"
is 'both are there' 2 "$(fq -q other peek --state all --json | wc -l)"

# Schedules that were set by hand: as they were, with the last message that each made, and their grid.
fresh; fq queue create other
fq push other_first >/dev/null
fq schedule set tick 'every 7m' --overlap queue -t acme/x -p 5 --tag k=v --attempts 3 --timeout 4s --ttl 1d --keep 2d made
fq schedule set night '30 3 * * *' --tz Europe/Berlin --missed skip -- sh -c 'cat; exit 3'
fq schedule pause night
fq schedule run tick >/dev/null
printf '[queue.default.schedule.file]\nspec = "@daily"\npayload = "x"\n' >"$FQ_SPOOL/fq.toml"
fq export 2>/dev/null >"$work/e"
is 'those set by hand' 'night tick' "$(jq -r 'select(.type == "schedule").name' "$work/e" | sort | xargs)"
is 'are counted' 2 "$(tail -n 1 "$work/e" | jq .schedules)"
rm "$FQ_SPOOL/fq.toml"
fq push -q other x >/dev/null
gives 0 '' fq import -q other "$work/e"
schedules() { fq -q "$1" schedule list --json | jq -cS 'select(.source == "set") | del(.queue, .last.id)' | sort; }
is 'they are there' "$(schedules default)" "$(schedules other)"
is 'its last message is known by its new id' "$(sed -n 's/^2 //p' "$work/out")" \
  "$(fq -q other schedule show tick --json | jq .last.id)"
fq export -q other --live 2>/dev/null >"$work/e2"
of_schedules() { jq -cS 'select(.type == "schedule") | del(.last_id)' "$1"; }
is 'and told the same' "$(of_schedules "$work/e")" "$(of_schedules "$work/e2")"
rm "$FQ_SPOOL/queues/other/segment"
is 'a rebuild knows them' "$(schedules default)" "$(schedules other)"
fq -q other schedule pause tick
gives 0 '' fq import -q other "$work/e"
is 'an import that is repeated leaves what was done to them' true "$(fq -q other schedule show tick --json | jq .paused)"
gives 0 '' fq check -q other
fq -q other queue set order=fifo
fq -q other schedule remove tick
gives 1 "schedule 'tick': was not taken: has a priority, which the queue's order ignores" fq import -q other "$work/e"
is 'the other one stays' night "$(fq -q other schedule list --names)"
bad_schedule() { # CODE SAID FILTER
  fq queue remove other --yes; fq queue create other
  jq -c "$3" "$work/e" >"$work/bad"
  gives "$1" "$2" fq import -q other "$work/bad"
}
bad_schedule 1 "schedule 'tick': was not taken: " 'if .name == "tick" then .spec = "30 3 31 2 *" else . end'
bad_schedule 1 "schedule 'night': was not taken: " 'if .name == "night" then .tz = "No/Where" else . end'
bad_schedule 65 "name: '.x' " 'if .name == "tick" then .name = ".x" else . end'
bad_schedule 65 'begun: is missing' 'if .name == "tick" then del(.begun) else . end'
bad_schedule 65 "overlap: 'never' is none that this fq knows" 'if .name == "tick" then .overlap = "never" else . end'
bad_schedule 65 "unknown key 'colour'" 'if .name == "tick" then .colour = 1 else . end'
bad_schedule 65 'tells of 2 schedules, there were 1; some lines are missing' 'select(.name != "tick")'

# What runs is said, and stands there as if it did not.
fresh; fq push x >/dev/null; fq pop --lease 1h >/dev/null
gives 0 "queue 'default': 1 message runs and stands in the export as if it did not" fq export --live
is 'ready' ready "$(jq -r 'select(.type == "message").state' "$work/out")"

# Bad input: the line is named, nothing behind it comes in, what stands before it does.
fresh; fq push a >/dev/null; fq push b >/dev/null; fq push --after 2 c >/dev/null; fq export --live >"$work/e"
try() { # CODE SAID FILTER: the file, changed
  fq queue remove other --yes 2>/dev/null; fq queue create other
  jq -c "$3" "$work/e" >"$work/bad"
  gives "$1" "$2" fq import -q other "$work/bad"
}
try 65 "line 3: unknown key 'colour'; a newer fq may have written it" 'if .id == 2 then .colour = 1 else . end'
is 'what stands before it' 1 "$(fq -q other stats --json | jq .ready)"
try 65 'line 1: was written by a newer fq (format 2, this one reads 1)' 'if .type == "export" then .format = 2 else . end'
try 65 "line 2: type: 'thing' is none that this fq knows" 'if .id == 1 then .type = "thing" else . end'
try 65 'line 1: is not the first line of an export' 'select(.type != "export")'
try 65 'ends before the last line of an export' 'select(.type != "end")'
is 'all but that' '1 ready 2 ready 3 held' "$(states other)"
try 65 'line 4: tells of 3 messages, there were 2' 'select(.id != 1)'
try 65 'line 3: message 3: comes after message 2, which does not stand before it' 'select(.id != 2)'
try 65 'line 2: state: ' 'if .id == 1 then .state = "leased" else . end'
try 65 "line 2: tags: 'a-b' is not a tag's name" 'if .id == 1 then .tags["a-b"] = "x" else . end'
# What an older fq took comes in as it is.
try 0 '' 'if .id == 1 then .tags.k = "a\u0000b" else . end'
is 'a tag with a NUL' '"a\u0000b"' "$(fq -q other show 1 --json | jq -c .tags.k)"
try 0 '' 'if .id == 1 then .tags_base64 = {k: "YQD/"} else . end'
is 'and one that is no text' 'YQD/' "$(fq -q other export --live | jq -r 'select(.id == 1).tags_base64.k')"
before=$(date +%s)
try 0 '' 'if .id == 1 then del(.pushed_at) else . end'
is 'one of which no push is known was pushed now' true "$(fq -q other show 1 --json | jq --argjson before "$before" '.pushed_at | sub("[.].*"; "Z") | fromdate >= $before')"
try 65 'line 2: since: is missing' 'if .id == 1 then .state = "dead" | del(.since) else . end'
try 65 'line 2: payload_base64: is not base64' 'if .id == 1 then .payload_base64 = "?" | del(.payload) else . end'
try 65 'line 2: payload: does not go with payload_base64' 'if .id == 1 then .payload_base64 = "YQ==" else . end'
try 65 'line 2: tenant' 'if .id == 1 then .tenant = "a//b" else . end'
try 65 'line 2: attempts: must be a number of at most 65535' 'if .id == 1 then .attempts = 70000 else . end'
try 65 'line 2: message 1: has 1 steps, before it stand others' 'if .id == 1 then .steps = 1 else . end'
try 65 "line 2: key: 'colour' is no setting that this fq knows" \
  'if .id == 1 then {type: "setting", key: "colour", value: "1"} else . end'
{ head -n 2 "$work/e"; echo '{"type":'; } >"$work/bad"
gives 65 'line 3: ' fq import -q other "$work/bad"
gives 65 'no_such_file' fq import -q other "$work/no_such_file"
# What is no export makes no queue, and no spool either.
echo '{"payload":"x"}' >"$work/none"; : >"$work/empty"
gives 65 'line 1: ' fq import -q made "$work/none"
gives 65 'line 1: is not the first line of an export' fq import -q made <(tail -n +2 "$work/e")
gives 65 'is empty, and no export' fq import -q made "$work/empty"
is 'none was made' 0 "$(fq queue list | grep -c made)"
gives 65 'is empty' env FQ_SPOOL="$work/no_spool" "$FQ" import "$work/empty"
is 'nor a spool' no "$([ -e "$work/no_spool" ] && echo yes || echo no)"
gives 64 'is /dev/null, so it is not read unasked' fq import -q other
gives 64 'is one file, 2 were given' fq import "$work/e" "$work/e"
gives 64 'takes no operands' fq export x
gives 1 "queue 'nowhere': there is none" fq export -q nowhere

# A queue that takes some and not others: each that stays out is named, and so is what came after it.
fresh; fq queue create; fq queue set order=key; fq push --key 5 k >/dev/null; fq push --after 1 d >/dev/null; fq push plain >/dev/null
fq queue set order=; fq export --live >"$work/e"
fq queue create other
gives 1 "message 1: has a sort key, which the order of queue 'other' ignores; it was not taken" fq import -q other "$work/e"
is 'named' "fq: message 2: comes after message 1, which was not taken; it was not taken" "$(sed -n 2p "$work/err")"
is 'the others are in' plain "$(fq -q other peek --json | jq -r .payload)"
fq -q other queue set order=key
gives 0 '' fq import -q other "$work/e"
is 'then all are' '1 2 3' "$(cut -d' ' -f1 "$work/out" | xargs)"
fresh; fq push --unique u one >/dev/null; fq export --live >"$work/e"; fq push -q other --unique u two >/dev/null
gives 1 "its unique key is in use in queue 'other'" fq import -q other "$work/e"

# A full queue in the middle, a quota, a queue that drains: said, and the same goes on.
fresh; for i in 1 2 3 4 5; do fq push -t t "$i"; done >/dev/null; fq export --live >"$work/e"
fq queue create other; fq queue set other max_messages=3
gives 75 'message 4 and those behind it were not taken; the same import goes on with them' fq import -q other "$work/e"
is 'what fits is in' '1 2 3' "$(fq -q other peek --json | jq -r .payload | xargs)"
fq -q other pop >/dev/null; fq queue set other max_messages=; fq tenant set -q other t max_messages=3
gives 75 "tenant 't': has 3 messages, the limit is 3" fq import -q other "$work/e"
fq tenant set -q other t max_messages=; fq queue drain other
gives 75 "is draining and takes no more" fq import -q other "$work/e"
fq queue resume other
gives 0 '' fq import -q other "$work/e"
is 'none twice' '2 3 4 5' "$(fq -q other peek --json | jq -r .payload | xargs)"
fq queue drain; fq export >"$work/e" 2>/dev/null; fq queue remove other --yes; fq queue create other
gives 0 '' fq import -q other "$work/e"
is 'that it drains is set last' '5 false true' \
  "$(fq -q other stats --json | jq .ready) $(fq queue list --json | jq -r 'select(.queue == "other") | "\(.paused) \(.draining)"')"

# The second export of a queue finds it paused by the first one: that is not what was set for the other queue.
fresh; fq push one >/dev/null
fq export >"$work/e" 2>/dev/null; fq import -q other "$work/e" >/dev/null 2>&1
fq push two >/dev/null; fq tenant pause default
gives 0 "queue 'default': is paused, which is not in the export; the queue that takes it in goes on" fq export
cp "$work/out" "$work/e"
gives 0 '' fq import -q other "$work/e"
is 'what is new comes into a queue that goes on, but for the tenant that is paused' '2 false' \
  "$(fq -q other stats --json | jq .ready) $(fq queue list --json | jq -r 'select(.queue == "other").paused')"
gives 1 '' fq -q other pop

# A write that fails: the queue is as it was.
fresh; fq push x >/dev/null
fq export >/dev/full 2>/dev/null; is 'a full disk' 74 $?
is 'not paused' false "$(fq queue list --json | jq .paused)"

# Nor does a signal leave it paused, whether its reader reads or not, or it writes a file.
head -c 300000 /dev/zero | tr '\0' l | fq push >/dev/null
mkfifo "$work/reader"
stopped_by() { # SIGNAL: who exports to a reader that does not read
  env --default-signal="$1" "$FQ" export >"$work/reader" 2>"$work/err" & exporter=$!
  exec 8<"$work/reader"
  await eval '[ "$(fq queue list --json | jq .paused)" = true ]'
  kill -s "$1" "$exporter"; wait "$exporter"
  echo "$? $(cat "$work/err") $(fq queue list --json | jq .paused)"
  exec 8<&-
}
is 'Ctrl-C' '130  false' "$(stopped_by INT)"
is 'TERM' '143  false' "$(stopped_by TERM)"
is 'HUP' '129  false' "$(stopped_by HUP)"
FQ_STOP_AT=change.committed:1 "$FQ" export >"$work/file" 2>"$work/err" & exporter=$!
await eval 'grep -q "^State:.T" "/proc/$exporter/status"'
kill -TERM "$exporter"; kill -CONT "$exporter"; wait "$exporter"
is 'one that writes a file' '143  false' "$? $(cat "$work/err") $(fq queue list --json | jq .paused)"

# Dead letters that each name the next, more than a small stack has room for.
fresh; cd "$work" || exit 1
echo 300 | fq push >/dev/null
PATH=$(dirname "$FQ"):$PATH fq worker --drain --attempts 1 -- sh -c 'read -r n; [ "$n" = 0 ] || echo $((n - 1)) | fq step n --push -; exit 65' >/dev/null 2>&1
is 'with a small stack' 0 "$(ulimit -s 256; fq export >"$work/e" 2>/dev/null; echo $?)"
is 'each behind the one that it names' "$(seq 0 300 | xargs)" "$(jq -r 'select(.type == "message").payload' "$work/e" | xargs)"

# Killed anywhere, and by a storm: repeated until it is through, each is there once with all its steps.
fresh; cd "$work" || exit 1
for i in 1 2 3; do fq push -t "p$i" --shell 'fq step a -- echo a; fq step b -- echo b; fq step z --sleep 1h'; done >/dev/null
for i in 1 2 3; do PATH=$(dirname "$FQ"):$PATH fq worker --once; done >/dev/null 2>&1
head -c 100000 /dev/zero | tr '\0' l | fq push >/dev/null
fq push --after 4 d >/dev/null
fq export 2>/dev/null >"$work/e"
whole() {
  gives 0 '' fq import -q other "$work/e" --json
  fq export -q other --live >"$work/e2"
  is "$1: each once, with its steps" "$(told "$work/e" | jq -c 'del(.since)')" \
    "$(told "$work/e2" | jq -c --argjson there "$(jq -s 'map({(.to_id | tostring): .id}) | add' "$work/out")" \
      'def there: $there[tostring]; if .id then .id |= there else . end | if .after then .after |= map(there) else . end | del(.since)')"
  gives 0 '' fq check -q other
}
for point in move.arrived:1 move.arrived:3 import.arrived:1 import.arrived:2 import.stepped:1 import.stepped:2 edit.appended:1 \
  edit.committed:2 import.durable:1 change.committed:2 change.committed:3 change.committed:5 secret.made:1; do
  fq queue remove other --yes 2>/dev/null; fq queue create other
  killed_at $point fq import -q other "$work/e"
  [ "$point" = import.stepped:1 ] && rm "$FQ_SPOOL/queues/other/segment"
  whole "$point"
done
fq queue remove other --yes; fq queue create other
us=$(took fq import -q other "$work/e")
fq queue remove other --yes; fq queue create other
killed=0
for ((i = 1; i <= 40; ++i)); do
  killed_within "$us" "$FQ" import -q other "$work/e" && killed=$((killed + 1))
done
[ $killed -gt 0 ] || fail 'no import was killed'
whole storm
finish
