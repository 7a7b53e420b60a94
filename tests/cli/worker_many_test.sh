#!/usr/bin/env bash
# worker_many_test - many at once: workers that grow beside each other, tenants that gather, queues that take
# turns; and a policy that changes under a worker.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

clear_all() { fq cancel --all --state all --yes >/dev/null; rm -f "$work"/job*; }
lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
# stop PID "sentence": TERM, and it ends well.
stop() {
  kill -TERM "$1"
  wait "$1"
  is "$2" 0 $?
}

# Growing beside each other: each job waits for the test, so the number of those that have begun is known.
mkfifo "$work/gate"
exec 7<>"$work/gate"
job='echo $$ >>"$0"; read -r x <"${0%job}gate"'
: >"$work/job"
for n in 1 2; do
  "$FQ" worker --min "$((n - 1))" --max 4 -- sh -c "$job" "$work/job" 7>&- & workers[n]=$!
done
for ((n = 0; n < 20; ++n)); do echo; done | fq push --lines --lazy >/dev/null
await lines "$work/job" 8
is 'two workers grow by the backlog, each to its --max' '8 12' "$(fq stats --json | jq -r '"\(.leased) \(.ready)"')"
is 'and run half of it each' '4 4' "$(for pid in "${workers[@]}"; do pgrep -cP "$pid"; done | paste -sd' ')"
for ((n = 0; n < 20; ++n)); do echo >&7; done
is 'all of it is done' 0 "$(fq wait --all --for 20s; echo $?)"
is 'by twenty jobs' 20 "$(wc -l <"$work/job")"
# One at a time needs one slot.
for ((n = 21; n <= 25; ++n)); do
  fq push one >/dev/null
  await lines "$work/job" "$n"
  echo >&7
  is 'a message alone is run' 0 "$(fq wait --all --for 20s; echo $?)"
done
for n in 1 2; do stop "${workers[n]}" 'a grown worker ends'; done
exec 7>&-
clear_all

# Gathering: 200 tenants with ten or twenty messages each wait for full batches only.
for ((m = 0; m < 20; ++m)); do
  for ((n = m < 10 ? 0 : 100; n < 200; ++n)); do printf '{"tenant":"t%d","payload":"t%d-%d"}\n' "$n" "$n" "$m"; done
done >"$work/in"
fq push --ndjson --lazy <"$work/in" >/dev/null
worker --drain -j3 --batch 10 --linger 1h --batch-format lines -- sh -c 'echo "$FQ_TENANT:$FQ_BATCH:$(paste -sd,)" >>"$0"' "$work/job"
is 'full batches of 200 tenants: none waits, none is lost' "$(jq -r .payload "$work/in" | sort)" \
  "$(cut -d: -f3 "$work/job" | tr , '\n' | sort)"
is 'each of ten' '300 10' "$(cut -d: -f2 "$work/job" | sort | uniq -c | sed 's/^ *//')"
is 'and of one tenant' '' "$(awk -F: '{ n = split($3, each, ","); for (i = 1; i <= n; ++i) if (index(each[i], $1 "-") != 1) print }' "$work/job")"
clear_all
# What does not fill a batch is run when it has waited.
for ((n = 0; n < 200; ++n)); do
  for ((m = 0; m < n % 10 + 3; ++m)); do printf '{"tenant":"t%d","payload":"t%d-%d"}\n' "$n" "$n" "$m"; done
done >"$work/in"
fq push --ndjson --lazy <"$work/in" >/dev/null
worker --drain -j3 --batch 10 --linger 300ms --batch-format lines -- sh -c 'echo "$FQ_TENANT:$FQ_BATCH:$(paste -sd,)" >>"$0"' "$work/job"
is '--linger with 200 tenants: none is lost' "$(jq -r .payload "$work/in" | sort)" "$(cut -d: -f3 "$work/job" | tr , '\n' | sort)"
is 'no batch is of two tenants or too large' '' "$(awk -F: '$2 > 10 { print }
  { n = split($3, each, ","); if (n != $2) print; for (i = 1; i <= n; ++i) if (index(each[i], $1 "-") != 1) print }' "$work/job")"
clear_all
# More than can be gathered, none of it a batch; behind it one that is.
for ((m = 0; m < 9; ++m)); do
  for ((n = 0; n < 150; ++n)); do printf '{"tenant":"t%d","payload":""}\n' "$n"; done
done | fq push --ndjson --lazy >/dev/null
for ((m = 0; m < 10; ++m)); do echo; done | fq push --lines --lazy -t full >/dev/null
"$FQ" worker --batch 10 --linger 1h -- sh -c 'echo "$FQ_TENANT $FQ_BATCH" >>"$0"' "$work/job" & worker=$!
await grep -q full "$work/job"
stop "$worker" 'a worker ends that waits for batches'
is 'a full batch is not held up by tenants that wait for theirs' 'full 10' "$(grep full "$work/job")"
is 'and what still waited is given back' "$(awk '{ n += $2 } END { print 1360 - n }' "$work/job") 0" \
  "$(fq stats --json | jq -r '"\(.ready) \(.leased)"')"
clear_all

# A worker that is killed with one batch at work and others half gathered: all of it comes back.
for ((n = 0; n < 40; ++n)); do
  for ((m = 0; m < 5; ++m)); do printf '{"tenant":"t%d","payload":"t%d-%d"}\n' "$n" "$n" "$m"; done
