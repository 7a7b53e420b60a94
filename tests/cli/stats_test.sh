#!/usr/bin/env bash
# stats_test - what fq stats shows people, scripts and Prometheus.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

# Debian's, unpacked by tests/packages.sh.
promtool=$(command -v promtool || echo "$source/build/tools/usr/bin/promtool")
[ -x "$promtool" ] || { echo "promtool is missing: run tests/run.sh, or . tests/packages.sh; unpack_tool prometheus build/tools"; exit 1; }

# Numbers for a person.
for tenant in alpha beta gamma; do seq 30 | fq push --lines -t "$tenant" >/dev/null; done
fq pop -n 30 >/dev/null
fq stats >"$work/table"
is 'a line a queue' 2 "$(wc -l <"$work/table")"
is 'what there is' 'QUEUE READY DELAYED LEASED DEAD TENANTS IN/S OUT/S OLDEST WAIT' "$(head -1 "$work/table" | tr -s ' ' | cut -d' ' -f1-10)"
is 'and how much' 'default 60 0 0 0 3 1.50 0.50' "$(tail -1 "$work/table" | tr -s ' ' | cut -d' ' -f1-8)"
is 'a table in a pipe has no colours' 0 "$(grep -c $'\e' "$work/table")"
is 'a tenant has its share and what it was given, with a bar' 'alpha 20 0 0 0 <1s 33.3% 33.3% ███▍' \
  "$(fq stats --tenants | sed -n '2s/ [0-9.hms]*$//p' | tr -s ' ' | cut -d' ' -f2-10 | sed 's/ [0-9]*m\?s / <1s /')"
is 'in the C locale bars are ASCII' 0 "$(LC_ALL=C "$FQ" stats --tenants | LC_ALL=C grep -c '[^ -~]')"
is 'a bar is there all the same' 3 "$(LC_ALL=C "$FQ" stats --tenants | grep -c '###')"

# The first 20, longest waiting first.
for i in $(seq 25); do fq push x -q many -t "t$i" >/dev/null; done
fq pop -q many >/dev/null; fq push y -q many -t t1 >/dev/null
is 'twenty tenants and a line for the rest' 'and 5 more: 5 ready, 0 leased, 0 dead' "$(fq stats -q many --tenants | tail -1)"
is 'with a heading' 22 "$(fq stats -q many --tenants | wc -l)"
is 'who has waited longest is first' t2 "$(fq stats -q many --tenants | awk 'NR == 2 { print $2 }')"
is 'JSON tells of all' 25 "$(fq stats -q many --tenants --json | wc -l)"

told_of() { fq stats --json "$@" | jq -r .queue | paste -sd' '; }
is 'every queue unless one is named, by the environment too' 'default many|many|many' "$(told_of)|$(told_of -q many)|$(FQ_QUEUE=many told_of)"

# JSON.
is 'the keys of a queue' 'acked,acked_per_s,active_tenants,buried,bytes,cancelled,dead,delayed,draining,expired,fair_by,held,jain,journal_bytes,leased,next_schedule_at,oldest_ready_s,parked_tenants,paused,popped,popped_per_s,pushed,pushed_per_s,queue,ready,recoveries,released,retried,run_ms,schedules,segment_bytes,tenants,wait_ms' \
  "$(fq stats -q default --json | jq -r 'keys | join(",")')"
is 'rates are of the last minutes' '[1.5,0.3,0.1]' "$(fq stats -q default --json | jq -c '[.pushed_per_s | .m1, .m5, .m15]')"
is 'equal tenants were treated alike' 1 "$(fq stats -q default --json | jq .jain)"
is 'shares of a tenant' '0.333 0.333' "$(fq stats -q default --tenants --json | jq -r 'select(.tenant == "alpha") | "\(.share) \(.served_share)"')"
is 'NO_COLOR and the terminal change nothing of JSON' 0 "$(on_terminal 80 24 "$FQ stats --json" | grep -c $'\e')"

is 'a tenant has no segment and no journal of its own' '[null,null,null]' \
  "$(fq stats -q default --tenants --json | jq -c '[.segment_bytes, .journal_bytes, .recoveries]' | sort -u)"

