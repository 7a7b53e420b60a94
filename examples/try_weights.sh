#!/bin/bash
# try_weights - a customer wants more, and before it gets more somebody looks who would pay for it.
. "$(dirname "$0")/story.sh"

echo '1. A day in small: three customers print, two presses, and acme has more to print than the others together.'
seq 24 | fq push -t acme --lines >/dev/null
for customer in globex initech; do seq 6 | fq push -t $customer --lines >/dev/null; done
fq worker --drain -j 2 -- sleep 0.02
longest() { jq -r --arg who "$1" "select(.tenant == \$who) | .$2.wait_ms.max"; }
tried() { fq simulate --json "$@" 2>/dev/null; }
echo "   acme's last one waited $(tried | longest acme before) ms, globex's $(tried | longest globex before) ms."

echo '2. What if acme had a weight of 4? The same day again, under an fq.toml that nobody follows yet.'
printf '[queue.default.tenant.acme]\nweight = 4\n' >"$work/tried.toml"
fq simulate --policy "$work/tried.toml" 2>/dev/null | sed 's/^/   /'
with_weight=$(tried --policy "$work/tried.toml")
(($(longest globex after <<<"$with_weight") > $(longest globex before <<<"$with_weight"))) || wrong 'nobody paid for the weight'

echo '3. Then the others would wait for it. What if there were a third press instead?'
with_press=$(tried -j 3)
for customer in acme globex initech; do
  (($(longest $customer after <<<"$with_press") < $(longest $customer before <<<"$with_press"))) || wrong "$customer would still wait as long"
done
[ -e "$FQ_SPOOL/fq.toml" ] && wrong 'a simulation changed something'
echo '   Nobody waits longer, and nothing was changed yet: fq worker -j 3 it is.'
