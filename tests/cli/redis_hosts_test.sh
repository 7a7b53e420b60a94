#!/bin/bash
# redis_hosts_test - two hosts work on one queue, and one is gone with all that ran there: what it had comes back in time.
#
# A host is a set of namespaces: a name, processes and a network of its own, killed with its first process. It shares
# with others the server's socket alone.
. "$(dirname "$0")/lib.sh"

new_host=(unshare --user --map-root-user --uts --pid --net --mount-proc --fork --kill-child=KILL)
"${new_host[@]}" true 2>"$work/err" || skip "namespaces are not allowed here"
start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s" got=$work/got
: >"$got"

"${new_host[@]}" sh -c 'hostname far.example; exec "$FQ" worker -j2 -- sh -c "{ cat; echo; } >>\$got; exec sleep 1000"' 2>"$work/far" & far=$!
for tenant in a b c; do fq push -t $tenant "of $tenant" >>"$work/ids"; done
has_lines() { [ "$(wc -l <"$1")" = "$2" ]; }
await has_lines "$got" 2 || cat "$work/far"
is "who has what" "far.example" "$(fq workers --json | jq -r .host | sort -u)"
is "two run there" "2 1" "$(fq stats --json | jq -r '"\(.leased) \(.ready)"')"
far_id=$(fq jobs --json 2>>"$work/err" | jq -r 'select(.state == "leased") | .id' | head -1)
[ -n "$far_id" ] || far_id=$(sed -n 1p "$work/ids")
is "of what runs there fq show tells where" "far.example" "$(fq show --json "$far_id" | jq -r .host)"
is "and says so" 1 "$(fq show "$far_id" | grep -c '^holder .*process [0-9]* on far\.example$')"
is "fq explain too" "far.example" "$(fq explain --json "$far_id" | jq -r '.reasons[0].host')"
is "and says so" 1 "$(fq explain "$far_id" | grep -c 'held by process [0-9]* on far\.example$')"
is "neither name nor queue are taken from under it" "75 75" "$(fq queue rename default new 2>"$work/renamed"; printf '%s ' $?; fq queue remove default --yes 2>"$work/removed"; echo $?)"
is "and who it is" 2 "$(cat "$work/renamed" "$work/removed" | grep -c "^fq: queue 'default': is in use by process [0-9]* on far\.example; end it first$")"
is "and one here" "of c" "$(fq pop)"

# Whatever is asked here says nothing of the processes there: numbers of processes are each host's own.
gives 0 '' fq check
is "they are still there" 2 "$(fq stats --json | jq .leased)"

# Power fails for all of it at once. Whoever still ran for a moment would tell of the end of the others: a worker's
# guard sees that before its own comes.
all_below() {
  local each
  for each in $(pgrep -P "$1"); do
    echo "$each"
    all_below "$each"
  done
}
mapfile -t there < <(all_below $far)
kill -STOP "${there[@]}"
kill -KILL $far
wait $far 2>>"$work/err"
began=$SECONDS
is "all of it comes back" "of a,of b" "$({ fq pop --wait=60s; fq pop --wait=60s; } | sort | paste -sd,)"
took=$((SECONDS - began))
[ $took -ge 10 ] && [ $took -le 25 ] || fail "it took $took s: a host that is gone is missed after 15"
is "nobody is there any more" "" "$(fq workers --json | jq -r .host)"
is "nothing is left to do" "0 0" "$(fq stats --json | jq -r '"\(.leased) \(.ready)"')"
gives 0 '' fq check
finish
