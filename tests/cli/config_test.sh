#!/usr/bin/env bash
# config_test - fq.toml as people meet it: what holds and why, what is wrong with it, and what goes on meanwhile.
. "$(dirname "$0")/lib.sh"

# row "KEY" ...: the row of fq config show that begins so, columns one blank apart.
row() { fq config show "${@:2}" | tr -s ' ' | grep "^$1 "; }
policy() { cat >"$FQ_SPOOL/fq.toml"; }

# Nothing there: no spool, no file, no queue.
is 'the path of a file that is not there' "$FQ_SPOOL/fq.toml" "$(fq config path)"
is 'in JSON' '{"path":"/nowhere/fq.toml"}' "$(fq config path --json --spool /nowhere)"
is 'of any spool' '/nowhere/fq.toml' "$(fq config path --spool /nowhere)"
gives 0 '' fq config check
is 'without a file all is default' 'order priority default' "$(row order)"
is 'and only that' 20 "$(fq config show | grep -c 'default$')"
is 'no spool was made by looking' 1 "$([ -e "$FQ_SPOOL" ]; echo $?)"

mkdir -m 700 "$FQ_SPOOL"
policy <<'TOML'
[queue."*"]
attempts = 3
backoff = "1s..1h"
concurrency = 20

[queue.mail]
attempts = 1

[queue."*".tenant."free-*"]
concurrency = 2
pool = "stripe"

[queue.mail.tenant.'it''s']
TOML
gives 78 "fq.toml:13: " fq config check
gives 78 "fq.toml:13: " fq push -q new x
policy <<'TOML'
[queue."*"]
attempts = 3
backoff = "1s..1h"
concurrency = 20

[queue.mail]
attempts = 1

[queue."*".tenant."free-*"]
concurrency = 2
pool = "stripe"

[queue.mail.tenant."it's \"*\" mine/*"]
weight = 2.5

[queue.mail.tenant."测试"]
rate = "100/min"

[queue."*".pool.stripe]
concurrency = 10
TOML
gives 0 '' fq config check
is 'a value of every queue' 'attempts 3 fq.toml:2' "$(row attempts)"
is 'a value of one queue' 'attempts 1 fq.toml:7' "$(row attempts -q mail)"
is 'FQ_QUEUE names it too' 'attempts 1 fq.toml:7' "$(FQ_QUEUE=mail row attempts)"
is 'what the file leaves out' 'lease 1m default' "$(row lease)"
is 'two durations' 'backoff 1s..1h fq.toml:3' "$(row backoff)"
is 'a table for tenants' 'free-\* concurrency 2 fq.toml:10' "$(row 'free-\*' | sed 's/\*/\\*/' | head -1)"
is 'a pool' $'stripe concurrency 10 fq.toml:20\nstripe rate unlimited default\nstripe burst 1 default' "$(row stripe)"
is 'tables of other queues are not for this one' 0 "$(fq config show | grep -c weight)"
is 'names are not ASCII' '测试 rate 100/min fq.toml:17' "$(row 测试 -q mail)"
is 'and are escaped where the locale has none' 1 "$(LC_ALL=C "$FQ" config show -q mail | grep -c '^\\xe6\|^\\u{6d4b}\|^\\u6d4b')"

