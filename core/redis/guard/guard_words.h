// guard words - what a worker tells its guard, each in a packet of its own: first who it is, then which
// messages a job has, with a descriptor that is at its end when that job and all that it has left are.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/ids.h"

namespace fq {

/// Of one packet.
inline constexpr size_t kGuardedIdsMax = 4096;

struct GuardedWorker {
  std::string spool, password, nonce;  // nonce: of its session
  std::vector<std::string> tags;       // of all shards of its queue
  int pid = 0;
};

struct GuardedJob {
  std::vector<MessageId> ids;       // none: all that the worker has
  std::optional<int64_t> limit_ms;  // of what it leaves, from its worker's death on; none: there is none
};

std::string packet_of(const GuardedWorker& worker);
std::string packet_of(std::span<const MessageId> ids, std::optional<int64_t> limit_ms);
/// It ends, and has given back all that it had.
std::string packet_of_end();

enum class GuardWord { worker, job, end, unknown };
GuardWord word_of(std::string_view packet);
/// Of a packet of that kind; none: it cannot be read.
std::optional<GuardedWorker> worker_in(std::string_view packet);
std::optional<GuardedJob> job_in(std::string_view packet);

}  // namespace fq
