#!/usr/bin/env bash
# simulate_test - what happened is played again, under another policy and number of slots; bad input; and what is
# predicted is held against what was measured.
. "$(dirname "$0")/lib.sh"
unset HOME XDG_STATE_HOME

# simulate ARGUMENTS...: its JSON; what it says is in $work/said.
simulate() { fq simulate --json "$@" 2>"$work/said"; }
of_all() { jq -c "select(.tenant == null) | $1"; }
# event WORD ID TENANT SECOND [MORE]: a line of a log.
event() {
  printf '{"event":"%s","at":"2026-11-02T08:00:%06.3fZ","queue":"default","id":%s,"tenant":"%s"%s}\n' "$1" "$4" "$2" "$3" "${5:-}"
}
# Three of a whale, and then one of a minnow; one slot, a second each.
story() {
  for n in 1 2 3; do event pushed $n whale 0 ',"bytes":1,"priority":0'; done
  event pushed 4 minnow 0.5
  for n in 1 2 3; do event leased $n whale $((n - 1)); event acked $n whale $n; done
  event leased 4 minnow 3; event acked 4 minnow 4
}
story >"$work/story"

# What happened, and what a turn for each makes of it. No spool is there, and none is made.
is 'what happened' '[1,2500,0.25]' "$(simulate "$work/story" | jq -c 'select(.tenant == "minnow") | .before | [.count, .wait_ms.max, .share]')"
is 'what turns make of it' '[1,1500,0.25]' "$(simulate "$work/story" | jq -c 'select(.tenant == "minnow") | .after | [.count, .wait_ms.max, .share]')"
is 'from when to when' 1 "$(TZ=UTC fq simulate "$work/story" 2>&1 >/dev/null | grep -c 'events from 2026-11-02T08:00:00.*to 2026-11-02T08:00:04')"
is 'what it assumes of slots and runs' 1 "$(grep -c '1 slot (as many as ran at once).*a run takes as long as it did, however many run at once' "$work/said")"
is 'by standard input' "$(simulate "$work/story")" "$(simulate - <"$work/story")"
is 'with more slots' 1000 "$(simulate -j 2 "$work/story" | of_all '.after.wait_ms.max')"
printf '[queue.default.tenant.whale]\nconcurrency = 1\nrate = "1/min"\n' >"$work/policy"
is 'under another policy' 120000 "$(simulate --policy "$work/policy" "$work/story" | of_all '.after.wait_ms.max')"
is 'what happened does not change with it' 2500 "$(simulate --policy "$work/policy" -j 9 "$work/story" | of_all '.before.wait_ms.max')"
{
  event pushed 1 early 0; event leased 1 early 1; event acked 1 early 2
  event pushed 2 late 2.5; event leased 2 late 3; event acked 2 late 4
} >"$work/both"
is 'from the start' '[2,2]' "$(simulate "$work/both" | of_all '[.before.count, .after.count]')"
is 'since a time' '[1,1]' "$(simulate --since 2026-11-02T08:00:02Z "$work/both" | of_all '[.before.count, .after.count]')"
is 'no spool was made' no "$([ -e "$FQ_SPOOL" ] && echo yes || echo no)"
is 'keys' 'tenant before after|count wait_ms run_s share entitled jain refused left|p50 p99 max' \
  "$(simulate "$work/story" | of_all '[., .before, .before.wait_ms] | map(keys_unsorted | join(" ")) | join("|")' | tr -d '"')"
is 'a row a tenant, before and after, and two for all' 7 "$(fq simulate "$work/story" 2>/dev/null | wc -l)"
{ event pushed 1 "$(printf 'e\\u001b[31m\\u202e')" 1; event leased 1 x 2; event acked 1 x 3; } >"$work/evil"
gives 65 'line 1: tenant' fq simulate "$work/evil"
is 'it is escaped where it is named' 0 "$(LC_ALL=C grep -c $'\e' "$work/err")"

# Nor need there be a place for one.
mkdir "$work/anywhere"; cp "$FQ" "$work/anywhere/fq"; chmod 755 "$work" "$work/anywhere" "$work/anywhere/fq"
anybody() { setpriv --reuid 65534 --regid 65534 --clear-groups env -i "$work/anywhere/fq" "$@"; }
if anybody --version >/dev/null 2>&1; then
  is 'without a place for a spool' "$(simulate "$work/story")" "$(anybody simulate --json - <"$work/story" 2>/dev/null)"
  gives 0 'assumed: 1 slot' anybody simulate --load a:1/s,run=1s
  gives 78 'HOME: is not set' anybody simulate
else
  left_out "becoming somebody else needs root"
fi

