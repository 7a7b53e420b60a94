#!/usr/bin/env bash
# report_test - one page that needs nothing else: what it tells, that no name does anything in it, and where it is
# written to.
. "$(dirname "$0")/lib.sh"

page=$work/page.html
mkfifo "$work/hold"  # what a job waits for, that is to run on
# What a reader sees, without the markup, a line each.
read_page() { sed -e '/<style>/,/<\/style>/d' -e 's/<[^>]*>/ /g' -e 's/  */ /g' "$page"; }
says() { read_page | grep -cE -- "$1"; }

gives 1 "spool '$FQ_SPOOL'" fq report -o "$page"
is 'no page without a queue' no "$([ -e "$page" ] && echo yes || echo no)"
fq queue create empty
gives 0 '' fq report -o "$page"
is 'an empty queue has nothing stuck' 1 "$(says 'Nothing\.')"
is 'and no events' 1 "$(says 'no events are kept')"
fq queue remove empty --yes

# What happened.
for n in 1 2 3; do fq push -t acme "$n" >/dev/null; done
fq push -t globex x >/dev/null
fq pop -n 3 >/dev/null
fq bury "$(fq pop --lease 1h | cut -f1)" --reason 'no such customer'
fq push -t acme/a y >/dev/null; fq tenant pause acme
SECRET=hunter2 fq push -q jobs --env SECRET -- sh -c 'read -r x <"$0"' "$work/hold" >/dev/null
"$FQ" worker -q jobs -j 2 >/dev/null 2>&1 & worker=$!
running() { [ "$(fq peek -q jobs --state leased --json | jq -s length)" = 1 ]; }
await running
gives 0 '' fq report -o "$page"
is 'turns of tenants' 2 "$(says '^ *(acme 3 75|globex 1 25)\.0%')"
is 'throughput' 1 "$(says '^ *pushed 5 ')"
is 'failures by reason' 1 "$(says '^ *no such customer 1')"
is 'waits, of each queue' 2 "$(says 'since the queue was made: half within')"
is 'what is stuck, why, and what changes it' 1 "$(says 'acme/a 1 acme is paused fq tenant resume acme( |$)')"
is 'dead messages' 1 "$(says '1 dead message: fq jobs -q default --state dead')"
is 'nobody works there' 1 "$(says '1 message is ready and no worker is attached')"
is 'who works' 1 "$(says 'Workers: 1 worker, 1 of 2 slots busy')"
is 'what runs, and in whose hands' 1 "$(says "^ *1 default [0-9smh]+ $worker sh -c ")"
is 'from when the events are' 2 "$(says 'events? from 20[0-9-]+T.* on, ')"
is 'no environment' 0 "$(grep -c 'hunter2\|SECRET' "$page")"
is 'one queue' 0 "$(fq report -q jobs | grep -c 'Queue default')"
is 'only since then' 1 "$(fq report -q default --since +0s | grep -c 'no events are kept of this time')"
kill -KILL $worker; wait $worker 2>/dev/null
died() { fq peek -q jobs >/dev/null; fq log -q jobs --json | grep -q '"event":"died"'; }
await died
fq report -q jobs -o "$page"
is 'that its worker died' 1 "$(says '^ *its worker died 1')"

fq push -q late --ttl 1ms x >/dev/null; await test "$(fq peek -q late --state dead --raw)" = x
fq report -q late -o "$page"
is 'what nobody started in time is a failure' 1 "$(says '^ *its time to live ran out, since the queue was made 1')"

# It needs nothing else, and lets nothing in.
is 'no script, no link, no picture' 0 "$(grep -ciE '<(script|link|img|iframe|object|embed|base|form)|url\(|@import|https?:|javascript:' "$page")"
is 'it forbids all of that itself' 1 "$(grep -c "Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\"" "$page")"
is 'it fits a phone' 1 "$(grep -c 'name=viewport' "$page")"
is 'and paper' 1 "$(grep -c '@media print' "$page")"

