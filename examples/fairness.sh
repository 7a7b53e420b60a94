#!/bin/bash
# fairness - a picture of who is served when, made from what fq really did: a row a tenant, a column a turn.
#
# bulk pushes 1000 messages; anna 5 and ben 3 come behind it; gold, of weight 3, comes when 24 turns are over. Below
# it stand the same pushes in a queue where all are one tenant, as a plain list has it. The README shows what this
# prints; a test compares the two.
. "$(dirname "$0")/story.sh"
turns=60

# pushes TENANT COUNT: in the queue `turns` as TENANT, in the queue `plain` all as one.
pushes() {
  local n lines
  lines=$(for ((n = 0; n < $2; ++n)); do echo "$1"; done)
  fq push -q turns -t "$1" --lazy --lines <<<"$lines" >/dev/null
  fq push -q plain --lazy --lines <<<"$lines" >/dev/null
}

# picture TITLE: the first $turns of who was served, from the names on standard input, one a turn; and when the last
# of those came who wait behind the thousand.
picture() {
  awk -v title="$1" -v turns=$turns -v tenants='bulk anna ben gold' '
    { served[NR] = $1; last[$1] = NR }
    END {
      print title ": the last of anna at turn " last["anna"] ", of ben at " last["ben"] ", of gold at " last["gold"]
      count = split(tenants, names)
      for (t = 1; t <= count; ++t) {
        row = sprintf("  %-5s", names[t])
        for (n = 1; n <= turns; ++n) row = row (served[n] == names[t] ? "#" : ".")
        print row
      }
    }'
}

pushes bulk 1000
fq tenant set -q turns gold weight=3
pushes anna 5
pushes ben 3
for queue in turns plain; do fq pop -q "$queue" -n 24 >"$work/$queue"; done
pushes gold 12
for queue in turns plain; do fq pop -q "$queue" -n 2000 >>"$work/$queue"; done
picture 'fq' <"$work/turns"
picture 'one list' <"$work/plain"
