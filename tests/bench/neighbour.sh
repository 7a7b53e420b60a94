#!/bin/bash
# neighbour - a noisy neighbour: one tenant has 10,000 messages, then 50 others have one each. At which turn is the
# last of the 50 served? Of fq, and of beanstalkd (a tube a tenant, all watched) and Redis (a list), where these are
# installed. The README quotes it.
#
# usage: neighbour.sh    FQ=PATH names the binary (default: build/release/fq)
set -euo pipefail
FQ=${FQ:-$(cd "$(dirname "$0")/../.." && pwd)/build/release/fq}
work=$(mktemp -d)
server=""
trap 'if [ -n "$server" ]; then kill "$server"; fi; rm -rf "$work"' EXIT
noisy=10000
quiet=50
port=$((20000 + RANDOM % 10000))

# last NAME: from who was served, one a line, the turn of the last quiet one.
last() { awk -v name="$1" '/^quiet/ { last = NR } END { printf "%-28s the last of %d at turn %d\n", name, '$quiet', last }'; }
tenants() {
  seq $noisy | sed 's/.*/noisy/'
  for n in $(seq $quiet); do echo "quiet-$n"; done
}

tenants | awk '{ print "{\"tenant\":\"" $1 "\",\"payload\":\"" $1 "\"}" }' | "$FQ" --spool "$work/spool" push --lazy --ndjson >/dev/null
"$FQ" --spool "$work/spool" pop -n $((noisy + quiet)) | last fq

if command -v beanstalkd >/dev/null; then
  beanstalkd -l 127.0.0.1 -p $port &
  server=$!
  until exec 3<>/dev/tcp/127.0.0.1/$port; do :; done 2>/dev/null
  answers() { while [ "$1" -gt "${#got[@]}" ] && read -r -u 3 line; do got+=("$line"); done; }
  got=()
  tenants | awk '{ printf "use %s\r\nput 0 0 60 %d\r\n%s\r\n", $1, length($1), $1 }' >&3 &
  answers $((2 * (noisy + quiet)))
  got=()
  { printf 'watch noisy\r\n'; for n in $(seq $quiet); do printf 'watch quiet-%d\r\n' "$n"; done; } >&3
  answers $((1 + quiet))
  for _ in $(seq $((noisy + quiet))); do
    printf 'reserve\r\n' >&3
    read -r -u 3 _ id _
    read -r -u 3 body
    printf 'delete %s\r\n' "$id" >&3
    read -r -u 3 _
    echo "$body"
  done | last 'beanstalkd, a tube a tenant'
  exec 3>&-
  kill $server
  wait $server 2>/dev/null || true
  server=""
fi

if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
  redis-server --port $port --bind 127.0.0.1 --save '' --dir "$work" >/dev/null &
  server=$!
  until redis-cli -p $port ping >/dev/null 2>&1; do :; done
  tenants | sed 's/^/LPUSH queue /' | redis-cli -p $port >/dev/null
  for _ in $(seq $((noisy + quiet))); do echo 'RPOP queue'; done | redis-cli -p $port | last 'Redis, a list'
fi
