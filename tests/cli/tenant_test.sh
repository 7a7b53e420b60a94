#!/usr/bin/env bash
# tenant_test - fq tenant: who there is, what each may do, and what is wrong with what was typed.
. "$(dirname "$0")/lib.sh"

row() { fq tenant list "${@:2}" | tr -s ' ' | grep "^$1 "; }

# Nothing there.
gives 1 'there is none' fq tenant list
gives 1 'there is none' fq tenant limit acme --for 1m
fq push -t default x >/dev/null
fq pop >/dev/null
fresh

# Names that shells and terminals stumble over, all literal.
awkward=("a b" "it's" '"q"' '*' 'a*b' '?' '$(touch x)' '-x' '--for' 'a=b' 测试 '\' '\n' '#' 'acme/sub dept')
for name in "${awkward[@]}"; do fq push --tenant="$name" x >/dev/null; done
is 'each is a row' "${#awkward[@]}" "$(fq tenant list --json | wc -l)"
for name in "${awkward[@]}"; do
  is "-t takes $name as it is" 1 "$(fq tenant list --json --tenant="$name" | wc -l)"
  gives 0 '' fq tenant limit --tenant="$name" --for 1h
done
is 'as names, exactly' "$(printf '%s\n' "${awkward[@]}" | LC_ALL=C sort)" "$(fq tenant list --names | LC_ALL=C sort)"
gives 64 'does not go with --json' fq tenant list --names --json
gives 64 'takes no --names' fq tenant pause acme --names
is 'all are limited' "${#awkward[@]}" "$(fq tenant list | grep -c 'limited, ends in')"
gives 1 '' fq pop
for name in "${awkward[@]}"; do gives 0 '' fq tenant limit --tenant="$name" --for none; done
is 'and no more' 0 "$(fq tenant list | grep -c limited)"
is 'a star is one tenant' '* 1 - - 1 0' "$(row '\*' -t '*')"
is 'nothing was run' 1 "$([ -e x ]; echo $?)"
gives 64 'control character' fq tenant limit $'a\e[2Jb' --for 1m
is 'an error escapes what was typed' 0 "$(fq tenant limit $'a\e[2Jb' --for 1m 2>&1 | grep -c $'\e')"
gives 64 'has an empty level' fq tenant limit a//b --for 1m
gives 64 'is empty' fq tenant limit '' --for 1m
fresh

# What list says.
fq push -t acme/x one >/dev/null; fq push -t acme/y two >/dev/null; fq push -t free-1 three >/dev/null
printf '[queue."*".tenant."free-*"]\nweight = 0.5\nconcurrency = 2\n[queue."*".tenant."acme/*"]\nrate = "5/min"\n' >"$FQ_SPOOL/fq.toml"
is 'the heading' 'TENANT WEIGHT LIMITS BLOCKED READY RUNNING' "$(row TENANT)"
is 'limits of a pattern' 'free-1 0.5 concurrency=2 - 1 0' "$(row free-1)"
is '-t takes in all below' $'acme/x 1 rate=5/min - 1 0\nacme/y 1 rate=5/min - 1 0' "$(row acme/. -t acme)"
is 'and not what begins alike' '' "$(row free-1 -t free)"
gives 0 '' fq tenant limit acmeX --for 1h
is 'nor what only was set' '' "$(row acmeX -t acme)"
gives 0 '' fq tenant limit acmeX --for none
gives 0 '' fq tenant limit acme --for 1h
is 'a node that is limited is shown, and whose limit it is' 'acme/x 1 rate=5/min limited, ends in 1h at acme 1 0' "$(row acme/x)"
is 'in JSON' '"blocked":"limited","blocked_by":"acme"' "$(fq tenant list -t acme/x --json | grep -o '"blocked":"limited","blocked_by":"acme"')"
is 'with its end' 1 "$(fq tenant list -t acme/x --json | grep -c '"blocked_until":"20[0-9-]*T[0-9:.]*Z"')"
is 'JSON of a tenant' '{"queue":"default","tenant":"free-1","weight":0.5,"max_messages":"unlimited","max_bytes":"unlimited","concurrency":2,"rate":"unlimited","burst":1,"pool":"none","blocked":null,"blocked_by":null,"blocked_until":null,"ready":1,"running":0}' \
  "$(fq tenant list -t free-1 --json)"
fq push -q at -t acme/x one >/dev/null; fq push -q at -t acme/y two >/dev/null
gives 0 '' fq tenant set -q at acme concurrency=1
fq pop -q at -t acme/x --lease 1m >/dev/null
is 'whose limit a tenant waits for' 'acme/y 1 rate=5/min concurrency at acme 1 0' "$(row acme/y -q at)"
by() { fq tenant list -q at -t acme/y --json | grep -o '"blocked":[^,]*,"blocked_by":[^,]*'; }
is 'in JSON' '"blocked":"concurrency","blocked_by":"acme"' "$(by)"
gives 0 '' fq tenant set -q at acme/y concurrency=1
is 'where it may be one of two, neither is named' '"blocked":"concurrency","blocked_by":null' "$(by)"
fq queue remove at --yes
receipt=$(fq pop -t free-1 --lease 1m | cut -f1)
is 'what runs' 'free-1 0.5 concurrency=2 - 0 1' "$(row free-1)"
fq ack "$receipt"
gives 1 '' fq tenant list -t nobody
sed -i 's/weight/wieght/' "$FQ_SPOOL/fq.toml"
is 'a broken file is named, and the list goes on' 1 "$(fq tenant list 2>"$work/err" | grep -c 'acme/x *? ')"
is 'with its line' 1 "$(grep -c "fq.toml:2: unknown key 'wieght'; did you mean 'weight'?" "$work/err")"
is 'what only the file tells is null' '"weight":null' "$(fq tenant list -t acme/x --json 2>/dev/null | grep -o '"weight":null')"
rm "$FQ_SPOOL/fq.toml"

# What is wrong with what was typed; nothing is done then.
gives 64 'needs a command; use list, set, pause, resume or limit' fq tenant
for pair in 'ls list' 'suspend pause' 'unpause resume' 'throttle limit' 'configure set' 'puase pause'; do
  gives 64 "did you mean ${pair#* }?" fq tenant ${pair% *} acme
done
gives 64 "unknown command 'frobnicate'; use" fq tenant frobnicate
gives 64 'needs the name of the tenant' fq tenant pause
gives 64 'needs the name of the tenant' env FQ_TENANT=acme "$FQ" tenant pause
gives 64 'needs the name of the tenant' fq tenant set
gives 64 'needs KEY=VALUE; write for instance weight=2' fq tenant set acme
gives 64 'takes one tenant' fq tenant pause acme zoo
gives 64 'two tenants are named' fq tenant pause acme -t zoo
gives 64 'takes no operand' fq tenant list acme
gives 64 'takes no --for' fq tenant pause acme --for 1h
gives 64 'needs --for' fq tenant limit acme
gives 64 'needs a tenant' fq tenant limit --for 1m
gives 64 "'weight' is a key of tenants, not of queues" fq queue set weight=2
gives 64 "'lease' is a key of queues, not of tenants" fq tenant set acme lease=5s
gives 64 "unknown key 'wieght'; did you mean 'weight'?" fq tenant set acme wieght=2
gives 64 "did you mean 'concurrency'?" fq tenant set acme max_running=2
gives 64 "that is set by fq queue pause and fq tenant pause" fq tenant set acme paused=1
gives 64 'weight: needs a value; write weight=VALUE' fq tenant set acme weight 2
gives 64 "'two' is not KEY=VALUE" fq tenant set acme two
gives 64 "weight: must be a number from 0.1 to 1000, with at most three decimals, not '0'" fq tenant set acme weight=0
gives 64 "rate: must be a rate like" fq tenant set acme rate=5
gives 64 "burst: must be a whole number" fq tenant set acme weight=2 burst=0
gives 64 "unknown key ''" fq tenant set acme =2
gives 64 "pool: 'stripe' is not defined for this queue; write its table into fq.toml" fq tenant set acme pool=stripe
printf '[queue."*".pool.stripe]\n' >"$FQ_SPOOL/fq.toml"
gives 64 "pool: 'strip' is not defined for this queue; did you mean 'stripe'?" fq tenant set acme pool=strip
rm "$FQ_SPOOL/fq.toml"

# And of queues.
gives 64 'did you mean pause?' fq queue suspend
gives 64 'did you mean resume?' fq queue unpause
gives 64 'did you mean list?' fq queue ls
gives 64 'needs KEY=VALUE; write for instance attempts=3' fq queue set
gives 64 'needs KEY=VALUE' fq queue set default
gives 64 "'two' is not KEY=VALUE" fq queue set default attempts=2 two
gives 64 'attempts: needs a value' fq queue set default attempts 2
gives 64 "queue 'a b'" fq queue set 'a b' attempts=2
gives 64 'two queues are named' fq queue set mail -q zoo attempts=2
gives 64 'takes one queue' fq queue pause mail zoo
gives 64 "attempts: must be a whole number from 1 to 65535, not '65536'" fq queue set attempts=65536
gives 64 'scope=queue does not go with order=fifo' fq queue set order=fifo scope=queue
printf '[queue."*"]\nscope = "queue"\n' >"$FQ_SPOOL/fq.toml"
gives 64 'scope=queue does not go with order=fifo; set the other one too' fq queue set order=fifo
rm "$FQ_SPOOL/fq.toml"
gives 1 'there is none' fq queue pause nowhere
gives 1 'there is none' fq queue set nowhere attempts=2
gives 1 'there is none' fq tenant set -q nowhere acme weight=2
is 'nothing was made or set' '{"queue":"default","paused":false,"draining":false,"durability":"disk","shards":1,"events_ms":null}' "$(fq queue list --json)"
is 'or limited, but what was' 'acme' "$(fq config show --json | grep '"source":"set"' | grep -o '"tenant":"[^"]*"' | cut -d'"' -f4)"

finish
