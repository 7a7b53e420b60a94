#!/usr/bin/env bash
# worker_files_test - real work: the checksum of every file of a tree, by two workers of which one is killed
# in the middle. FQ_LONG: of the whole tree, else of its first 400 files.
whole=${FQ_LONG-}  # not "long", which the jobs of these tests have for a name
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worker_lib.sh"

tree=/usr/share/doc
find "$tree" -type f -readable | sort >"$work/all"
if [ -n "$whole" ]; then cp "$work/all" "$work/files"; else head -n 400 "$work/all" >"$work/files"; fi
count=$(wc -l <"$work/files")
half=$((count / 2))
is 'there are files to work on' yes "$([ "$half" -ge 10 ] && echo yes)"
xargs -d '\n' sha256sum -- <"$work/files" | sort >"$work/expected"

# Its directory is a file's tenant (eight levels of it, the limit).
jq -Rc '{payload: ., tenant: (split("/")[3:-1][:8] | join("/"))}' "$work/files" | fq push --ndjson --lazy >/dev/null
is 'every file is pushed' "$count" "$(fq stats --json | jq .ready)"

# The first job that sees half of the work done names its worker and stays until that is killed: the kill
# meets a run that has begun and not ended.
mkfifo "$work/job.go"
cat >"$work/job" <<'END'
file=$(cat)
if [ ! -e "$0.gate" ] && [ "$(wc -l <"$0.sums")" -ge "$1" ] && mkdir "$0.gate" 2>/dev/null; then
  echo "$PPID $FQ_ID" >"$0.new"
  mv "$0.new" "$0.victim"
  read -r never <"$0.go"
fi
sha256sum -- "$file" >>"$0.sums"
END
: >"$work/job.sums"
# Followed, since files of the journal may be freed before the end, and with them what happened first.
"$FQ" log -f -n unlimited --json >"$work/log" & log=$!
events_of() { jq -r --arg id "$1" 'select((.id | tostring) == $id) | .event' "$work/log" 2>/dev/null | paste -sd,; }
is_acked() { case $(events_of "$1") in *,acked) ;; *) return 1 ;; esac; }
started=$(now_ms)
for n in 1 2; do
  "$FQ" worker -j2 -- sh "$work/job" "$half" 2>"$work/err.$n" &
  workers[n]=$!
done
await holds_text "$work/job.victim"
read -r victim id <"$work/job.victim"
kill -KILL "$victim"
is 'the rest is done by the other worker' 0 "$(fq wait --all --for 300s; echo $?)"
took=$(($(now_ms) - started))
sort -u "$work/job.sums" >"$work/actual"
is 'the sums are those of xargs' '' "$(diff "$work/expected" "$work/actual" | head -n 5)"
is 'each message is acked once' "[$count,0,0,0,0]" "$(fq stats --json | jq -c '[.acked, .ready, .delayed, .leased, .dead]')"
await is_acked "$id"
kill "$log"; wait "$log" 2>/dev/null
is 'what was cut off was run again, and that is a crash' '1 pushed,leased,died,leased,acked' \
  "$(fq show "$id" --json | jq .attempts) $(events_of "$id")"
for n in 1 2; do kill -TERM "${workers[n]}" 2>/dev/null; done
for n in 1 2; do
  wait "${workers[n]}"
  status[n]=$?
done
is 'one worker was killed, the other ends well' '0 137' "$(printf '%s\n' "${status[@]}" | sort -n | paste -sd' ')"
is 'and nobody complained' '' "$(cat "$work"/err.*)"
is 'the books are clean' 0 "$(fq check >&2; echo $?)"
printf '%s files by two workers, one killed: %s ms, %s runs\n' "$count" "$took" "$(wc -l <"$work/job.sums")"
finish
