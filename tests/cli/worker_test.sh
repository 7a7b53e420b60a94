#!/usr/bin/env bash
# worker_test - what becomes of a message by how its job ended, and what a job is given.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

# Exit statuses.
id=$(fq push x)
gives 0 '' worker --once -- true
is 'exit 0 acks' acked "$(state "$id")"
id=$(fq push x)
gives 0 'exit 65; buried' worker --once -- sh -c 'exit 65'
is 'exit 65 buries' 'dead [65,null,"exit 65"]' "$(state "$id") $(json '.last_error | [.exit, .signal, .reason]' "$id")"
for status in 1 75 255; do
  id=$(fq push x)
  gives 0 "exit $status; again in" worker --once --backoff "$long" -- sh -c "exit $status"
  is "exit $status is tried again" "delayed 1 [$status,null]" \
    "$(state "$id") $(json .attempts "$id") $(json '.last_error | [.exit, .signal]' "$id")"
done
id=$(fq push x)
gives 0 'signal 9' worker --once --backoff "$long" -- sh -c 'kill -KILL $$'
is 'a signal is tried again' 'delayed [null,9,"signal 9"] 0' \
  "$(state "$id") $(json '.last_error | [.exit, .signal, .reason]' "$id") $(json .crashes "$id")"
id=$(fq push x --attempts 2)
gives 0 'attempt 1 of 2' worker --once --backoff "$long" -- false
fq kick "$id"
gives 0 'exit 1' worker --once --backoff 0s..0s -- false
fq cancel --all --state all --yes >/dev/null
id=$(fq push x --attempts 3)
gives 0 'buried after attempt 3 of 3' worker --drain --backoff 0s..0s -- false
is 'the last attempt buries' 'dead 3' "$(state "$id") $(json .attempts "$id")"
id=$(fq push x --attempts 2)
gives 0 'buried after attempt 2 of 2' worker --drain --backoff 90ms..90ms -- false
is 'and is due at no time' null "$(fq log "$id" --json | jq -s '[.[] | select(.event == "retried")] | last.due_at')"
id=$(fq push x)
gives 0 'buried after attempt 1 of 1' worker --drain --attempts 1 -- false
is '--attempts holds for messages without their own' dead "$(state "$id")"
id=$(fq push x --attempts 2)
gives 0 'buried after attempt 2 of 2' worker --drain --attempts 1 --backoff 0s..0s -- false
fq cancel --all --state all --yes >/dev/null

# The last words.
id=$(fq push x)
worker --once -- sh -c 'head -c 10000 /dev/zero | tr "\0" a >&2; echo bb >&2; exit 65' 2>/dev/null
is 'the last 4 KiB of stderr are kept' 4096 "$(fq show "$id" --json | jq -j .last_error.stderr | wc -c)"
is 'and they are the last' 'abb' "$(fq show "$id" --json | jq -r .last_error.stderr | grep . | tail -c 4)"
id=$(fq push x)
worker --once -- sh -c 'printf "no\033[31m\n\nsuch thing\n" >&2; exit 65' 2>/dev/null
is 'show has them line by line, safe on a terminal' 'exit 65|stderr|  no\x1b[31m|  |  such thing|history' \
  "$(fq show "$id" | sed -n '/^last error/,/^history/p' | grep -v ^payload | sed 's/^last error.*Z, //' | paste -sd'|')"
id=$(fq push x)
is 'stderr of a job is passed on' 'said' "$(worker --once -- sh -c 'echo said >&2' 2>&1)"
id=$(fq push x)
is 'so is its stdout' 'said' "$(worker --once -- sh -c 'echo said' 2>/dev/null)"
fq cancel --all --state all --yes >/dev/null

