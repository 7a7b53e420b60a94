#!/usr/bin/env bash
# calls - what a call costs: 1 GB through fq push --wait beside tee and cat, and a short command through it
# beside task-spooler's tsp -f and beside nothing; and what fq jobs costs where many commands wait.
#
# Usage: FQ=build/release/fq tests/bench/calls.sh [BYTES [CALLS [JOBS]]]. Each is done in turns with the others, so a busy
# machine is busy for all; what counts is the ratio. Peaks of memory are VmHWM: all pages, those of files too.
set -u
: "${FQ:?the binary to measure}"
bytes=${1:-1000000000} calls=${2:-200} jobs=${3:-100000}
work=$(mktemp -d "${TMPDIR:-/tmp}/fq-calls.XXXXXX") || exit 1
export FQ_SPOOL=$work/spool TS_SOCKET=$work/tsp.socket
"$FQ" push -- true >/dev/null
"$FQ" worker >/dev/null 2>&1 & worker=$!
trap 'kill "$worker"; command -v tsp >/dev/null && tsp -K; rm -rf "$work"' EXIT
"$FQ" wait --all

now_us() { echo "${EPOCHREALTIME/./}"; }
# took COMMAND...: in microseconds.
took() {
  local begin
  begin=$(now_us)
  "$@" >/dev/null 2>&1
  echo $(($(now_us) - begin))
}
median() { sort -n | sed -n "$((($1 + 1) / 2))p"; }
peak() { awk '/VmHWM/ { print $2 " kB" }' "/proc/$1/status"; }

through_tee() { head -c "$bytes" /dev/zero | tee "$work/file" | cat; }
through_call() { "$FQ" push --wait -- head -c "$bytes" /dev/zero | cat; }
for _ in 1 2 3 4 5; do
  took through_tee >>"$work/tee"
  took through_call >>"$work/call"
done
tee=$(median 5 <"$work/tee") call=$(median 5 <"$work/call")
awk -v bytes="$bytes" -v tee="$tee" -v call="$call" 'BEGIN {
  printf "%d bytes, median of 5: CMD | tee FILE | cat %.0f MB/s, fq push --wait -- CMD | cat %.0f MB/s, ratio %.2f\n",
         bytes, bytes / tee, bytes / call, tee / call }'

mkfifo "$work/held"
exec 7<>"$work/held"
"$FQ" push --wait -- head -c "$bytes" /dev/zero >"$work/held" 7<&- & caller=$!
head -c "$((bytes / 2))" <"$work/held" >/dev/null
echo "peak of memory: worker $(peak "$worker"), caller $(peak "$caller")"
kill "$caller"
exec 7<&-
"$FQ" wait --all

through_tsp() { tsp -f echo x; }
call_echo() { "$FQ" push --wait -- echo x; }
for ((i = 0; i < calls; ++i)); do
  took env echo x >>"$work/nothing.us"
  took call_echo >>"$work/fq.us"
  command -v tsp >/dev/null && took through_tsp >>"$work/tsp.us"
done
for what in nothing fq tsp; do
  [ -e "$work/$what.us" ] && echo "echo through $what: $(median "$calls" <"$work/$what.us") us, median of $calls"
done

for ((i = 0; i < jobs; ++i)); do echo "{\"argv\":[\"true\",\"$i\"]}"; done | "$FQ" push -q many --ndjson >/dev/null
list_jobs() { "$FQ" jobs -q many; }
for ((i = 0; i < calls; ++i)); do took list_jobs >>"$work/jobs.us"; done
echo "fq jobs of $jobs commands that wait: $(median "$calls" <"$work/jobs.us") us, median of $calls," \
  "the longest $(sort -n "$work/jobs.us" | tail -1) us"