# Names are text, whatever they are.
fresh
evil=$'<script>alert(1)</script>"\'&amp;\u202e\u200b'
fq push --tenant="$evil" x >/dev/null
fq bury "$(fq pop --lease 1h --json | jq -r .receipt)" --reason '</table><img src=x onerror=alert(2)>'
fq push --tenant="$evil" x >/dev/null; fq tenant pause --tenant="$evil"
fq push -q run -- sh -c 'read -r x <"$0" # <b onclick="alert(3)">' "$work/hold" >/dev/null
"$FQ" worker -q run >/dev/null 2>&1 & worker=$!
is_running() { [ "$(fq peek -q run --state leased --json | jq -s length)" = 1 ]; }
await is_running
gives 0 '' fq report -o "$page"
is 'no tag of theirs' 0 "$(grep -ciE '<script|<img|<b ' "$page")"
is 'no quote that ends an attribute' 0 "$(grep -c 'onerror=alert(2)>\|onclick="' "$page")"
is 'nothing that turns the writing around' 0 "$(LC_ALL=C grep -c $'\xe2\x80\xae\|\xe2\x80\x8b' "$page")"
is 'but they can be read' yes "$(grep -q '&lt;script&gt;alert(1)&lt;/script&gt;' "$page" && echo yes)"
kill -KILL $worker; wait $worker 2>/dev/null

# Where it goes.
echo old >"$page"; chmod 644 "$page"
gives 0 '' fq report -o "$page"
is 'a file is replaced, and nobody else reads it' '<!doctype html> 600' "$(head -n 1 "$page") $(stat -c %a "$page")"
is 'without -o on stdout' '<!doctype html>' "$(fq report | head -n 1)"
is 'a pipe is written to' '<!doctype html>' "$(fq report -o /dev/fd/3 3>&1 | head -n 1)"
echo mine >"$work/target"; ln -s "$work/target" "$work/link"
gives 0 '' fq report -o "$work/link"
is 'what a link leads to is replaced, and the link stays' "<!doctype html> $work/target" "$(head -n 1 "$work/target") $(readlink "$work/link")"
ln -s /proc/self/fd/1 "$work/stdout"
(echo first; fq report -o "$work/stdout") >"$work/written"
is 'a link to standard output stays, which is written to' 'first <!doctype html> /proc/self/fd/1' \
  "$(head -n 2 "$work/written" | paste -sd' ') $(readlink "$work/stdout")"
is 'below /dev/fd, too' '<!doctype html>' "$(fq report -o /dev/fd/3 3>"$work/third"; head -n 1 "$work/third")"
ln -s loop "$work/loop"
gives 69 "'$work/loop'" fq report -o "$work/loop"
is "'-' is standard output" '<!doctype html> none' "$(cd "$work" && fq report -o - | head -c 15) $([ -e "$work/-" ] || echo none)"
gives 74 'No space left' fq report -o /dev/full
# A pipe that nobody has opened to read, and a full one.
mkfifo "$work/unread"
waits_for_reader() { [ "$(cut -d' ' -f2,3 "/proc/$waiting/stat")" = '(fq) S' ]; }
ended_at_unread() {
  "$FQ" report -o "$work/unread" >/dev/null 2>&1 & waiting=$!
  await waits_for_reader
  kill -TERM $waiting
  await eval '! kill -0 $waiting' || kill -KILL $waiting
  wait $waiting 2>/dev/null
}
ended_at_unread; is 'who waits for the reader of a pipe ends by a signal' 143 $?
exec 3<>"$work/unread"
dd if=/dev/zero of="$work/unread" bs=4096 oflag=nonblock status=none 2>/dev/null
ended_at_unread; is 'also where it has to read before more is written' 143 $?
exec 3>&-
mkdir "$work/dir"
gives 74 "'$work/dir'" fq report -o "$work/dir"
gives 74 "'$work/none/page.html'" fq report -o "$work/none/page.html"
is 'nothing unfinished is left' '' "$(find "$work" -name '*.new-*')"
gives 64 '--output: is empty' fq report -o ''
gives 64 '--since' fq report --since yesterday
gives 64 'takes no operand' fq report x

# A browser reads it, where there is one.
if browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome); then
  "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --dump-dom "file://$page" >"$work/dom" 2>/dev/null
  is 'a browser finds the same page' 1 "$(grep -c '<h1>fq report</h1>' "$work/dom")"
  is 'and no element of theirs' 0 "$(grep -ciE '<(script|img|b)[ >]' "$work/dom")"
else
  left_out "no browser is installed"
fi

finish
