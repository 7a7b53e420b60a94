#!/bin/bash
# run - the long forms of the tests: one script a proof, their figures together at the end.
#
# usage: tests/torture/run.sh [NAME...] [--quick]   names: those of the scripts beside this one
set -u
cd "$(dirname "$0")" || exit 1

names=()
for word in "$@"; do
  if [ "$word" = --quick ]; then export QUICK=1; else names+=("$word"); fi
done
if [ ${#names[@]} = 0 ]; then
  for script in *.sh; do
    case $script in run.sh | lib.sh) ;; *) names+=("${script%.sh}") ;; esac
  done
fi

figures=""
broken=0
for name in "${names[@]}"; do
  printf '== %s\n' "$name"
  SECONDS=0
  output=$(mktemp)
  "./$name.sh" 2>&1 | tee "$output"
  if [ "${PIPESTATUS[0]}" != 0 ]; then broken=1; figures+="$name: BROKEN: "; fi
  figures+="$(tail -n 1 "$output") ($((SECONDS / 60)) min)"$'\n'
  rm -f "$output"
done
printf '== %s, %s processors, Linux %s\n%s' "$(date +%F)" "$(nproc)" "$(uname -r)" "$figures"
exit $broken
