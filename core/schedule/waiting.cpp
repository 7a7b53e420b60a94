// waiting - messages that are held: what they wait for, and what becomes of them when that has ended.
#include "core/schedule/schedule.h"

// fq, below us.
#include "core/base/bytes.h"
// fq, this room.
#include "core/schedule/order/outcomes.h"
#include "core/schedule/state.h"

namespace fq {
namespace {

constexpr int kStepsMax = 32;
constexpr size_t kAfterBytes = 8;

bool has_failed(const Schedule& schedule, uint64_t id) {
  if (schedule.find(MessageId{id})) return !Waits(schedule.region()).is_unfinished(id);
  const auto outcome = schedule.outcome(MessageId{id});
  return outcome && outcome->verdict != RecordType::acked;
}

bool is_linked(const Wait& wait) { return (wait.flags & kWaitLinked) != 0; }

/// Calls `visit(index, wait)` for each wait of a message until it returns false.
template <class Visit>
void each_wait(const Region& region, const Extra& extra, Visit visit) {
  StepLimit limit(kWaitsMax);
  for (uint32_t i = extra.waits; i != kNoIndex;) {
    limit.step();
    Wait& wait = region.wait(i);
    const uint32_t next = wait.chain;
    if (!visit(i, wait)) return;
    i = next;
  }
}

}  // namespace

void Schedule::add_waits(Txn& txn, SlotIndex slot, Bytes after, bool linked) {
  if (after.empty()) return;
  Extra& extra = region_.extra(entry(slot).rank);
  for (size_t at = 0; at + kAfterBytes <= after.size(); at += kAfterBytes) {
    const auto word = get_number<uint64_t>(after.data() + at);
    if ((word & kAfterClosed) != 0) continue;
    const NewWait wait{word & kMessageIdMax, (word & kAfterAny) != 0, linked};
    Waits(region_).add(txn, static_cast<uint32_t>(slot), extra, wait);
  }
}

// Those that had ended when it was kicked count no more. What a rebuild does not know yet may be unfinished.
void Schedule::hold_again(Txn& txn, Extra& extra) {
  const Waits waits(region_);
  each_wait(region_, extra, [&](uint32_t i, const Wait& wait) {
    const uint64_t id = region_.dependency(wait.dependency).id;
    const bool unknown = !find(MessageId{id}) && !outcome(MessageId{id});
    if (!is_linked(wait) && (unknown || waits.is_unfinished(id))) waits.link(txn, i);
    return true;
  });
}

bool Schedule::would_hold(SlotIndex slot) const {
  const Entry& of = entry(slot);
  if (state_of(of) != SlotState::dead || !has_extra(of)) return false;
  bool holds = false;
  each_wait(region_, region_.extra(of.rank), [&](uint32_t, const Wait& wait) {
    holds = Waits(region_).is_unfinished(region_.dependency(wait.dependency).id);
    return !holds;
  });
  return holds;
}

std::optional<uint32_t> Schedule::first_ended() const {
  const uint32_t first = Waits(region_).first_ended();
  if (first == kNoIndex) return std::nullopt;
  return first;
}

std::optional<Schedule::Decision> Schedule::decide(Txn& txn, uint32_t index) {
  const Waits waits(region_);
  const Dependency& dependency = region_.dependency(index);
  for (int step = 0; step < kStepsMax; ++step) {
    const uint32_t first = dependency.first;
    if (first == kNoIndex || waits.is_unfinished(dependency.id)) {
      waits.forget_ended(txn, index);
      return std::nullopt;
    }
    const Wait& wait = region_.wait(first);
    const SlotIndex slot{wait.waiter.get()};
    const Entry& waiter = entry(slot);
    waits.unlink(txn, first);
    if (state_of(waiter) != SlotState::held) continue;
    Decision decision{slot};
    decision.bury = (wait.flags & kWaitAny) == 0 && has_failed(*this, dependency.id);
    bool waits_on = false;
    each_wait(region_, region_.extra(waiter.rank), [&](uint32_t, const Wait& other) {
      ++decision.waits;
      waits_on |= is_linked(other);
      return true;
    });
    if (decision.bury || !waits_on) return decision;
  }
  return std::nullopt;
}

void Schedule::let_go(Txn& txn, SlotIndex index, int64_t now_ms) {
  const Message message = region_.message(static_cast<uint32_t>(index));
  if (state_of(message.entry) != SlotState::held) return;
  const int64_t due_ms = region_.extra(message.entry.rank).due_ms;
  const States states(region_);
  states.leave(txn, message);
  if (due_ms > now_ms) return states.enter_delayed(txn, message, due_ms);
  states.enter_ready(txn, message, now_ms);
}

void Schedule::note_ended(Txn& txn, MessageId id) { Waits(region_).note_ended(txn, number(id)); }

void Schedule::note_all_ended() {
  const auto log = std::make_unique<UndoLog>();
  log->count = 0;
  const Waits waits(region_);
  for (uint32_t b = 0; b < region_.root.dependency_bucket_count; ++b) {
    StepLimit limit(kChainMax);
    for (uint32_t i = region_.arena.at(region_.root.dependency_buckets, b).index; i != kNoIndex;) {
      limit.step();
      const Dependency& dependency = region_.dependency(i);
      Txn txn(region_.arena.base(), region_.arena.bytes(), *log);
      if (!waits.is_unfinished(dependency.id)) waits.note_ended(txn, dependency.id);
      txn.commit();
      i = dependency.chain;
    }
  }
}

uint32_t Schedule::waits_of(SlotIndex slot, std::span<uint64_t> ids) const {
  const Entry& of = entry(slot);
  if (!has_extra(of)) return 0;
  const bool dead = state_of(of) == SlotState::dead;
  uint32_t count = 0;
  each_wait(region_, region_.extra(of.rank), [&](uint32_t, const Wait& wait) {
    if (dead || is_linked(wait)) ids[count++] = region_.dependency(wait.dependency).id;
    return count < ids.size();
  });
  return count;
}

}  // namespace fq
