#!/bin/bash
# server_histories - random operations on a queue on one server, of one shard and of 16, and on the model, compared after each.
. "$(dirname "$0")/lib.sh"

build torture test_redis
export FQ_HISTORIES="${FQ_HISTORIES:-$((${FQ_LONG:-0} > 0 ? 2000 * ${FQ_LONG:-0} : 20))}"
prove histories build/torture/tests/test_redis "random histories on a server*"
