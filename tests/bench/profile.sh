#!/bin/bash
# profile.sh - what a push, a lease and an ack spend their instructions on: one table, causes by loops.
#
# callgrind counts the loops of tests/bench/instructions_bench.cpp; the debug information tells of each
# instruction in which file its line stands, inlined or not, and the files are put together to causes. Noise
# does not move it, so that two versions can be compared on a busy machine.
#
# usage: tests/bench/profile.sh [--files]     --files: by file instead; builds below build/profile; needs valgrind
# FQ_PROFILE_BENCH: a fq_bench that is built already, with -g.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$source/build/profile
by="cause"
if [ "${1:-}" = --files ]; then by="file"; fi
bench=${FQ_PROFILE_BENCH:-}
place=$build/place
mkdir -p "$build"
if [ -z "$bench" ]; then
  bench=$build/tests/bench/fq_bench
  cmake -S "$source" --preset release -B "$build" -DFQ_BENCH=ON -DCMAKE_CXX_FLAGS=-g >"$build.log" || exit 1
  ninja -C "$build" fq_bench >"$build.log" || { cat "$build.log" >&2; exit 1; }
fi

loops=(push-1 push-100 take-1 take-100)
counted=5000  # messages, see kCounted
rm -rf "$place"
"$bench" "$build" "$place" 1 --prepare
for loop in "${loops[@]}"; do
  valgrind --log-file=/dev/null --tool=callgrind --toggle-collect=count_loop --callgrind-out-file="$build/callgrind.$loop" \
    "$bench" "$build" "$place" 1 --loop "$loop" >/dev/null
done
rm -rf "$place"

# A line of costs is of the file that the last fl=, fi= or fe= named; the line behind calls= is of what was called.
for loop in "${loops[@]}"; do sed "s/^/$loop /" "$build/callgrind.$loop"; done | awk -v by="$by" -v counted="$counted" '
  function cause(file) {
    if (by == "file") return file
    if (file ~ /base\/memory\/undo/) return "undo"
    if (file ~ /base\/memory\/arena|memory\/region/) return "index to pointer"
    if (file ~ /malloc|new_allocator|new_op|del_op|alloc_traits|\/allocator|stl_construct|stl_uninitialized/) return "malloc"
    if (file ~ /vector|basic_string|char_traits|\/span|string_view/) return "vectors, strings, spans"
    if (file ~ /\/optional|\/variant|\/tuple|\/functional|std_function|invoke|unique_ptr|result\.h|error\.h|\/utility|move\.h/) return "optional, variant, Result"
    if (file ~ /mem(cpy|move|set|cmp)/) return "memcpy and the like"
    if (file ~ /crc32c|nmmintrin|smmintrin/) return "CRC"
    if (file ~ /core\/journal/) return "encode and decode"
    if (file ~ /bytes\.h/) return "numbers as bytes"
    if (file ~ /local\/shared\/stream|journal_table|journal_size/) return "ring, table of files"
    if (file ~ /local\/shared|local\/write/) return "gate, apply, writer"
    if (file ~ /local\/(flush|read|files)/) return "payload read back"
    if (file ~ /core\/local/) return "bodies of the queue"
    if (file ~ /receipt|decimal|charconv/) return "receipts"
    if (file ~ /engine|tenant_name|utf8/) return "checks of what is pushed"
    if (file ~ /linear_hash|id_index|name_hash|text_pool/) return "hashes and names"
    if (file ~ /schedule\/rings|schedule\/turns|lane\.h|ranks|message_order/) return "turns, rings, lanes"
    if (file ~ /schedule\/state|messages\.|extras/) return "states and counts"
    if (file ~ /schedule\/(growth|memory\/arrays)/) return "checks of room"
    if (file ~ /histogram|service|rates/) return "histograms, rates, service"
    if (file ~ /core\/schedule/) return "schedule, the rest"
    if (file ~ /mutex|pthread|futex|lll/) return "lock, unlock"
    if (file ~ /clock|vdso|time/) return "clock"
    if (file ~ /tests\/bench/) return "the bench itself"
    if (file ~ /\/c\+\+\/|bits\//) return "the rest of the library"
    return "other"
  }
  { loop = $1; sub(/^[^ ]* /, "") }
  /^c?f[lie]=/ {  # a name is written out once, wherever it comes first
    id = $0; sub(/^[^=]*=/, "", id)
    if (match(id, /\) /)) { names[loop, substr(id, 1, RSTART)] = substr(id, RSTART + 2); id = substr(id, 1, RSTART) }
    if ($0 !~ /^c/) at = cause(names[loop, id])
    next
  }
  /^calls=/ { skip = 1; next }
  /^[0-9+*-]/ {
    if (skip) { skip = 0; next }
    cost[at, loop] += $2; all[loop] += $2; known[at] += $2
  }
  END {
    split("push-1 push-100 take-1 take-100", loops, " ")
    printf "%-32s %9s %9s %9s %9s\n", "instructions a message", loops[1], loops[2], loops[3], loops[4]
    printf "%-32s", "all"
    for (i = 1; i <= 4; ++i) printf " %9.0f", all[loops[i]] / counted
    print ""
    for (at in known) {
      text = sprintf("%-32s", at)
      for (i = 1; i <= 4; ++i) text = text sprintf(" %9.0f", cost[at, loops[i]] / counted)
      if (known[at] >= counted * 20) print text | "sort -k1.65,1.72nr"
    }
  }'
