#!/usr/bin/env bash
# explain_test - what comes next and why, and why a message or a tenant waits.
. "$(dirname "$0")/lib.sh"

# said ID: what it waits for.
said() { fq explain "$1" | sed -n 's/^waits  *//p'; }
place() { fq explain "$1" | sed -n 's/^place  *//p'; }
# What is read is the policy.
follow() {
  if here; then cat >"$FQ_SPOOL/fq.toml"; return; fi
  cat >"$work/policy" && fq config load "$work/policy"
}

gives 1 'there is none' fq explain
fq queue create default
gives 1 '' fq explain
is 'that nothing is ready is an answer' "nothing is ready in queue 'default'" "$(cat "$work/out")"
gives 1 '' fq explain --json
gives 1 'message 7: not in queue' fq explain 7
gives 1 "tenant 'nobody': nothing of it" fq explain -t nobody
gives 64 'not both' fq explain 7 -t acme
gives 64 'one message id' fq explain 7 8
gives 64 '--next' fq explain --next 0
gives 64 '--next' fq explain --next 513
gives 64 'not a message id' fq explain seven

for tenant in acme/a globex; do
  for payload in 1 2 3; do fq push -t $tenant $payload >/dev/null; done
done
is 'the first waits for nobody' 'next to be served; waiting for a worker' "$(said 1)"
is 'the others wait for their turn' 'only for its turn' "$(said 2)"
is 'a place' '3rd to be served; 1 of its tenant before it' "$(place 2)"
is 'what comes next is what peek shows' "$(fq peek --json | jq .id)" "$(fq explain --json | jq .id)"
is 'as many as asked for' '1 4 ' "$(fq explain --next 2 --json | jq -j '"\(.id) "')"
is 'the bound' 'between two turns of globex each other has 1 at most' \
  "$(fq explain 4 | sed -n 's/^bound  *//p')"
fq tenant set globex weight=2.5
is 'the bound follows the weight' '3' "$(fq explain 1 --json | jq '.bounds[] | select(.tenant == "acme").turns')"

fq tenant pause globex
is 'paused' 'globex is paused' "$(said 4)"
is 'and what changes it' 'fq tenant resume globex' "$(fq explain 4 | sed -n 's/^change  *//p')"
is 'what is told to be typed helps' 'only for its turn' "$(eval "$(fq explain 4 --json | jq -r '.reasons[0].change')"; said 5)"
fq queue pause
is 'all that is in the way' 'the queue is paused' "$(said 1)"
fq queue resume
fq tenant set acme concurrency=1
fq pop --lease 1h -t acme >/dev/null
is 'a limit with what runs' 'acme: 1 of 1 running: 1' "$(said 2)"
is 'of a lease its end' 1 "$(said 1 | grep -c '^leased until 20')"
is 'who is blocked is listed' '["acme/a",["concurrency"]]' \
  "$(fq explain --json | jq -c 'select(.about == "blocked") | [.tenant, [.reasons[].reason]]')"
fq tenant limit globex --for 1h
is 'a limit of time' 1 "$(said 5 | grep -c 'globex starts nothing until 20.*(in ')"
is 'nothing can be served' 'next: nothing can be served now' "$(fq explain | head -n 1)"
is 'of a tenant' '{"ready":2,"leased":1}' "$(fq explain -t acme --json | jq -c 'select(.about == "tenant") | {ready, leased}')"

# A rate, a delay, a dependency, a dead letter, an end.
fq push -t slow 1 >/dev/null
fq push -t slow 2 >/dev/null
fq tenant set slow rate=1/h
fq pop -t slow >/dev/null
is 'a rate' 1 "$(said 8 | grep -c '^slow: one each 1h, the next at 20')"
later=$(fq push --delay 1h x)
is 'a delay' 1 "$(said "$later" | grep -c '^due at 20')"
held=$(fq push --after "$later" x)
is 'a dependency' "comes after $later; fq explain $later tells what keeps it" "$(said "$held")"
fq push -t dead x >/dev/null
receipt=$(fq pop --lease 1m -t dead | cut -f1)
fq bury "$receipt"
is 'a dead letter' 1 "$(said 11 | grep -c '^buried at 20.*; fq show 11 tells why$')"
is 'what has ended' 1 "$(said 7 | grep -c '^acked at 20')"

# Names are harmless on a terminal and whole in JSON.
evil=$'e\xe2\x80\xaevil \xf0\x9f\x98\x80'
fq push -t "$evil" x >/dev/null
fq tenant pause "$evil"
is 'no escapes for people' 0 "$(fq explain 12 | LC_ALL=C grep -c $'\xe2\x80\xae')"
is 'a name as it is in JSON' "$evil" "$(fq explain 12 --json | jq -r .tenant)"
# What is told to be typed can be, whatever the name and wherever the spool; no name does anything else.
hostile="a'\$(touch $work/owned)'"
for name in "$hostile" -dash 'a b' a=b user+tag "it's" -q é 日本語 '*' '~' '#x'; do
  id=$(fq push -q names --tenant="$name" x)
  fq tenant pause -q names --tenant="$name"
  eval "$(fq explain -q names "$id" --json | jq -r '.reasons[0].change')"
  is "what is told of $name helps" '[]' "$(fq explain -q names "$id" --json | jq -c .reasons)"
