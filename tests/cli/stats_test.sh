#!/usr/bin/env bash
# stats_test - what fq stats shows people, scripts and Prometheus.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

# Debian's, unpacked by tests/packages.sh.
promtool=$(command -v promtool || echo "$source/build/tools/usr/bin/promtool")
[ -x "$promtool" ] || { echo "promtool is missing: run tests/run.sh, or . tests/packages.sh; unpack_tool prometheus build/tools"; exit 1; }

# Commands that see a terminal of COLUMNS by ROWS: on_terminal COLUMNS ROWS 'COMMAND'. The stty is for this terminal.
on_terminal() {
  TERM=xterm script -qefc "stty cols $1 rows $2 -onlcr; $3" /dev/null </dev/null
}
# Without colours and the like.
plain() { sed -e 's/\x1b\[[0-9;]*[A-Za-z]//g'; }
widest() { tr -d '\r' | wc -L; }
export FQ

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

# JSON.
is 'the keys of a queue' 'acked,acked_per_s,active_tenants,buried,bytes,cancelled,dead,delayed,expired,fair_by,held,jain,journal_bytes,leased,oldest_ready_s,parked_tenants,popped,popped_per_s,pushed,pushed_per_s,queue,ready,recoveries,released,retried,run_ms,segment_bytes,tenants,wait_ms' \
  "$(fq stats -q default --json | jq -r 'keys | join(",")')"
is 'rates are of the last minutes' '[1.5,0.3,0.1]' "$(fq stats -q default --json | jq -c '[.pushed_per_s | .m1, .m5, .m15]')"
is 'equal tenants were treated alike' 1 "$(fq stats -q default --json | jq .jain)"
is 'shares of a tenant' '0.333 0.333' "$(fq stats -q default --tenants --json | jq -r 'select(.tenant == "alpha") | "\(.share) \(.served_share)"')"
is 'NO_COLOR and the terminal change nothing of JSON' 0 "$(on_terminal 80 24 "$FQ stats --json" | grep -c $'\e')"

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
    "$(on_terminal $columns 24 "$FQ stats --tenants" | plain | grep -c '^QUEUE  *TENANT  *READY') $(on_terminal $columns 24 "$FQ stats --tenants" | plain | grep -A1 '^QUEUE' | grep -cE '^(default|hostile|many|nn+\.\.\.) ')"
done
is '40 columns of one queue need no such column' 0 "$(on_terminal 40 24 "$FQ stats -q $long --tenants" | plain | grep -c '^QUEUE')"
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
