// begun_entry - the fields of a message that comes, before it is in a state: all of them, in one place.
#pragma once

// fq, this room.
#include "core/schedule/memory/overhead.h"
#include "core/schedule/memory/root.h"

namespace fq {

struct BegunEntry {
  uint64_t id = 0;
  uint64_t item_position = 0;
  uint32_t tenant = kNoIndex;
  uint32_t rank = 0;
  uint32_t payload_bytes = 0;
  uint64_t overhead_bytes = 0;
  uint16_t attempts_max = 0;  // 0: none of its own
  int flags = 0;              // kEntry..., but for that
};

[[gnu::always_inline]] inline void begin_entry(const Opened<Entry>& made, const BegunEntry& from) {
  made.set(&Entry::id, from.id);
  made.set(&Entry::item_position, from.item_position);
  made.set(&Entry::event_position, 0);
  made.set(&Entry::serial, 0);
  made.set(&Entry::tenant, from.tenant);
  made.set(&Entry::heap_place, kNoIndex);
  made.set(&Entry::rank, from.rank);
  made.set(&Entry::payload_bytes, from.payload_bytes);
  made.set(&Entry::deliveries, 0);
  made.set(&Entry::began_ms, 0);
  made.set(&Entry::rough_cost, 0);
  made.set(&Entry::attempts, 0);
  made.set(&Entry::attempts_max, from.attempts_max);
  made.set(&Entry::crashes, 0);
  made.set(&Entry::overhead, overhead_code(from.overhead_bytes));
  made.set(&Entry::holder, static_cast<uint16_t>(kHeldByTime));
  made.set(&Entry::flags,
           static_cast<uint8_t>(from.flags | (from.attempts_max != 0 ? kEntryOwnAttempts : 0)));
}

}  // namespace fq
