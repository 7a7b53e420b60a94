#!/bin/bash
# redis_sealed_cluster_test - a cluster by TLS, by IPv4 and IPv6, for a user with a password and the least rights.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/certificates.sh"
. "$(dirname "$0")/cluster.sh"

fq_redis=$(dirname "$FQ")/fq-redis
authority ours
certificate node ours DNS:localhost,IP:127.0.0.1,IP:::1
export FQ_REDIS_CA=$keys/ours.crt
# shellcheck disable=SC2034  # cluster.sh has it
node_options=(--no-auth-warning -a s3cret)

for host in 127.0.0.1 ::1; do
  if [ $host = ::1 ] && ! grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null; then left_out "no address ::1"; continue; fi
  start_cluster $host --tls-port --tls-cert-file "$keys/node.crt" --tls-key-file "$keys/node.key" \
    --tls-ca-cert-file "$keys/ours.crt" --tls-auth-clients no --tls-cluster yes --requirepass s3cret
  shown=$host
  if [ $host = ::1 ]; then shown='[::1]'; fi
  hosts=$(printf "$shown:%s," "${ports[@]}")
  admin="rediss://${hosts%,}/?prefix=shop"
  export FQ_SPOOL="rediss://worker@${hosts%,}/?prefix=shop"
  echo w0rk >"$work/password"
  chmod 600 "$work/password"

  # What only an administrator may do is done by one, and the user gets what fq-redis says.
  is "$host: loaded" loaded "$(FQ_REDIS_PASSWORD=s3cret "$fq_redis" load "$admin" | sed 's/.*: //')"
  read -ra rules <<<"$("$fq_redis" acl "$admin")"
  for i in 1 2 3; do node $i acl setuser worker on '>w0rk' "${rules[@]}" >>"$work/made"; done
  gives 77 "AUTH: wants a password; put it into a file and name that in FQ_REDIS_PASSWORD_FILE" fq push x
  gives 77 "AUTH: does not know this user with this password" env FQ_REDIS_PASSWORD=s3cret "$FQ" push x
  export FQ_REDIS_PASSWORD_FILE=$work/password

  gives 0 '' fq queue create --shards 8
  for tenant in a b c d e f; do fq push -t $tenant "of $tenant" >>"$work/ids"; done
  is "$host: all is served" "of a,of b,of c,of d,of e,of f" "$(fq pop -n 6 | sort | paste -sd,)"
  is "$host: a job pushes" "job,inner" "$(fq push -t jobs -- sh -c 'echo job; fq push -t jobs inner >&2' >>"$work/ids"
    { PATH=$(dirname "$FQ"):$PATH fq worker --once && fq pop -t jobs; } 2>"$work/err" | paste -sd,)"
  is "$host: who waits" waited "$( (sleep 0.3; fq push -t late waited >>"$work/ids") & fq pop -t late --wait=20s; wait)"
  is "$host: on each of them" 3 "$(for i in 1 2 3; do node $i --scan --pattern 'fq1:shop:{default:*:h'; done | cut -d: -f4 | sort -u \
    | while read -r shard; do node 1 cluster keyslot "default:$shard"; done | awk '{ print int($1 * 3 / 16384) }' | sort -u | wc -l)"
  gives 0 '' fq schedule set hourly @hourly tick
  gives 0 '' fq config load /dev/null
  gives 0 '' fq check
  gives 0 '' fq doctor
  is "$host: doctor names them" 3 "$(fq doctor --json | jq -r 'select(.about == "server").found' | grep -cF "$shown:")"
  gives 0 '' fq queue pause
  is "$host: an export" 2 "$(fq push -t a kept >>"$work/ids"; fq push -t b kept >>"$work/ids"; fq export 2>"$work/err" | tee "$work/exported" | grep -c kept; true)"
  gives 0 '' fq queue remove default --yes
  is "$host: nothing is left" "fq1:shop:policy" "$(for i in 1 2 3; do node $i --scan; done | grep -v :lib$ | sort -u | paste -sd' ')"
  is "$host: nothing tells a password" "" "$(grep -l 's3cret\|w0rk' "$work/log" "$work/err" "$work/exported")"
  unset FQ_REDIS_PASSWORD_FILE
  stop_cluster
done
finish
