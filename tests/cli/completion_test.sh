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
offers '2 3 4 1' show --spool "$FQ_SPOOL" -q mail ''
offers '' show --spool "$work/none" -q mail ''

finish
