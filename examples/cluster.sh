#!/bin/bash
# cluster - one queue on three servers, each with a replica: one is killed, and nothing that was accepted is missing.
#
# It starts six servers on this machine, a cluster, and two workers. A noisy tenant and a quiet one push; meanwhile the
# server that has the quiet one's messages is killed with kill -9. Its replica takes over, and the workers go on. It
# needs redis-server and redis-cli (Debian's packages redis-server and redis-tools), and fq-redis beside fq.
. "$(dirname "$0")/story.sh"
for program in redis-server redis-cli; do
  command -v $program >/dev/null || { echo "cluster: no $program here; it is in Debian's package $program" >&2; exit 1; }
done
ln -s "$(dirname "$(realpath "$FQ")")/fq-redis" "$work/bin/fq-redis"
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT

# start PORT: a server of a cluster, which ends with this story.
start() {
  mkdir "$work/$1"
  redis-server --port "$1" --bind 127.0.0.1 --dir "$work/$1" --save '' --appendonly yes --maxmemory 64mb \
    --maxmemory-policy noeviction --cluster-enabled yes --cluster-node-timeout 2000 \
    --cluster-require-full-coverage no --repl-diskless-sync-delay 0 >"$work/$1/log" 2>&1 &
  started+=($!)
  disown  # its end is told by nobody
}
# until_so COMMAND...: asks every tenth of a second, for a minute.
until_so() {
  local tries
  for ((tries = 0; tries < 600; ++tries)); do
    if "$@"; then return; fi
    sleep 0.1  # servers tell nobody when they are ready
  done
  [ "$1" != all_done ] || cat "$work"/worker.* >&2
  wrong "in vain for a minute: $*"
}
answers() { redis-cli -p "$1" ping 2>/dev/null | grep -q PONG; }

echo '1. Six servers on this machine: three, and a replica of each.'
first=$((11000 + RANDOM % 8000))
ports=()
for ((port = first; ${#ports[@]} < 6; ++port)); do
  if (: </dev/tcp/127.0.0.1/$port) 2>/dev/null || (: </dev/tcp/127.0.0.1/$((port + 10000))) 2>/dev/null; then continue; fi
  start $port
  ports+=("$port")
done
for port in "${ports[@]}"; do until_so answers "$port"; done
# shellcheck disable=SC2046  # six words
redis-cli --cluster create $(printf '127.0.0.1:%s ' "${ports[@]}") --cluster-replicas 1 --cluster-yes >"$work/made" \
  || wrong "no cluster: $(cat "$work/made")"
# Servers that have just met refuse commands for some seconds.
all_are_well() {
  local port about
  for port in "${ports[@]}"; do
    about=$(redis-cli -p "$port" cluster info; redis-cli -p "$port" info replication)
    [[ $about == *cluster_state:ok*cluster_slots_ok:16384* ]] || return 1
    [[ $about == *master_link_status:up* || $about == *connected_slaves:1* ]] || return 1
  done
}
until_so all_are_well

export FQ_SPOOL="redis://127.0.0.1:${ports[0]},127.0.0.1:${ports[1]},127.0.0.1:${ports[2]}/?prefix=story"
fq queue create
fq doctor --json | jq -r 'select(.about == "durability") | "   " + .found'

echo '2. Two workers, a noisy tenant and a quiet one.'
cat >"$work/bin/note" <<'JOB'
#!/bin/bash
# The job: writes down what it got.
read -r line
echo "$line" >>"$NOTES"
JOB
chmod +x "$work/bin/note"
export NOTES=$work/notes
for worker in 1 2; do
  fq worker -j2 --output discard -- note 2>"$work/worker.$worker" &
  workers[worker]=$!
done
# pushes TENANT FROM TO: those that are not accepted are tried again; what is not known is not counted.
accepted=$work/accepted
pushes() {
  local n code
  for ((n = $2; n <= $3; ++n)); do
    until
      code=0
      fq push -t "$1" --unique "$1-$n" --unique-for 1h "$1 $n" >"$work/id" 2>"$work/said" || code=$?
      [ $code != 75 ]
    do :; done
    [ $code != 0 ] || echo "$1 $n" >>"$accepted"
  done
}
pushes noisy 1 60
pushes quiet 1 5

echo '3. The server that has the quiet messages is killed.'
shard=$(($(cat "$work/id") % 1024))
place=$(redis-cli -c -p "${ports[0]}" hget 'fq1:story:{default}:meta' places | cut -d' ' -f$((shard + 1)))
slot=$(redis-cli -p "${ports[0]}" cluster keyslot "{$place}")
killed=$(redis-cli -p "${ports[0]}" cluster nodes \
  | awk -v slot="$slot" '/master/ { for (i = 9; i <= NF; ++i) { split($i, r, "-"); if (r[1] <= slot && slot <= r[2]) print $2 } }' \
  | sed 's/.*:\([0-9]*\)@.*/\1/')
for i in "${!ports[@]}"; do
  [ "${ports[i]}" != "$killed" ] || kill -9 "${started[i]}"
done
pushes noisy 61 90
pushes quiet 6 10

echo '4. Its replica has taken over, and all that was accepted is done.'
all_done() { [ -z "$(LC_ALL=C comm -23 <(sort "$accepted") <(sort -u "$NOTES"))" ]; }
until_so all_done
fq doctor --json | jq -r 'select(.health != "ok" and .about == "durability") | "   " + .found + ": " + .advice'
kill "${workers[@]}"
wait "${workers[@]}" || wrong 'a worker ended badly'
fq check >"$work/checked" || wrong "check says: $(cat "$work/checked")"
echo "5. Accepted: $(wc -l <"$accepted"), missing: 0."
