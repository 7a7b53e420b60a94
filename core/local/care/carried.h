// carried - what compaction copies forward, with the texts that its views point to.
#pragma once

// fq, this room.
#include "core/local/local_queue.h"

namespace fq {

/// What compaction copies forward, with the texts that its views point to.
struct LocalQueue::Carried {
  MovedRecord record;
  std::string reason;
  std::string stderr_tail;
  std::string terms;
  std::vector<uint64_t> waits;  // the ids for which it waits
  std::vector<std::byte> after;
  uint32_t item_offset = 0;        // of the message in the encoded body
  int64_t wall_minus_boot_ms = 0;  // with which its times were made wall times
};

}  // namespace fq
