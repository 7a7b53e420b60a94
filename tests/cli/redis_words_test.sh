#!/usr/bin/env bash
# redis_words_test - what a queue on a server says, in the words of one in a directory: the same commands on both.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
away="redis+unix://$work/s"
there() { FQ_SPOOL=$away fq "$@"; }

# alike "sentence" COMMAND...: exit, output and errors are the same on both.
alike() {
  local sentence=$1 side
  shift
  for side in fq there; do
    { "$side" "$@"; echo "exit $?"; } </dev/null >"$work/$side" 2>&1
  done
  is "$sentence" "$(cat "$work/fq")" "$(cat "$work/there")"
}
on_both() { "$1" fq && "$1" there; } >/dev/null 2>&1

# A queue that is not there.
first() { "$1" push x; }
on_both first
for words in 'queue remove nowhere --yes' 'queue rename nowhere other' 'queue purge nowhere --yes' 'queue pause nowhere' \
  'move 1 --to nowhere' 'move --all --yes --to nowhere' 'peek -q nowhere' 'pop -q nowhere' 'export -q nowhere' \
  'schedule list -q nowhere' 'worker --once -q nowhere'; do
  read -ra command <<<"$words"
  alike "$words" "${command[@]}"
done

is 'there is no journal to make smaller' 'default: nothing to gain, it has no journal' "$(there compact)"
is 'nor bytes of it' '{"queue":"default","gained_bytes":0,"journal_bytes":null,"files_gone":0,"messages_moved":0,"payloads_gone":0}' \
  "$(there compact --json)"

finish
