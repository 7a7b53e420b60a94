#!/usr/bin/env bash
# completion_test - what bash offers behind the words that were typed. (completion_shells_test types into real
# shells; that all of them know the same words is held by options_test.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../../completions/fq.bash"
mkdir "$work/bin"
ln -s "$(realpath "$FQ")" "$work/bin/fq"
PATH=$work/bin:$PATH

# offers "WORDS" WORD...: behind fq WORD..., of which the last one is being typed.
offers() {
  local wanted=$1
  shift
  COMP_LINE="fq $*" COMPREPLY=()
  COMP_POINT=${#COMP_LINE}
  _fq
  is "fq $*" "$wanted" "${COMPREPLY[*]}"
}

fq push -q mail x >/dev/null
offers 'config' con
offers 'show edit check path load get' config ''
offers '--tenant' config show --t
offers 'list set pause resume limit' tenant ''
offers '' tenant set w
offers 'weight=' tenant set acme w
offers 'max_messages= max_bytes=' tenant -q mail set acme weight=2 max_
offers 'pause purge' queue p
offers 'mail' queue pause ''
offers 'max_messages= max_bytes= max_payload= mail' queue set ma
offers 'linger= lease= lock_timeout=' queue set l
offers 'linger= lease= lock_timeout=' queue set mail attempts=2 l
offers 'human json' tenant list --format ''
offers '--names' tenant list --n
offers 'json' stats --format=j
offers 'delayed' peek --state=del
offers '' push --priority ''
for free in 'log --since' 'log -n' 'explain --next' 'wait --for' 'kick -n' 'cancel --tag' 'release --delay'; do
  offers '' "${free% *}" -q mail "${free#* }" ''
done
offers '' show -q 'nothing;echo evil >&2' ''
offers '' show -q '$(echo evil >&2)' ''
fq push -q mail -t 'we ird' x >/dev/null
fq push -q mail -t 'we$ird' x >/dev/null
fq push -q mail -t 'we!rd"' x >/dev/null
offers 'we\ ird we\!rd\" we\$ird' peek -q mail -t we
offers 'we\ ird' peek -q mail -t 'we\ '
offers 'we ird we!rd" we$ird' peek -q mail -t "'we"
offers 'we ird we\$ird' peek -q mail -t '"we'
offers 'we\ ird' tenant -q mail pause 'we\ '
offers 'we\ ird' peek -q mail '--tenant=we\ '
offers '1 2 3 4' show -q mail ''
fq push -q deceiving -t $'we\u202eird' x >/dev/null
offers '' peek -q deceiving -t we
fq push -q deceiving -t 'we测试' x >/dev/null
offers 'we测试' peek -q deceiving -t we
receipt=$(fq pop -q mail --lease 1h | cut -f1)
offers "$receipt" ack -q mail ''
offers "$receipt" ack --queue=mail ''
offers '' ack -q mail "$receipt" x
offers '1 2 3 4' show --spool "$FQ_SPOOL" -q mail ''
offers '' show --spool "$work/none" -q mail ''

# What has ended has a result, and is known to others that show it; what waits has none.
fq push -q over --keep 1h x >/dev/null
fq worker -q over --once --output keep -- true
fq push -q over y >/dev/null; fq push -q over --delay 1h z >/dev/null
offers '1' result -q over ''
for command in show log jobs; do offers '2 3 1' $command -q over ''; done
offers '2 3' move -q over ''

# A word of config, schedule and step is known by its place; what is the value of an option has none.
mkdir "$work/files"; touch "$work/files/policy.toml"
cd "$work/files" || exit 1
offers 'policy.toml' config load ''
offers 'policy.toml' config load --if-version 3-abc ''
offers '' config show ''
fq schedule set -q over nightly @daily x
offers 'nightly' schedule set -q over ''
for option in '--ttl 1h' '-p 3' '--attempts 7' '--tz UTC'; do
  # shellcheck disable=SC2086
  offers 'nightly' schedule set -q over $option ''
done
offers '@hourly @daily @weekly @monthly @yearly' schedule set -q over --ttl 1h nightly ''
offers '2 3' step -q over --list ''
cd "$work" || exit 1

finish
