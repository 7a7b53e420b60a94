#!/bin/bash
# nightly_report - reports that are due at night, tried again while the database is away, and looked at in the
# morning when one of them cannot be made.
#
# It shows: --delay (at night it would be --at), --attempts and --timeout of a message; exit 75 and backoff;
# dead letters with `fq peek --state dead`, why they died with `fq show`, and `fq kick` once that is mended.
# The night takes two seconds here.
. "$(dirname "$0")/story.sh"
export OFFICE=$work/office
mkdir "$OFFICE"
seq 10 >"$OFFICE/sales"
touch "$OFFICE/database-is-away"

cat >"$work/bin/report" <<'JOB'
#!/bin/bash
# The job: the report's name on standard input.
read -r name || :
[ -e "$OFFICE/$name" ] || { echo "there is no table '$name'" >&2; exit 1; }
[ ! -e "$OFFICE/database-is-away" ] || { echo "the database is away" >&2; exit 75; }
awk -v name="$name" '{ sum += $1 } END { print name ": " sum }' "$OFFICE/$name" >"$OFFICE/report-$name.part"
mv "$OFFICE/report-$name.part" "$OFFICE/report-$name"
JOB
chmod +x "$work/bin/report"

echo "1. In the evening: two reports for the night."
sales=$(fq push --delay 500ms --attempts 30 --timeout 1m 'sales')
stock=$(fq push --delay 500ms --attempts 3 --timeout 1m 'stock')

echo "2. The night. The database comes back after three tries; nobody has made the table of the other."
fq worker --backoff 50ms..400ms -- report 2>"$work/said" &
worker=$!
until [ "$(grep -c 'the database is away' "$work/said")" -ge 3 ] || ! kill -0 $worker; do sleep 0.02; done
rm "$OFFICE/database-is-away"
fq wait --for 10s "$sales"
fq wait --for 10s "$stock" && wrong 'the stock report was made of nothing'
grep '^fq:' "$work/said" | sed 's/^/   /'

echo "3. In the morning: what could not be made, and why."
fq peek --state dead | sed 's/^/   /'
fq show "$stock" --json | grep -o '"last_error":{[^}]*}' | sed 's/^/   /'

echo "4. Somebody makes the table, and kicks the report."
echo 7 >"$OFFICE/stock"
fq kick "$stock"
fq wait --for 10s "$stock"
kill $worker
wait $worker
cat "$OFFICE/report-sales" "$OFFICE/report-stock" | sed 's/^/   /'
[ "$(cat "$OFFICE/report-sales")" = 'sales: 55' ] || wrong 'the sales report is wrong'
[ "$(cat "$OFFICE/report-stock")" = 'stock: 7' ] || wrong 'the stock report is wrong'
[ -z "$(fq peek --state all)" ] || wrong 'a message is left'
