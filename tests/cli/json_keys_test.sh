#!/usr/bin/env bash
# json_keys_test - the tables "Keys of ..." in the manual are what the commands print: each key in its place, of its
# type, null where it may be null and nowhere else. Each has to be seen in every form that its table names.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

# keys_of PAGE HEADING: "KEY<TAB>TYPES" a line, as the page has them; TYPES sorted.
keys_of() {
  awk -v heading="$2" '
    /^\.S[hs] / { within = substr($0, 5) == heading; next }
    within && /^\.It Cm / { key = $3; sub(/^\.It Cm [^ ]* Pq /, ""); print key "\t" $0 }' "$source/man/$1" |
    while IFS=$'\t' read -r key types; do
      printf '%s\t%s\n' "$key" "$(sort <<<"${types// or /$'\n'}" | paste -sd'|')"
    done
}

# seen_in FILE: the same of the objects in it.
seen_in() {
  jq -rs '
    def form:
      if type == "null" or type == "number" then type
      elif type == "boolean" then tostring
      elif type == "array" then "array of " + (map(type + "s") | unique | join(", "))
      elif type == "string" and test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$") then "time"
      elif type == "string" then "text" else type end;
    (map(keys_unsorted) | unique) as $orders
    | if $orders | length != 1 then "different keys: \($orders)" else
        . as $all | $orders[0][] | . as $key
        | "\($key)\t\([$all[][$key] | form | select(. != "array of ")] | unique | join("|"))"
      end' "$1"
}

# agree PAGE HEADING FILE
agree() {
  [ "$(keys_of "$1" "$2" | wc -l)" -ge 3 ] || fail "$1: no table '$2'"
  is "$1: $2" "$(keys_of "$1" "$2")" "$(seen_in "$3")"
}

receipt_of() { fq pop --lease 1h "$@" | cut -f1; }

# Every event there is.
{
  fq push --unique u --unique-mode keep -t u x
  fq push --unique u --unique-mode replace -t u y
  fq cancel 1
  fq push -t t --attempts 9 --ttl 1h x
  held=$(fq push --after 2 x)
  fq edit "$held" -p 1
  fq release "$(receipt_of -t t)" --delay 1h
  fq kick 2
  fq extend "$(receipt_of -t t)" 2h
  fq retry "$(fq show 2 --json | jq -r .receipt)" --reason 'not now'
  fq worker --once -- sh -c 'echo sorry >&2; exit 3'
  fq kick 2
  fq worker --once -- sh -c 'kill -TERM $$'
  fq kick 2
  fq worker -- sh -c 'exec sleep 60' 2>/dev/null & worker=$!
  until [ "$(fq show 2 --json | jq -r .state)" = leased ]; do sleep 0.01; done  # until it has begun
  until job=$(pgrep -P "$worker"); do sleep 0.01; done     # and its job, which comes behind that
  { kill -KILL "$worker" "$job"; wait "$worker"; } 2>/dev/null
  await gone_or_zombie "$job"  # as long as it lives its message is nobody's
  fq worker --once -- true
  last=$(receipt_of)
  FQ_RECEIPT=$last fq step s -- echo out
  fq bury "$last" --reason 'no such customer'
  fq kick "${last%%.*}" --fresh
  fq bury "$(receipt_of)"
  fq kick "$held"
  fq schedule set gone @yearly x
  fq schedule remove gone
  fq schedule set s 'every 1s' -t sch x
  until fq log --json | jq -e 'select(.event == "skipped")' >/dev/null; do fq peek >/dev/null; sleep 0.1; done  # its second time
  fq schedule pause s
  fq cancel -t sch
  # The file of a push is given back, that of what became of it is not.
  head -c 2000000 /dev/zero | tr '\0' x | fold -w 60000 | fq push -q gone --lines
  fq pop -q gone -n 25
  fq compact -q gone
  fq queue create keyed
  fq queue set -q keyed order=key
  fq push -q keyed -t t --key 5 x
  fq push -q keyed --after-any 1 x
  fq tenant set -q keyed t weight=2 concurrency=
  fq queue create there
  fq move -q keyed "$(fq push -q keyed m)" --to there
  fq move -q there 1 --to keyed
} >/dev/null 2>"$work/err"
{ fq log --json; fq log -q gone --json; fq log -q keyed --json; } >"$work/events"
agree fq-log.1 'Keys of JSON' "$work/events"
listed=$(awk '/^\.S[hs] / { within = 0 } /^\.Sh DESC/ { within = 1 } within && /^\.It Em / { print $3 }' "$source/man/fq-log.1" | sort)
is 'the words for what happens' "$listed" "$(jq -r .event "$work/events" | sort -u)"

# A message has the same keys wherever it is told, and fq(1) names each.
fresh
seq 3 | fq push --lines >/dev/null
fq push --keep 1h -t kept x >/dev/null; fq pop -t kept >/dev/null
keys_of_message() { jq -r 'keys_unsorted | join(" ")' | sort -u; }
message_keys=$(fq peek --json | keys_of_message)
is 'a look, jobs, what is taken and what has ended' "$message_keys" \
  "$({ fq jobs --json; fq jobs --state acked --json; fq pop --lease 1m --json; fq pop --json; fq peek --state all --json; } | keys_of_message)"
is 'show has two more' "$message_keys history steps" "$(fq show 1 --json | keys_of_message)"
for key in $message_keys; do
  [ "$(grep '^A message in JSON: ' "$source/man/fq.1" | grep -cwF "$key")" = 1 ] || fail "fq(1) does not name '$key'"
done

# Every explanation: of messages in every state, of tenants with every limit, of what comes next and what is blocked.
fresh
export FQ_QUEUE=e
{
  fq queue create e
  printf '[queue.e.pool.p]\nconcurrency = 1\nrate = "1/h"\n[queue.e.tenant.pooled]\npool = "p"\n' >"$FQ_SPOOL/fq.toml"
  fq push -t ended x
  fq pop
  fq push -t acct x        # 2: of an account itself
  fq push -t acct/fn x
  fq push -t paused x      # 4
  fq tenant pause paused
  fq push -t limited x     # 5
  fq tenant limit limited --for 1h
  for _ in 1 2; do fq push -t one x; done  # 6 is leased by time, 7 waits for it
  fq pop -t one --lease 1h
  fq tenant set one concurrency=1
  fq push -t slow x        # 8 takes the token, 9 waits for the next one
  fq push -t slow x
  fq tenant set slow rate=1/h
  fq pop -t slow
  for _ in 1 2; do fq push -t pooled x; done  # 10 is leased, 11 waits
  fq pop -t pooled --lease 1h
  fq push --delay 1h x     # 12
  fq push --after 12 x     # 13
  fq push -t dead x        # 14
  fq bury "$(receipt_of -t dead)"
  fq push -t 'not a word' x  # 15
  fq tenant pause 'not a word'
  seq 600 | fq push --lines -t many  # 615 is too far for its place to be tried
  fq push -t held x        # 616 is held by a process
  fq worker -- sh -c 'exec sleep 60' 2>/dev/null & worker=$!
  until [ "$(fq show 2 --json | jq -r .state)" = leased ]; do sleep 0.01; done  # until it has begun
} >/dev/null 2>"$work/err"
{
  for id in $(seq 15) 615 616; do fq explain --json "$id"; done
  for tenant in one acct many paused; do fq explain --json -t $tenant; done
  fq explain --json
  for _ in 1 2; do fq push -q used x >/dev/null; done
  fq queue set used rate=1/h
  fq explain -q used --json
} >"$work/explained"
{ kill -KILL "$worker" "$(pgrep -P "$worker")"; wait "$worker"; } 2>/dev/null
fq push -q late --ttl 1ms x >/dev/null
until fq explain -q late --json 1 | jq -e '.state == "dead"' >/dev/null; do :; done
fq explain -q late --json 1 >>"$work/explained"
# A group that gathers is no state beside these: it holds for the whole queue.
fq push -q g x >/dev/null
fq queue set -q g linger=1h
fq explain -q g --json 1 >>"$work/explained"
# And where turns are not counted.
fq queue set -q g linger= scope=queue
fq explain -q g --json 1 >>"$work/explained"
# Two whose steps wait for each other.
for n in 1 2; do fq push -q cycle $n >/dev/null; done
mapfile -t receipts < <(fq pop -q cycle --lease 1h -n 2 | cut -f1)
for n in 0 1; do FQ_RECEIPT=${receipts[n]} fq step -q cycle s --wait $((2 - n)) 2>/dev/null; done
fq explain -q cycle --json 1 >>"$work/explained"
fq schedule set -q g yearly @yearly x
fq explain -q g --json >>"$work/explained"
agree fq-explain.1 'Keys of JSON' "$work/explained"
jq -c '.reasons[]' "$work/explained" >"$work/reasons"
agree fq-explain.1 'Keys of a reason' "$work/reasons"
jq -c '.bounds[]' "$work/explained" >"$work/bounds"
agree fq-explain.1 'Keys of a bound' "$work/bounds"
# words_of HEADING KEY: those that the page lists for it, in its one line.
words_of() {
  awk -v heading="$1" -v key="$2" '
    /^\.S[hs] / { within = substr($0, 5) == heading; next }
    take { print; exit }
    within && /^\.It Cm / && $3 == key { take = 1 }' "$source/man/fq-explain.1" |
    sed 's/^[^:]*: //; s/,* or /, /' | tr -d ' ' | tr ',' '\n' | sort
}
is 'all reasons there are' "$(words_of 'Keys of a reason' reason)" "$(jq -r .reason "$work/reasons" | sort -u)"

# Counts of queues and tenants: with and without everything.
unset FQ_QUEUE
fq queue create idle >/dev/null
fq queue drain idle
fq push -q idle x >"$work/out" 2>&1  # it takes none: no tenant
fq queue pause late
fq push -q two -t a x >/dev/null; fq push -q two -t b x >/dev/null
fq pop -q two -n 1 >/dev/null
fq push -q two -t a x >/dev/null; fq push -q two -t b --delay 1h x >/dev/null
fq stats --json >"$work/counts"
agree fq-stats.1 'Keys of JSON' "$work/counts"
fq stats --tenants --json >"$work/counts"
agree fq-stats.1 'Keys of a tenant' "$work/counts"
export FQ_QUEUE=e

# As the lists for people, which are cut.
fq queue create long
seq 25 | while read -r n; do fq push -q long -t "t$n" x; fq tenant pause -q long "t$n"; done >/dev/null
fq explain -q long --json >"$work/explained"
is 'at most 20 are listed, the last one tells how many are not' '20 5' \
  "$(jq -s 'length' "$work/explained") $(jq '.more_blocked | values' "$work/explained")"
fq tenant resume -q long t1; fq cancel -q long -t t2 >/dev/null
for n in 3 4 5; do fq tenant resume -q long t$n; done
is 'nor is any left out where all are listed' 0 "$(fq explain -q long --json | jq '.more_blocked | values')"
finish
