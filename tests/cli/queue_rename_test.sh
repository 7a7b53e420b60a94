#!/usr/bin/env bash
# queue_rename_test - a queue gets another name and is otherwise as it was; what it cannot be called is refused.
. "$(dirname "$0")/lib.sh"

attempts_of_next() { fq pop -q "$1" --lease 1h --format sh | sed -n 's/.*FQ_MAX_ATTEMPTS=//p' | tr -d \"\'; }

fq push -q mail -t acme -p 3 one >/dev/null; fq push -q mail two >/dev/null; fq push -q mail three --delay 1h >/dev/null
fq queue set mail attempts=7
receipt=$(fq pop -q mail --lease 1h | cut -f1)
before=$(fq peek -q mail --state all --json | jq -c 'del(.queue, .lease_until)')
gives 0 '' fq queue rename mail post
is 'its name is the new one only' post "$(fq queue list)"
is 'its messages, leases and receipts are what they were' "$before" \
  "$(fq peek -q post --state all --json | jq -c 'del(.queue, .lease_until)')"
gives 0 '' fq ack -q post "$receipt"
is 'what was set at run time holds' 7 "$(attempts_of_next post)"
is 'ids go on' 4 "$(fq push -q post four)"
gives 0 '' fq check -q post
gives 1 "queue 'mail'" fq queue rename mail other
fq push -q mail new >/dev/null
is 'a new queue may have the old name' 1 "$(fq peek -q mail --json | jq -r .id)"
fq push -q post five >/dev/null; receipt=$(fq pop -q post --lease 1h | cut -f1)
gives 1 "is of queue 'post' and not of 'mail'; write -q post" fq ack -q mail "$receipt"

# Refused, and nothing has changed.
gives 64 "queue 'mail': exists" fq queue rename post mail
gives 64 "queue 'post': exists" fq queue rename post post
if here; then mkdir "$FQ_SPOOL/queues/half"; else redis-cli -s "$work/s" sadd fq1:fq:queues half >"$work/made"; fi
gives 64 "queue 'half': exists" fq queue rename post half
gives 64 'needs the name of the queue and a new one' fq queue rename
gives 64 'needs the name of the queue and a new one' fq queue rename post
gives 64 'needs the name of the queue and a new one' fq -q post queue rename other
gives 64 'takes a queue and its new name' fq queue rename post other more
for bad in "" .hidden a/b 'a b' "$(printf 'q%.0s' {1..65})"; do gives 64 'NEW: ' fq queue rename post --queue=post "$bad"; done
gives 64 'two queues are named' fq -q mail queue rename post other
here && gives 1 'spool' fq queue rename post other --spool "$work/nowhere"
# A directory in which no queue was ever made whole is none.
is 'the queues are those of before' "$(here || echo 'half ')mail post" "$(fq queue list | xargs)"
if here; then rmdir "$FQ_SPOOL/queues/half"; else redis-cli -s "$work/s" srem fq1:fq:queues half >"$work/made"; fi

# In use: named, whoever it is.
fq worker -q post --once -- cat >/dev/null 2>&1
"$FQ" worker -q post -- true >/dev/null 2>&1 & worker=$!
worker_is_there() { [ "$(fq workers -q post --json | jq -r .pid)" = "$worker" ]; }
await worker_is_there
gives 75 "in use by process $worker; end it first" fq queue rename post other
kill $worker; wait $worker
if here; then
  # A look begins while the queue is renamed: it is gone under its old name, and nothing is made.
  FQ_STOP_AT=attach.shared:1 "$FQ" peek -q post >/dev/null 2>&1 & looker=$!
  await stopped "$looker"
  gives 75 'in use' fq queue rename post other
  kill -CONT $looker; wait $looker
fi
gives 0 '' fq queue rename post other
fq queue rename other post

# Killed in between: it has one of the two names, and is whole. On a server it is one call.
if here; then
  killed_at rename.renamed:1 fq queue rename post other
else
  gives 0 '' fq queue rename post other
fi
is 'it has one name' 'mail other' "$(fq queue list | xargs)"
gives 0 '' fq check -q other

# What fq.toml says goes by the name.
policy=$FQ_SPOOL/fq.toml
here || policy=$work/fq.toml
cat >"$policy" <<'TOML'
[queue.other]
attempts = 2
[queue.mail]
concurrency = 1
[queue."n*"]
attempts = 3
[queue.news]
attempts = 4
TOML
here || fq config load "$policy"
fq queue set other attempts=
told() { fq config show -q "$1" --json | jq -r 'select(.key == "attempts" and .tenant == null).value' | head -1; }
fq push -q other x >/dev/null
is 'before: of the old name' 2 "$(attempts_of_next other)"
gives 0 "fq.toml: [queue.other] stays behind and is not for 'news'; rename it there too" fq queue rename other news
fq push -q news x >/dev/null
is 'afterwards: of the new name, at once' '4 4' "$(told news) $(attempts_of_next news)"
gives 0 '[queue.news] stays behind' fq queue rename news notes
is 'or of a pattern' 3 "$(fq push -q notes x >/dev/null; attempts_of_next notes)"
gives 0 '' fq queue rename notes last
is 'or of none' 5 "$(fq push -q last x >/dev/null; attempts_of_next last)"
if here; then
  echo 'attempts = ' >"$FQ_SPOOL/fq.toml"
  gives 0 '' fq queue rename last lost
else
  fq push -q again x >"$work/id"; fq queue remove again --yes
  gives 0 '' fq queue remove last --yes
  gives 0 '' fq queue remove mail --yes
  is 'nothing is left of any' 'fq1:fq:lib fq1:fq:policy' "$(redis-cli -s "$work/s" --scan --pattern 'fq1:*' | sort | xargs)"
fi

finish
