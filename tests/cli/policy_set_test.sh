#!/usr/bin/env bash
# policy_set_test - what is set at run time: it holds at once, wins over fq.toml, is told apart, and is taken back.
. "$(dirname "$0")/lib.sh"

row() { fq config show "${@:2}" | tr -s ' ' | grep "^$1 "; }
tenant() { fq tenant list -t "$1" | tr -s ' ' | grep "^$1 "; }

# Queues: pause, drain, resume.
fq push a >/dev/null
gives 0 '' fq queue pause
is 'a paused queue takes pushes' 2 "$(fq push b)"
gives 1 '' fq pop
gives 75 '' fq pop --wait=50ms
is 'it is told' '{"queue":"default","paused":true,"draining":false,"durability":"disk","shards":1,"events_ms":null}' "$(fq queue list --json)"
is 'and where it comes from' 'paused yes set at run time' "$(row paused)"
is 'as JSON' '"value":true,"source":"set"' "$(fq config show --json | grep '"paused"' | grep -o '"value":true,"source":"set"')"
is 'scripts get names alone' default "$(fq queue list)"
is 'a terminal gets the state too' $'default  paused\r' "$(script -qec "$FQ queue list" /dev/null)"
is 'tenants of it are blocked' 'default 1 - queue paused 2 0' "$(tenant default)"
gives 0 '' fq queue pause default
(until [ -s "$work/waiting" ]; do :; done; fq queue resume) &
is 'a pop that waits is woken by resume' a "$(echo 1 >"$work/waiting"; fq pop --wait=20s)"
wait
gives 0 '' fq queue drain
gives 75 'run fq queue resume default to end that' fq push c
gives 75 'draining' fq push --block=5s c
is 'what is there is served' b "$(fq pop)"
is 'draining is told' '{"queue":"default","paused":false,"draining":true,"durability":"disk","shards":1,"events_ms":null}' "$(fq queue list --json)"
gives 0 '' fq queue pause
gives 0 '' fq queue resume
is 'resume ends both' '{"queue":"default","paused":false,"draining":false,"durability":"disk","shards":1,"events_ms":null}' "$(fq queue list --json)"
gives 0 '' fq queue resume
fq queue set sync=lazy
is 'what accepted means is told' lazy "$(fq queue list --json | jq -r .durability)"
fq queue set sync=
is 'pushes are taken again' 1 "$(fq push c | wc -l)"
fq pop >/dev/null

# Tenants: pause and resume, with all below.
for t in acme acme/x acmeX; do fq push -t $t "$t" >/dev/null; done
gives 0 '' fq tenant pause acme
is 'only others are served' acmeX "$(fq pop -n 9)"
is 'it is told' 'acme 1 - paused 1 0' "$(tenant acme | head -1)"
is 'and below it, whose pause it is' 'acme/x 1 - paused at acme 1 0' "$(tenant acme/x)"
gives 0 '' fq tenant pause acme/x
gives 0 '' fq tenant resume acme
is 'a pause of its own stays' acme "$(fq pop -n 9)"
gives 0 '' fq tenant resume acme/x
is 'until it is ended' acme/x "$(fq pop -n 9)"
gives 0 '' fq tenant resume nobody

# set: all keys of queues, each shown and taken back.
keys=(order=key scope=queue fair_by=bytes linger=3s batch=7 sync=lazy attempts=2 backoff=1s..2s timeout=9m lease=7s
  max_messages=1000 max_bytes=10MB max_payload=1KiB concurrency=20 rate=100/min burst=4 retention=7d
  dead_retention=30d command_age=1h lock_timeout=6s)
fq config show --json >"$work/before"
gives 0 '' fq queue set "${keys[@]}"
for pair in "${keys[@]}"; do
  is "$pair is set" "${pair%%=*} ${pair#*=} set at run time" "$(row "${pair%%=*}")"
done
gives 65 'max_payload' fq push "$(head -c 2000 /dev/zero | tr '\0' x)"
is 'a key that is set again' 'attempts 3 set at run time' "$(fq queue set attempts=9 attempts=3; row attempts)"
gives 64 'burst: must be' fq queue set attempts=4 burst=0
is 'all or nothing' 'attempts 3 set at run time' "$(row attempts)"
gives 0 '' fq queue set "${keys[@]/%=*/=}"
is 'all is as before' '' "$(fq config show --json | diff "$work/before" -)"
gives 0 '' fq queue set attempts=

# Over the file, and back to it.
printf '[queue."*"]\nattempts = 4\n[queue."*".tenant."a*"]\nweight = 2\npool = "p"\n[queue."*".pool.p]\nconcurrency = 3\n[queue."*".pool.q]\n' >"$FQ_SPOOL/fq.toml"
gives 0 '' fq queue set attempts=1
is 'it wins over the file' 'attempts 1 set at run time' "$(row attempts)"
sed -i 's/attempts = 4/attempts = 6/' "$FQ_SPOOL/fq.toml"
is 'also when the file has changed' 'attempts 1 set at run time' "$(row attempts)"
fq push -t acme x >/dev/null
fq retry "$(fq pop --lease 1m | cut -f1)"
is 'and it is what happens' 1 "$(fq peek --state dead --json | wc -l)"
fq queue set attempts=
is 'the file holds again' 'attempts 6 fq.toml:2' "$(row attempts)"

