#!/bin/bash
# order - an order in six steps, whose process is killed again and again, and goes on where it was each time.
. "$(dirname "$0")/story.sh"
export ledger=$work/ledger

cat >"$work/order.sh" <<'JOB'
#!/bin/bash
# What must not be done twice is a step; what is between the steps may be. What is cut off in the middle of a step
# is run again: so who is asked to charge twice for one order has to know it, as payment services do.
set -e
order=$(cat)
maybe_die() { [ $((RANDOM % 3)) != 0 ] || kill -KILL $$; }
payment=$(fq step charge --shell "grep -qx charged '$ledger' || echo charged >>'$ledger'; echo payment-\$\$")
maybe_die
label=$(fq step label --push -t labels "label of $order")
gift=$(fq step gift --push -t gifts "gift of $order")
maybe_die
fq step packed --wait "$label" "$gift"
maybe_die
fq step cool-off --sleep 100ms
maybe_die
fq step ship --shell "grep -q shipped '$ledger' || echo 'shipped, $payment' >>'$ledger'"
JOB
chmod +x "$work/order.sh"

echo '1. An order comes in: charge the card, have a label and a gift made, wait for both, sleep on it, ship.'
order=$(fq push -t orders --attempts 1000 --keep 1h 'order 17')

echo '2. A worker runs it. It is killed at random places, and so is the worker, five times.'
export process=$work/order.sh
cat >"$work/any.sh" <<'JOB'
#!/bin/bash
[ "$FQ_TENANT" != orders ] || exec "$process"
read -r made || [ -n "$made" ] && echo "$made" >>"$ledger"
JOB
chmod +x "$work/any.sh"
for _ in 1 2 3 4 5; do
  fq worker -j 2 --backoff 1ms..1ms -- "$work/any.sh" 2>/dev/null &
  sleep 0.1 # a moment to work in
  { kill -KILL $! && wait $!; } 2>/dev/null || :
done

echo '3. In the end it is done, with each of its steps once.'
until [ "$(fq show "$order" --json | jq -r .state)" = acked ]; do
  fq worker --drain -j 2 --backoff 1ms..1ms -- "$work/any.sh" 2>/dev/null
done
fq step --list "$order" | sed 's/^/   /'
[ "$(fq step --list "$order" --json | jq -r .name | paste -sd' ')" = 'charge label gift packed cool-off ship' ] || wrong 'a step is missing'
for tenant in labels gifts; do
  [ "$(fq log -t $tenant --json | jq -r .event | grep -cx pushed)" = 1 ] || wrong "there was not one message for $tenant"
done
[ "$(grep -c '^shipped, payment-[0-9]*$' "$ledger")" = 1 ] || wrong 'it was not shipped once'
echo "   The card was charged once, and the order left once: $(grep shipped "$ledger")."
