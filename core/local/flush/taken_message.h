// taken_message - a message that was found under the lock and is read behind it; and one that was leased there.
#pragma once

// fq, this room.
#include "core/local/flush/item_reader.h"

namespace fq {

struct FoundMessage {
  uint64_t id = 0;
  std::optional<ItemPlace> place;
};

struct TakenMessage : FoundMessage {
  /// Needs: the state lock. It begins with the fields that its lease leaves alone, each written once: a lease of
  /// many makes as many of these.
  TakenMessage(const Stream& stream, const SegmentHeader& header, SlotIndex at, const Entry& entry)
      : FoundMessage{entry.id, ItemReader::find_item(stream, header, entry)},
        slot(static_cast<uint32_t>(at)),
        inline_bytes((entry.flags & kEntryBlob) != 0 ? 0 : entry.payload_bytes.get()),
        deliveries(entry.deliveries),
        attempts(entry.attempts),
        attempts_max(entry.attempts_max),
        crashes(entry.crashes) {}

  uint64_t serial = 0;
  int64_t until_wall_ms = 0;  // 0: until its process is dead
  uint64_t event_position = 0;
  uint32_t slot;
  uint32_t inline_bytes;  // of payload, in the journal
  uint32_t deliveries;
  uint16_t attempts;
  uint16_t attempts_max;
  uint16_t crashes;
};

}  // namespace fq