# What is in the way of a tenant, wherever it was set.
for tenant in acct/a acct/b acct/c z; do fq push x -q parked -t $tenant >/dev/null; done
parked() {
  printf '%s %s %s\n' "$(fq stats -q parked --json | jq .parked_tenants)" \
    "$(fq stats -q parked --tenants --json | jq -r '"\(.tenant):\(.parked_tenants):\(.blocked):\(.share)"' | paste -sd' ')" \
    "$(fq stats -q parked --tenants --format prometheus | grep -c '^fq_tenant_parked.* 1$')"
}
fq tenant pause -q parked acct
is 'an account parks all below it' '3 acct/a:1:paused:0 acct/b:1:paused:0 acct/c:1:paused:0 z:0:null:1 3' "$(parked)"
is 'people see it without colours' 'paused paused paused z' "$(fq stats -q parked --tenants | awk 'NR > 1 { print $NF == "paused" ? $NF : $2 }' | sort | paste -sd' ')"
fq tenant resume -q parked acct
fq queue pause -q parked
is 'a queue parks all of its tenants' '4 acct/a:1:paused:0 acct/b:1:paused:0 acct/c:1:paused:0 z:1:paused:0 4' "$(parked)"
is 'a paused queue says so' 'STATE paused' "$(fq stats -q parked | awk '{ print $NF }' | paste -sd' ')"
is 'in JSON too' 'true false' "$(fq stats -q parked --json | jq -r '"\(.paused) \(.draining)"')"
is 'and for Prometheus' 'fq_paused{queue="parked"} 1' "$(fq stats -q parked --format prometheus | grep '^fq_paused')"
fq queue resume -q parked
fq queue drain -q parked
is 'one that drains too' 'draining false true 0' "$(fq stats -q parked | awk 'NR == 2 { print $NF }') $(fq stats -q parked --json | jq -r '"\(.paused) \(.draining) \(.parked_tenants)"')"
fq queue resume -q parked
is 'else there is no such column' 0 "$(fq stats -q parked | grep -c STATE)"
fq queue set -q parked concurrency=1
fq pop -q parked -t z --lease 1h >/dev/null
is 'the own limit of a queue as well' '3 acct/a:1:concurrency:0 acct/b:1:concurrency:0 acct/c:1:concurrency:0 z:0:concurrency:0 3' "$(parked)"

# An account in a pool that is full.
printf '[queue.pooled.tenant.acct]\npool = "p"\n[queue.pooled.pool.p]\nconcurrency = 1\n' >"$FQ_SPOOL/fq.toml"
for tenant in acct/a acct/b free; do fq push x -q pooled -t $tenant >/dev/null; done
fq pop -q pooled -t acct/a --lease 1h >/dev/null
is 'a pool parks who is below its members' 'acct/a:0:pool_concurrency:0 acct/b:1:pool_concurrency:0 free:0:null:1 1' \
  "$(fq stats -q pooled --tenants --json | jq -r '"\(.tenant):\(.parked_tenants):\(.blocked):\(.share)"' | paste -sd' ') $(fq stats -q pooled --json | jq .parked_tenants)"
rm "$FQ_SPOOL/fq.toml"
fq queue remove pooled --yes

# What waits for another message.
fq push x -q waits -t a >/dev/null; fq push x -q waits -t a --after 1 >/dev/null
is 'what is held is counted where people look' '1 1' "$(fq stats -q waits | awk 'NR == 2 { print $4 }') $(fq stats -q waits --tenants | awk 'NR == 2 { print $5 }')"
is 'else there is no such column' 0 "$(fq stats -q parked | grep -c HELD)"

# Names that try to be something else.
fq push x -q hostile -t $'bi\u202edi' >/dev/null; fq push x -q hostile -t $'na"me\\' >/dev/null
is 'bidi controls are escaped' 0 "$(fq stats -q hostile --tenants | grep -c $'\u202e')"
is 'and named' 1 "$(fq stats -q hostile --tenants | grep -ci '202e')"

