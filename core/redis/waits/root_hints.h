// root_hints - what a root says of its shard to who reads it, and what time it is there.
#pragma once

// System.
#include <cstdint>
// fq, this room.
#include "core/redis/wire/reply.h"

namespace fq {

/// A time in a root; -1: there is none.
int64_t time_in(const Reply& told);
/// How many wait there, as far as that can be.
uint64_t waiters_in(const Reply& told);
/// What a server answers to TIME; 0: that cannot be read.
int64_t clock_ms_in(const Reply& time);

}  // namespace fq
