#!/bin/bash
# run.sh - builds fq as it is shipped, then measures it beside its floors and prints one table.
#
# usage: tests/bench/run.sh [--quick] [SECTION...]   sections: commands door instructions backlog fair
#        durable held wake worker size rebuild simulate peers
# FQ_BENCH_BUILD: where to build (default: build/bench). FQ_BENCH_PLACE: where the queues lie, a real disk
# (default: below the build).
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${FQ_BENCH_BUILD:-$source/build/bench}
place=${FQ_BENCH_PLACE:-$build/place}
scale=1
case ${1:-} in
  --quick) scale=0.1 && shift ;;
  -*) sed -n 's/^# //p' "$0" && exit 64 ;;
esac

mkdir -p "$build"
cmake -S "$source" --preset release -B "$build" \
  -DFQ_BENCH=ON >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
ninja -C "$build" fq fq_bench floor_noop floor_sync floor_map floor_stamp floor_acker \
  >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }

disk=$(df --output=fstype "$build" | tail -1)
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
echo "fq bench, $(date +%F), $(nproc) x $model, $disk, Linux $(uname -r)"
echo "Medians of interleaved rounds; ratios are to what was measured in the same run."
exec "$build/tests/bench/fq_bench" "$build" "$place" "$scale" "$@"
