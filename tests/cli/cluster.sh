# cluster.sh - three servers that are one cluster, for tests.
#
# Sourced behind lib.sh. Each has a directory of its own in $work, 1 to 3, with its socket.
# shellcheck shell=bash

node_options=()  # of redis-cli
# node NUMBER COMMAND...
node() { redis-cli "${node_options[@]}" -s "$work/$1/s" "${@:2}"; }
# A server that need not have all slots covered is well before it has heard who serves the others.
all_know() {
  local i
  for i in 1 2 3; do
    node $i cluster info | tr -d '\r' >"$work/info"
    grep -qx cluster_state:ok "$work/info" && grep -qx cluster_slots_ok:16384 "$work/info" || return 1
  done
}
# start_cluster HOST PORT-SETTING SETTINGS...: `ports` are theirs.
start_cluster() {
  local i host=$1 port_setting=$2
  shift 2
  ports=()
  for i in 1 2 3; do
    rm -rf "${work:?}/$i"
    mkdir "$work/$i"
    ports+=("$(free_port 10000)")
    start_server "$work/$i/s" --dir "$work/$i" "$port_setting" "${ports[i - 1]}" --bind "$host" --cluster-enabled yes \
      --cluster-node-timeout 2000 --maxmemory 64mb --maxmemory-policy noeviction "$@"
    node $i cluster addslotsrange $((16384 * (i - 1) / 3)) $((16384 * i / 3 - 1)) >>"$work/made"
    node $i cluster set-config-epoch $i >>"$work/made"
    [ $i = 1 ] || node 1 cluster meet "$host" "${ports[i - 1]}" >>"$work/made"
  done
  await all_know
}
stop_cluster() {
  local i
  for i in 1 2 3; do node $i shutdown nosave >>"$work/made" 2>&1; done
}
# node_of KEY: which of them has it.
node_of() { echo $((($(node 1 cluster keyslot "$1") * 3 + 2) / 16384 + 1)); }