done >"$work/in"
for ((m = 0; m < 10; ++m)); do printf '{"tenant":"full","payload":"full-%d"}\n' "$m"; done >>"$work/in"
fq push --ndjson --lazy <"$work/in" >/dev/null
exec 7<>"$work/gate"
"$FQ" worker --batch 10 --linger 1h -- sh -c 'exec 9>"$0.lock.$FQ_TENANT"; flock 9; echo >"$0.runs"; read -r x <"${0%job}gate"' "$work/job" 7>&- & worker=$!
await holds_text "$work/job.runs"
await eval '[ "$(fq stats --json | jq .leased)" = 210 ]'
kill -KILL "$worker"
wait "$worker" 2>/dev/null
worker --drain -j3 --batch 10 --linger 1ms --batch-format lines -- \
  sh -c 'exec 9>"$0.lock.$FQ_TENANT"; flock -n 9 || echo >"$0.twice"; cat >>"$0.$FQ_TENANT"' "$work/job"
exec 7>&-
is 'each message is run by the next worker, once' "$(jq -r .payload "$work/in" | sort)" "$(cat "$work"/job.t[0-9]* "$work/job.full" | sort)"
is 'and not beside the batch that was at work' no "$([ -e "$work/job.twice" ] && echo yes || echo no)"
is 'all are acked' '0 0 0' "$(fq stats --json | jq -r '"\(.ready) \(.leased) \(.dead)"')"
clear_all

# Any byte but NUL in a batch.
printf 'a\nb\0\0c \\ "\0\xff' | fq push --null >/dev/null
worker --drain --batch 9 --batch-format null -- sh -c 'echo "$FQ_BATCH" >"$0.count"; cat >"$0"' "$work/job"
is '--batch-format null: payloads ended by NUL, newlines and all' "4 $(printf 'a\nb\0\0c \\ "\0\xff\0' | od -c)" \
  "$(cat "$work/job.count") $(od -c <"$work/job")"
clear_all

# Several queues, one slot: each that has work is served in turn, also what comes later. A job ends only when
# all queues have been looked into: the threads that do it are asleep then.
have_looked() {
  for thread in "/proc/$worker"/task/*; do
    [ "${thread##*/}" = "$worker" ] || grep -qE '^(449|202) ' "$thread/syscall" || return 1
  done
}
for n in 1 2 3 4 5; do for queue in a b c; do fq push -q "$queue" "$n" >/dev/null; done; done
exec 7<>"$work/gate"
: >"$work/job"
"$FQ" worker -q a -q b -q c -q later -- sh -c "${job/\$\$/\$FQ_QUEUE}" "$work/job" 7>&- & worker=$!
for ((n = 1; n <= 15; ++n)); do
  await lines "$work/job" "$n"
  await have_looked
  echo >&7
done
is 'queues take turns' '' "$(awk '{ if (NR % 3 == 1) delete seen; if (seen[$1]++) print NR, $1 }' "$work/job")"
for queue in later b a c later; do fq push -q "$queue" x >/dev/null; echo >&7; done
await lines "$work/job" 20
is 'and those that were empty are served when something comes' 'a b c later later' "$(tail -n 5 "$work/job" | sort | paste -sd' ')"
stop "$worker" 'a worker of four queues ends'
exec 7>&-
clear_all

# fq.toml under a worker.
policy() { printf '%s\n' '[queue."*"]' "$@" >"$FQ_SPOOL/fq.toml.new"; mv "$FQ_SPOOL/fq.toml.new" "$FQ_SPOOL/fq.toml"; }
policy 'attempts = 2' 'backoff = "0s..0s"'
: >"$work/job"
"$FQ" worker -- sh -c 'echo "$FQ_ATTEMPT/$FQ_MAX_ATTEMPTS" >>"$0"; exit 1' "$work/job" 2>/dev/null & worker=$!
id=$(fq push x); fq wait --for 20s "$id"
is 'a policy of two attempts' '1/2 2/2' "$(paste -sd' ' "$work/job")"
policy 'attempts = 3' 'backoff = "0s..0s"'
kill -HUP "$worker"
: >"$work/job"
id=$(fq push x); fq wait --for 20s "$id"
is 'a new one holds after HUP' '1/3 2/3 3/3' "$(paste -sd' ' "$work/job")"
policy 'attempts = 1'
: >"$work/job"
id=$(fq push x); fq wait --for 20s "$id"
is 'and without it' '1/1' "$(paste -sd' ' "$work/job")"
policy 'attempts = 2' 'backoff = "36500d..36500d"'
id=$(fq push x)
await eval '[ "$(state "$id")" = delayed ]'
# Drawn from all of a hundred years: less than a day is one of 36,500.
is 'so does a backoff, the longest too' yes \
  "$(fq show "$id" --json | jq -r '((.due_at | sub("\\..*Z"; "Z") | fromdate) - now) / 86400 | if . > 1 and . < 36501 then "yes" else . end')"
stop "$worker" 'a worker ends whose message waits for a hundred years'
policy 'attempts = 1'
"$FQ" worker --grace 0s -- sh -c 'exec sleep "$(cat)"' 2>/dev/null & worker=$!
id=$(fq push 0)
is 'a job without a time limit' 0 "$(fq wait --for 20s "$id"; echo $?)"
policy 'attempts = 1' 'timeout = "100ms"'
id=$(fq push 60)
fq wait --for 20s "$id"
is 'and a time limit' '"timed out"' "$(json .last_error.reason "$id")"
stop "$worker" 'the worker goes on after it'
finish
