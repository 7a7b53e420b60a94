# certificates.sh - authorities, and certificates of servers and clients, for tests of TLS.
#
# Sourced behind lib.sh. Owns $work/keys: NAME.key and NAME.crt.
# shellcheck shell=bash

command -v openssl >/dev/null || skip "no openssl"
keys=$work/keys
mkdir "$keys"

# authority NAME; certificate NAME AUTHORITY SAN [WHEN]: a key and what says whose it is.
new_key() { openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$keys/$1.key" -subj "/CN=$1" "${@:2}" 2>>"$work/openssl"; }
authority() { new_key "$1" -x509 -days 30 -out "$keys/$1.crt"; }
certificate() {
  local at=()
  if [ -n "${4-}" ]; then at=(faketime "$4"); fi
  new_key "$1" -out "$keys/$1.csr"
  printf 'subjectAltName=%s\n' "$3" >"$keys/$1.ext"
  "${at[@]}" openssl x509 -req -in "$keys/$1.csr" -CA "$keys/$2.crt" -CAkey "$keys/$2.key" -CAcreateserial \
    -days 10 -extfile "$keys/$1.ext" -out "$keys/$1.crt" 2>>"$work/openssl"
}
