#!/bin/bash
# run.sh - what queues on a server cost that server, beside bare lists on the same one.
#
# usage: tests/bench/servers/run.sh [DIRECTORY]   of a node package with bullmq and ioredis, to have those beside it
# FQ_BENCH_BUILD: where to build (default: build/bench).
set -eu
source=$(cd "$(dirname "$0")/../../.." && pwd)
build=${FQ_BENCH_BUILD:-$source/build/bench}
mkdir -p "$build"
{ cmake -S "$source" --preset release -B "$build" -DFQ_BENCH=ON && ninja -C "$build" server_bench; } \
  >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
echo "fq on a server, $(date +%F), $(nproc) x $model, Linux $(uname -r)"
exec "$build/tests/bench/server_bench" "$@"
