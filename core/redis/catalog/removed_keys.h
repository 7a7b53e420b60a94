// removed_keys - the keys of shards that are no queue's any more.
#pragma once

// System.
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/shard/server_link.h"

namespace fq {

/// Of one queue. ErrorKind::later: some of them are on their way from server to server.
Result<void> remove_keys(ServerLink& link, const std::vector<std::string>& tags);

}  // namespace fq
