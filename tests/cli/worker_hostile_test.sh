#!/usr/bin/env bash
# worker_hostile_test - what somebody put in the place of the files that a worker and fq result read and
# write, and values at their limits: a clear word or no harm, never a hang, never a way out of the spool.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

queue=$FQ_SPOOL/queues/default
outside=$work/outside
mkdir "$outside"
printf precious >"$outside/file"
untouched() {
  is "$1: nothing outside of the spool is touched" 'precious file' "$(cat "$outside/file") $(ls "$outside" | paste -sd' ')"
}
# put WHAT PATH: something in the place of a file.
put() {
  rm -rf "$2"
  case $1 in
    symlink) ln -s "$outside/file" "$2" ;;
    dangling) ln -s "$outside/new" "$2" ;;
    loop) ln -s "$2" "$2" ;;
    hardlink) cp "$outside/file" "$work/second" && ln -f "$work/second" "$2" ;;
    directory) mkdir "$2" && : >"$2/inside" ;;
    fifo) mkfifo "$2" ;;
    socket) perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die' "$2" ;;
    device) mknod "$2" c 1 5 ;;
    empty) : >"$2" ;;
    text) printf 'no output of a job' >"$2" ;;
    huge) printf 'fqout2\n\0' >"$2" && truncate -s 1T "$2" ;;
  esac
}
kinds=(symlink dangling loop hardlink directory fifo socket empty text huge)
# In some places a device cannot be made or not be opened; where it can, it never ends.
mknod "$work/device" c 1 5 2>/dev/null && kinds+=(device)

# What is too long for a record, and so a file.
long() { worker --once --output keep -- sh -c 'seq 4000; echo kept'; }

# A kept output in whose place is something else.
for kind in "${kinds[@]}"; do
  id=$(fq push x)
  long
  is 'an output' kept "$(fq result "$id" | tail -n1)"
  put "$kind" "$queue/output/$id" || continue
  timeout 10 "$FQ" result "$id" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  is "fq result on $kind: no output, and a reason" 'yes  1' \
    "$([ "$status" -gt 0 ] && [ "$status" -lt 124 ] && echo yes) $(cat "$work/out") $(grep -c '^fq: ' "$work/err")"
  untouched "fq result on $kind"
done

# Something in its place before it is written. The verdict stands in any case.
for kind in "${kinds[@]}"; do
  for end in '' .new; do
    id=$(fq push x)
    put "$kind" "$queue/output/$id$end" || continue
    is "a job ends well with $kind in the place of output$end" 0 "$(long 2>"$work/err"; echo $?)"
    is 'its message is acked' acked "$(state "$id")"
    out=$(timeout 10 "$FQ" result "$id" 2>/dev/null | tail -n1)
    is "its output is there, or it is said that it is not ($kind$end)" 1 "$([ "$out" = kept ] && echo 1 || grep -c "output of message $id" "$work/err")"
    untouched "output$end as $kind"
  done
done

# `output` itself.
for kind in symlink dangling fifo text; do
  rm -rf "$queue/output"
  put "$kind" "$queue/output"
  [ "$kind" = symlink ] && ln -sfn "$outside" "$queue/output"
  id=$(fq push x)
  is "a job ends well with $kind in the place of the directory" 0 "$(long 2>"$work/err"; echo $?)"
  is 'and its message is acked' acked "$(state "$id")"
  is 'only its beginning is kept, and that is said' 1 "$(grep -c "output of message $id" "$work/err")"
  untouched "output as $kind"
done
rm -rf "$queue/output"
mkdir -m 700 "$queue/output"

# What is told of ended messages: the verdict stands, and what is not told is said.
for name in ended ended/lock ended/state ended/1; do
  for kind in "${kinds[@]}"; do
    rm -rf "$queue/ended"
    [ "$name" = ended ] || mkdir -m 700 "$queue/ended"
    put "$kind" "$queue/$name" || continue
    id=$(fq push --keep 1h x)
    is "a job ends well with $kind in the place of $name" 0 "$(timeout 20 "$FQ" worker --once -- true 2>"$work/err" </dev/null; echo $?)"
    is 'its message is acked' acked "$(state "$id" 2>/dev/null)"
    told=$(timeout 10 "$FQ" show "$id" --json 2>/dev/null | jq .ended_at)
    is "it is told, or it is said that it is not ($name as $kind)" 1 \
      "$([ "${told:-null}" != null ] && echo 1 || grep -c "the end of message $id is not kept" "$work/err")"
    untouched "$name as $kind"
  done