# A log that was followed anew says twice what was last; a key of a later fq is passed over.
{ cat "$work/story"; tail -n 3 "$work/story"; event leaped 9 whale 4; event pushed 5 whale 4 ',"colour":"red"'; } >"$work/twice"
is 'what is told twice counts once' "$(simulate "$work/story" | of_all .before.run_s)" "$(simulate "$work/twice" | of_all .before.run_s)"
is 'what had not started by the end is said' 1 "$(grep -c '1 message had not started by then' "$work/said")"
sed 1,2d "$work/story" >"$work/tail"
is 'of what was pushed before no wait is counted' 2 "$(simulate "$work/tail" | of_all .after.count)"
is 'and it is said' 1 "$(grep -c 'the push of 2 messages lies before that' "$work/said")"

# Bad input.
: >"$work/empty"
gives 1 'no events to replay' fq simulate "$work/empty"
gives 65 "line 2: is not an event" fq simulate <(event pushed 1 a 0; echo '{"id":1}')
gives 65 'line 2: ' fq simulate <(event pushed 1 a 0; echo 'pushed 2 a')
gives 65 'line 1: ' fq simulate <(echo)
gives 65 'line 1: at: must be a time' fq simulate <(echo '{"event":"pushed","at":"noon"}')
gives 65 'id: must be a number' fq simulate <(event pushed '"x"' a 0)
gives 65 "id: '1.5'" fq simulate <(event pushed 1.5 a 0)
gives 65 'at: must be a time' fq simulate <(echo '{"event":"pushed","at":"+5m"}')
gives 65 "set: must be settings of fq.toml, which 'colour' is not" fq simulate <(event set null a 0 ',"set":{"colour":"red"}')
gives 65 'weight: must be' fq simulate <(event set null a 0 ',"set":{"weight":0}')
gives 65 'line 1: is too long' fq simulate <(head -c 3000000 /dev/zero | tr '\0' x)
gives 65 "line 2: is of queue 'b', the first of 'default'; choose one by -q" fq simulate <(event pushed 1 a 0; event pushed 1 a 0 | sed 's/default/b/')
is 'the queue that is chosen' 1 "$({ event pushed 1 a 0; story | sed 's/"default"/"b"/'; } | simulate -q default - | of_all '.after.count')"
gives 65 'nosuch' fq simulate "$work/nosuch"
gives 78 'nosuch' fq simulate --policy "$work/nosuch" "$work/story"
printf '[queue.default]\nwait = 1\n' >"$work/bad"
gives 78 "bad:2" fq simulate --policy "$work/bad" "$work/story"
gives 64 'takes one FILE' fq simulate a b
gives 64 '-j' fq simulate -j 0 "$work/story"
gives 64 '--for: goes with --load only' fq simulate --for 1h "$work/story"
gives 64 'leave FILE out' fq simulate --load a:1/s,run=1s "$work/story"
gives 64 'leave --since out' fq simulate --load a:1/s,run=1s --since 1h
for spec in a a:1/s a:1/s,run=1 a:1/s,run=1s,weight=0 a:1/s,run=1s,colour=1 a:0/s,run=1s a:x,run=1s :1/s,run=1s a:unlimited,run=1s ''; do
  gives 64 '--load' fq simulate --load="$spec"
done
gives 64 'the limit is 10000000; simulate a shorter time' fq simulate --load a:100000/s,run=1s
gives 64 'no message comes' fq simulate --load a:1/day,run=1s --for 1s
gives 1 'there is none' fq simulate

# An hour of it, where nothing else is said.
is 'for an hour' true "$(simulate --load a:1/s,run=1ms | of_all '.after.count > 3300 and .after.count < 3900')"

# It may take long, and is told to end: at once, with nothing printed.
told_to_end() { # SIGNAL
  : >"$work/err"
  env --default-signal="$1" "$FQ" simulate --load a:1000/s,run=1ms >"$work/out" 2>"$work/err" & simulator=$!
  await grep -q assumed "$work/err"
  kill -s "$1" "$simulator"; wait "$simulator"
  echo "$? $(cat "$work/out")"
}
is 'Ctrl-C' '130 ' "$(told_to_end INT)"
is 'TERM' '143 ' "$(told_to_end TERM)"

# An invented load; the policy of the spool holds, and no queue is needed.
is 'half the slots that it takes' true "$(simulate --load a:2/s,run=1s --for 10m | of_all '.after.wait_ms.p50 > 60000 and .before == null')"
is 'and as many as it takes' true "$(simulate --load a:2/s,run=1s --for 10m -j 20 | of_all '.after.wait_ms.max == 0')"
is 'weights of the load' true "$(simulate --load a:9/s,run=1s,weight=4 --load b:9/s,run=1s --for 10m | jq -s '.[0].after.share > 0.78 and .[0].after.share < 0.82')"
mkdir -p "$FQ_SPOOL"; chmod 700 "$FQ_SPOOL"
printf '[queue.default.tenant.a]\nweight = 4\n' >"$FQ_SPOOL/fq.toml"
is 'weights of the spool' true "$(simulate --load a:9/s,run=1s --load b:9/s,run=1s --for 10m | jq -s '.[0].after.share > 0.78 and .[0].after.share < 0.82')"
fresh