# The environment.
id=$(fq push x -t acme -q jobs -p 7 --tag kind=a --tag Size=1 --attempts 9)
FQ_ID=wrong FQ_TAG_OLD=1 FQ_BATCH=3 FQ_PAYLOAD=p worker -q jobs --once -- env >"$work/env" 2>/dev/null
# shellcheck disable=SC2016
is 'a job knows its message' "FQ_ATTEMPT=1 FQ_ID=$id FQ_MAX_ATTEMPTS=9 FQ_PRIORITY=7 FQ_QUEUE=jobs FQ_SPOOL=$FQ_SPOOL FQ_TAG_Size=1 FQ_TAG_kind=a FQ_TENANT=acme FQ_WORKER_SLOT=1" \
  "$(grep ^FQ_ "$work/env" | grep -v -e FQ_RECEIPT -e FQ_PUSHED_AT | sort | paste -sd' ')"
is 'with a receipt and a time' 2 "$(grep -cE '^FQ_RECEIPT=.+|^FQ_PUSHED_AT=2[0-9]{3}-' "$work/env")"
is 'and each once' '' "$(cut -d= -f1 "$work/env" | sort | uniq -d)"
fq push outer -t acme -q jobs >/dev/null
worker -q jobs --once -- sh -c 'fq=$0; "$fq" push inner >/dev/null' "$FQ"
is "a job's own push goes to its queue and tenant" 'inner acme' "$(fq peek -q jobs --json | jq -r '"\(.payload) \(.tenant)"')"
fq push two -q jobs >/dev/null
is 'a relative spool is absolute for jobs' "$work/spool" \
  "$(cd "$work" && worker --spool spool -q jobs --once -- sh -c 'cd /; echo "$FQ_SPOOL"')"

# Words.
marks="\$(touch $work/ran) \`touch $work/ran\` ; 'q' \"d\" \\ {id} {tenant} {} * -n"
payload=$'-first\n'"$marks"$'\n\e[2J\r\t\x01'
for end in '' $'\n' $'\n\n'; do
  fq push -t acme --payload="$payload$end" >/dev/null
  worker --once -- sh -c 'printf %s "$1" >"$0"' "$work/word" {}
  is 'a payload is one argument, unchanged' "$(printf %s "$payload$end" | od -c)" "$(od -c <"$work/word")"
done
is 'and never run' no "$([ -e "$work/ran" ] && echo yes || echo no)"
id=$(fq push -t acme 'see {id}')
is 'marks are put in once, inside of their words' "a=see {id}=see {id}|$id-acme|{ID}|" \
  "$(worker --once -- printf '%s|' 'a={}={}' '{id}-{tenant}' '{ID}')"
fq push -- '' >/dev/null 2>&1; fq push '' >/dev/null
is 'an empty payload is an empty word' '<>' "$(worker --once -- printf '<%s>' '{}')"
id=$(printf 'a\0b' | fq push -)
gives 0 'NUL' worker --once -- echo {}
is 'a NUL cannot be a word: buried' dead "$(state "$id")"
id=$(head -c 131072 /dev/zero | tr '\0' a | fq push -)
gives 0 'too long' worker --once -- echo {}
is 'nor can 128 KiB' dead "$(state "$id")"
id=$(head -c 131071 /dev/zero | tr '\0' a | fq push -)
is 'one byte less can' 131071 "$(worker --once -- printf %s {} | wc -c)"
fq cancel --all --state all --yes >/dev/null
fq push -t acme 'x; touch ran' >/dev/null
is '--shell: one text, the payload on stdin' 'X; TOUCH RAN acme' \
  "$(worker --once --shell -- 'tr a-z A-Z; echo " $FQ_TENANT"')"

# Standard input.
for i in {0..255}; do printf "\\x$(printf %x "$i")"; done >"$work/row"
for ((n = 256; n < 3000000; n *= 2)); do cat "$work/row" "$work/row" >"$work/more" && mv "$work/more" "$work/row"; done
for size in 256 65536 65537 3000000; do
  head -c "$size" "$work/row" >"$work/in"
  fq push --file "$work/in" >/dev/null
  worker --once -- sh -c 'cat >"$0"' "$work/got"
  is "$size bytes of every value arrive unchanged" 0 "$(cmp "$work/in" "$work/got" >&2; echo $?)"
