#!/usr/bin/env bash
# worker_setuid_test - a job that becomes somebody else: the kernel then forgets that it is to die with its
# worker, so the message has to wait for it. And fq that does, which listens to nobody's environment.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

[ "$(id -u)" = 0 ] || skip 'only root can make a program that becomes somebody else'
cp /usr/bin/id "$work/id"
cp /usr/bin/head "$work/job.head"
chown nobody "$work/id" "$work/job.head"
chmod u+s "$work/id" "$work/job.head"
[ "$("$work/id" -un)" = nobody ] || skip "$work is on a file system without setuid, or privileges cannot change"

# A long run holds a lock with its life; what it becomes waits for one byte.
cat >"$work/job" <<'END'
echo "$$ $FQ_TENANT" >>"$0.begun"
[ "$FQ_TENANT" = long ] || exit 0
exec 9>>"$0.lock"
flock -n 9 || echo "$FQ_ID" >>"$0.twice"
exec "$0.head" -c 1 <"$0.go"
END
becomes_nobody() { [ "$(awk '/^Uid:/ { print $3 }' "/proc/$1/status")" = "$(id -u nobody)" ]; }
begun() { [ "$(wc -l <"$work/job.begun")" -ge "$1" ]; }
start() { "$FQ" worker -j2 -- sh "$work/job" 2>"$work/err" 7>&- & worker=$!; }

mkfifo "$work/job.go"
exec 7<>"$work/job.go"
id=$(fq push long -t long)
start
await begun 1
read -r job _ <"$work/job.begun"
await becomes_nobody "$job"
kill -KILL "$worker"
wait "$worker" 2>/dev/null
start
# The other worker is at work, and looks after the dead one's message while it is.
for ((n = 2; n <= 20; ++n)); do
  fq push short -t short >/dev/null
  await begun "$n"
done
is 'a job that became somebody else outlives its worker' 0 "$(kill -0 "$job"; echo $?)"
is 'and keeps its message' leased "$(state "$id")"
is 'which is run by nobody else' 1 "$(grep -c ' long$' "$work/job.begun")"
echo >&7
await begun 21
is 'when it has ended the message is run again' 'long' "$(tail -n 1 "$work/job.begun" | cut -d' ' -f2)"
echo >&7
is 'once, and is done' 0 "$(fq wait --for 20s "$id"; echo $?)"
is 'no run had another beside it' no "$([ -e "$work/job.twice" ] && echo yes || echo no)"

# A worker ends it as any other job.
id=$(fq push long -t long)
await begun 22
job=$(tail -n 1 "$work/job.begun" | cut -d' ' -f1)
await becomes_nobody "$job"
fq cancel "$id"
await gone "$job"
kill -TERM "$worker"
wait "$worker"
is 'and the worker ends well' 0 $?

# Who starts an fq with the rights of somebody else does not say by variables where those are used.
chmod 755 "$work"
mkdir "$work/own"
cp "$FQ" "$work/fq"
chown nobody "$work/own" "$work/fq"
chmod u+s "$work/fq"
gives 78 'no place for the spool' env FQ_SPOOL="$work/own/named" XDG_STATE_HOME="$work/own" HOME="$work/own" "$work/fq" push x
is 'nothing was made where they said' '' "$(ls "$work/own")"
own() { "$work/fq" --spool "$work/own/typed" "$@"; }
is 'nor is a queue taken from there' default "$(FQ_QUEUE=named own push x --json | jq -r .queue)"
is 'nor a tenant' default "$(FQ_TENANT=named own push x >/dev/null; own peek --json | jq -r .tenant | sort -u)"
finish
