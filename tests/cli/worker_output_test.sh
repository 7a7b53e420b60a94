#!/usr/bin/env bash
# worker_output_test - what jobs write when it is read late, when nobody reads it, and when its reader has left.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

clear_all() { fq cancel --all --state all --yes >/dev/null; rm -f "$work"/job*; }
# Kept outputs pass through the worker.
push_twenty() { for ((n = 0; n < 20; ++n)); do fq push --keep 1h --attempts 1 "m$n" >/dev/null; done; }
# shellcheck disable=SC2016
job='echo >>"$0"; exec seq 10000'  # 48,894 bytes
bytes=48894

# A reader that is slower than the jobs: it sleeps until they could all have ended; the counts hold for any length.
push_twenty
is 'a late reader gets all that the jobs wrote' 200000 "$(worker --drain -- seq 10000 | (sleep 1; wc -l))"
clear_all
push_twenty
is 'so it does of their standard error, and of what is said about them' '200000 20' "$(worker --drain -- sh -c 'seq 10000 >&2; exit 1' 2>&1 >/dev/null |
  (sleep 1; awk '/^[0-9]+$/ { ++lines } /exit 1; buried/ { ++said } END { print lines, said }'))"
clear_all

# One reader of both: what was cut off where he had no more room goes on before anything else is written.
seq 12 | fq push --lines --attempts 1 >/dev/null
# shellcheck disable=SC2016
is 'of what is on one pipe no line is cut by one of another, however late they are read' '16008 0 12' "$(worker -j4 --drain -- bash -c '
  for ((n = 0; n < 1000; ++n)); do echo "out $n abcdefghijklmnopqrstuvwxyz0123456789 ."; ((n % 3)) || echo "err ." >&2; done; exit 1' 2>&1 |
  (sleep 1; dd bs=3000 status=none) | awk '/^fq: .*buried/ { ++said; next } { ++lines } !/^(out|err) .*\.$/ { ++torn } END { print lines, torn + 0, said }')"
clear_all

# Nobody reads: no more jobs are started, TERM is heard, and what is lost is told.
mkfifo "$work/pipe"
exec 8<>"$work/pipe"
push_twenty
"$FQ" worker -j2 -- sh -c "$job" "$work/job" >"$work/pipe" 2>"$work/said" 8>&- & worker=$!
await eval '[ "$(wc -l <"$work/job")" -ge 6 ]'
kill -TERM $worker
await gone $worker
wait $worker
is 'a worker whose output nobody reads can be stopped' 0 $?
done=$(wc -l <"$work/job")
is 'it started no more jobs than it could hold the output of' 1 "$((done >= 6 && done <= 9))"
is 'and ran none of the others' "$((20 - done)) 0" "$(fq stats --json | jq -r '"\(.ready) \(.leased)"')"
exec 9<"$work/pipe" 8>&-
shown=$(wc -c <&9)
exec 9<&-
is 'all that was not shown is counted and told, once' "fq: $((done * bytes - shown)) bytes of output were not shown" "$(cat "$work/said")"
clear_all

# A reader that has left wanted no more.
push_twenty
worker --drain -- seq 10000 2>"$work/said" | head -n1 >/dev/null
is 'a reader that has left does not stop a worker, and is not told of what it missed' '0 0 ' "${PIPESTATUS[0]} $(fq peek | wc -l) $(cat "$work/said")"
clear_all
# Nor are its jobs, whatever else of them it keeps.
for how in '' --tag-output; do
  seq 3 | fq push --lines --attempts 1 >/dev/null
  # shellcheck disable=SC2086  # none or one
  worker --drain $how -- sh -c 'cat; seq 20000' 2>"$work/said" | head -n1 >/dev/null
  is "a reader that has left ends no job${how:+ with $how}" '0 acked acked acked ' \
    "${PIPESTATUS[0]} $(fq jobs --state all --json | jq -r .state | sort | tail -3 | xargs) $(cat "$work/said")"
  clear_all
done
# What a job leaves behind it is read on, and dropped, while its worker lives.
printf 'leaves\nwaits\n' | fq push --lines --attempts 1 >/dev/null
# shellcheck disable=SC2016
shown=$(worker --drain -- bash -c '
  if [ "$(cat)" = leaves ]; then
    { until [ -e "$0.next" ]; do sleep 0.02; done; yes | head -n 100000; echo too >&2; : >"$0.alive"; } &
  else
    : >"$0.next"; for ((n = 0; n < 500; ++n)); do [ -e "$0.alive" ] && exec echo seen; sleep 0.02; done
  fi' "$work/job" 2>&1 | cat)
is 'what a job leaves behind lives on, and what it writes is dropped' seen "$shown"
clear_all
# A write that something cut short without a signal for us: what was not told is said.
if command -v strace >/dev/null; then
  told=$(fq push --keep 1h -- echo told); fq worker --once >/dev/null 2>&1
  gives 74 'standard output' strace -f -qq -o /dev/null -e inject=write:error=EINTR:when=1 "$FQ" result "$told"
else
  left_out "strace is not installed"
fi

finish
