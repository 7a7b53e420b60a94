// taken_message - a message that was leased under the lock and is read behind it.
#pragma once

// fq, this room.
#include "core/local/flush/item_reader.h"

namespace fq {

struct TakenMessage {
  uint64_t id = 0;
  uint64_t serial = 0;
  uint32_t slot = 0;
  int64_t until_wall_ms = 0;  // 0: until its process is dead
  uint32_t inline_bytes = 0;  // of payload, in the journal
  uint32_t deliveries = 0;
  uint16_t attempts = 0;
  uint16_t attempts_max = 0;
  uint16_t crashes = 0;
  uint64_t event_position = 0;
  std::optional<ItemPlace> place;
};

}  // namespace fq