# Of one tenant.
is 'a tenant has what its pattern sets' 'free-7 concurrency 2 fq.toml:10 free-*' "$(row 'free-7 concurrency' -t free-7)"
is 'and the rest is default' 'free-7 weight 1 default' "$(row 'free-7 weight' -t free-7)"
is 'its pool is shown' 'stripe concurrency 10 fq.toml:20' "$(row 'stripe concurrency' -t free-7)"
is 'the queue is above it' '(queue) concurrency 20 fq.toml:4' "$(row '(queue)' -t free-7)"
is 'a star does not cross a slash' 'free-7/x concurrency unlimited default' "$(row 'free-7/x concurrency' -t free-7/x)"
is 'but the node above is named' 'free-7 concurrency 2 fq.toml:10 free-*' "$(row 'free-7 concurrency' -t free-7/x)"
is 'a name with quotes and a star in it' 'it'\''s "*" mine/x weight 2.5 fq.toml:14 it'\''s "*" mine/*' \
  "$(row 'it.*mine/x weight' -q mail -t "it's \"*\" mine/x")"
is 'a star on the command line is a name' '* concurrency unlimited default' "$(row '\* concurrency' -t '*')"
gives 64 'control character' fq config show -t $'a\e[2Jb'
gives 64 '--tenant' fq config show -t ''

# JSON: one object a value, every key there.
is 'JSON of a default' '{"queue":"mail","tenant":null,"pool":null,"key":"order","value":"priority","source":"default","line":null,"pattern":null}' \
  "$(fq config show -q mail --json | head -1)"
is 'JSON of a number' '{"queue":"mail","tenant":null,"pool":null,"key":"attempts","value":1,"source":"file","line":7,"pattern":null}' \
  "$(fq config show -q mail --json | grep '"attempts"')"
is 'JSON of a pattern' '{"queue":"mail","tenant":null,"pool":null,"key":"weight","value":2.5,"source":"file","line":14,"pattern":"it'\''s \"*\" mine/*"}' \
  "$(fq config show -q mail --json | grep '"weight"')"
is 'JSON of a tenant' '{"queue":"mail","tenant":"free-1","pool":null,"key":"pool","value":"stripe","source":"file","line":11,"pattern":"free-*"}' \
  "$(fq config show -q mail -t free-1 --format json | grep '"key":"pool"')"
is 'JSON of a pool' '{"queue":"default","tenant":null,"pool":"stripe","key":"rate","value":"unlimited","source":"default","line":null,"pattern":null}' \
  "$(fq config show --json | grep '"pool":"stripe","key":"rate"')"

# What was set at run time.
fq push -q mail -t acme/x y >/dev/null
gives 0 '' fq tenant limit -q mail acme --for 1h
is 'what was set for a tenant' 'acme limited set at run time' "$(row acme -q mail | sed 's/ 59m5[0-9]s / /; s/ 1h / /')"
is 'and above one' 'acme limited set at run time' "$(row 'acme' -q mail -t acme/x | sed 's/ 59m5[0-9]s / /; s/ 1h / /')"
is 'it is a time in JSON' 1 "$(fq config show -q mail --json | grep -c '"tenant":"acme",.*"key":"limited","value":"20[0-9-]*T[0-9:.]*Z","source":"set","line":null')"
gives 0 '' fq tenant limit -q mail acme --for none
is 'and taken back' 0 "$(fq config show -q mail | grep -c ' limited ')"

is 'the text of the file' "$(cat "$FQ_SPOOL/fq.toml")" "$(fq config get)"
is 'and in JSON, without a version' null "$(fq config get --json | jq .version)"

# Broken: named with its line; what holds is the last good one, and said so.
fq push x >/dev/null
sed -i 's/attempts = 3/atempts = 3/' "$FQ_SPOOL/fq.toml"
for command in 'config check' 'config show' 'config show -t acme' 'push -q new y' 'pop -q new --wait'; do
  gives 78 "fq.toml:2: unknown key 'atempts'; did you mean 'attempts'?" fq $command
done
is 'the path is still told' "$FQ_SPOOL/fq.toml" "$(fq config path)"
is 'the last good value is not the file'\''s' 'attempts 3 last good fq.toml' "$(row attempts 2>/dev/null)"
is 'config show names the fault once' 1 "$(fq config show 2>&1 >/dev/null | grep -c atempts)"
is 'what the queue does not tell is left out' 0 "$(fq config show 2>/dev/null | grep -c 'concurrency\|free-')"
is 'in JSON too' '"value":3,"source":"last_good","line":null' "$(fq config show --json 2>/dev/null | grep '"attempts"' | grep -o '"value".*null,' | sed 's/,$//')"
is 'of a queue that is not there nothing was good' 'attempts 5 default' "$(row attempts -q absent 2>/dev/null)"
is 'all of its values are told' 5 "$(fq config show -q absent 2>/dev/null | grep -c '^\(max_messages\|max_bytes\|concurrency\|rate\|burst\) .* default$')"
is 'in JSON too' default "$(fq config show -q absent --json 2>/dev/null | jq -r .source | sort -u)"
(export FQ_SPOOL=$work/fresh; mkdir -m 700 "$FQ_SPOOL"; cp "$work/spool/fq.toml" "$FQ_SPOOL"; fq config show >"$work/fresh.out" 2>"$work/err"; echo $? >"$work/fresh.rc")
is 'nor in a fresh spool' '78 0 1' "$(cat "$work/fresh.rc") $(grep -c 'last good' "$work/fresh.out") $(grep -c atempts "$work/err")"
gives 0 'the last good one holds' fq stats
is 'messages go on' 1 "$(fq peek 2>/dev/null | grep -c ready)"
chmod 666 "$FQ_SPOOL/fq.toml"
gives 78 'can be written by others' fq config check
rm "$FQ_SPOOL/fq.toml"; mkdir "$FQ_SPOOL/fq.toml"
gives 78 'is not a regular file' fq config check
rmdir "$FQ_SPOOL/fq.toml"

# What is wrong only for one queue that is there.
policy <<<$'[queue."m*"]\nscope = "queue"\n[queue."*l"]\norder = "fifo"'
gives 78 "fq.toml:4: order: \"fifo\" does not go with scope = \"queue\" of line 2 (in queue 'mail')" fq config check
gives 0 '' fq config show -q mouse
gives 78 'fq.toml:4: ' fq config show -q mail
gives 0 'fq.toml:4: ' fq push -q mail x
gives 0 '' fq push -q mouse x
rm "$FQ_SPOOL/fq.toml"

# Words that are none of ours.
gives 64 'needs a command; use show, edit, check, path, load or get' fq config
gives 64 'did you mean show?' fq config list
gives 64 'did you mean check?' fq config validate
gives 64 'did you mean path?' fq config where
gives 64 'use fq queue set, fq tenant set, or fq config edit' fq config set attempts=2
gives 64 "unknown command 'frobnicate'; use show, edit, check, path, load or get" fq config frobnicate
gives 64 'takes no operand' fq config show mail
gives 64 'use fq config edit' fq config load "$work/none"
gives 64 'takes no --if-version' fq config get --if-version 1
gives 64 'needs one FILE' fq config load
gives 64 'takes no --tenant' fq config check -t a
gives 64 'not a format' fq config show --format sh
gives 64 'did you mean config?' fq settings
gives 74 'standard output' bash -c '"$FQ" config show >/dev/full'

finish
