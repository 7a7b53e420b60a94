#!/usr/bin/env bash
# hostile_views_test - names, tags, reasons and payloads that try to be more than text: in no human view, and in no
# error, comes anything out that a terminal obeys or that turns the writing around; whole payloads and outputs neither,
# on a terminal. In a C locale nothing comes out but ASCII.
. "$(dirname "$0")/lib.sh"
export FQ

text=$'\e]0;owned\a\e[2J\u202eevil\u2066\u200b\xc2\x9b31m\r'  # of tags, reasons and keys, which are UTF-8
evil=$text$'\xff\xfe'                                          # of payloads, which may hold anything
name=$'tenant\u202eevil\u2066\u200b\ufeff\u061c\U000e0041"\'\\'     # of tenants, which are without controls
plain=$'plain\u202eevil\u2066'  # of a key of fq.toml, which has its own quotes

# What a terminal obeys, what deceives, and what is no UTF-8, as bytes.
deceiving=$'\xd8\x9c|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf|\xf3\xa0[\x80\x81]'
obeyed=$'[\x01-\x08\x0b\x0c\x0d\x0e-\x1f\x7f]|\xc2[\x80-\x9f]'
views=0
harmless() {  # SENTENCE FILE
  views=$((views + 1))
  [ -s "$2" ] || fail "$1: nothing came out"
  if LC_ALL=C grep -aqE "$obeyed|$deceiving" "$2" || ! iconv -f UTF-8 -t UTF-8 "$2" >/dev/null 2>&1; then
    fail "$1: not harmless"
    cat -v "$2" | head -5
  fi
}
# view COMMAND...: what it tells people, on both outputs, in both locales. shows: it is no error.
shows() { view "$@"; "$@" </dev/null >/dev/null 2>&1 || fail "$*: left with $?"; }
view() {
  "$@" </dev/null >"$work/view" 2>&1
  harmless "$*" "$work/view"
  LC_ALL=C "$@" </dev/null >"$work/view" 2>&1
  if LC_ALL=C grep -aq '[^ -~]' "$work/view"; then fail "$*: not ASCII in a C locale"; fi
}

fq queue create default
printf '[queue.default.tenant."%s"]\nconcurrency = 1\n' "$plain" >"$FQ_SPOOL/fq.toml"
fq push -t "$name" --tag "K=$text" "$evil" >/dev/null                  # 1
fq push -t "$name" --unique "$text" --delay 1h "$evil" >/dev/null      # 2
fq push -t "$name" --attempts 1 -- sh -c "$evil" >/dev/null            # 3: buried, see below
for _ in 1 2; do fq push -t "$plain" x >/dev/null; done
fq pop -t "$plain" --lease 1h >/dev/null
fq retry "$(fq pop -t "$name" --lease 1h | cut -f1)" --reason "$text"
fq bury "$(fq pop -t "$name" --lease 1h | cut -f1)" --reason "$text"
fq push -q work -t "$name" --attempts 1 --keep 1h "$evil" >/dev/null
fq worker -q work --once -- sh -c 'cat; exit 3' >"$work/out" 2>"$work/view"
harmless 'what a worker says of a job' "$work/view"
fq push -q work -t "$name" "$evil" >/dev/null
fq worker -q work --once -v -- true >"$work/view" 2>&1
harmless 'what a worker tells with -v' "$work/view"
fq tenant pause "$name"
fq tenant set "$name/below" weight=2
fq push -q key -t "$name" x >/dev/null
fq queue set -q key order=key
fq push -q key -t "$name" --key "$text" x >/dev/null

fq schedule set hourly @hourly -t "$name" --tag "K=$text" -- sh -c "$text"
fq schedule set daily @daily -t "$name" "$evil"
fq schedule run hourly >/dev/null
fq push -t "$name" --env-all -- sh -c "$evil" >/dev/null

for id in 1 2 3 4 5; do
  shows "$FQ" show "$id"
  shows "$FQ" explain "$id"
  shows "$FQ" jobs "$id"
done
shows "$FQ" jobs
shows "$FQ" jobs -q work --state failed
shows "$FQ" show "$(fq jobs --tag "K=$text" --json | jq 'select(.schedule).id')"
shows "$FQ" schedule list
shows "$FQ" schedule show hourly
shows "$FQ" schedule show daily
shows "$FQ" report
shows "$FQ" report -q work
shows "$FQ" simulate
shows "$FQ" log --tag "K=$text"
shows "$FQ" show -q work 1
shows "$FQ" peek --state all
shows "$FQ" peek -q key
shows "$FQ" explain
shows "$FQ" explain -t "$name"
shows "$FQ" log
shows "$FQ" log -t "$name"
shows "$FQ" stats
shows "$FQ" stats --tenants
shows "$FQ" tenant list
shows "$FQ" tenant list -t "$name"
shows "$FQ" config show
shows "$FQ" queue list
shows "$FQ" check
# Errors repeat what was typed.
view "$FQ" explain -t "$name-none"
view "$FQ" push -t "$evil" x
view "$FQ" push -t "$name" -p "$evil" x
view "$FQ" push --delay "$evil" x
view "$FQ" peek -q "$evil"
view "$FQ" show "$evil"
for command in jobs result wait edit cancel kick "move --to work" "schedule show" "queue rename"; do
  # shellcheck disable=SC2086
  view "$FQ" $command "$evil"
done
for command in jobs log wait kick cancel move; do
  view "$FQ" $command --to "$evil" -t "$evil"
  view "$FQ" $command --tag "$evil"
done
view "$FQ" kick --reason "$evil" --state "$evil"
view "$FQ" schedule set "$evil" "$evil" x
view "$FQ" schedule set x @hourly --tz "$evil" x
view "$FQ" push -t "$name" --shell "$evil" -- "$evil"
view "$FQ" report --since "$evil"
view "$FQ" "$evil"
view "$FQ" stats "--$evil"
view "$FQ" ack "$evil"
view "$FQ" tenant set "$name" "$evil=1"
view "$FQ" --spool "$work/$evil" stats
view "$FQ" push --file "$work/$evil"
printf '{"payload":"x","%s":1}\n' "$name" | fq push --ndjson >"$work/view" 2>&1
harmless 'an unknown key of a line' "$work/view"
fq push -t "$name" --unique same x >/dev/null
printf '[queue."%s"]\n' "$plain" >"$FQ_SPOOL/fq.toml"
view "$FQ" config check
rm "$FQ_SPOOL/fq.toml"
fq tenant resume "$name"
# Leased messages are a line each, which printf %b makes what they were.
is 'a line of pop --lease' "$name" "$(printf %b "$(fq pop --lease 1h -t "$name" | cut -f2)")"

# Whole payloads and outputs on a terminal, which adds the CR at each end of a line.
on_terminal() { TERM=xterm script -qefc "$1" /dev/null </dev/null | tr -d '\r' >"$work/view"; harmless "on a terminal: $1" "$work/view"; }
fq push -q whole "$evil" >/dev/null
fq push -q whole --keep 1h "$evil" >/dev/null
on_terminal '"$FQ" pop -q whole'
fq push -q leased -t "$name" "$evil" >/dev/null
on_terminal '"$FQ" pop -q leased --lease 1h'
fq worker -q whole --once -- cat >/dev/null
on_terminal '"$FQ" result -q whole 2'
[ "$views" -ge 43 ] || fail "only $views views were looked at"
finish