# All keys of tenants; names are literal.
fq push -t acme x >/dev/null
gives 0 '' fq tenant set acme weight=0.25 concurrency=3 rate=5/h burst=2 max_messages=9 max_bytes=1MiB pool=q
is 'all of them' 'acme 0.25 max_messages=9 max_bytes=1MiB concurrency=3 rate=5/h burst=2 pool=q - 1 0' "$(tenant acme)"
is 'each set at run time' 7 "$(fq config show -t acme | grep '^acme ' | grep -c 'set at run time')"
is 'below it nothing is inherited' 'acme/x weight 1 default' "$(row 'acme/x weight' -t acme/x)"
is 'but named as above' 'acme rate 5/h set at run time' "$(row 'acme rate' -t acme/x)"
gives 0 '' fq tenant set acme weight= rate= pool=none
is 'some are taken back' 'acme 2 max_messages=9 max_bytes=1MiB concurrency=3 burst=2 pool=none - 1 0' "$(tenant acme)"
gives 0 '' fq tenant set acme concurrency= burst= max_messages= max_bytes= pool=
is 'and all' 'acme 2 pool=p - 1 0' "$(tenant acme)"
for name in '*' 'a*' "it's" 'a b' '-x' 'k=v' '测试'; do
  gives 0 '' fq tenant set --tenant="$name" weight=7
  is "$name is set" 7 "$(fq config show --tenant="$name" --json | grep '"weight"' | grep -o '"value":7,"source":"set"' | tr -dc 0-9)"
done
is 'a star is no pattern' 2 "$(fq config show -t axe --json | grep '"weight"' | grep -o '"value":[0-9.]*' | tr -dc 0-9)"
gives 0 '' fq tenant set 'k=v' weight=8
is 'a tenant with = in its name' 8 "$(fq config show -t 'k=v' --json | grep '"weight"' | grep -o '"value":[0-9.]*' | tr -dc 0-9)"
is 'what was set is listed without messages' 1 "$(fq tenant list --json | grep -c '"tenant":"it'\''s"')"

# A limit that is reached parks its tenant and all below.
for t in busy busy busy/x calm; do fq push -q limits -t $t x >/dev/null; done
gives 0 '' fq tenant set -q limits busy concurrency=1
blocked() { fq tenant list -q limits --json | jq -r '"\(.tenant):\(.blocked // "-")"' | tr '\n' ' '; }
is 'who could be served is not blocked' 'busy:- busy/x:- calm:- ' "$(blocked)"
receipt=$(fq pop -q limits -t busy --lease 1m | cut -f1)
is 'who is at the limit is' 'busy:concurrency busy/x:concurrency calm:- ' "$(blocked)"
is 'in the words of stats' "$(fq stats -q limits --tenants --json | jq -r '"\(.tenant) \(.blocked)"' | sort)" \
  "$(fq tenant list -q limits --json | jq -r '"\(.tenant) \(.blocked)"' | sort)"
fq tenant limit -q limits busy --for 1h; fq tenant pause -q limits busy/x
is 'what somebody has to end goes before, with whose it is and its end' 'busy limited null true, busy/x paused null false, calm null null false' \
  "$(fq tenant list -q limits --json | jq -r '"\(.tenant) \(.blocked) \(.blocked_by) \(.blocked_until != null)"' | paste -sd, | sed 's/,/, /g')"
fq tenant limit -q limits busy --for none; fq tenant resume -q limits busy/x
fq ack -q limits "$receipt"
is 'until a slot is free' 'busy:- busy/x:- calm:- ' "$(blocked)"

# A pool that is full parks who waits for it, and wakes whose turn it is.
printf '[queue.pooled.tenant."*"]\npool = "p"\n[queue.pooled.pool.p]\nconcurrency = 1\n' >>"$FQ_SPOOL/fq.toml"
for t in one two free; do fq push -q pooled -t $t $t >/dev/null; done
gives 0 '' fq tenant set -q pooled free pool=none
receipt=$(fq pop -q pooled --lease 1m | cut -f1)
is 'who waits for the pool is parked' 'free:- one:pool_concurrency two:pool_concurrency ' \
  "$(fq tenant list -q pooled | awk 'NR > 1 { printf "%s:%s ", $1, $(NF - 2) }')"
is 'and counted' 1 "$(fq stats -q pooled --json | grep -o '"parked_tenants":[0-9]*' | tr -dc 0-9)"
is 'others are served' free "$(fq pop -q pooled)"
gives 1 '' fq pop -q pooled
# Mostly the next one waits by then; nothing fails when it does not yet.
(sleep 0.3; fq ack -q pooled "$receipt") &
is 'an ack wakes who waits' two "$(fq pop -q pooled --wait=20s)"
wait

# It outlives everybody, and a rebuild.
rm "$FQ_SPOOL/queues/default/segment"
is 'after a rebuild' 8 "$(fq config show -t 'k=v' --json | grep '"weight"' | grep -o '"value":[0-9.]*' | tr -dc 0-9)"
gives 0 '' fq queue pause
rm "$FQ_SPOOL/queues/default/segment"
gives 1 '' fq pop
gives 0 '' fq queue resume

# A broken file: what was set goes on and can be changed; only a pool needs the file.
sed -i 's/attempts/atempts/' "$FQ_SPOOL/fq.toml"
gives 0 'the last good one holds' fq tenant set acme weight=3
gives 0 'the last good one holds' fq queue set attempts=2
is 'it is told apart from the last good' 'attempts 2 set at run time' "$(row attempts 2>/dev/null)"
gives 78 'fq.toml:2: ' fq tenant set acme pool=p
is 'a tenant shows what was set' 'acme weight 3 set at run time' "$(row 'acme weight' -t acme 2>/dev/null)"

finish
