#!/bin/bash
# redis_commands_test - commands in a queue on a server are signed: without the key none is pushed or run, and what was not
# signed, whoever put it there, is buried and not run.
. "$(dirname "$0")/lib.sh"

start_server "$work/s"
export FQ_SPOOL="redis+unix://$work/s"
key=$FQ_REDIS_COMMAND_KEY_FILE
evil=$work/evil
keyless() { env -u FQ_REDIS_COMMAND_KEY_FILE "$FQ" "$@"; }
with_key() { FQ_REDIS_COMMAND_KEY_FILE=$1 "$FQ" "${@:2}"; }
reason() { fq show "$1" --json | jq -r '"\(.state) \(.last_error.reason)"'; }
# on_server ID LUA: the record `r` of a message of tenant default becomes what that gives.
on_server() {
  redis-cli -s "$work/s" eval "local r = redis.call('GET', KEYS[1]) redis.call('SET', KEYS[1], (function() $2 end)())" \
    1 "fq1:fq:{default:0:0}:m:$1" >"$work/set"
}

# Without a key: what would be the first in its queue makes none.
echo '{"argv":["echo","hi"]}' >"$work/commands"
# exported COMMAND...: of a spool that has this, into $work/lines.
exported() {
  (export FQ_SPOOL=$work/other_spool; "$FQ" "$@" >"$work/id"; "$FQ" export; rm -r "$FQ_SPOOL") >"$work/lines" 2>"$work/said"
}
is_none() { is "$1: there is no queue" 0 "$(redis-cli -s "$work/s" exists fq1:fq:queues)"; }
first() { gives 78 "$1: commands on a server are signed, and there is no key for that" keyless "${@:2}"; is_none "${*:2}"; }
first push push -- true
first push push --wait=3s --shell true
first push -q named push --ndjson --file "$work/commands"
first command schedule set s @daily -- true
first worker worker
gives 1 "queue 'default': there is none" keyless worker --once
exported push -- true
gives 1 'message 1: command: commands on a server are signed' keyless import "$work/lines"
is_none 'an import of commands'
exported schedule set s @daily -- true
gives 1 "schedule 's': was not taken: command: commands on a server are signed" keyless import "$work/lines"
is_none 'an import of their schedules'
exported push --lines --file "$work/commands"
gives 0 "queue 'plain': did not exist; created" keyless -q plain import "$work/lines"
fq queue remove plain --yes

# And in one that is there they are refused.
fq queue create default
gives 78 'FQ_REDIS_COMMAND_KEY_FILE' keyless push -- true
gives 78 'push: commands on a server are signed, and there is no key for that; make a file' keyless push -- true
gives 78 'FQ_REDIS_COMMAND_KEY_FILE' keyless push --wait -- true
gives 78 'FQ_REDIS_COMMAND_KEY_FILE' keyless schedule set s @daily -- true
is 'nothing was pushed' 0 "$(keyless stats --json | jq .pushed)"
gives 78 'worker: commands on a server are signed, and there is no key for that' keyless worker
gives 78 'FQ_REDIS_COMMAND_KEY_FILE' keyless worker --drain -j 4
gives 0 '' keyless push plain
is 'a worker with a command needs none' plain "$(keyless worker --drain -- cat 2>/dev/null)"
id=$(fq push -- touch "$evil")
is 'and runs no other' "dead is a command message, and the worker has a command" \
  "$(keyless worker --drain -- cat >/dev/null 2>&1; reason "$id")"
id=$(fq push -- touch "$evil")
is 'to pop it is data' "$id" "$(keyless pop --json | jq -r .id)"

# A key that cannot be used.
bad_key() { gives 78 "FQ_REDIS_COMMAND_KEY_FILE: '$work/bad': $1" with_key "$work/bad" "${@:2}"; }
bad_key 'cannot be opened' push -- true
bad_key 'cannot be opened' stats
is 'the doctor says of what' 1 "$(with_key "$work/bad" doctor | grep -c 'name a file there that only you can read')"
echo 0123456789abcdef >"$work/bad"
chmod 640 "$work/bad"
bad_key 'is open to others; run chmod 600 on it' push -- true
bad_key 'is open to others; run chmod 600 on it' worker
chmod 600 "$work/bad"
gives 0 '' with_key "$work/bad" stats
echo 0123456789abcde >"$work/bad"
bad_key 'has fewer than 16 bytes' push -- true
: >"$work/bad"
bad_key 'is empty' push -- true
echo >"$work/bad"
bad_key 'is empty' push -- true
head -c 1025 /dev/zero >"$work/bad"
bad_key 'is larger than 1KiB' push -- true
rm "$work/bad" && mkdir -m 700 "$work/bad"
bad_key 'is not a regular file' push -- true
is 'no error has the key' 0 "$(cat "$work"/err "$work"/out | grep -c 'only tests')"

