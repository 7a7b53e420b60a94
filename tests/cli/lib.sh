# lib.sh - what the process tests of cli share: a spool of their own and sentences with a verdict.
#
# Sourced by tests/cli/*_test.sh. FQ is the binary under test.
# shellcheck shell=bash

set -u
: "${FQ:?the binary under test}"
export FQ
unset FQ_SPOOL FQ_QUEUE FQ_TENANT FQ_RECEIPT FQ_REDIS_COMMAND_KEY_FILE
export LC_ALL=C.UTF-8
work=$(mktemp -d "${TMPDIR:-/tmp}/fq-cli.XXXXXX") || exit 1
# What a test started ends with it, wherever it stops: found by the spool in its environment. Who looks has none there.
left_behind() (
  unset FQ_SPOOL
  grep -lzs "^FQ_SPOOL=\(redis+unix://\)\?$work/" /proc/[0-9]*/environ | cut -d/ -f3
)
clean_up() {
  local pid
  for pid in $(jobs -p) $(left_behind); do kill -KILL "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap '[ "$BASHPID" = "$$" ] && clean_up' EXIT
export FQ_SPOOL=$work/spool
failures=0

# left_out WHY: what this machine does not let a test try; tests/run.sh tells it at its end. skip WHY: nothing of it.
left_out() {
  echo "left out: $1"
  if [ -n "${FQ_LEFT_OUT-}" ]; then echo "${0##*/}: $1" >>"$FQ_LEFT_OUT"; fi
}
skip() { left_out "$1"; exit 77; }

# start_server SOCKET SETTINGS...: a server of its own, that ends with this script, however that ends; and the key by
# which commands on it are signed.
start_server() {
  local socket=$1 server
  # The package redis-tools has the server under another name.
  server=$(command -v redis-server || command -v redis-check-rdb) || skip "no redis-server"
  [ -x "$(dirname "$FQ")/fq-redis" ] || skip "fq-redis is not built"
  shift
  export FQ_REDIS_COMMAND_KEY_FILE=$work/command.key
  (umask 077 && echo 'a key that only tests have' >"$FQ_REDIS_COMMAND_KEY_FILE")
  # shellcheck disable=SC2016
  setpriv --pdeathsig KILL bash -c 'exec -a redis-server "$0" "$@"' \
    "$server" --port 0 --unixsocket "$socket" --dir "$work" --save "" "$@" >"$work/log" 2>&1 &
  disown
  await listens "$socket"
}
# That the socket is there is not enough: a server makes it before it listens.
listens() { redis-cli -s "$1" ping >/dev/null 2>&1; }
# free_port [ABOVE]: below those that the kernel gives away by itself; the one so far above it is free too.
free_port() {
  python3 - "${1:-0}" <<'EOF'
import random, socket, sys
def is_free(port):
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
above = int(sys.argv[1])
while True:
    port = random.randrange(11000, 21000)
    if is_free(port) and is_free(port + above):
        print(port)
        break
EOF
}
# FQ_ON_SERVER=1: the test is about a queue on a server. here(): it is about a spool.
here() { [ -z "${FQ_ON_SERVER-}" ]; }

fq() { "$FQ" "$@"; }

fail() {
  printf 'not ok: %s\n' "$1"
  failures=$((failures + 1))
}

# is "sentence" EXPECTED ACTUAL
is() {
  if [ "$2" != "$3" ]; then fail "$1"; printf '  expected: %s\n  actual:   %s\n' "$2" "$3"; fi
}

# gives CODE STDERR-PART COMMAND...: runs it without standard input; STDERR-PART '' means silent.
gives() {
  local code=$1 part=$2 actual said
  shift 2
  "$@" </dev/null >"$work/out" 2>"$work/err"
  actual=$?
  said=$(cat "$work/err")
  if [ "$actual" != "$code" ]; then fail "$*: exit $actual instead of $code: $said"; fi
  if [ -z "$part" ] && [ -n "$said" ]; then fail "$*: was not silent: $said"; fi
  case $said in
    *"$part"*) ;;
    *) fail "$*: said '$said' and not '$part'" ;;
  esac
  if [ -n "$said" ] && [ "$(printf '%s\n' "$said" | grep -vc '^fq: ')" != 0 ]; then fail "$*: a line without 'fq: ': $said"; fi
}

# await COMMAND...: until it succeeds; a failure after $within_s, or 20 s.
await() {
  local most=${within_s-20}
  local end=$((SECONDS + most))
  until "$@" 2>/dev/null; do
    if [ "$SECONDS" -ge "$end" ]; then fail "in vain for $most s: $*"; return 1; fi
    read -rt 0.005 <>"$work/never" || :
  done
}
mkfifo "$work/never"
if ! here; then
  start_server "$work/s"
  export FQ_SPOOL="redis+unix://$work/s"
fi
# took COMMAND...: how many microseconds. killed_within US COMMAND...: at a random moment before that; true: it was still
# at work. However fast a machine is, kills come in mid-work.
took() {
  local begin=${EPOCHREALTIME/./}
  "$@" >"$work/took" 2>&1
  echo $((${EPOCHREALTIME/./} - begin))
}
killed_within() {
  local us=$((RANDOM * $1 / 32768))
  { timeout -s KILL "$(printf '%d.%06d' $((us / 1000000)) $((us % 1000000)))" "${@:2}"; } >"$work/killed" 2>&1
  [ $? = 137 ]
}
# killed_at POINT COMMAND...: there it dies. What it tells is in $work/killed.
killed_at() {
  local point=$1 ended
  shift
  FQ_KILL_AT=$point "$@" >"$work/killed" 2>&1
  ended=$?
  [ $ended = 137 ] || fail "$*: left with $ended and was not killed at $point: $(cat "$work/killed")"
}
# with_small_disk: begins the script again where $work/small is a file system of 24 MiB that nobody else sees.
with_small_disk() {
  if [ "${FQ_IN_NAMESPACE:-}" = "" ]; then
    unshare -m true 2>"$work/err" || skip "namespaces are not allowed here"
    rm -rf "$work"
    FQ_IN_NAMESPACE=yes exec unshare -m bash "$0"
  fi
  mkdir "$work/small"
  mount -t tmpfs -o size=24m,mode=700 none "$work/small"
}
# stopped PID: it stopped itself, at FQ_STOP_AT say.
stopped() { grep -q '^State:.T' "/proc/$1/status"; }

# gone_or_zombie PID: it is dead, whether or not somebody has taken note.
gone_or_zombie() { ! [ -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

# Commands that see a terminal of COLUMNS by ROWS: on_terminal COLUMNS ROWS 'COMMAND'. The stty is for this terminal.
on_terminal() {
  TERM=xterm script -qefc "stty cols $1 rows $2 -onlcr; $3" /dev/null </dev/null
}
# Without colours and the like.
plain() { sed -e 's/\x1b\[[0-9;]*[A-Za-z]//g'; }
widest() { tr -d '\r' | wc -L; }

# An empty spool for the next story.
fresh() { if here; then rm -rf "$FQ_SPOOL"; else redis-cli -s "$work/s" flushall >"$work/flushed"; fi; }

nothing_left() { [ -z "$(left_behind)" ]; }
finish() {
  await nothing_left || { left=$(left_behind); ps -o pid=,args= -p "${left//$'\n'/,}"; }
  [ "$failures" = 0 ] || { printf '%s failures\n' "$failures"; exit 1; }
}
