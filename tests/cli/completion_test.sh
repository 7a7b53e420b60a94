#!/usr/bin/env bash
# completion_test - what bash offers behind the words that were typed. (That zsh and fish know the same words is
# held by options_test; their shells need not be here.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../../completions/fq.bash"

# offers "WORDS" WORD...: behind fq WORD..., of which the last one is being typed.
offers() {
  local wanted=$1
  shift
  COMP_WORDS=(fq "$@") COMP_CWORD=$# COMPREPLY=()
  _fq
  is "fq $*" "$wanted" "${COMPREPLY[*]}"
}

fq push -q mail x >/dev/null
offers 'config' con
offers 'show check path' config ''
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

finish
