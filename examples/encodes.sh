#!/bin/bash
# encodes - films to encode, one at a time: options changed while they wait, one stopped and begun anew with others.
#
# It shows fq edit of what waits and of what has died, fq cancel of what runs, a queue of its own for the long ones
# (fq move), and names of files that begin with a dash or hold a newline.
. "$(dirname "$0")/story.sh"
cat >"$work/bin/encode" <<'JOB'
#!/bin/bash
# encode QUALITY FILE: a film of seconds takes as long as it is told to; quality 0 is none.
[ "$1" != 0 ] || { echo "quality 0: is between 1 and 9" >&2; exit 64; }
echo "$2 at $1"
[ "$2" != long.mkv ] || [ "$1" -gt 5 ] || sleep 1000
: >"$2.$1.out"
JOB
chmod +x "$work/bin/encode"
cd "$work" || exit 1

echo '1. Four films. Names are what they are: one begins with a dash, one has a line of its own.'
dash=$(fq push --tag film=dash -- encode 5 -trailer.mkv)
long=$(fq push --tag film=long -- encode 5 long.mkv)
line=$(fq push --tag film=line -- encode 0 $'two\nlines.mkv')
short=$(fq push --tag film=short -- encode 5 short.mkv)
fq jobs | sed 's/^/   /'

echo '2. The short one is wanted in a better quality, and first.'
fq edit "$short" -p 1 -- encode 9 short.mkv
fq worker -j1 --output keep 2>/dev/null &
worker=$!
fq wait "$short" "$dash"
[ -e short.mkv.9.out ] || wrong 'the short one has the old quality'

echo '3. The long one takes too long. It is stopped, and queued anew with less to do, where it is in nobody'"'s way."
until [ "$(fq jobs --state running --json | jq -r .tags.film)" = long ]; do sleep 0.02; done
fq queue pause
fq edit "$long" -p 1 2>/dev/null && wrong 'what runs was edited'
fq cancel "$long"
fq queue create later
again=$(fq push --tag film=long -- encode 6 long.mkv)
fq move "$again" --to later | sed 's/^/   /'
fq queue resume

echo '4. One had an impossible quality.'
fq wait "$line" && wrong 'it was encoded'
fq jobs --state failed --tag film=line --json | jq -r '.last_error.stderr' | sed '/^$/d; s/^/   /'
fq edit "$line" -- encode 7 $'two\nlines.mkv'
fq kick "$line"
fq wait "$line"
kill $worker
wait $worker

echo '5. In the evening the others.'
fq worker -q later --drain | sed 's/^/   /'
made=$(find . -maxdepth 1 -name '*.out' -printf '%f ' | tr '\n' '?' | xargs -n1 | sort | xargs)
[ "$made" = '-trailer.mkv.5.out long.mkv.6.out short.mkv.9.out two?lines.mkv.7.out' ] || wrong "made were $made"
echo "6. Made: $made"
