#!/bin/bash
# order.sh - prints a linker script that puts what `fq push` touches side by side: core/install/push.ld.
#
# A short command's time is mostly that of its pages being mapped, sixteen at a time as they lie in the
# file. So the functions, tables and variables that a push uses should lie together. valgrind's lackey tells
# every address that two pushes touch, one durable, one lazy; the linker's map tells what lies there.
#
# usage: tests/bench/order.sh > core/install/push.ld     builds below build/order; needs valgrind
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$source/build/order
mkdir -p "$build"
cmake -S "$source" --preset release -B "$build" \
  "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-Map=$build/map" >"$build.log" || exit 1
ninja -C "$build" fq >"$build.log" || exit 1

unset FQ_QUEUE FQ_TENANT
export FQ_SPOOL=$build/spool
rm -rf "$FQ_SPOOL"
# Neighbours in every index.
seq 1000 | "$build/fq" push -t acme --lines >/dev/null
sleep 6  # until the next sample of the rates is due, each 5 s: the traced push takes it, as one after a while does
for lazy in "" --lazy; do
  valgrind --tool=lackey --trace-mem=yes --log-file="$build/trace$lazy" "$build/fq" push $lazy -t acme text \
    | cat >/dev/null
done

# Lines "ADDRESS !section input-section file" of the map, "ADDRESS R" of what was touched and "ADDRESS W" of what was
# written, by address: what is touched lies in the section named last.
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
  sed -n -e 's/^\(I \| L\) \([0-9a-f]*\),.*/0000000000000000\2 R/p' -e 's/^ [SM] \([0-9a-f]*\),.*/0000000000000000\1 W/p' \
    "$build"/trace* | sed 's/.*\(.\{16\} [RW]\)$/\1/' | sort -u
} | LC_ALL=C sort | awk '
  # Sets `symbol` to the function or variable that the section is of, where it says so.
  function pattern(section, file) {
    symbol = ""
    # What the optimiser made of a function changes its name from build to build.
    if (match(section, /_Z[A-Za-z0-9_]+/)) {
      symbol = substr(section, RSTART, RLENGTH)
      section = substr(section, 1, RSTART + RLENGTH - 1)
      return "*(" section " " section ".*)"
    }
    if (file ~ /ltrans/ && section ~ /^\.[a-z.]+\._/) {  # initialisers
      sub(/[._0-9]*$/, "*", section)
      symbol = section
      sub(/.*\./, "", symbol)
      return "*(" section ")"
    }
    if (file ~ /ltrans/ && section ~ /^\.text\./) {
      symbol = section
      sub(/.*\./, "", symbol)
      return "*(" section ")"
    }
    if (file ~ /ltrans/) return ""
    sub(/.*\//, "", file)
    sub(/\(/, ":", file)
    sub(/\)$/, "", file)
    # valgrind has no AVX-512, for which the C library has the same once more.
    if (sub(/-avx2?/, "-*", file)) section = ".text.avx .text.evex .text.evex512"
    return "*" file "(" section ")"
  }
  function add(kind, line) {
    if (line == "" || (kind, line) in listed) return
    listed[kind, line] = 1
    lines[kind] = lines[kind] "    " line "\n"
  }
  function add_part(part,   line) {
    line = pattern(input[part], file[part])
    if (kind[part] ~ /^\.data/) return add(written[part] ? ".data" : ".data.rel.ro", line)
    add(kind[part], line)
    # Its strings and numbers: the linker merges equal ones and names but one of those that they are of.
    if (kind[part] == ".text" && symbol != "") add(".rodata", "*(.rodata." symbol " .rodata." symbol ".*)")
  }
  NF > 2 { output = substr($2, 2); sub(/\.push$/, "", output); next_input = $3; next_file = $4; next }
  output ~ /^\.(text|rodata|data|data\.rel\.ro|bss)$/ {
    part = output SUBSEP next_input SUBSEP next_file
    if (!(part in kind)) parts[++count] = part
    kind[part] = output
    input[part] = next_input
    file[part] = next_file
    if ($2 == "W") written[part] = 1
  }
  function block(kind, where, first) { return "SECTIONS {\n  " kind ".push : {\n" first lines[kind] "  }\n} INSERT " where ";\n" }
  function whole(kind, inputs, before) { return "SECTIONS {\n  " kind " : { " inputs " }\n} INSERT BEFORE " before ";\n" }
  END {
    print "/* push.ld - what a push touches lies side by side. Made by tests/bench/order.sh: do not edit. */"
    for (i = 1; i <= count; ++i) add_part(parts[i])
    # valgrind hides the vDSO, and with it what the C library does to find clock_gettime there.
    for (i = split("dl-object dl-lookup dl-setup_hash pthread_mutex_lock strcmp-avx2 strcmp-evex", hidden); i > 0; --i)
      add(".text", "*libc.a:" hidden[i] ".o(.text .text.*)")
    # Strings, numbers and tables that are of no function.
    add(".rodata", "*(.rodata.str1.* .rodata.cst* .rodata.CSWTCH.*)")
    # Text, what it reads, and the start of .eh_frame, which is looked at when a program begins.
    printf "%s%s", block(".text", "BEFORE .text"), block(".rodata", "BEFORE .text")
    printf "%s", whole(".eh_frame", "KEEP (*(.eh_frame)) *(.eh_frame.*)", ".text")
    # What is only read apart from what is written, of which each page is copied. The first is the end of what
    # is made read-only at the start, the second lies right behind that: together within the sixteen pages that
    # are mapped at once, which begin at a multiple of 64 KiB.
    printf "%s", block(".data.rel.ro", "AFTER .data.rel.ro", "    . = ALIGN(0x10000);\n")
    print "SECTIONS {"
    print "  .tdata : { *(.tdata .tdata.* .gnu.linkonce.td.*) }"
    print "  .tbss : { *(.tbss .tbss.* .gnu.linkonce.tb.*) *(.tcommon) }"
    print "} INSERT AFTER .data.rel.ro.push;"
    printf "%s%s", block(".data", "AFTER .data"), block(".bss", "BEFORE .bss")
  }'
