# fq.bash - completion of fq for bash.
#
# A test compares the options here with those of `fq help` (tests/cli/options_test.cpp), and others try them in
# a real bash. Queues, tenants, ids and receipts are asked of fq. Names are untrusted text: what is offered is
# quoted for where it stands, and nothing that was typed is evaluated.

# Takes the line up to the cursor apart: `typed` are its words without quotes. Of the last one, `quote` is the
# quote that is open and `kept` how much of it stays as it is: readline replaces only what is behind an opening
# quote, or behind a character of COMP_WORDBREAKS. Bash's own COMP_WORDS are taken apart at : and = also.
__fq_split() {
  local line=${COMP_LINE:0:COMP_POINT} i char word='' begun=''
  typed=() quote='' kept=0
  for ((i = 0; i < ${#line}; ++i)); do
    char=${line:i:1}
    case $quote$char in
      \'\' | \"\") quote='' ;;
      \"\\)
        ((++i)); char=${line:i:1}
        if [[ $char != [\$\`\"\\] ]]; then word+=\\; fi
        word+=$char ;;
      [\'\"]?) word+=$char ;;
      \\) ((++i)); word+=${line:i:1} begun=1 ;;
      [\'\"]) quote=$char kept=${#word} begun=1 ;;
      [[:space:]])
        if [[ -n $begun ]]; then typed+=("$word"); fi
        word='' begun='' kept=0 ;;
      *)
        word+=$char begun=1
        if [[ $COMP_WORDBREAKS == *"$char"* ]]; then kept=${#word}; fi ;;
    esac
  done
  typed+=("$word")
}

# Offers those lines of standard input that go on from what was typed, with `before` in front of each.
__fq_offer() {
  local line
  while IFS= read -r line; do
    line=$before$line
    if [[ $line != "$cur"* ]]; then continue; fi
    line=${line:kept}
    case $quote in
      '') printf -v line %q "$line" ;;
      \') line=${line//\'/\'\\\'\'} ;;
      \")
        if [[ $line == *!* ]]; then continue; fi  # in double quotes there is no way to write it
        line=${line//\\/\\\\} line=${line//\"/\\\"} line=${line//\$/\\\$} line=${line//\`/\\\`} ;;
    esac
    COMPREPLY+=("$line")
  done
}
__fq_words() { __fq_offer < <(printf '%s\n' "$@"); }
__fq_paths() {  # -f or -d
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "${cur#"$before"}")
}

# What fq says in the queue and the spool that were typed.
__fq_ask() { command fq ${spool:+--spool "$spool"} ${queue:+-q "$queue"} "$@" 2>/dev/null; }
# The keys that `fq queue set` or `fq tenant set` takes, as its help has them, each with its =.
__fq_keys() { __fq_ask help "$1" | sed -n '/^Keys:$/,/^$/{/^  /s/[a-z_][a-z_]*/&=/gp;}'; }
__fq_queues() { __fq_offer < <(__fq_ask queue list); }
# Names that turn the writing around or hide it would make a menu lie: they are left out.
__fq_honest() { LC_ALL=C sed -E '/\xd8\x9c|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf|\xf3\xa0[\x80\x81][\x80-\xbf]/d'; }
# Of a hundred thousand tenants a loop of bash takes a second; grep leaves few of them to it.
__fq_tenants() { __fq_offer < <(__fq_ask tenant list --names | grep -F -e "${cur#"$before"}" | __fq_honest); }
__fq_ids() {  # of messages in these states
  local state
  for state in "$@"; do
    __fq_offer < <(__fq_ask peek --state "$state" -n 200 --json | sed -n 's/^{"id":\([0-9]*\),.*/\1/p')
  done
}
__fq_known() {  # ids of all that fq jobs tells of, ended ones too; with a pattern those in these states
  __fq_offer < <(__fq_ask jobs -n 200 --json |
    sed -nE 's/^\{"id":([0-9]+),"queue":"[^"]*","tenant":("([^"\\]|\\.)*"|null),"state":"('"${1:-[a-z]+}"')".*/\1/p')
}
__fq_schedules() { __fq_offer < <(__fq_ask schedule list --names); }
__fq_zones() {
  __fq_offer < <(echo UTC; sed -n 's/^[^#][^\t]*\t[^\t]*\t\([^\t]*\).*/\1/p' /usr/share/zoneinfo/zone1970.tab 2>/dev/null)
}
# A quote inside a text is escaped, so nothing that a message holds looks like the key.
__fq_receipts() {
  __fq_offer < <(__fq_ask peek --state leased -n 200 --json | sed -n 's/.*,"receipt":"\([^"]*\)".*/\1/p')
}

# The values of option $1 of $command; fails where it is not known to take one.
__fq_values() {
  case $1 in
    --spool) __fq_paths -d ;;
    --file | --policy) __fq_paths -f ;;
    --output | -o) if [[ $command == report ]]; then __fq_paths -f; else __fq_words inherit keep fail discard; fi ;;
    --env) __fq_offer < <(compgen -e) ;;
    --queue | -q) queue= && __fq_queues ;;
    --to) __fq_queues ;;
    --tenant | --of | -t) __fq_tenants ;;
    --state)
      if [[ $command == kick ]]; then __fq_words dead delayed; elif [[ $command == move ]]; then __fq_words ready delayed held dead all; elif [[ $command == jobs ]]; then __fq_words running ready delayed held dead acked cancelled failed all; else __fq_words ready delayed leased held dead all; fi ;;
    --missed) __fq_words one all skip ;;
    --overlap) __fq_words skip queue cancel ;;
    --tz) __fq_zones ;;
    --unique-mode) __fq_words keep replace after ;;
    --after | --after-any) __fq_ids all ;;
    --batch-format) __fq_words ndjson lines null ;;
    --count | -n | --delay | --for | --load | --next | --reason | --since | --tag) ;;  # whatever one likes
    *) return 1 ;;
  esac
}

_fq() {
  local typed quote kept spool='' queue='' command='' operands=() before='' i
  __fq_split
  local last=$((${#typed[@]} - 1))
  local cur=${typed[last]} prev=${typed[last - 1]}
  COMPREPLY=()
  for ((i = 1; i < last; ++i)); do
    case ${typed[i]} in
      --spool) spool=${typed[++i]/#\~\//$HOME/} ;;
      --spool=*) spool=${typed[i]#*=} ;;
      --queue | -q) queue=${typed[++i]} ;;
      --queue=*) queue=${typed[i]#*=} ;;
      --)
        if [[ $command == push || $command == schedule || $command == step || $command == worker || $command == edit ]]; then
          compopt -o filenames 2>/dev/null
          mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
          return
        fi ;;
      # What takes a value takes the next word: it is no operand.
      --after | --after-any | --at | --attempts | --backoff | --batch | --batch-format | --count | --debounce | --delay | --env | \
        --events | --file | --for | --format | --grace | --if-version | --jobs | --keep | --key | --linger | --load | --max | \
        --max-wait | --min | --missed | --next | --nice | --of | --output | --output-max | --overlap | --payload | --policy | \
        --prefetch | --priority | --quiet | --reason | --rlimit | --shards | --shell | --since | --sleep | --state | --tag | \
        --tenant | --timeout | --to | --ttl | --tz | --unique | --unique-for | --unique-mode | --until | -j | -n | -o | -p | -t)
        ((++i)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=${typed[i]}; else operands+=("${typed[i]}"); fi ;;
    esac
  done
  if [[ $cur == --*=* ]]; then
    prev=${cur%%=*} before=${cur%%=*}=
  fi
  if __fq_values "$prev"; then return; fi
  local options='' words='' values='' nospace=''
  case $command in
    '') options='--spool --queue --version --help' words='push pop ack retry release bury extend kick cancel edit move jobs peek show explain log stats top report simulate wait result worker workers queue schedule step tenant config check compact backup export import doctor help'
      if [[ ${typed[0]##*/} == fq-redis ]]; then words+=' acl load'; fi ;;
    push)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--tenant --priority --key --delay --at --ttl --attempts --tag --unique --unique-for --unique-mode --debounce --quiet --max-wait --after --after-any --lazy --block --timeout --keep --wait --cancel --shell --env --env-all --payload --file --lines --null --ndjson --format --json --spool --queue --help' ;;
    pop)
      if [[ $prev == --format ]]; then __fq_words human json sh raw; return; fi
      options='--tenant --count --wait --grouped --max --lease --null --format --json --raw --spool --queue --help' ;;
    ack)
      options='--spool --queue --help' values=receipts ;;
    retry)
      options='--delay --reason --spool --queue --help' values=receipts ;;
    release)
      options='--delay --spool --queue --help' values=receipts ;;
    bury)
      options='--reason --spool --queue --help' values=receipts ;;
    extend)
      options='--spool --queue --help' values=receipts ;;
    kick)
      options='--tenant --tag --reason --all --state --fresh --count --spool --queue --help' values='ids dead delayed' ;;
    cancel)
      options='--tenant --tag --all --state --count --yes --spool --queue --help' values='ids all' ;;
    edit)
      options='--priority --key --delay --at --ttl --attempts --tag --timeout --shell --payload --file --spool --queue --help' values='ids ready delayed held dead' ;;
    move)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--to --tenant --of --tag --all --state --count --yes --format --json --spool --queue --help' values='ids ready delayed dead' ;;
    jobs)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--tenant --tag --state --count --watch --format --json --spool --queue --help' values=known ;;
    peek)
      if [[ $prev == --format ]]; then __fq_words human json raw; return; fi
      options='--tenant --tag --count --state --format --json --raw --spool --queue --help' ;;
    show)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--format --json --spool --queue --help' values=known ;;
    explain)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--tenant --next --format --json --spool --queue --help' values='ids all' ;;
    log)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--tenant --tag --since --count --follow --format --json --spool --queue --help' values=known ;;
    top)
      options='--spool --queue --help' ;;
    stats)
      if [[ $prev == --format ]]; then __fq_words human json prometheus; return; fi
      options='--tenants --watch --format --json --spool --queue --help' ;;
    wait)
      options='--tenant --tag --for --all --spool --queue --help' values=known ;;
    result)
      options='--follow --spool --queue --help' values='known leased|acked|dead|cancelled' ;;
    worker)
      options='--jobs --min --max --once --drain --strict --grace --attempts --timeout --backoff --shell --nice --rlimit --batch --linger --batch-format --stream --prefetch --output --output-max --tag-output --verbose --spool --queue --help' ;;
    queue)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--yes --shards --events --spool --queue --help --format --json' words='list create pause resume drain set rename purge remove'
      if [[ ${#operands[@]} -gt 0 ]]; then words=; fi
      case ${operands[0]-},${#operands[@]} in
        set,*) words=$(__fq_keys queue) nospace=1 ;;&
        pause,1 | resume,1 | drain,1 | set,1 | rename,1 | purge,1 | remove,1) values=queues ;;
      esac ;;
    schedule)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--tz --missed --overlap --tenant --priority --key --ttl --attempts --tag --payload --file --timeout --keep --shell --env --env-all --names --format --json --spool --queue --help' words='set list show pause resume remove run'
      if [[ ${#operands[@]} -gt 0 ]]; then words=; fi
      case ${operands[0]-},${#operands[@]} in
        set,2) words='@hourly @daily @weekly @monthly @yearly' ;;
        set,1 | show,1 | pause,1 | resume,1 | remove,1 | run,1) values=schedules ;;
      esac ;;
    step)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--shell --sleep --until --wait --wait-all --push --tenant --priority --key --delay --at --ttl --attempts --tag --payload --file --timeout --keep --env --env-all --list --format --json --spool --queue --help'
      if [[ " ${typed[*]:0:last} " == *' --list '* ]]; then values='ids all'; fi ;;
    tenant)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--tenant --for --names --format --json --spool --queue --help' words='list set pause resume limit'
      if [[ ${#operands[@]} -gt 0 ]]; then words=; fi
      if [[ ${operands[0]-} == set && " ${typed[*]:0:last} " == *' '@(-t|--tenant|--tenant=*)' '* ]]; then operands+=(named); fi
      case ${operands[0]-},${#operands[@]} in
        set,1 | pause,1 | resume,1 | limit,1) values=tenants ;;
        set,*) words=$(__fq_keys tenant) nospace=1 ;;
      esac ;;
    config)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--tenant --if-version --format --json --spool --queue --help' words='show edit check path load get'
      if [[ ${#operands[@]} -gt 0 ]]; then words=; fi
      if [[ ${operands[0]-},${#operands[@]} == load,1 ]]; then values='paths -f'; fi ;;
    check)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--repair --format --json --spool --queue --help' ;;
    workers)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--format --json --spool --queue --help' ;;
    compact)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--format --json --spool --queue --help' ;;
    report)
      options='--since --output --spool --queue --help' ;;
    simulate)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--policy --jobs --since --load --for --format --json --spool --queue --help' values='paths -f' ;;
    backup)
      options='--spool --queue --help' values='paths -d' ;;
    export)
      options='--live --spool --queue --help' ;;
    import)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--format --json --spool --queue --help' values='paths -f' ;;
    doctor)
      if [[ $prev == --format ]]; then __fq_words human json; return; fi
      options='--format --json --spool --queue --help' ;;
    acl | load)
      options='--help' ;;
    help)
      options='--version --help' words='push pop ack retry release bury extend kick cancel edit move jobs peek show explain log stats top report simulate wait result worker workers queue schedule step tenant config check compact backup export import doctor help' ;;
  esac
  if [[ -z $before && -z $quote && $cur == -* ]]; then words=$options values=; fi
  # shellcheck disable=SC2086
  if [[ -n $words ]]; then __fq_words $words; fi
  # shellcheck disable=SC2086
  if [[ -n $values ]]; then __fq_$values; fi
  if [[ -n $nospace ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _fq fq fq-redis