# The queue's own events, settings among them. An empty queue has none; of a damaged journal the rest is played.
fq queue create default
gives 1 'no events to replay' fq simulate
seq 30 | fq push -t whale --lines >/dev/null; fq push -t minnow x >/dev/null
fq tenant pause minnow
fq pop -n 10 >/dev/null
fq tenant resume minnow
fq pop -n 30 >/dev/null
is 'all of them' 31 "$(simulate | of_all .after.count)"
is 'as its log tells them' "$(simulate)" "$(fq log --json | simulate -)"
before=$(fq log --json | wc -l)
is 'and nothing was changed' "$before" "$(fq log --json | wc -l)"
journal=$FQ_SPOOL/queues/default/journal/1.fqj
at=$(grep -obUa minnow "$journal" | head -n 1 | cut -d: -f1)
printf '?' | dd of="$journal" bs=1 seek="$at" conv=notrunc status=none
rm "$FQ_SPOOL/queues/default/segment"
is 'a damaged journal: what is left is played' 30 "$(simulate | jq -r 'select(.tenant == "whale") | .after.count')"
is 'and what is lost is said' yes "$(grep -q '1.fqj.*damaged' "$work/said" && echo yes)"
fresh

# What was set at run time before the events that are replayed holds from their beginning, and under an invented load
# what is set now.
fq queue create default
fq tenant set a weight=1; fq tenant set a weight=9; fq tenant pause b; fq tenant resume b
sleep 0.01; since=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
gives 1 'no events to replay' fq simulate --since "$since"
for tenant in a b; do seq 200 | fq push -t "$tenant" --lines; done >/dev/null
fq pop -n 200 >/dev/null
all=$(simulate); fq log --json >"$work/events"
is 'the weight of nine' true "$(jq -s '.[0].before.entitled > 0.85' <<<"$all")"
is 'what was set before --since holds' "$all" "$(simulate --since "$since")"
is 'of a file, too' "$all" "$(simulate --since "$since" "$work/events")"
of_load() { simulate --load a:200/s,run=10ms"$1" --load b:200/s,run=10ms --for 10s | jq -s "$2"; }
is 'under a load, too' true "$(of_load '' '.[0].after.share > 0.85')"
is 'but the weight of the load itself is its own' true "$(of_load ,weight=1 '.[0].after | .share > 0.45 and .share < 0.55')"
fq tenant limit a --for 1h
is 'who starts nothing for an hour does not under it' true "$(of_load '' '.[0].after.share == 0')"
fresh

# The beginning of a journal that was given back.
long=$(head -c 60000 /dev/zero | tr '\0' x)
for _ in $(seq 40); do printf '%s\n' "$long"; done | fq push --lines -t last >/dev/null
fq pop -n 35 --raw >/dev/null; fq compact >/dev/null
is 'what was pushed before that is not counted' true "$(simulate | of_all '.after.count < 35')"
is 'from when the events are, and whose beginning is gone' 2 "$(grep -c 'events from 20\|left out: nothing tells' "$work/said")"
fresh

# What is predicted is what happens, within a fifth (or 15 ms, which is what starting a job may take): three runs of
# real workers, one slot, several, and tenants that come while others run.
predicts() {
  local figures
  figures=$(simulate | of_all '[.before.wait_ms.p50, .after.wait_ms.p50, .before.wait_ms.p99, .after.wait_ms.p99, .before.count]')
  is "$1: $figures" true "$(jq 'def near($was; $is): ($was - $is | fabs) <= ([$was * 0.2, 15] | max);
    near(.[0]; .[1]) and near(.[2]; .[3]) and .[4] >= 24' <<<"$figures")"
}
many() { seq "$2" | fq push -t "$1" --lines >/dev/null; }
many whale 15; many a 5; many b 5
fq worker --drain -- sleep 0.02
predicts 'one slot'
fresh
many whale 40; many a 5; many b 5
fq tenant set whale weight=0.5
fq worker --drain -j 4 -- sleep 0.05
predicts 'four slots and a weight'
fresh
many whale 20
"$FQ" worker -j 2 -- sleep 0.04 & worker=$!
some_acked() { [ "$(fq stats --json | jq .acked)" != 0 ]; }
await some_acked
many a 5; many b 5
fq wait --all
kill "$worker"; wait "$worker"
predicts 'tenants that come while others run'

finish
