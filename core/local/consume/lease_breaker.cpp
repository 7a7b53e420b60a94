#include "core/local/consume/lease_breaker.h"

// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/read/parts.h"

namespace fq {

Result<void> LeaseBreaker::break_all() {
  std::vector<MessageId> part;
  part.reserve(Parts::kPerLook);  // nothing is allocated under the lock
  Parts parts(link_);
  for (bool more = true; more;) {
    part.clear();
    FQ_TRY_SET(more, parts.next([&] { return schedule().views().slots_end(); },
                                [&](uint32_t from, uint32_t to) {
                                  part.clear();
                                  for (uint32_t i = from; i < to; ++i) {
                                    const Entry& entry = schedule().messages().entry(SlotIndex{i});
                                    if (static_cast<SlotState>(entry.state.get()) == SlotState::leased)
                                      part.push_back(MessageId{entry.id.get()});
                                  }
                                }));
    for (const MessageId id : part) FQ_TRY(break_one(id));
  }
  return link_.wait_all_durable();
}

Result<void> LeaseBreaker::break_one(MessageId id) {
  return writer_.write_event([&]() -> Result<Obstacle> {
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (!slot) return Obstacle::none;
    const Entry& entry = schedule().messages().entry(*slot);
    if (static_cast<SlotState>(entry.state.get()) != SlotState::leased) return Obstacle::none;
    const uint64_t bytes = event_record_bytes(RecordType::released, 1);
    const Obstacle obstacle = writer_.room_for_event(RecordType::released, bytes);
    if (obstacle != Obstacle::none) return obstacle;
    events_.return_lease(*slot);
    FQ_POINT("backup.freed");
    return Obstacle::none;
  });
}

}  // namespace fq
