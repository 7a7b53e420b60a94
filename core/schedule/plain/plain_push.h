// plain_push - what nearly every push is, in one go: a message without key, priority, delay or terms comes to
// a tenant that is there.
//
// Messages::add goes from part to part, each of which looks for itself where things lie and whether it is
// concerned. Here all is looked up once, with two thirds of the instructions (measured: 480 instead of 750,
// of 1,900 that a push in a batch took). Both leave the same bytes, which plain_ways_test.cpp holds.
#pragma once

// System.
#include <optional>
#include <string_view>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

struct PlainEntry {
  MessageId id{};
  std::string_view tenant;  // a valid path
  uint64_t item_position = 0;
  uint32_t payload_bytes = 0;
  uint64_t overhead_bytes = 0;  // in the journal beside its payload
  uint16_t attempts_max = 0;    // 0: the queue's, when leased
  uint8_t flags = 0;            // kEntryBlob and kEntryJob
  int64_t now_ms = 0;
};

class PlainPush {
 public:
  explicit PlainPush(const Region& region) : region_(region) {}

  /// The slot of the message. None: nothing was done, since something is not as mostly; Messages::add does
  /// it. Needs: room, as that.
  std::optional<SlotIndex> add(Txn& txn, const PlainEntry& entry) const;

 private:
  /// Whether a message that comes is a matter of its tenant and those above alone.
  bool is_usual() const;

  const Region& region_;
};

}  // namespace fq
