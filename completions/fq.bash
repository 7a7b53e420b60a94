# fq.bash - completion of fq for bash.
#
# A test compares the options here with those of `fq help` (tests/cli/options_test.cpp).

_fq() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --spool | --queue | -q) ((++i)) ;;
      -*) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $prev in
    --spool) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    --file) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --env) mapfile -t COMPREPLY < <(compgen -v -- "$cur"); return ;;
    --queue | -q) mapfile -t COMPREPLY < <(compgen -W "$(fq queue list 2>/dev/null)" -- "$cur"); return ;;
    --state)
      local states='ready delayed leased held dead all'
      if [[ $command == kick ]]; then states='dead delayed'; fi
      mapfile -t COMPREPLY < <(compgen -W "$states" -- "$cur")
      return ;;
  esac
  if [[ $command == push || $command == worker ]]; then
    for ((++i; i < COMP_CWORD; ++i)); do
      if [[ ${COMP_WORDS[i]} == -- ]]; then mapfile -t COMPREPLY < <(compgen -c -f -- "$cur"); return; fi
    done
  fi
  local options= words= nospace=
  case $command in
    '') options='--spool --queue --version --help' words='push pop ack retry release bury extend kick cancel peek show stats wait result worker queue tenant config check help' ;;
    push)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json' -- "$cur"); return; fi
      options='--tenant --priority --key --delay --at --ttl --attempts --tag --unique --unique-for --unique-mode --debounce --quiet --max-wait --after --after-any --lazy --block --timeout --keep --wait --env --payload --file --lines --null --ndjson --format --json --spool --queue --help' ;;
    pop)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json sh raw' -- "$cur"); return; fi
      options='--tenant --count --wait --grouped --max --lease --null --format --json --raw --spool --queue --help' ;;
    ack)
      options='--spool --queue --help' ;;
    retry)
      options='--delay --reason --spool --queue --help' ;;
    release)
      options='--delay --spool --queue --help' ;;
    bury)
      options='--reason --spool --queue --help' ;;
    extend)
      options='--spool --queue --help' ;;
    kick)
      options='--tenant --all --state --count --spool --queue --help' ;;
    cancel)
      options='--tenant --tag --all --state --count --yes --spool --queue --help' ;;
    peek)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json raw' -- "$cur"); return; fi
      options='--tenant --count --state --format --json --raw --spool --queue --help' ;;
    show)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json' -- "$cur"); return; fi
      options='--format --json --spool --queue --help' ;;
    stats)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json prometheus' -- "$cur"); return; fi
      options='--tenants --format --json --spool --queue --help' ;;
    wait)
      options='--for --all --spool --queue --help' ;;
    result)
      options='--spool --queue --help' ;;
    worker)
      case $prev in
        --output) mapfile -t COMPREPLY < <(compgen -W 'inherit keep fail discard' -- "$cur"); return ;;
        --batch-format) mapfile -t COMPREPLY < <(compgen -W 'ndjson lines null' -- "$cur"); return ;;
      esac
      options='--jobs --min --max --once --drain --grace --attempts --timeout --backoff --shell --nice --rlimit --batch --linger --batch-format --stream --prefetch --output --output-max --verbose --spool --queue --help' ;;
    queue)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json' -- "$cur"); return; fi
      options='--yes --spool --queue --help --format --json' words='list create pause resume drain set purge remove'
      for ((++i; i < COMP_CWORD; ++i)); do
        if [[ ${COMP_WORDS[i]} == set ]]; then words='order= scope= fair_by= linger= batch= sync= attempts= backoff= timeout= lease= max_messages= max_bytes= max_payload= concurrency= rate= burst= retention= dead_retention= lock_timeout=' nospace=1; break; fi
      done
      case $prev in
        pause | resume | drain | purge | remove) words=$(fq queue list 2>/dev/null) ;;
        set) words+=" $(fq queue list 2>/dev/null)" ;;
      esac ;;
    tenant)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json' -- "$cur"); return; fi
      options='--tenant --for --format --json --spool --queue --help' words='list set pause resume limit'
      for ((++i; i < COMP_CWORD; ++i)); do
        if [[ ${COMP_WORDS[i]} == set && $i -lt $((COMP_CWORD - 1)) ]]; then words='weight= max_messages= max_bytes= concurrency= rate= burst= pool=' nospace=1; break; fi
      done ;;
    config)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json' -- "$cur"); return; fi
      options='--tenant --format --json --spool --queue --help' words='show check path' ;;
    check)
      if [[ $prev == --format ]]; then mapfile -t COMPREPLY < <(compgen -W 'human json' -- "$cur"); return; fi
      options='--format --json --spool --queue --help' ;;
    help)
      options='--version --help' words='push pop ack retry release bury extend kick cancel peek show stats wait result worker queue tenant config check help' ;;
  esac
  if [[ $cur == -* ]]; then words=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if [[ -n $nospace ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _fq fq