done
is 'nothing else was done' 'no' "$([ -e "$work/owned" ] && echo yes || echo no)"
evil=$'e\u202evil'
id=$(fq push -q names --tenant="$evil" x)
fq tenant pause -q names --tenant="$evil"
is 'no command with a name that steers a terminal' null "$(fq explain -q names "$id" --json | jq -r '.reasons[0].change')"
mkdir "$work/other place"
there() { FQ_SPOOL=/nowhere "$FQ" "$1" --spool "$work/other place" "${@:2}"; }
there push x >/dev/null
there push --delay 1h x >/dev/null
is 'a command for the right spool' "fq kick 2 --spool='$work/other place'" "$(there explain 2 --json | jq -r '.reasons[0].change')"
id=$(fq push -q names -t plain x)
fq tenant pause -q names plain
is 'a command for the right queue' 'fq tenant resume plain -q names' "$(fq explain -q names "$id" --json | jq -r '.reasons[0].change')"

is 'a held one of another queue: where to ask for what keeps it' 1 \
  "$(first=$(fq push -q names -t y y); fq explain -q names "$(fq push -q names -t y --after "$first" x)" | grep -c "; fq explain $first -q names tells what keeps it")"

# What those before it use up.
for payload in 1 2 3; do fq push -q used -t slow $payload >/dev/null; fq push -q used -t free $payload >/dev/null; done
fq tenant set -q used slow rate=1/h
is 'of those that come next' '1 false,2 false,4 false,6 false,3 true,5 true' \
  "$(fq explain -q used --json | jq -r '"\(.id) \(.limited)"' | paste -sd,)"
is 'and in words' 2 "$(fq explain -q used | grep -c 'its turn, when a limit allows it')"
is 'of one' '6th to be served; 2 of its tenant before it; when a limit allows it' \
  "$(fq explain -q used 5 | sed -n 's/^place  *//p')"
is 'who can start does not wait for it' '4th to be served; 2 of its tenant before it' "$(fq explain -q used 6 | sed -n 's/^place  *//p')"
is 'of the first of all' '1st to be served; 0 of its tenant before it' "$(fq explain -q used 1 | sed -n 's/^place  *//p')"
printf '[queue.used.tenant."*"]\npool = "p"\n[queue.used.pool.p]\nconcurrency = 2\n' | follow
is 'a pool is used up by others too' '1 2' "$(fq explain -q used --json | jq -r 'select(.limited == false).id' | paste -sd' ')"
follow </dev/null
waiting=$(fq push -q used -t gone --after 6 x)
fq tenant pause -q used gone
is 'a held one is told all that is in its way' 'held paused' "$(fq explain -q used "$waiting" --json | jq -r '.reasons[].reason' | paste -sd' ')"

# Two limits, each with what runs below it.
for tenant in big/a big/b big/b big/a; do fq push -q two -t $tenant x >/dev/null; done
fq tenant set -q two big concurrency=3
fq tenant set -q two big/a concurrency=1
fq pop -q two --lease 1m -n 3 >/dev/null
is 'each with its own' 'big/a: 1 of 1 running: 1;big: 3 of 3 running: 1, 2, 3' \
  "$(fq explain -q two 4 | sed -n 's/^waits  *//p' | paste -sd';')"
is 'who is blocked is listed with what runs' '["big","3 of 3 running: 1, 2, 3"]' \
  "$(fq explain -q two --json | jq -c 'select(.about == "blocked") | .reasons[-1] | [.tenant, (.text | sub("^big: "; ""))]')"
follow <<'EOF'
[queue.shared.pool.mail]
concurrency = 2
[queue.shared.tenant.a]
pool = "mail"
[queue.shared.tenant."b/x"]
pool = "mail"
EOF
for tenant in a b/x c a b/x; do fq push -q shared -t $tenant x >/dev/null; done
fq pop -q shared --lease 1h -n 3 >/dev/null
is 'of a pool what runs in any of its members' 'pool mail (in fq.toml): 2 of 2 running: 1, 2' "$(fq explain -q shared 4 | sed -n 's/^waits  *//p')"
id=$(fq push -q ttl --ttl 1ms x)
until fq explain -q ttl "$id" | grep -q '^state  *dead'; do :; done
is 'a message that expired' 1 "$(fq explain -q ttl "$id" | grep -c '^waits  *its time to live ran out at 20')"
fq explain --next 512 | head -n 1 >/dev/null
is 'a reader that leaves' '0' "$?"

