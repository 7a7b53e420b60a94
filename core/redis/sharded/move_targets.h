// move_targets - queues that messages of others are moved into, of one shard or of many.
#pragma once

// System.
#include <memory>
// fq, this room.
#include "core/redis/moves/move_target.h"

namespace fq {

Result<std::unique_ptr<MoveTarget>> open_move_target(const ServerAccess& access, const std::string& queue);

}  // namespace fq
