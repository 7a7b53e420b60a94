#!/bin/bash
# redis_tls_test - queues on a server by TLS: its certificate is verified, always, and ours is shown where one is wanted.
. "$(dirname "$0")/lib.sh"

command -v faketime >/dev/null || skip "no faketime"
. "$(dirname "$0")/certificates.sh"
authority ours
authority others
certificate right ours DNS:localhost,IP:127.0.0.1
certificate elsewhere ours DNS:elsewhere.example,IP:127.0.0.9
certificate expired ours DNS:localhost,IP:127.0.0.1 '20 days ago'
certificate early ours DNS:localhost,IP:127.0.0.1 '20 days'
certificate foreign others DNS:localhost,IP:127.0.0.1
certificate client ours DNS:client

# serve NAME SETTINGS...: a server with that certificate; `port` is its.
serve() {
  port=$(free_port)
  start_server "$work/$1.sock" --tls-port "$port" --bind 127.0.0.1 --tls-cert-file "$keys/$1.crt" --tls-key-file "$keys/$1.key" \
    --tls-ca-cert-file "$keys/ours.crt" --tls-auth-clients no "${@:2}"
}
export FQ_REDIS_CA=$keys/ours.crt

serve right
export FQ_SPOOL=rediss://localhost:$port
is "by a name" 1 "$(fq push -- sh -c 'head -c 300000 /dev/zero | tr "\\0" x; fq push inner >&2')"
is "by an address" 2 "$(FQ_SPOOL=rediss://127.0.0.1:$port fq push two)"
is "what is long" 400000 "$(head -c 400000 /dev/zero | fq push -t long >"$work/id" && fq pop -t long --format raw | wc -c)"
is "a job that is followed" 300000 "$(PATH=$(dirname "$FQ"):$PATH fq worker --once 2>"$work/err" | wc -c)"
gives 0 '' fq check
gives 0 '' fq queue list
is "a worker waits by it" waited "$( (sleep 0.3; fq push -t late waited >"$work/id") & fq pop -t late --wait=20s; wait)"
FQ_REDIS_CA=$keys gives 69 "is not to be trusted" fq push x
openssl rehash "$keys" 2>>"$work/openssl"
is "a directory of authorities" 0 "$(FQ_REDIS_CA=$keys fq push x >"$work/id"; echo $?)"
FQ_REDIS_CA=$keys/others.crt gives 69 "localhost:$port: its certificate is not to be trusted: " fq push x
env -u FQ_REDIS_CA "$FQ" push x 2>"$work/err"
is "without an authority that this machine trusts" 69 $?
FQ_REDIS_CA=$keys/none gives 78 "FQ_REDIS_CA: '$keys/none': has no certificate that can be read" fq push x
FQ_REDIS_CA=$keys/right.key gives 78 "has no certificate that can be read" fq push x
FQ_REDIS_CERT=$keys/client.crt gives 78 "name that in FQ_REDIS_KEY" fq push x
FQ_REDIS_KEY=$keys/client.key gives 78 "name that in FQ_REDIS_CERT" fq push x
FQ_REDIS_CERT=$keys/client.crt FQ_REDIS_KEY=$keys/right.key gives 78 "or one of another certificate" fq push x
before=$(fq stats --json | jq .pushed)
gives 75 "cannot be reached" fq push --spool "redis://localhost:$port" x
is "nothing was pushed" "$before" "$(fq stats --json | jq .pushed)"

for name in elsewhere expired early foreign; do
  serve $name
  why=$(case $name in
    elsewhere) echo "hostname mismatch" ;;
    expired) echo "certificate has expired" ;;
    early) echo "certificate is not yet valid" ;;
    foreign) echo ;;
  esac)
  gives 69 "its certificate is not to be trusted: $why" fq push --spool "rediss://localhost:$port" x
  [ $name != elsewhere ] || gives 69 "trusted: IP address mismatch" fq push --spool "rediss://127.0.0.1:$port" x
  is "$name: nothing came" 0 "$(redis-cli -s "$work/$name.sock" dbsize)"
done

# One that wants to know who we are.
certificate strict ours DNS:localhost
serve strict --tls-auth-clients yes
export FQ_SPOOL=rediss://localhost:$port
fq push x 2>"$work/err"
case $? in 69 | 75 | 74) ;; *) fail "without a certificate of ours: $(cat "$work/err")" ;; esac
is "nothing came" 0 "$(redis-cli -s "$work/strict.sock" dbsize)"
export FQ_REDIS_CERT=$keys/client.crt FQ_REDIS_KEY=$keys/client.key
is "with one" 1 "$(fq push x)"
is "and a password" 2 "$(redis-cli -s "$work/strict.sock" config set requirepass s3cret >/dev/null; FQ_REDIS_PASSWORD=s3cret fq push x)"

# A server without TLS.
port=$(free_port)
start_server "$work/plain.sock" --port "$port" --bind 127.0.0.1
gives 75 "localhost:$port: cannot be reached: it does not speak TLS, or does not answer" fq push --spool "rediss://localhost:$port" x
finish
