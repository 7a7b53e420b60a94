// move_target - a queue that messages of another one are moved into.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

class MoveTarget {
 public:
  virtual ~MoveTarget() = default;

  virtual const std::string& name() const = 0;
  /// Where those of a tenant lie.
  virtual Shard& shard_of(std::string_view tenant) = 0;
  /// Whether one call reaches it together with the only shard of another queue, of which this is the tag.
  virtual Result<bool> is_beside(const std::string& tag) = 0;
};

}  // namespace fq