# On a terminal.
is 'colours on a terminal' 1 "$(on_terminal 80 24 "$FQ stats" | grep -c $'\e\\[1mQUEUE')"
is 'none with NO_COLOR' 0 "$(on_terminal 80 24 "NO_COLOR=1 $FQ stats" | grep -c $'\e')"
is 'none on a dumb one' 0 "$(on_terminal 80 24 "TERM=dumb $FQ stats; unset TERM; $FQ stats" | grep -c $'\e')"
for columns in 40 60 80 132; do
  for what in '' --tenants; do
    wide=$(on_terminal $columns 24 "$FQ stats $what" | plain | widest)
    [ "$wide" -le "$columns" ] || fail "stats $what is $wide columns wide on a terminal of $columns"
  done
done
is '40 columns still tell what is ready, dead and how old' 'QUEUE READY DEAD OLDEST P99' \
  "$(on_terminal 40 24 "$FQ stats" | plain | head -1 | tr -s ' ')"
long=$(printf 'n%.0s' $(seq 60))
fq push x -q "$long" -t "$long" >/dev/null
for columns in 40 80; do
  wide=$(on_terminal $columns 24 "$FQ stats --tenants" | plain | widest)
  [ "$wide" -le "$columns" ] || fail "stats --tenants with long names is $wide columns wide on a terminal of $columns"
  is "$columns columns of several queues tell whose tenants they are" "$(fq queue list --json | jq -s length) $(fq queue list --json | jq -s length)" \
    "$(on_terminal $columns 24 "$FQ stats --tenants" | plain | grep -c '^QUEUE  *TENANT  *READY') $(on_terminal $columns 24 "$FQ stats --tenants" | plain | grep -A1 '^QUEUE' | grep -cE '^(default|hostile|many|parked|waits|nn+\.\.\.n+) ')"
done
is '40 columns of one queue need no such column' 0 "$(on_terminal 40 24 "$FQ stats -q $long --tenants" | plain | grep -c '^QUEUE')"
fq push x -q "$long" -t "$long-a-tail-of-its-own" >/dev/null
is 'into a pipe no name is cut' 2 "$(fq stats -q "$long" --tenants | grep -cE "^$long  $long(-a-tail-of-its-own)?  ")"
is 'nor on a terminal that is wide enough' 1 "$(on_terminal 300 24 "$FQ stats -q $long --tenants" | plain | grep -c -- "-a-tail-of-its-own ")"
is 'names that only differ at their end stay different' 2 "$(on_terminal 40 24 "$FQ stats -q $long --tenants" | plain | awk 'NR > 1 { print $1 }' | sort -u | wc -l)"
for columns in 20 40 60 70 80 90 132; do
  wide=$(on_terminal $columns 24 "$FQ stats" | plain | widest)
  [ "$wide" -le "$columns" ] || fail "stats with a long queue is $wide columns wide on a terminal of $columns"
done
fq queue remove "$long" --yes
is '80 columns of tenants have the shares' 1 "$(on_terminal 80 24 "$FQ stats --tenants" | plain | grep -c 'SHARE.*SERVED' | sed 's/[1-9].*/1/')"

# Again and again.
timeout 20 bash -c '"$FQ" stats -q default --watch=50ms' | head -5 >"$work/watched"
is 'in a pipe one after the other, with a blank line' 'Q d  Q d' "$(cut -c1 "$work/watched" | paste -sd' ')"
timeout -s INT --preserve-status -k 5 1 "$FQ" stats --watch=100ms >"$work/watched" 2>"$work/err"
is 'Ctrl-C ends it without a word, as a signal does' '130 ' "$? $(cat "$work/err")"
started=$SECONDS
"$FQ" stats --watch=30s | head -1 >/dev/null
[ $((SECONDS - started)) -lt 10 ] || fail 'a reader that leaves ends it at once'
timeout -s INT 1 script -qefc "stty cols 60 rows 10 -onlcr; TERM=xterm $FQ stats --tenants --watch=200ms" "$work/typescript" </dev/null >/dev/null 2>&1
is 'on a terminal it is drawn over itself and not cleared each time' '1 1' \
  "$(grep -ao $'\e\\[2J' "$work/typescript" | wc -l) $(($(grep -ao $'\e\\[H' "$work/typescript" | wc -l) > 2))"
