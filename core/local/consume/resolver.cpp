#include "core/local/consume/resolver.h"

// System.
#include <array>
#include <charconv>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

constexpr size_t kDecidedMax = 6;         // in one transaction
constexpr uint32_t kUndoOfDecided = 900;  // it comes back to its tenant, and what is passed over before
constexpr uint32_t kUndoOfFreed = 18;
constexpr std::string_view kLongestReason = "message 9007199254740991, which it came after, was cancelled";

}  // namespace

Result<void> Resolver::resolve_ended() {
  reason_.reserve(kLongestReason.size());  // nothing is allocated under the lock
  for (bool more = true; more;) {
    FQ_TRY(writer_.write_event([&]() -> Result<Obstacle> {
      gate().fire_timers(gate().now());
      const std::optional<uint32_t> ended = schedule().dependents().first_ended();
      more = ended.has_value();
      if (!more) return Obstacle::none;
      EventDetail detail;
      detail.reason = kLongestReason;
      const uint64_t bytes = event_record_bytes(RecordType::freed, kDecidedMax) +
                             kDecidedMax * event_record_bytes(RecordType::reheld, 1) +
                             event_record_bytes(RecordType::buried, kDecidedMax, detail);
      const Obstacle obstacle = writer_.room_for_event(RecordType::freed, bytes);
      if (obstacle == Obstacle::none) append_decisions(*ended);
      return obstacle;
    }));
  }
  return {};
}

/// Some of those that waited for one message. Needs: the lock, and that their records find room.
void Resolver::append_decisions(uint32_t dependency) {
  std::array<SlotIndex, kDecidedMax> freed, buried, again;
  size_t freed_count = 0, buried_count = 0, again_count = 0;
  const uint64_t id = schedule().dependents().id_of(dependency);
  const bool dead = schedule().messages().find(MessageId{id}).has_value();
  Change change(link_);
  Txn& txn = change.txn();
  uint32_t cost = 0;
  while (freed_count + buried_count + again_count < kDecidedMax &&
         txn.noted() + cost + kUndoOfDecided < kUndoEntries / 2) {
    const std::optional<Dependents::Decision> decision = schedule().dependents().decide(txn, dependency);
    if (!decision) break;
    cost += kUndoOfDecided + kUndoOfFreed * decision->waits;
    if (decision->again) {
      again[again_count++] = decision->slot;
    } else if (decision->bury) {
      buried[buried_count++] = decision->slot;
    } else {
      freed[freed_count++] = decision->slot;
    }
  }
  std::array<char, 20> digits;
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), id).ptr;
  reason_.assign("message ").append(digits.data(), end).append(", which it came after, ");
  reason_.append(dead ? "is dead" : "was cancelled");
  EventDetail detail;
  detail.reason = reason_;
  events_.add(change, RecordType::freed, std::span(freed).first(freed_count), {});
  // One by one: the first of two may have the key that both had.
  for (const SlotIndex& slot : std::span(again).first(again_count)) {
    EventDetail how;
    how.has_key = schedule().views().has_key_if_kicked(slot);
    events_.add(change, RecordType::reheld, {&slot, 1}, how);
  }
  events_.add(change, RecordType::buried, std::span(buried).first(buried_count), detail);
  FQ_POINT("held.decided");
  change.commit();
  FQ_POINT("held.committed");
  gate().mark_servable();
  gate().mark_ended();
}

}  // namespace fq
