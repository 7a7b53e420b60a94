#!/bin/bash
# quickstart - builds fq, where it is not installed, and tells a small story from separate shell processes.
#
# Three tenants push, one of them 1000 messages. Some pushers, some consumers and a worker are ended by kill -9
# on the way. It shows who is served when, and by counting that nothing that was accepted is lost. Uses a spool of
# its own that is removed at the end; FQ=PATH takes a binary that is built already. An installed quickstart takes
# the fq in PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

build_fq() {
  . tests/packages.sh
  install_missing $BUILD_PACKAGES
  mkdir -p build
  { cmake --preset release && cmake --build --preset release --target fq; } >build/quickstart.log 2>&1 \
    || { cat build/quickstart.log; exit 1; }
  FQ=$PWD/build/release/fq
}
if [ -z "${FQ:-}" ] && [ ! -e tests/packages.sh ]; then
  FQ=$(command -v fq) || { echo "quickstart: no fq in PATH; FQ=PATH names one" >&2; exit 1; }
elif [ -z "${FQ:-}" ]; then
  echo "building fq (build/release/fq) ..."
  build_fq
fi
fq() { "$FQ" "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export FQ_SPOOL=$work/spool

echo
echo "1. Three tenants push, each from a process of its own: bulk 1000 messages first, then anna 3 and ben 2."
for n in $(seq 1000); do echo "bulk-$n"; done | fq push -t bulk --attempts 100 --lines >"$work/accepted-ids"
for n in 1 2 3; do fq push -t anna --attempts 100 "anna-$n" >>"$work/accepted-ids"; done
for n in 1 2; do fq push -t ben --attempts 100 "ben-$n" >>"$work/accepted-ids"; done
{ for n in $(seq 1000); do echo "bulk-$n"; done; printf '%s\n' anna-1 anna-2 anna-3 ben-1 ben-2; } >"$work/accepted"

echo
echo "2. Who is served when. Nobody waits for the thousand:"
for turn in 1 2 3 4 5 6 7 8 9 10; do
  fq pop >"$work/one"
  cat "$work/one" >>"$work/served"
  printf '   turn %2d   %s\n' "$turn" "$(cat "$work/one")"
done

# Ends process $1 by kill -9 after a few milliseconds at most, and gives its exit status (137: it was killed in time).
kill_soon() {
  local turns
  # Counting, since a sleep would be a process that takes longer than a push to start.
  for ((turns = RANDOM % 8000; turns > 0; --turns)); do :; done
  kill -9 "$1" 2>/dev/null || true
  status=0
  { wait "$1"; } 2>/dev/null || status=$?
}

echo
echo "3. 60 more pushes, every second one ended by kill -9 while it is at work."
killed=0
for n in $(seq 60); do
  tenant=$([ $((n % 3)) = 0 ] && echo ben || echo anna)
  "$FQ" push -t "$tenant" --attempts 100 "late-$n" >/dev/null 2>&1 &
  pid=$!
  if [ $((n % 2)) = 0 ]; then kill_soon $pid; else status=0; wait $pid || status=$?; fi
  # Exit 0 is a promise. A push that was killed may have happened or not.
  if [ "$status" = 0 ]; then echo "late-$n" >>"$work/accepted"; else echo "late-$n" >>"$work/unknown"; fi
  [ "$status" != 137 ] || killed=$((killed + 1))
done
touch "$work/unknown"
echo "   $killed pushers were killed; $(grep -c late "$work/accepted") pushes said that they were accepted"

# Pops 300 times; about every fourth pop is ended by kill -9. What a killed one held comes back at once, so a
# message may be seen twice, but none is lost. (A pop that dies counts as an attempt, and the last attempt buries:
# hence --attempts 100 above.)
consumer() {
  local status pid turn killed=0
  RANDOM=$1
  for turn in $(seq 300); do
    "$FQ" pop >>"$work/served-$1" 2>>"$work/errors" &
    pid=$!
    if [ $((RANDOM % 4)) = 0 ]; then kill_soon $pid; else status=0; wait $pid || status=$?; fi
    case $status in
      0) ;;
      137) killed=$((killed + 1)) ;;
      *) echo "fq pop left with $status" >>"$work/errors"; break ;;
    esac
  done
  echo "$killed" >"$work/killed-$1"
}

echo
echo "4. Two consumers pop 300 times each, side by side; about every fourth pop is ended by kill -9."
consumer 1 2>/dev/null &
one=$!
consumer 2 2>/dev/null &
two=$!
wait $one $two
cat "$work"/served-? >>"$work/served"
if [ -s "$work/errors" ]; then cat "$work/errors"; fi
echo "   $(($(cat "$work/killed-1") + $(cat "$work/killed-2"))) pops were killed"

echo
echo "5. A worker runs a command for each of the rest. It is ended by kill -9; the next one goes on."
# The payload is on standard input; exit 0 says that it is done.
cat >"$work/job" <<'JOB'
#!/bin/bash
read -r text || :
echo "$text" >>"${0%/*}/worked"
JOB
chmod +x "$work/job"
touch "$work/worked"
"$FQ" worker -j2 -- "$work/job" &
worker=$!
until [ "$(wc -l <"$work/worked")" -ge 100 ] || ! kill -0 $worker; do sleep 0.01; done
kill -9 $worker
{ wait $worker; } 2>/dev/null || true
echo "   $(wc -l <"$work/worked") commands were run when it was killed, and its last ones with it"
fq worker -j2 --drain -- "$work/job"
echo "   $(wc -l <"$work/worked") when the queue was empty"
cat "$work/worked" >>"$work/served"

echo
echo "6. The count."
sort -u "$work/served" >"$work/distinct"
lost=$(sort -u "$work/accepted" | comm -23 - "$work/distinct" | wc -l)
invented=$(sort -u "$work/accepted" "$work/unknown" | comm -13 - "$work/distinct" | wc -l)
printf '   accepted %d   served %d (%d of them again after a kill)   lost %d   never pushed %d\n' \
  "$(sort -u "$work/accepted" | wc -l)" "$(wc -l <"$work/served")" \
  "$(($(wc -l <"$work/served") - $(wc -l <"$work/distinct")))" "$lost" "$invented"
fq check

echo
echo "7. fq stats"
fq stats
if [ "$lost" != 0 ] || [ "$invented" != 0 ]; then
  echo "quickstart: the count is wrong; this must not happen" >&2
  exit 1
fi
