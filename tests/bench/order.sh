#!/bin/bash
# order.sh - prints a linker script that puts what `fq push` touches side by side: cli/push.ld.
#
# A short command's time is mostly that of its pages being mapped, sixteen at a time as they lie in the
# file. So the functions, tables and variables that a push uses should lie together. valgrind's lackey tells
# every address that two pushes touch, one durable, one lazy; the linker's map tells what lies there.
#
# usage: tests/bench/order.sh > cli/push.ld     builds below build/order; needs valgrind
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$source/build/order
mkdir -p "$build"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON \
  -DFQ_STATIC=ON -DFQ_TESTS=OFF "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-Map=$build/map" >"$build.log" || exit 1
ninja -C "$build" fq >"$build.log" || exit 1

unset FQ_QUEUE FQ_TENANT
export FQ_SPOOL=$build/spool
rm -rf "$FQ_SPOOL"
"$build/fq" push -t acme made >/dev/null
for lazy in "" --lazy; do
  valgrind --tool=lackey --trace-mem=yes --log-file="$build/trace$lazy" "$build/fq" push $lazy -t acme text \
    | cat >/dev/null
done

# Lines "ADDRESS !section input-section file" of the map and "ADDRESS ." of what was touched, by address: what is
# touched lies in the section named last.
{
  awk '
    function note(section, address, file) {
      if (address !~ /^0x0+$/) print substr(address, 3), "!" output, section, file
    }
    /^\.[^ ]/ { output = $1 }
    /^ [.C][^ ]*$/ { section = $1; next }
    /^ [.C][^ ]* +0x[0-9a-f]+ +0x[0-9a-f]+ / { note($1, $2, $4) }
    /^ +0x[0-9a-f]+ +0x[0-9a-f]+ [^ ]*$/ && section != "" { note(section, $1, $3) }
    { section = "" }
  ' "$build/map"
  sed -n 's/^[I ][ LSM] \([0-9a-f]*\),.*/0000000000000000\1/p' "$build"/trace* | sed 's/.*\(.\{16\}\)$/\1 ./' | sort -u
} | LC_ALL=C sort | awk '
  function pattern(section, file,   name) {
    # What the optimiser made of a function changes its name from build to build.
    if (match(section, /_Z[A-Za-z0-9_]+/)) {
      name = substr(section, 1, RSTART + RLENGTH - 1)
      return "*(" name " " name ".*)"
    }
    if (file ~ /ltrans/ && section ~ /^\.[a-z.]+\._/) {  # initialisers
      sub(/[._0-9]*$/, "*", section)
      return "*(" section ")"
    }
    if (file ~ /ltrans/) return section ~ /^\.text\./ ? "*(" section ")" : ""
    sub(/.*\//, "", file)
    sub(/\(/, ":", file)
    sub(/\)$/, "", file)
    # valgrind has no AVX-512, for which the C library has the same once more.
    if (sub(/-avx2?/, "-*", file)) section = ".text.avx .text.evex"
    return "*" file "(" section ")"
  }
  NF > 2 { output = substr($2, 2); sub(/\.push$/, "", output); place = $3 SUBSEP $4; section = $3; file = $4; next }
  output ~ /^\.(text|rodata|data|data\.rel\.ro|bss)$/ && !((output, place) in seen) {
    seen[output, place] = 1
    line = pattern(section, file)
    kind = output == ".data.rel.ro" ? ".data" : output
    if (line != "" && !((kind, line) in listed)) {
      listed[kind, line] = 1
      lines[kind] = lines[kind] "    " line "\n"
    }
  }
  function block(kind, before) { return "  " kind ".push : {\n" lines[kind] "  }\n} INSERT BEFORE " before ";\n" }
  END {
    print "/* push.ld - what a push touches lies side by side. Made by tests/bench/order.sh: do not edit. */"
    # valgrind hides the vDSO, and with it what the C library does to find clock_gettime there.
    for (i = split("dl-object dl-lookup dl-setup_hash pthread_mutex_lock strcmp-avx2 strcmp-evex", hidden); i > 0; --i)
      lines[".text"] = lines[".text"] "    *libc.a:" hidden[i] ".o(.text .text.*)\n"
    printf "SECTIONS {\n%s", block(".text", ".text")
    printf "SECTIONS {\n%s", block(".rodata", ".rodata")
    printf "SECTIONS {\n%s", block(".data", ".data")
    printf "SECTIONS {\n%s", block(".bss", ".bss")
  }'
