// create_options - what is fixed of a queue when it is made.
#pragma once

// System.
#include <cstdint>
#include <optional>
// fq, this room.
#include "core/api/queue.h"

namespace fq {

inline constexpr uint32_t kShardsMax = 1024;

// So long a queue on a server may keep its events. Who follows them looks again within the shortest.
inline constexpr int64_t kEventsMsMin = 1'000, kEventsMsMax = int64_t{366} * 24 * 3600 * 1000;

struct CreateOptions {
  /// Parts that it is cut into, a power of two, each with whole accounts (the first parts of tenants' names).
  /// With more than one, scope = queue and a message that comes after one of another part are refused, and a
  /// batch is all or nothing in each. None: as the engine thinks best.
  std::optional<uint32_t> shards = {};
  /// So long at least it keeps the events of its messages. None: as long as it does, or as the engine thinks
  /// best.
  std::optional<int64_t> events_ms = {};
};

/// True when it was made, false when it was there. ErrorKind::usage: not of so many shards, or with another
/// time for its events; or an engine has no such thing.
Result<bool> create_queue(const Location& location, const CreateOptions& options = {});

}  // namespace fq
