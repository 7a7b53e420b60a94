#!/usr/bin/env bash
# narrow_test - tables fit the terminal they are shown on, and what is in them stays told apart.
. "$(dirname "$0")/lib.sh"

long=customer-with-a-long-name/and-a-second-level/of-department
for tenant in acme/web "${long}-1" "${long}-2"; do
  seq -f 'payload %g with more words than fit' 3 | fq push --lines -t "$tenant" >/dev/null
done
fq tenant pause "${long}-2"
fq tenant set acme weight=2 concurrency=3

# on COLUMNS 'COMMAND': what it shows there is in $work/shown, and no line is wider.
on() {
  on_terminal "$1" 50 "$FQ $2" | plain | tr -d '\r' >"$work/shown"
  if [ "$(widest <"$work/shown")" -gt "$1" ]; then fail "$2: wider than $1 columns: $(cat "$work/shown")"; fi
}
for view in 'explain --next 9' 'tenant list' 'peek -n 9' stats 'stats --tenants'; do
  for columns in 120 80 60 40; do on "$columns" "$view"; done
done

on 60 'peek -t customer-with-a-long-name -n 1'
# How much is cut depends on how long ago it was pushed.
case $(sed -n 2p "$work/shown" | tr -s ' ') in
  ' 4 ready customer'*...*'artment-1 '*' payload 1 with m'*...) ;;
  *) fail "names are not cut in the middle, or payloads not at their end: $(cat "$work/shown")" ;;
esac
on 40 'tenant list'
is 'what is cut can be told apart' 2 "$(grep -o '^cus[^ ]*' "$work/shown" | sort -u | wc -l)"
fq tenant set small weight=7 concurrency=3 rate=5/s burst=9 max_messages=1000 max_bytes=1MB
fq tenant pause "${long%/*}"
for columns in 120 80 60 40; do on "$columns" 'tenant list'; done
on 80 'tenant list'
is 'a weight that was set stays in sight' 7 "$(awk '$1 == "small" { print $2 }' "$work/shown")"
is 'and by whom a tenant is blocked' 1 "$(grep -c '^cus.*-1 .*paused.*level ' "$work/shown")"
# Reasons are sentences: they wrap, and names stay readable beside them.
on_terminal 40 50 "$FQ explain" | plain | tr -d '\r' >"$work/shown"
is 'names keep their ends beside reasons' 2 "$(grep -o '^cus.*-[12]\>' "$work/shown" | sort -u | wc -l)"
is 'in a pipe nothing is cut' 1 "$(fq tenant list | grep -c "^${long}-1 ")"
on 250 'tenant list'
is 'nor where there is room' 1 "$(grep -c "^${long}-1 " "$work/shown")"

# Schedules with long names, specs and payloads.
for name in backup b nightly-report; do fq schedule set "$name" '*/7 9-17/2 * jan,feb mon-fri' --tz Europe/Berlin "$(seq -s' ' 2000)"; done
for columns in 120 80 60 40; do
  on "$columns" 'schedule list'
  is "at $columns columns names keep their ends" 'NAME b backup nightly-report' "$(sed 's/  .*//; s/^n.*t$/nightly-report/' "$work/shown" | sort | xargs)"
done
is 'in a pipe a payload is cut' yes "$([ "$(fq schedule list | wc -L)" -lt 250 ] && echo yes)"

finish
