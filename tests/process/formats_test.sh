#!/usr/bin/env bash
# formats_test - spools of earlier journal formats are opened, served and written on in files of today's format.
#
# formats/N.tar.gz is a spool as the last fq of format N left it, without its segment; N.json.gz what that fq
# told of its messages. What a format has learned to say since has a spool of its own (imported).
. "$(dirname "$0")/../cli/lib.sh"
golden=$(cd "$(dirname "$0")" && pwd)/formats

unpack() {
  fresh
  tar -C "$work" -xzf "$golden/$1.tar.gz"
}
journal=$FQ_SPOOL/queues/default/journal
# formats_of FILE...: the formats of journal files, in the order of their numbers.
formats_of() { for file in "$@"; do od -A n -t u4 -j 8 -N 4 "$file"; done | xargs; }
in_order() { printf '%s\n' "$journal"/*.fqj | sort -t/ -k"$(printf '%s' "$journal/x" | tr -dc / | wc -c)".1 -V; }
today=$("$FQ" doctor --json | jq -r 'select(.about == "formats").found' | sed 's/journal \([0-9]*\),.*/\1/')
# What a format could not say yet is null in its messages; unique_for it could, and that fq did not tell it.
known=$(gunzip -c "$golden/1.json.gz" | head -n 1 | jq -c keys)
messages() {
  fq peek --state all -n 1000 --json |
    jq -c --argjson known "$known" 'del(.receipt, .unique_for) | with_entries(select(.value != null or (.key | IN($known[]))))' |
    after_a_reboot
}
# A lease ends with the boot it was given in, which the boot of this test may or may not be.
after_a_reboot() {
  jq -sc 'map(if .state == "leased" then .state = "ready" | .lease_until = null | .started_at = null else . end) |
    sort_by(.id)[]'
}

unpack 1
is 'all of it is there' "$(gunzip -c "$golden/1.json.gz" | after_a_reboot)" "$(messages)"
gives 0 '' fq check
is 'what was set at run time too' 'lease 1m30s, weight 3, concurrency 7' \
  "$(fq config show --json | jq -rn '[inputs | select(.source == "set") | "\(.key) \(.value)"] | join(", ")')"
is 'an old unique key still holds' 6 "$(fq push -t keyed --unique key --unique-for 1000d again)"
is 'what is waited for lets go' 'first' "$(fq pop -t acme -n 9 | sed -n /first/p)"
is 'and what waited is served' 'after the first' "$(fq pop -t held)"
is 'a long payload is read' 100000 "$(fq pop -t big --raw | wc -c)"
gives 0 '' fq check
# shellcheck disable=SC2046
is 'the file that it had is as it was, the ready ones are of today' "1 $today" "$(formats_of $(in_order))"
rm "$FQ_SPOOL/queues/default/segment"
gives 0 '' fq check
is 'rebuilt, the new records are read beside the old ones' 'urgent' \
  "$(fq log --json | jq -r 'select(.event == "acked") | .id' | grep -qx 2 && echo urgent)"

# What was imported is known by what it was, for a week (one that was cancelled since, too), and an import that was
# killed between the steps of a message goes on. formats/imported.ndjson.gz is what was imported.
gunzip -c "$golden/imported.ndjson.gz" >"$work/exported.ndjson"
unpack imported
on_its_day() { FAKETIME_DONT_FAKE_MONOTONIC=1 faketime '2026-11-26 00:00:00' "${FQ_DYNAMIC:-$FQ}" "$@"; }
same() { jq -c '[.id, .state, .tenant, .priority, .tags, .attempts, .max_attempts, .deliveries, .argv, .unique, .after // .after_any,
  .last_error.reason, .pushed_at, (.due_at // "")[0:4]]' | sort; }
# A static fq cannot be told what time it is; where there is one, FQ_DYNAMIC is another.
on_its_day push -q clock x >/dev/null 2>&1
if [ "$(fq show -q clock 1 --json 2>/dev/null | jq -r '.pushed_at[0:10]')" = 2026-11-26 ]; then
  is 'what was imported is there' "$(gunzip -c "$golden/imported.json.gz" | same)" "$(on_its_day peek --state all -n 1000 --json | same)"
  gives 0 '' on_its_day check -q default
  gives 0 '' on_its_day import "$work/exported.ndjson" --json
  is 'and known, each under its id' "$(for id in 1 2 3 4 5 6 7 8; do echo "$id $id known"; done | xargs)" \
    "$(jq -r '"\(.id) \(.to_id) \(.status)"' "$work/out" | sort -n | xargs)"
  is 'not even what has ended comes again' "$(gunzip -c "$golden/imported.json.gz" | same)" "$(on_its_day peek --state all -n 1000 --json | same)"
  is 'a part of one was imported' one "$(on_its_day -q half step --list 2 --json | jq -r .name | xargs)"
  on_its_day -q half cancel 1
  is 'which waits for the rest' delayed "$(on_its_day -q half show 2 --json | jq -r .state)"
  gives 0 '' on_its_day import -q half "$work/exported.ndjson"
  is 'and gets it' 'one two stay ready' "$(on_its_day -q half step --list 2 --json | jq -r .name | xargs) $(on_its_day -q half show 2 --json | jq -r .state)"
  gives 0 '' on_its_day check
else
  is 'what was imported is there' 7 "$(fq peek --state all -n 1000 | tail -n +2 | wc -l)"
  gives 0 '' fq check
  left_out "a static fq cannot be told the time, and FQ_DYNAMIC names no other"
fi

# On a full disk, where no new file can be made, the last one is written on.
if [ "$(id -u)" = 0 ] && mkdir "$work/small" && mount -t tmpfs -o size=3m,mode=700 small "$work/small" 2>/dev/null; then
  unpack 1
  rm "$journal/2.fqj"
  cp -a "$FQ_SPOOL" "$work/small/"
  # What the segment needs, and no journal file more.
  head -c "$(($(stat -f -c '%a * %S' "$work/small") - 1700000))" /dev/zero >"$work/small/ballast"
  export FQ_SPOOL=$work/small/spool
  journal=$FQ_SPOOL/queues/default/journal
  fq pop -n 1000 >/dev/null || fail 'a full disk: pop'
  is 'a full disk: it is drained all the same' 0 "$(fq stats --json | jq .ready)"
  gives 0 '' fq check
  # shellcheck disable=SC2046
  is 'and that file is one of today then' "$today" "$(formats_of $(in_order))"
  umount "$work/small"
else
  left_out "a small disk needs root"
fi
finish