# Who works here, and about when.
workers() { fq explain -q "$1" "$2" | sed -n 's/^workers  *//p'; }
about() { fq explain -q "$1" "$2" | sed -n 's/^about  *//p'; }
fq push -q crew one >/dev/null
is 'nobody' 'no worker attached' "$(workers crew 1)"
is 'and no estimate' '' "$(about crew 1)"
is 'in JSON' '0 0 0 null' "$(fq explain -q crew 1 --json | jq -r '"\(.workers) \(.slots) \(.busy) \(.estimated_start)"')"
is 'of all that is next' 'workers: no worker attached' "$(fq explain -q crew | tail -n 1)"
is 'of a tenant' 'workers: no worker attached' "$(fq explain -q crew -t default | tail -n 1)"
mkfifo "$work/hold"
# A job with a payload of "wait" is at work until hold is opened.
"$FQ" worker -q crew -q other -j 2 -- sh -c 'read -r line || :; [ "$line" != wait ] || read -r x <"$0"' "$work/hold" & first=$!
"$FQ" worker -q crew -j 2 -- sh -c 'read -r line || :; [ "$line" != wait ] || read -r x <"$0"' "$work/hold" & second=$!
attached() { [ "$(fq workers --json | jq -s length)" = 2 ]; }
await attached
gives 0 '' fq wait -q crew 1
all_run() { [ "$(fq jobs -q crew --json | jq -r 'select(.state == "leased").id' | wc -l)" = "$1" ]; }
other_runs() { [ "$(fq peek -q other --state leased --json | jq -s length)" = 1 ]; }
fq push -q other wait >/dev/null
await other_runs
for _ in 1 2 3; do fq push -q crew wait >/dev/null; done
await all_run 3
fq push -q crew last >/dev/null
is 'what another queue keeps busy is busy' '2 workers, all 4 slots busy' "$(workers crew 5)"
is 'of the other queue' '1 worker, all 2 slots busy' "$(fq push -q other x >/dev/null; workers other 2)"
is 'too few runs for an estimate' '' "$(about crew 5)"
exec 5<>"$work/hold"; printf 'x\nx\nx\nx\n' >&5
gives 0 '' fq wait -q crew 2 3 4 5
# What ran so far tells: 4 slots, all of them busy.
for _ in 1 2 3 4; do fq push -q crew wait >/dev/null; done
await all_run 4
fq push -q crew next >/dev/null; fq push -q crew 'then' >/dev/null
is 'an estimate, and its ground' 1 "$(about crew 11 | grep -cE '^(20.* \([^)]*\)|now), an estimate: 1 before it, 4 slots, .* a run$')"
is 'a time in JSON' 1 "$(fq explain -q crew 11 --json | jq -r .estimated_start | grep -c '^20.*Z$')"
is 'later for a later one' yes "$(fq explain -q crew --json | jq -rs '[.[].estimated_start] as [$a, $b] | if $a <= $b then "yes" else "\($a) \($b)" end')"
fq queue pause -q crew
is 'nobody knows the end of a pause' '' "$(about crew 11)"
is 'but who works' '2 workers, all 4 slots busy' "$(workers crew 11)"
fq queue resume -q crew
printf 'x\nx\nx\nx\n' >&5
gives 0 '' fq wait -q crew 10 11
fq queue pause -q crew; fq push -q crew x >/dev/null
is 'free ones' '2 workers, 0 of 4 slots busy' "$(workers crew 12)"
# A stopped worker is there, and starts nothing.
kill -STOP $second
await eval 'grep -q "^State:.*stopped" /proc/$second/status'
# Of one at a server its guard says so, in its own time.
are_told() { [ "$(workers crew 12)" = "$1" ]; }
await are_told '2 workers (1 stopped), 0 of 2 slots busy'
kill -STOP $first
await eval 'grep -q "^State:.*stopped" /proc/$first/status'
await are_told '2 workers, all stopped'
is 'and in JSON' '2 0 0 null' "$(fq explain -q crew 12 --json | jq -r '"\(.workers) \(.slots) \(.busy) \(.estimated_start)"')"
fq queue resume -q crew
is 'no estimate rests on one' '' "$(about crew 12)"
fq queue pause -q crew
kill -CONT $first $second
await are_told '2 workers, 0 of 4 slots busy'
kill $first; wait $first
is 'who has left is not told' '1 worker, 0 of 2 slots busy' "$(workers crew 12)"
fq tenant set -q crew slow rate=1/h burst=1
fq queue resume -q crew
for _ in 1 2 3; do fq push -q crew -t slow x >/dev/null; done
gives 0 '' fq wait -q crew 13
is 'what its rate tells' 1 "$(about crew 15 | grep -c 'an estimate: 1 before it in its tenant, by its rate')"
is 'an hour behind the one before' 3600 "$(at() { fq explain -q crew "$1" --json | jq -r '.estimated_start | sub("\\.[0-9]+"; "") | fromdateiso8601'; }; echo $(($(at 15) - $(at 14))))"
fq tenant set -q crew slow concurrency=1
kill $second; wait $second
is 'without a worker none' '' "$(about crew 15)"

finish
