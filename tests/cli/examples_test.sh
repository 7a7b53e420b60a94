#!/usr/bin/env bash
# examples_test - the stories of examples/ end as they promise. (quickstart.sh, which takes half a minute under
# load, is told by hand.)
. "$(dirname "$0")/lib.sh"
mkdir "$work/stories"
stories=$(dirname "$0")/../../examples

# tells STORY PATTERN: it leaves with 0, and its last line is PATTERN.
tells() {
  local said
  said=$(TMPDIR=$work/stories timeout 240 "$stories/$1" 2>"$work/err") || fail "$1 left with $?: $(cat "$work/err")"
  # shellcheck disable=SC2254  # what it is to end with is a pattern
  case ${said##*$'\n'} in
    $2) ;;
    *) fail "$1 ended with '${said##*$'\n'}'" ;;
  esac
}

tells thumbnails.sh '*  dead   ben  *'
tells mail_per_customer.sh '4. All were sent, each once.'
FQ=${FQ_DYNAMIC:-$FQ} tells backups.sh '4. *report, its time had passed'
tells try_weights.sh '   Nobody waits longer, and nothing was changed yet*'
tells nightly_report.sh '   stock: 7'
tells order.sh '   The card was charged once, and the order left once: shipped, payment-*'
tells builds.sh '5. All are built: app docs lib.'
tells encodes.sh '6. Made: -trailer.mkv.5.out long.mkv.6.out short.mkv.9.out two?lines.mkv.7.out'
# The package redis-tools has the server under another name.
if ! command -v redis-server >/dev/null; then
  mkdir "$work/tools"
  # shellcheck disable=SC2016
  printf '#!/bin/bash\nexec -a redis-server redis-check-rdb "$@"\n' >"$work/tools/redis-server"
  chmod +x "$work/tools/redis-server"
  PATH=$PATH:$work/tools
fi
if [ -x "$(dirname "$FQ")/fq-redis" ]; then tells cluster.sh '5. Accepted: 100, missing: 0.'; else left_out "fq-redis is not built"; fi
tells nightly_batch.sh '5. Done, in this order: dump unlock check upload'
is 'the picture of the README is what fq does' "$(sed -n '/^```text$/,/^```$/{p;/^```$/q}' "$stories/../README.md" | sed '1d;$d')" \
  "$(TMPDIR=$work/stories "$stories/fairness.sh")"
is 'the README knows how long the library example is' "$(wc -l <"$stories/library/greet.cpp")" "$(grep -o 'of [0-9]* lines' "$stories/../README.md" | tr -dc 0-9)"
is 'how it is started is how it is used' 'SPOOL TENANT TEXT: 3' "$(sed -n 's#^// usage: greet \(.*\)\. The.*#\1#p' "$stories/library/greet.cpp"): $(sed -n 's#.*build/greet ##p' "$stories/library/CMakeLists.txt" | wc -w)"
is 'what the README builds it configures first' '' \
  "$(for preset in $(sed -n 's/.*cmake --build --preset \([a-z]*\).*/\1/p' "$stories/../README.md"); do grep -q "cmake --preset $preset && cmake --build --preset $preset" "$stories/../README.md" || echo "$preset"; done)"
is 'the manual of pop warns of a reader that leaves' 1 "$(grep -c 'fq pop .-n 50 | head .-1' "$stories/../man/fq-pop.1")"
is 'nothing of a story is left' '' "$(ls "$work/stories")"

if command -v systemd-analyze >/dev/null; then
  sed "s#/usr/local/bin/fq #$FQ #; s/^User=.*/User=root/" "$stories/fq-worker.service" >"$work/fq-worker.service"
  is 'systemd takes the unit' '' "$(systemd-analyze verify --man=no "$work/fq-worker.service" 2>&1 | grep fq-worker)"
else
  left_out "systemd-analyze is not installed"
fi
finish