is 'JSON is watched without blank lines' 3 "$(timeout 20 bash -c '"$FQ" stats -q default --json --watch=20ms' | head -3 | grep -c '^{')"
: >"$FQ_SPOOL/queues/afile"
timeout -s INT --preserve-status -k 5 1 "$FQ" stats --watch=50ms >"$work/watched" 2>"$work/err"
[ "$(grep -c '^default ' "$work/watched")" -gt 1 ] || fail 'a queue that cannot be used hides the others from --watch'
is 'it is told once, not with each view' 1 "$(grep -c "queue 'afile'" "$work/err")"
timeout -s INT 1 script -qefc "stty cols 60 rows 12 -onlcr; TERM=xterm $FQ stats --watch=50ms" "$work/typescript" </dev/null >/dev/null 2>&1
plain <"$work/typescript" | grep -aq "^fq: queue 'afile'" || fail 'on a terminal it is told in the view'
plain <"$work/typescript" | grep -aq '^default ' || fail 'nor are they hidden on a terminal'
gives 69 "queue 'afile'" fq stats -q afile --watch
rm "$FQ_SPOOL/queues/afile"
timeout -s INT 1 script -qefc "stty cols 80 rows 12 -onlcr; TERM=xterm $FQ stats -q many --tenants --watch=50ms" "$work/typescript" </dev/null >/dev/null 2>&1
plain <"$work/typescript" | grep -aq '^and 16 more: ' || fail 'a watch on few lines says how many tenants have none'
gives 64 "--watch: 'x' is not a duration" fq stats --watch=x
gives 64 '--watch' fq stats --watch=0s
gives 64 'takes no operand' fq stats 5s
gives 1 "'nowhere'" fq stats -q nowhere --watch

# Prometheus.
fq bury "$(fq pop -q default --lease 1m | cut -f1)"
fq stats --format prometheus >"$work/prometheus"
is 'promtool finds nothing' '' "$("$promtool" check metrics <"$work/prometheus" 2>&1)"
is 'nor in tenants' '' "$(fq stats --tenants --format prometheus | "$promtool" check metrics 2>&1)"
is 'each metric has a type and a help' '' "$(diff <(grep '^# TYPE' "$work/prometheus" | cut -d' ' -f3) <(grep '^# HELP' "$work/prometheus" | cut -d' ' -f3))"
is 'counters are counters' 'fq_pushed_total{queue="default"} 90' "$(grep '^fq_pushed_total{queue="default"' "$work/prometheus")"
is 'a histogram ends with all there are' 31 "$(grep '^fq_wait_seconds_bucket{queue="default",le="+Inf"' "$work/prometheus" | cut -d' ' -f2)"
is 'its buckets only grow' '' "$(grep '^fq_wait_seconds_bucket{queue="default"' "$work/prometheus" | awk '$2 < last; { last = $2 }')"
is 'a label is quoted' 1 "$(fq stats --tenants --format prometheus | grep -cF 'fq_tenant_ready{queue="hostile",tenant="na\"me\\"} 1')"

# The example for a textfile collector.
mkdir "$work/collected"
gives 0 '' env FQ="$FQ" "$source/examples/fq-textfile.sh" "$work/collected"
is 'one file, readable by others' 'fq.prom 644' "$(ls "$work/collected") $(stat -c %a "$work/collected/fq.prom")"
is 'which promtool takes' '' "$("$promtool" check metrics <"$work/collected/fq.prom" 2>&1)"
cp "$work/collected/fq.prom" "$work/before"
env FQ=false "$source/examples/fq-textfile.sh" "$work/collected" && fail 'the example does not tell of a failure'
is 'a failure leaves the old file, and nothing else' "$(cksum <"$work/before") fq.prom" "$(cksum <"$work/collected/fq.prom") $(ls "$work/collected")"
finish
