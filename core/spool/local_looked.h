// local_looked - what is copied of a message under the lock, to be described without it.
#pragma once

// fq, this room.
#include "core/spool/local_queue.h"

namespace fq {

struct LocalQueue::Looked {
  uint64_t id = 0;
  State state = State::ready;
  SlotState slot_state{};
  uint16_t attempts = 0;
  uint16_t attempts_max = 0;
  uint16_t crashes = 0;
  uint32_t deliveries = 0;
  int64_t at_wall_ms = 0;  // 0: held by a process
  uint64_t serial = 0;
  int pid = 0;
  uint64_t event_position = 0;
  std::optional<ItemPlace> place;
};

/// Where a page goes on: behind this place.
struct LocalQueue::Selection {
  bool by_due = false;
  int64_t at_ms = INT64_MIN;
  uint64_t id = 0;
};

}  // namespace fq
