// local_waiting - held messages: let go or buried once what they came after has ended.
//
// Each end leaves its message in a list of the schedule; whoever comes next (who ended it, a consumer, one
// who looks) goes through it, a few in a transaction, each with its record. Who is killed leaves the rest.
#include "core/local/local_queue.h"

// System.
#include <array>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

constexpr size_t kDecidedMax = 6;         // in one transaction
constexpr uint32_t kUndoOfDecided = 900;  // it comes back to its tenant
constexpr uint32_t kUndoOfFreed = 18;

}  // namespace

Result<void> LocalQueue::settle_held() {
  if (header().schedule.dependency_supply.used.peek() == 0) return {};
  int obstacles = 0;
  for (bool more = true; more;) {
    Obstacle obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      more = false;
      const Now now = gate().now();
      gate().fire_timers(now);
      const std::optional<uint32_t> ended = schedule().first_ended();
      if (!ended) return {};
      EventDetail detail;
      detail.reason = std::string_view("message 9007199254740991, which it came after, was cancelled");
      obstacle =
          event_obstacle(RecordType::freed, event_record_bytes(RecordType::freed, kDecidedMax, {}) +
                                                event_record_bytes(RecordType::buried, kDecidedMax, detail));
      if (obstacle == Obstacle::none) append_decisions(*ended, now);
      more = true;
      return {};
    }));
    if (obstacle == Obstacle::none) continue;
    if (++obstacles > kObstaclesMax) return refuse_full();
    FQ_TRY(overcome_for_event(obstacle));
  }
  return {};
}

/// Some of those that waited for one message. Needs: the lock, and that their records find room.
uint32_t LocalQueue::append_decisions(uint32_t dependency, const Now& read) {
  std::array<SlotIndex, kDecidedMax> freed, buried;
  size_t freed_count = 0, buried_count = 0;
  const uint64_t id = schedule().dependency_id(dependency);
  const bool dead = schedule().find(MessageId{id}).has_value();
  Txn txn = store().begin();
  const Now now = gate().in_order(txn, read);
  uint32_t cost = 0;
  while (freed_count + buried_count < kDecidedMax && txn.noted() + cost + kUndoOfDecided < kUndoEntries / 2) {
    const std::optional<Schedule::Decision> decision = schedule().decide(txn, dependency);
    if (!decision) break;
    cost += kUndoOfDecided + kUndoOfFreed * decision->waits;
    if (decision->bury) {
      buried[buried_count++] = decision->slot;
    } else {
      freed[freed_count++] = decision->slot;
    }
  }
  const std::string reason =
      "message " + std::to_string(id) + ", which it came after, " + (dead ? "is dead" : "was cancelled");
  EventDetail detail;
  detail.reason = reason;
  append_decided(txn, RecordType::freed, std::span(freed).first(freed_count), {}, now);
  append_decided(txn, RecordType::buried, std::span(buried).first(buried_count), detail, now);
  FQ_POINT("held.decided");
  txn.commit();
  FQ_POINT("held.committed");
  stream().publish();
  gate().mark_servable();
  gate().mark_ended();
  return static_cast<uint32_t>(freed_count + buried_count);
}

void LocalQueue::append_decided(Txn& txn, RecordType type, std::span<const SlotIndex> slots,
                                const EventDetail& detail, const Now& now) {
  if (slots.empty()) return;
  // On a full disk it is done and not written down: after a crash it is decided again.
  const uint64_t bytes = event_record_bytes(type, slots.size(), detail);
  const bool written = is_written(type, bytes);
  event_items_.clear();
  for (const SlotIndex slot : slots) {
    const Entry& entry = schedule().entry(slot);
    event_items_.push_back({MessageId{entry.id.get()}, entry.event_position});
  }
  uint64_t position = 0;
  if (written) {
    encode_event(body_, type, event_items_, detail);
    position = stream().append(txn, body_, MessageId{0}, now.wall_ms);
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    const uint64_t event_position = written ? position : event_items_[i].previous_event;
    gate().apply().event(txn, type, slots[i], detail, Serial{0}, kHeldByTime, event_position, now.wall_ms);
    if (!written) schedule().note_unwritten(txn, slots[i]);
  }
}

}  // namespace fq
