// dependents - see dependents.h.
#include "core/schedule/states/dependents.h"

// System.
#include <memory>
// fq, below us.
#include "core/base/bytes.h"
// fq, this room.
#include "core/schedule/states/state.h"

namespace fq {
namespace {

constexpr int kStepsMax = 32;
constexpr size_t kAfterBytes = 8;

/// Its ack will not come, or not while it is dead.
bool has_failed(const Region& region, const Wait& wait) {
  if ((wait.flags & kWaitAny) != 0) return false;
  return Waits(region).standing_of(region.dependency(wait.dependency)) == Standing::failed;
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

void Dependents::add(Txn& txn, SlotIndex slot, Bytes after, bool linked) const {
  if (after.empty()) return;
  Extra& extra = region_.extra(region_.entry(static_cast<uint32_t>(slot)).rank);
  for (size_t at = 0; at + kAfterBytes <= after.size(); at += kAfterBytes) {
    const auto word = get_number<uint64_t>(after.data() + at);
    const bool closed = (word & kAfterClosed) != 0, failed = (word & kAfterFailed) != 0;
    if (closed && !failed) continue;
    const NewWait wait{word & kMessageIdMax, (word & kAfterAny) != 0, linked && !closed, failed};
    Waits(region_).add(txn, static_cast<uint32_t>(slot), extra, wait);
  }
}

void Dependents::hold_again(Txn& txn, const Extra& extra) const {
  const Waits waits(region_);
  each_wait(region_, extra, [&](uint32_t i, const Wait& wait) {
    const Standing standing = waits.standing_of(region_.dependency(wait.dependency));
    waits.unlink(txn, i);  // from what buried it
    if (standing == Standing::unfinished || standing == Standing::forgotten) waits.link(txn, i);
    return true;
  });
}

bool Dependents::would_hold(SlotIndex slot) const {
  const Entry& of = region_.entry(static_cast<uint32_t>(slot));
  if (state_of(of) != SlotState::dead || !has_extra(of)) return false;
  bool holds = false;
  each_wait(region_, region_.extra(of.rank), [&](uint32_t, const Wait& wait) {
    holds = Waits(region_).is_unfinished(region_.dependency(wait.dependency).id);
    return !holds;
  });
  return holds;
}

bool Dependents::is_waited_for(MessageId id) const {
  const uint32_t index = Waits(region_).find(number(id));
  return index != kNoIndex && region_.dependency(index).first != kNoIndex;
}

std::optional<uint32_t> Dependents::first_ended() const {
  return index_or_none<uint32_t>(Waits(region_).first_ended());
}

/// A wait for an ack that will not come; kNoIndex: there is none.
uint32_t Dependents::failed_wait(const Extra& extra) const {
  uint32_t failed = kNoIndex;
  each_wait(region_, extra, [&](uint32_t i, const Wait& wait) {
    if (has_failed(region_, wait)) failed = i;
    return failed == kNoIndex;
  });
  return failed;
}

/// One that came after others too, and one of these is dead or cancelled, stays dead because of that.
std::optional<Dependents::Decision> Dependents::decide_again(Txn& txn, uint32_t index) const {
  const Waits waits(region_);
  const Dependency& dependency = region_.dependency(index);
  for (int step = 0; step < kStepsMax; ++step) {
    const uint32_t first = dependency.buried;
    if (first == kNoIndex) {
      waits.forget_ended(txn, index);
      return std::nullopt;
    }
    const SlotIndex slot{region_.wait(first).waiter.get()};
    waits.unlink(txn, first);
    const Extra& extra = region_.extra(region_.entry(static_cast<uint32_t>(slot)).rank);
    const uint32_t failed = failed_wait(extra);
    if (failed != kNoIndex) {
      if ((region_.wait(failed).flags & kWaitBuried) == 0) waits.bury(txn, failed);
      continue;
    }
    Decision decision{slot};
    decision.again = true;
    each_wait(region_, extra, [&](uint32_t, const Wait&) { return ++decision.waits, true; });
    return decision;
  }
  return std::nullopt;
}

std::optional<Dependents::Decision> Dependents::decide(Txn& txn, uint32_t index) const {
  const Waits waits(region_);
  const Dependency& dependency = region_.dependency(index);
  if (waits.is_unfinished(dependency.id)) return decide_again(txn, index);
  for (int step = 0; step < kStepsMax; ++step) {
    const uint32_t first = dependency.first;
    if (first == kNoIndex) {
      waits.forget_ended(txn, index);
      return std::nullopt;
    }
    const Wait& wait = region_.wait(first);
    const SlotIndex slot{wait.waiter.get()};
    const Entry& waiter = region_.entry(static_cast<uint32_t>(slot));
    waits.unlink(txn, first);
    if (state_of(waiter) != SlotState::held) continue;
    Decision decision{slot};
    decision.bury = has_failed(region_, wait);
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

void Dependents::let_go(Txn& txn, SlotIndex index, int64_t now_ms) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  if (state_of(message.entry) != SlotState::held) return;
  Extra& extra = region_.extra(message.entry.rank);
  const States states(region_);
  if ((extra.flags & kExtraTransit) != 0) {
    const bool dead = (extra.flags & kExtraTransitDead) != 0;
    put(txn, extra.flags, extra.flags & ~kExtraTransits);
    states.leave(txn, message);
    if (dead) return states.enter_dead(txn, message, extra.due_ms);
    if (extra.due_ms > now_ms) return states.enter_delayed(txn, message, extra.due_ms);
    return states.enter_ready(txn, message, extra.due_ms);
  }
  if (Waits(region_).has_failed(extra)) put(txn, extra.flags, extra.flags | kExtraWaitFailed);
  const bool from_release = (extra.flags & kExtraFromRelease) != 0;
  const int64_t due_ms = from_release ? time_after(now_ms, extra.due_ms) : extra.due_ms.get();
  if (from_release) {
    put(txn, extra.flags, extra.flags & ~kExtraFromRelease);
    put(txn, extra.due_ms, due_ms);
  }
  states.leave(txn, message);
  if (due_ms > now_ms) return states.enter_delayed(txn, message, due_ms);
  states.enter_ready(txn, message, now_ms);
}

void Dependents::enter_suspended(Txn& txn, const Message& message, int64_t now_ms) const {
  Extra& extra = region_.extra(message.entry.rank);
  put(txn, extra.flags, extra.flags & ~kExtraSuspended);
  const States states(region_);
  if (extra.waits == kNoIndex) {
    if (extra.due_ms > now_ms) return states.enter_delayed(txn, message, extra.due_ms);
    return states.enter_ready(txn, message, now_ms);
  }
  hold_again(txn, extra);
  bool waits_on = false;
  each_wait(region_, extra, [&](uint32_t, const Wait& wait) { return !(waits_on = is_linked(wait)); });
  if (waits_on) return states.enter_held(txn, message, now_ms);
  if (Waits(region_).has_failed(extra)) put(txn, extra.flags, extra.flags | kExtraWaitFailed);
  states.enter_ready(txn, message, now_ms);
}

void Dependents::note_ended(Txn& txn, MessageId id, bool acked) const {
  Waits(region_).note_ended(txn, number(id), acked ? Fate::acked : Fate::other);
}

void Dependents::note_all_ended() const {
  const auto log = std::make_unique<UndoLog>();
  log->count = 0;
  const Waits waits(region_);
  for (uint32_t b = 0; b < region_.root.dependency_bucket_count; ++b) {
    StepLimit limit(kChainMax);
    for (uint32_t i = region_.arena.at(region_.root.dependency_buckets, b).index; i != kNoIndex;) {
      limit.step();
      const Dependency& dependency = region_.dependency(i);
      Txn txn(region_.arena.base(), region_.arena.bytes(), *log);
      if (!waits.is_unfinished(dependency.id)) waits.note_ended(txn, dependency.id, Fate::unknown);
      txn.commit();
      i = dependency.chain;
    }
  }
}

uint32_t Dependents::waits_of(SlotIndex slot, std::span<uint64_t> ids) const {
  const Entry& of = region_.entry(static_cast<uint32_t>(slot));
  if (!has_extra(of)) return 0;
  // Linked are those of a held one alone; what a suspended one waits for is looked at when its job has ended.
  const bool dead = state_of(of) == SlotState::dead || state_of(of) == SlotState::leased;
  uint32_t count = 0;
  each_wait(region_, region_.extra(of.rank), [&](uint32_t, const Wait& wait) {
    if (dead || is_linked(wait)) ids[count++] = region_.dependency(wait.dependency).id;
    return count < ids.size();
  });
  return count;
}

uint32_t Dependents::failed_of(SlotIndex slot, std::span<uint64_t> ids) const {
  const Entry& of = region_.entry(static_cast<uint32_t>(slot));
  if (!has_extra(of)) return 0;
  uint32_t count = 0;
  each_wait(region_, region_.extra(of.rank), [&](uint32_t, const Wait& wait) {
    if (has_failed(region_, wait)) ids[count++] = region_.dependency(wait.dependency).id;
    return count < ids.size();
  });
  return count;
}

}  // namespace fq
