#!/usr/bin/env bash
# steps - what a step costs beside its command: durable on the disk below TMPDIR, and told again.
#
# Usage: FQ=build/release/fq tests/bench/steps.sh [STEPS]. A command alone, through a step that keeps its output, and
# through one that has kept it, in turns, so a busy machine is busy for all; what counts is the difference.
set -u
: "${FQ:?the binary to measure}"
steps=${1:-900}
work=$(mktemp -d "${TMPDIR:-/tmp}/fq-steps.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export FQ_SPOOL=$work/spool
"$FQ" push m >/dev/null
FQ_RECEIPT=$("$FQ" pop --lease 1h | cut -f1)
export FQ_RECEIPT

now_us() { echo "${EPOCHREALTIME/./}"; }
# took COMMAND...: in microseconds.
took() {
  local begin
  begin=$(now_us)
  "$@" >/dev/null
  echo $(($(now_us) - begin))
}
median() { sort -n | sed -n "$((($1 + 1) / 2))p"; }

for ((i = 0; i < steps; ++i)); do
  took /bin/echo result >>"$work/alone"
  took "$FQ" step "s$i" -- /bin/echo result >>"$work/step"
  took "$FQ" step "s$i" -- /bin/echo result >>"$work/again"
done
alone=$(median "$steps" <"$work/alone") step=$(median "$steps" <"$work/step") again=$(median "$steps" <"$work/again")
awk -v steps="$steps" -v alone="$alone" -v step="$step" -v again="$again" 'BEGIN {
  printf "%d steps of one message, median: the command %d us, as a step %d us (%d us more), told again %d us\n",
         steps, alone, step, step - alone, again }'
