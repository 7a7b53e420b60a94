#!/bin/bash
# redis_policy_test - fq.toml of several queues on a server: each is asked before it is kept, and what one of them does not
# hold is nowhere told as what holds.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s"
fq queue create a --shards 2
fq queue create b
held() { fq config show -q "$1" --json 2>/dev/null | jq -r --arg key "$2" 'select(.key == $key and .tenant == null) | "\(.value) \(.source)"'; }

printf '[queue."*"]\nattempts = 3\n' >"$work/policy"
gives 0 '' fq config load "$work/policy"
printf '[queue.a]\nscope = "queue"\n[queue.b]\nattempts = 7\n' >"$work/ordered"
gives 78 "scope = queue: needs a queue of one shard, this one has more (in queue 'a')" fq config load "$work/ordered"
for i in {1..1001}; do printf '[queue.b.tenant."%s-*"]\nweight = 2\n' "$i"; done >"$work/many"
gives 78 "has 1001 patterns of tenants for one queue; on a server there are 1,000 at most (in queue 'b')" fq config load "$work/many"
is "nothing is kept of what one cannot hold" same "$(fq config get | cmp -s - "$work/policy" && echo same)"
is "and nothing of it holds" "3 file 3 file" "$(held a attempts) $(held b attempts)"
gives 0 '' fq config check

# Another fq kept it.
redis-cli -s "$work/s" hset fq1:fq:policy text "$(cat "$work/ordered")" version 9-x >"$work/made"
gives 78 "(in queue 'a')" fq config check
gives 69 '' fq doctor --json
is "doctor says so" "fault 1" "$(jq -r 'select(.about == "fq.toml") | .health' "$work/out") $(grep -c "in queue 'a'" "$work/out")"
gives 78 'scope = queue' fq config show -q a
is "what holds is shown" "3 last_good tenant last_good 7 file" "$(held a attempts) $(held a scope) $(held b attempts)"
sed -i 's/queue.a/queue.c/' "$work/ordered"
gives 0 '' fq config load "$work/ordered"
gives 78 "scope = queue: needs a queue of one shard (in queue 'c')" fq queue create c --shards 2
gives 0 '' fq queue create c
is "of one shard it can be made" "queue file" "$(held c scope)"

# A server whose memory is full takes one that is shorter.
{ cat "$work/policy"; head -c 100000 /dev/zero | tr '\0' '#'; } >"$work/long"
gives 0 '' fq config load "$work/long"
is "its text is kept" same "$(fq config get | cmp -s - "$work/long" && echo same)"
redis-cli -s "$work/s" config set maxmemory 1 >"$work/made"
printf '#' >>"$work/long"
gives 75 'memory is full' fq config load "$work/long"
gives 75 "by now, not '0'" fq config load --if-version 0 "$work/policy"
gives 0 '' fq config load "$work/policy"
is "and it holds" "3 file 3 file" "$(held a attempts) $(held b attempts)"
gives 0 '' fq config load /dev/null
is "until there is none" "5 default 5 default" "$(held a attempts) $(held b attempts)"
redis-cli -s "$work/s" config set maxmemory 0 >"$work/made"
finish