done
rm -rf "$queue/ended"

# `running`, which holds the locks of jobs. Without it a message would come back sooner, should its worker die.
for kind in "${kinds[@]}"; do
  put "$kind" "$queue/running" || continue
  id=$(fq push x)
  timeout -k 5 15 "$FQ" worker --drain -- true >"$work/out" 2>"$work/err"
  status=$?
  # A plain file of any content is as good as any: only its bytes are locked, none is read.
  case $kind in
    empty | text | huge) is "$kind in the place of running is one" '0 ' "$status $(cat "$work/err")" ;;
    *) is "$kind in the place of running is told" 1 "$(grep -c '^fq: .*running' "$work/err")" ;;
  esac
  is "and no worker hangs ($kind)" yes "$([ "$status" -lt 124 ] && echo yes)"
  untouched "running as $kind"
  fq cancel --all --state all --yes >/dev/null
done
rm -rf "$queue/running"
# Where it is needed: a worker has died, and whether its job lives cannot be known.
for kind in symlink directory fifo; do
  rm -f "$work/job" "$queue/running"
  id=$(fq push x)
  "$FQ" worker -- sh -c 'echo $$ >"$0"; exec sleep 60' "$work/job" & worker=$!
  await holds_text "$work/job"
  put "$kind" "$queue/running"
  kill -KILL "$worker"
  wait "$worker" 2>/dev/null
  timeout 10 "$FQ" worker --once -- true 2>"$work/err"
  is "$kind in the place of running, a dead worker: an end with a word" '69 1' "$? $(grep -c '^fq: .*running' "$work/err")"
  rm -rf "$queue/running"
  is 'and when it is gone all goes on' '0 acked' "$(worker --drain -- true; echo $?) $(state "$id")"
  untouched "running as $kind"
done

# Values at their limits.
id=$(fq push x --attempts 2)
is 'the longest backoff' 0 "$(worker --once --backoff 36500d..36500d -- false 2>"$work/err"; echo $?)"
is 'is a delay, and no overflow' 'delayed 1' "$(state "$id") $(grep -c 'again in [0-9]' "$work/err")"
is 'and told as a time' yes "$(fq show "$id" --json | jq -r 'if .due_at > "2026" and .due_at < "2130" then "yes" else .due_at end')"
gives 64 'fq: ' worker --backoff 36501d..36501d -- true
fq cancel --all --state all --yes >/dev/null
printf '[queue."*"]\nmax_payload = "1MiB"\n' >"$FQ_SPOOL/fq.toml"
head -c 1048576 /dev/urandom >"$work/most"
fq push --file "$work/most" >/dev/null
is 'a payload of max_payload arrives whole' 0 "$(worker --once -- sh -c 'cat >"$0"' "$work/got"; cmp "$work/most" "$work/got"; echo $?)"
{ cat "$work/most"; printf x; } >"$work/over"
gives 65 'max_payload' fq push --file "$work/over"
tr "\0" x <"$work/most" >"$work/fits"
fq push --file "$work/fits" >/dev/null
is 'in a batch too' 1048577 "$(worker --once --batch 2 --batch-format null -- wc -c)"
rm "$FQ_SPOOL/fq.toml"

# Names of variables.
long=$(head -c 5000 /dev/zero | tr '\0' N)
for name in $'a\nb' $'a b' 'ä' $'\xff\xfe' '-' '$(touch ran)' "$long"; do
  # A name that no shell can set; perl can.
  export WANTED="$name=1 \$x"
  perl -e '$ENV{$ARGV[0]} = "1 \$x"; exec $ENV{FQ}, "push", "--env=$ARGV[0]", "--", "env", "-0"' -- "$name" >/dev/null
  is "--env with an odd name ($(printf %.20q "$name"))" 1 "$(worker --once | perl -0ne '++$n if $_ eq "$ENV{WANTED}\0"; END { print $n }')"
  fq cancel --all --state all --yes >/dev/null
done
gives 64 '--env' fq push --env '' -- true
gives 64 '--env' fq push --env 'a=b' -- true
head -c 60000 /dev/zero | tr '\0' v >"$work/value"
gives 65 'fq: ' env BIG="$(cat "$work/value")xxxxxxxxxx" BIGGER="$(cat "$work/value")" "$FQ" push --env BIG --env BIGGER -- true
is 'the books are clean' 0 "$(fq check >/dev/null; echo $?)"
finish
