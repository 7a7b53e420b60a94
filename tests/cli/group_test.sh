#!/bin/bash
# Groups: pop --grouped, worker --batch where the queue gathers, and their bad input.
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do fq push -t a "a$i"; fq push -t b "b$i"; done >/dev/null
fq push -t a/x x1 >/dev/null
is 'one group' 'a1 a2 a3' "$(fq pop --grouped | tr '\n' ' ' | sed 's/ $//')"
is 'whole groups until there are enough' 'b1 b2 b3 x1 ' "$(fq pop --grouped --max 4 | tr '\n' ' ')"
gives 1 '' fq pop --grouped

# A batch is the most of a group; without linger nobody waits for it.
gives 0 '' fq queue set batch=2
for i in 1 2 3; do fq push -t a "a$i"; done >/dev/null
is 'at most a batch' 'a1 a2 ' "$(fq pop --grouped | tr '\n' ' ')"
is 'and the rest' 'a3 ' "$(fq pop --grouped --max 9 | tr '\n' ' ')"

# What gathers is parked, whoever asks; a full batch is not.
gives 0 '' fq queue set linger=1h batch=3
for i in 1 2; do fq push -t a "a$i"; done >/dev/null
gives 1 '' fq pop
gives 1 '' fq pop --grouped
is 'who gathers is parked' 'a gathering' "$(fq tenant list | awk '$1 == "a" { print $1, $(NF - 2) }')"
fq push -t a a3 >/dev/null
is 'a full one is served' 'a1 a2 a3 ' "$(fq pop --grouped --json | grep -o '"payload":"[^"]*"' | cut -d'"' -f4 | tr '\n' ' ')"
for i in 1 2; do fq push -t a "a$i"; done >/dev/null
gives 0 '' fq queue set linger=none
is 'no linger any more: at once' 'a1 a2 ' "$(fq pop --grouped | tr '\n' ' ')"

# After a rebuild what was set still holds.
gives 0 '' fq queue set linger=1h
fq push -t a a1 >/dev/null
rm "$FQ_SPOOL/queues/default/segment"
gives 1 '' fq pop
gives 0 '' fq queue set linger=
is 'and is taken back' a1 "$(fq pop)"

# In time, through a worker: what two pushed within the window is one job. Nothing is lost, nothing twice.
cat >"$FQ_SPOOL/fq.toml" <<<$'[queue.w]\nlinger = "300ms"'
for t in a b; do for i in 1 2 3; do fq push -q w -t $t "$t$i"; done; done >/dev/null
fq worker -q w --batch 10 --batch-format lines --drain -- sh -c 'echo "$FQ_TENANT $FQ_BATCH $(tr "\n" " ")"' >"$work/jobs"
is 'a job a group' 'a 3 a1 a2 a3 /b 3 b1 b2 b3 /' "$(sort "$work/jobs" | tr '\n' /)"
for i in 1 2 3; do fq push -q w -t c "c$i"; done >/dev/null
fq worker -q w --batch 2 --drain -- sh -c 'echo "$FQ_BATCH"' >"$work/jobs"
is 'at most as many as the worker takes' '1 2 ' "$(sort "$work/jobs" | tr '\n' ' ')"
fq push -q w -t a a1 >/dev/null
is 'pop waits for a group' a1 "$(fq pop -q w --grouped --wait=10s)"

gives 64 '--max: needs --grouped' fq pop --max 3
gives 64 '-n: does not go with --grouped' fq pop --grouped -n 3
gives 64 '--grouped: does not go with --format sh' fq pop --grouped --format sh
gives 64 '--max: ' fq pop --grouped --max 0
gives 64 '--max: ' fq pop --grouped --max -1
gives 64 '--max: ' fq pop --grouped --max x
gives 64 '--max: ' fq pop --grouped --max ''
gives 64 'did you mean' fq pop --group
gives 64 'batch: ' fq queue set batch=0
gives 64 'linger: ' fq queue set linger=5
gives 64 'linger' fq tenant set a linger=3s

finish
