#!/usr/bin/env bash
# both_ways_test - the README's way from one machine to a server and back: each of its lines is run as it stands
# there, and each message is served once.
. "$(dirname "$0")/lib.sh"
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md

start_server "$work/s"
mkdir "$work/bin" "$work/here"
ln -s "$(realpath "$FQ")" "$work/bin/fq"
cd "$work/here" || exit 1

# The block behind "and back:"; the server is ours, the worker ends, and the spool is where a variable says.
awk '/and back:$/ { found = 1 } found && /^```/ { n++; next } found && n == 1' "$readme" |
  sed -e "s|redis://q1,q2,q3/|redis+unix://$work/s|; s|fq worker -j 8.*|served_there|; s|env -u FQ_SPOOL|env FQ_SPOOL=$FQ_SPOOL|" \
    >"$work/way"
is 'it has a line for each step' 10 "$(grep -c . "$work/way")"
is 'one of them is the way back' 1 "$(grep -c '| env .* fq import' "$work/way")"

fq push one >/dev/null
printf '[queue.default]\nattempts = 7\n' >"$(fq config path)"
fq push -t acme --unique k two >/dev/null
fq push --delay 1h later >/dev/null
cat >"$work/walk" <<'WALK'
served_there() {
  fq pop
  fq push -t acme 'from there' >/dev/null
  fq config get | grep -c 'attempts = 7'
}
WALK
cat "$work/way" >>"$work/walk"
gives 0 'is paused now' env HOME="$work/here" PATH="$work/bin:$PATH" bash -eu -o pipefail "$work/walk"
is 'what was served there and what holds there' 'one 1' "$(grep -v '^[0-9]* [0-9]*$' "$work/out" | xargs)"
is 'what comes back is what is left' 'two from there' "$(fq pop -n 10 | xargs)"
is 'and what is still to come' 1 "$(fq peek --state delayed --json | grep -c .)"
is 'the queue is not paused' false "$(fq queue list --json | jq .paused)"

finish