done
fq push line >/dev/null
is 'no newline is added' line "$(worker --once -- sh -c 'read -r x || printf %s "$x"')"
fq push '' >/dev/null
is 'an empty payload is an empty input' 0 "$(worker --once -- wc -c)"
truncate -s 100M "$work/big"
fq push --file "$work/big" >/dev/null
gives 0 '' worker --once -- true
rm "$work/big"
is 'a job need not read 100 MB' '' "$(fq peek --state all)"
fq push --payload "$(head -c 100000 /dev/zero | tr '\0' a)" >/dev/null
gives 0 '' worker --once -- sh -c 'exec <&-; read -r x; true'
is 'and may close its input early' '' "$(fq peek --state all)"

# What cannot be started.
id=$(fq push x)
gives 78 'No such file' worker -- "$work/nowhere" {}
is 'the message is back, uncounted' 'ready 0' "$(state "$id") $(json .attempts "$id")"
gives 78 'first message is not a command' worker
is 'so it is when CMD was forgotten' 'ready 0' "$(state "$id") $(json .attempts "$id")"
touch "$work/plain"
gives 78 'ermission denied' worker -- "$work/plain"
gives 0 '' worker --once -- cat

# Command messages.
mkdir "$work/dir"
id=$(cd "$work/dir" && HOME=/pushed OTHER=1 fq push -t acme --env HOME in -- sh -c 'cat; pwd; echo "$HOME $OTHER $FQ_ID"; printf "%s|" "$@"' sh '{}' '$(x)')
is 'a worker without a command runs what is stored' "in$work/dir /pushed  $id {}|\$(x)|" \
  "$(HOME=/worker worker --once | paste -sd' ')"
wrong=$(fq push -- touch "$work/ran"); right=$(fq push x)
gives 0 'is a command message' worker --drain -- true
is 'a worker with one buries command messages' 'dead acked no' "$(state "$wrong") $(state "$right") $([ -e "$work/ran" ] && echo yes || echo no)"
right=$(fq push -- true); wrong=$(fq push x)
gives 0 'is not a command message' worker --drain
is 'and one without buries all others' 'acked dead' "$(state "$right") $(state "$wrong")"
id=$(fq push -- "$work/nowhere")
gives 0 'No such file' worker --once
is 'a stored command that cannot be started is buried' dead "$(state "$id")"
id=$(cd "$work/dir" && fq push -- true); rmdir "$work/dir"
gives 0 'buried' worker --once
is 'so is one whose directory is gone' dead "$(state "$id")"
id=$(fq push --env FQ_ID --env FQ_TENANT -- sh -c 'echo "$FQ_ID"')
is 'a stored variable does not hide the message' "$id" "$(worker --once)"
id=$(A=pushed fq push --env A -- env)
is "a stored variable comes before the worker's own, once" A=pushed "$(A=worker worker --once | grep ^A=)"
fq cancel --all --state all --yes >/dev/null

# Words that are refused.
for bad in '-j 0' '-j x' '-j 9999' '-j 2 --max 3' '--min 2' '--max 2 --min 3' '--once --drain' '--grace 5' \
  '--attempts 0' '--timeout 0s' '--timeout 5' '--backoff 5s' '--backoff 2h..1h' '--nice 20' '--nice x' '--rlimit nofile' \
  '--rlimit files=3' '--rlimit nofile=x' '--output all' '--output-max 5x' '--batch 0' '--linger 1s' '--batch-format lines' \
  '--batch 2 --batch-format tsv' '--prefetch 2' '--batch 2 --stream' '--stream --output keep' \
  '--stream -q a -q b' '-q a/../b'; do
  # shellcheck disable=SC2086
  gives 64 'fq: ' worker $bad -- true
done
gives 64 'behind --' worker true
gives 64 'need a command' worker --batch 2
gives 64 'need a command' worker --stream
gives 64 '--shell' worker --shell -- echo x
gives 64 'does not go with it' worker --shell -- 'echo {}'
for mark in '{}' '{id}'; do gives 64 'many messages' worker --batch 2 -- echo "$mark"; done
gives 64 'many tenants' worker --stream -- echo '{tenant}'
finish
