# one_of_each.sh - a queue with a message of each kind, and a job with a step of each kind, for tests of export and import.
# shellcheck shell=bash

# What was written, but for when and whose.
told() { jq -c 'select(.type != "export" and .key != "paused")' "$1"; }

# One of each kind.
fill() {
  cd "$work" || exit 1
  fq push -t acme/x -p 5 --tag k=v --timeout 3s --keep 2d --ttl 1d one
  fq push --delay 1h later
  fq push --unique U --unique-for 2h -- sh -c 'cat; exit 3'
  MORE=some FQ_TENANT='' fq push --env MORE --attempts 3 --payload=in -- sh -c 'exit 1' a\ b ''
  printf 'a\0\377b' | fq push
  head -c 100000 /dev/zero | tr '\0' l | fq push -t long
  fq push --debounce D --quiet 1h deb
  fq push -t dead x
  fq bury "$(fq pop -t dead --lease 1h | cut -f1)" --reason $'no\ngood'
  fq push -t fails y
  fq retry "$(fq pop -t fails --lease 1h | cut -f1)" --reason luck --delay 2h
  fq push --after 1 --delay 2h after
  fq push --after-any 1,10 any
  fq push -t waits --after 8 buried
  fq push -t first --unique V leader
  lease=$(fq pop -t first --lease 1h | cut -f1)
  fq push -t first --unique V --unique-mode after behind
  fq release "$lease"
  fq push -t 'ö/ü' --tag 'q="' "quo\"te"
  fq tenant set acme weight=2 concurrency=3
  fq queue set attempts=4 lease=30s
} >/dev/null

# shellcheck disable=SC2034  # for who sources this
job='set -e; fq step one -- sh -c "echo one; echo ran >>ran"; fq step kid --push -t kids kid; fq step gone --push -t gone x
  fq step big -- sh -c "head -c 200000 /dev/zero | tr \\\\0 b"; fq step stay --wait-all; fq step late --sleep 1h'
