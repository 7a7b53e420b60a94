#!/usr/bin/env bash
# manual_examples_test - every example of the manual pages of commands, and of the README, leaves with 0 in a fresh
# spool, and that of fq.toml(5) is a good fq.toml. (Those of section 7 are pictures.)
#
# An example is a run of .Dl lines, or a literal display, under EXAMPLES. Each has a spool, a directory and commands
# such as it speaks of: message 17, which is leased as 17.3.k7qd (but for its queue's mark); ./resize.sh, mail.txt.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

# examples_of PAGE: its examples, each ended by a NUL, without roff's marks.
examples_of() {
  awk '
    function flush() { if (text != "") printf "%s%c", text, 0; text = "" }
    /^\.Sh / { flush(); within = $0 == ".Sh EXAMPLES"; next }
    !within { next }
    /^\.Bd / { flush(); display = 1; next }
    /^\.Ed/ { flush(); display = 0; next }
    display { text = text $0 "\n"; next }
    /^\.Dl / { text = text substr($0, 5) "\n"; next }
    { flush() }
    END { flush() }' "$1" |
    sed -z "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\(dq/\"/g; s/\\\\&//g; s/\\\\(ha/^/g; s/\\\\(ti/~/g; s/\\\\(ga/\`/g; s/\\\\e/\\\\/g"
}

# Commands that the examples speak of.
mkdir "$work/bin"
ln -s "$(realpath "$FQ")" "$work/bin/fq"
for command in sendmail make curl work; do printf '#!/bin/sh\ncat >/dev/null\n' >"$work/bin/$command"; done
chmod +x "$work"/bin/*
PATH=$work/bin:$PATH

# a_world: an empty directory to be in, with the files that the examples speak of, and an empty spool.
a_world() {
  rm -rf "$work/here" "$FQ_SPOOL"
  mkdir "$work/here"
  cd "$work/here" || exit 1
  printf '#!/bin/sh\ncat >/dev/null\n' >resize.sh
  chmod +x resize.sh
  echo picture >cat.png
  echo letter >mail.txt
  printf '{"url":"a","customer":"acme"}\n' >orders.ndjson
  printf 'a\nb\n' >urls
}

# Sixteen messages in the states that the examples look for, and 17, which is leased for the third time.
with_messages() {
  local n
  for n in $(seq 10); do
    echo "$n" >"file-$n"
    fq push -t acme "file-$n"
  done
  fq push -t zoo --tag order=4711 cat.png
  fq push -t acme --delay 1h later
  fq push -t zoo -p 9 broken
  fq bury "$(fq pop -t zoo --lease 1h | cut -f1)" --reason 'no such customer'
  for n in 14 15 16; do
    echo "$n" >"report-$n"
    fq push -t acme/reports "report-$n"
  done
  fq push -t zoo -p 9 cat.png
  fq retry "$(fq pop -t zoo --lease 1h | cut -f1)"
  fq pop -t zoo --lease 1h
  for n in 1 2; do fq push -q mail -t acme/reports hello; done
  fq bury -q mail "$(fq pop -q mail --lease 1h | cut -f1)"
  fq schedule set nightly @daily x
} >/dev/null 2>&1

# Message 17 has been run, and its output is kept.
with_a_result() {
  local n
  for n in $(seq 16); do fq push x; done
  fq push -p 9 --keep 1h -- echo ran
  fq worker --once
} >/dev/null

receipt_of_17() { fq show 17 --json 2>/dev/null | jq -r .receipt; }

# works WHERE EXAMPLE: it leaves with 0. What runs until it is told to stop is told so after a second.
works() {
  local where=$1 example=$2 code said worker=''
  a_world
  case $example in
    *'fq result 17'* | *'fq result -f 17'*) with_a_result ;;
    *'fq wait'* | *'fq result -f "$id"'* | *--wait*' -- '*)  # somebody has to work
      case $example in
        *' -- '*) "$FQ" worker 2>/dev/null & ;;
        *) "$FQ" worker -- true & ;;
      esac
      worker=$! ;;
    *'fq workers'*)
      "$FQ" worker -- true 2>/dev/null & worker=$!
      await "$FQ" workers >/dev/null ;;
    *--drain*) with_messages && fq ack "$(receipt_of_17)" ;;  # what is leased would have to end first
    *) with_messages ;;
  esac
  example=${example//17.3.k7qd/$(receipt_of_17)}
  # Where a metrics collector looks is not for a test to write to.
  example=$(sed 's#/var/lib/[a-z_/-]*/#./#g' <<<"$example")
  case $example in  # on a terminal, where q is typed
    *'fq top'*) example="printf q | TERM=xterm script -qefc '${example%$'\n'}' /dev/null" ;;
  esac
  # shellcheck disable=SC2046
  said=$(EDITOR=true HOME=$work/here timeout $(limit_of "$example") bash -eo pipefail -c "$example" 2>&1 </dev/null)
  code=$?
  is_endless "$example" && [ "$code" = 143 ] && code=0
  [ "$code" = 0 ] || { fail "$where: left with $code: $example"; printf '  said: %s\n' "$said"; }
  if [ -n "$worker" ]; then kill "$worker"; wait "$worker"; fi
}
is_endless() {
  case $1 in
    *--drain* | *--once*) return 1 ;;
    *'fq worker '* | *--watch* | *'fq log '*-f*) return 0 ;;
  esac
  return 1
}
limit_of() { if is_endless "$1"; then echo --preserve-status 1; else echo 20; fi; }  # 124 when that is over

count=0
for page in "$source"/man/*.1; do
  while IFS= read -r -d '' example; do
    works "$(basename "$page")" "$example"
    count=$((count + 1))
  done < <(examples_of "$page")
done
[ "$count" -ge 60 ] || fail "only $count examples were found"

a_world
mkdir -m 700 "$FQ_SPOOL"
examples_of "$source/man/fq.toml.5" | tr -d '\0' >"$FQ_SPOOL/fq.toml"
gives 0 '' fq config check
is 'and says something' 5 "$(grep -c '^\[queue' "$FQ_SPOOL/fq.toml")"

# The blocks of the README are one story: what is endless goes on behind the rest of its block, until that is told.
block_of() {  # LANGUAGE N: the N-th block
  awk -v open="^\`\`\`$1\$" -v n="$2" '$0 ~ open { if (++seen == n) within = 1; next } /^```/ { within = 0 } within' "$source/README.md"
}
tells() {
  local line story="trap 'kill \$(jobs -p) 2>/dev/null || :' EXIT; set -e"$'\n'
  while IFS= read -r line; do
    case $line in
      ./* | cmake*) line= ;;  # builds and installs: tests/install, and whoever runs this
    esac
    if is_endless "$line"; then line="${line%%  #*} &"; fi
    story+=$line$'\n'
  done <<<"$1"
  timeout 60 bash -c "$story" >"$work/said" 2>&1 </dev/null || { fail "README: left with $?: $1"; cat "$work/said"; }
}
blocks=$(grep -c '^```sh$' "$source/README.md")
a_world
mkdir -m 700 "$FQ_SPOOL"
block_of toml 1 >"$FQ_SPOOL/fq.toml"
for n in $(seq "$blocks"); do tells "$(block_of sh "$n")"; done
[ "$blocks" -ge 4 ] || fail "the README has only $blocks blocks of sh"
a_world
is 'the first one serves in turns' $'resize cat.png\nresize dog.png\nresize cow.png' "$(bash -c "$(block_of sh 1)" | sed -n '4,6p')"
finish
