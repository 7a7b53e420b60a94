#!/bin/bash
# cluster - the contract of every engine on three servers with a replica each; servers that die, and shards that
# move, under load; and shards of which half is moved, whichever keys those are. FQ_ROUNDS: how many of each; a
# cluster that does not heal has a minute a round.
. "$(dirname "$0")/lib.sh"

build torture test_api test_redis
broken=0
FQ_TEST_CLUSTER=1 build/torture/tests/test_api || broken=1
rounds=${FQ_ROUNDS:-$((${FQ_LONG:-0} > 0 ? 500 * ${FQ_LONG:-0} : 5))}
for story in failovers moves halves; do FQ_ROUNDS=$rounds FQ_HISTORIES=$rounds timeout $((rounds * 60 + 600)) build/torture/tests/test_redis "[$story]" || broken=1; done
echo "cluster: FQ_SEED=$FQ_SEED, $rounds failovers, $rounds moves, $((broken)) faults"
exit $broken
