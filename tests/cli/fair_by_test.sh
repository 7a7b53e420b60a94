#!/usr/bin/env bash
# fair_by_test - turns that are paid in bytes and in run time, as scripts come by them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

order() { tr '\n' ' ' | sed 's/ $//'; }
tenants() { while fq pop --format sh >"$work/sh"; do (. "$work/sh" && echo "$FQ_TENANT"); done | order; }

# From the file, and changed while messages are queued. 8 KiB are as much as eight of 1 KiB.
mkdir -p "$FQ_SPOOL"
echo '[queue."*"]
fair_by = "bytes"' >"$FQ_SPOOL/fq.toml"
long=$(printf '%8192s' x) short=$(printf '%1024s' x)
for ((i = 0; i < 2; ++i)); do fq push -t long "$long" >/dev/null; done
for ((i = 0; i < 12; ++i)); do fq push -t short "$short" >/dev/null; done
# A newcomer joins one usual turn behind: 4 KiB, or four of the short ones.
is 'as many bytes of both' 'short short short long short short short short short short short short long short' "$(tenants)"
for tenant in a b; do for ((i = 0; i < 3; ++i)); do fq push -t "$tenant" "$([ $tenant = a ] && echo "$long")" >/dev/null; done; done
gives 0 '' fq queue set fair_by=turns
is 'turns again, for what is queued' 'b a b a b a' "$(tenants)"

# Run time, as the worker measures it: a job of four seconds is worth as many short ones as fit into that. On a machine
# that is busy with other things not even those that do nothing are sure to be short: three of them are.
gives 0 '' fq queue set fair_by=time
for seconds in 4 0; do fq push -t long $seconds >/dev/null; done
for ((i = 0; i < 8; ++i)); do echo 0; done | fq push --lines -t short >/dev/null
worker --drain -- sh -c 'read -r t; sleep "$t"; echo "$FQ_TENANT"' >"$work/job"
is 'a long one is paid with many short ones' 'long short short short' "$(head -n 4 "$work/job" | order)"
is 'and all are served' '2 8' "$(grep -c long "$work/job") $(grep -c short "$work/job")"

finish
