// told_time_library - the server's program with a clock that a test sets: see core/redis/lua/base/time_told.lua.
#pragma once

// fq, below us.
#include "core/redis/shard/library.h"

namespace fq {

const Library& told_time_library();

}  // namespace fq
