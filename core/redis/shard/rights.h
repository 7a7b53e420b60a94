// rights - what a user of a server has to be allowed, and no more.
#pragma once

// System.
#include <string>
// fq, this room.
#include "core/redis/shard/library.h"
#include "core/redis/wire/redis_place.h"

namespace fq {

/// As ACL SETUSER takes them, on one line. Loading the library is not among them.
std::string rights_of(const RedisPlace& place, const Library& library);

/// The commands that clients send themselves, with blanks between.
std::string_view client_commands();

}  // namespace fq