# What was not signed, by this key, for this message.
id=$(fq push -- touch "$evil")
on_server "$id" "local n = struct.unpack('<I4', r, 124) return string.sub(r, 1, 123) .. struct.pack('<I4', n - 68) .. string.sub(r, 128, 59 + n) .. string.sub(r, 128 + n)"
gives 0 "message $id of queue 'default': was buried and not run: its command is not signed" fq worker --drain
is 'planted' 'dead its command is not signed' "$(reason "$id")"
is 'and the log says so' 'buried its command is not signed' "$(fq log "$id" --json | jq -r 'select(.event == "buried") | "\(.event) \(.reason)"')"
id=$(fq push -- touch "$work/good")
on_server "$id" "return (string.gsub(r, '/good', '/evil'))"
gives 0 'or it or its payload was changed' fq worker --drain
id=$(fq push -- touch "$work/good")
on_server "$id" "return (string.gsub(r, '/good', '/evil'))"
"$FQ" worker --drain --strict 2>"$work/err"
is 'what the queue buried was not acked' 1 $?
echo 'a key of somebody else' >"$work/other" && chmod 600 "$work/other"
id=$(with_key "$work/other" push -- touch "$evil")
gives 0 'its command is signed with another key' fq worker --drain
is 'another key' 'dead its command is signed with another key' "$(reason "$id")"
gives 0 '' fq queue set command_age=1ms
id=$(fq push -- touch "$evil")
gives 0 'and command_age of the queue is 1ms' fq worker --drain
gives 0 '' fq queue set command_age=
gives 0 '' fq kick "$id"
gives 0 '' fq edit "$id" -- echo edited
is 'signed anew by who edits it' edited "$(fq worker --drain 2>/dev/null)"
is 'nothing of it was run' no "$([ -e "$evil" ] && echo yes || echo no)"

# A queue under another name.
fq push -q named -- echo renamed >"$work/id"
gives 0 '' fq queue rename named other
gives 0 'is signed for another queue' fq worker -q other --drain
gives 0 '' fq queue rename other named
gives 0 '' fq kick -q named --all
is 'is good under the old one again' renamed "$(fq worker -q named --drain 2>/dev/null)"

# Edits and moves.
id=$(fq push --delay 1h -- cat)
gives 78 'FQ_REDIS_COMMAND_KEY_FILE' keyless edit "$id" --payload other
gives 0 '' keyless edit "$id" --priority 3
gives 0 '' fq edit "$id" --payload other
fq queue create there
is 'stays' 1 "$(keyless move "$id" --to there 2>&1 | grep -c 'FQ_REDIS_COMMAND_KEY_FILE')"
gives 0 '' fq move "$id" --to there
gives 0 '' fq kick -q there --all --state delayed
is 'moved' other "$(fq worker -q there --drain 2>/dev/null)"

# Jobs have the name of the file, and push with it.
fq push -- sh -c 'env; "$0" push -t inner -- echo inner' "$FQ" >"$work/id"
fq worker --drain >"$work/out" 2>"$work/err"
is 'its name' 1 "$(grep -c "^FQ_REDIS_COMMAND_KEY_FILE=$key$" "$work/out")"
is 'and not the key' 0 "$(grep -c 'only tests' "$work/out")"
is 'a job pushes' inner "$(tail -1 "$work/out")"

# Schedules, and those of fq.toml.
fq schedule set own @daily -- echo own
is 'a schedule' own "$(keyless schedule run own >/dev/null; fq worker --drain 2>/dev/null)"
cat >"$work/policy" <<'END'
[queue."*".schedule.nightly]
spec = "@daily"
argv = ["echo", "nightly"]
END
gives 78 "schedule 'nightly': has a command, and the text was not kept with the key in FQ_REDIS_COMMAND_KEY_FILE" keyless config load "$work/policy"
is 'and nothing is kept' '' "$(fq config get)"
gives 0 '' fq config load "$work/policy"
is 'of the file' nightly "$(fq schedule run nightly >/dev/null; fq worker --drain 2>/dev/null)"
redis-cli -s "$work/s" hset fq1:fq:policy version 9-x text "$(sed "s|\"nightly\"|\"x\", \"$evil\"|" "$work/policy")" >/dev/null
gives 0 'the text was not kept with the key' fq stats
is 'as it was' nightly "$(fq schedule show nightly --json 2>/dev/null | jq -r '.argv[1]')"
gives 0 '' fq config load -
gives 65 'Is a directory' fq config load "$work"

# Its path is one from where the worker began, wherever a job runs that asks for it.
id=$(cd / && fq push -- "$FQ" push -t inner -- true)
(cd "$work" && FQ_REDIS_COMMAND_KEY_FILE=./command.key "$FQ" worker --drain --strict 2>"$work/err")
is 'a job elsewhere has the key' "0 acked" "$? $(fq show "$id" --json | jq -r .state)"

is 'help lists what only this program has' 'acl load' \
  "$("$(dirname "$FQ")/fq-redis" help | sed -n '/^Of fq-redis alone:/,/^$/s/^  \([a-z]*\) .*/\1/p' | xargs)"
is 'and calls it by its name' 'usage: fq-redis acl [URL]' "$("$(dirname "$FQ")/fq-redis" acl --help | head -n 1)"
finish
