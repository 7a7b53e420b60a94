// waits - see waits.h.
#include "core/schedule/order/waits.h"

// fq, this room.
#include "core/schedule/memory/extras.h"
#include "core/schedule/memory/id_index.h"
#include "core/schedule/order/outcomes.h"

namespace fq {

uint64_t DependencyIndexKind::hash_of(const Dependency& dependency) { return hash_id(dependency.id); }

bool Waits::is_unfinished(uint64_t id) const {
  const uint32_t slot = entry_find(region_, id);
  return slot != kNoIndex && state_of(region_.entry(slot)) != SlotState::dead;
}

// Its fate is noted as long as somebody waits for it, and so outlives the outcome, which gives way to others.
Standing Waits::standing_of(const Dependency& dependency) const {
  const uint64_t id = dependency.id;
  if (entry_find(region_, id) != kNoIndex) return is_unfinished(id) ? Standing::unfinished : Standing::failed;
  if (dependency.fate != Fate::unknown)
    return dependency.fate == Fate::acked ? Standing::acked : Standing::failed;
  const uint32_t ended = outcome_find(region_, id);
  if (ended == kNoIndex) return Standing::forgotten;
  return outcome_at(region_, ended).verdict == RecordType::acked ? Standing::acked : Standing::failed;
}

uint32_t Waits::find(uint64_t id) const {
  return index_.find(hash_id(id), [&](const Dependency& dependency) { return dependency.id == id; });
}

// A new one is in no list: it is in the index once somebody waits for it.
uint32_t Waits::dependency_of(Txn& txn, uint64_t id) const {
  const uint32_t known = find(id);
  if (known != kNoIndex) return known;
  const auto [i, made] =
      take_element(txn, region_.arena, region_.root.dependencies, region_.root.dependency_supply);
  txn.fresh(made.id, id);
  txn.fresh(made.first, kNoIndex);
  txn.fresh(made.last, kNoIndex);
  txn.fresh(made.buried, kNoIndex);
  txn.fresh(made.ended, 0);
  txn.fresh(made.fate, Fate::unknown);
  txn.fresh(made.ended_prev, kNoIndex);
  txn.fresh(made.ended_next, kNoIndex);
  txn.fresh(made.waits, 0);
  index_.insert(txn, i, made, region_.root.dependency_supply.used);
  return i;
}

void Waits::link(Txn& txn, uint32_t i) const {
  Wait& wait = region_.wait(i);
  Dependency& dependency = region_.dependency(wait.dependency);
  const uint32_t last = dependency.last;
  put(txn, wait.prev, last);
  put(txn, wait.next, kNoIndex);
  txn.set(last == kNoIndex ? dependency.first : region_.wait(last).next, i);
  txn.set(dependency.last, i);
  put(txn, wait.flags, wait.flags | kWaitLinked);
  if (!is_unfinished(dependency.id)) add_to_ended(txn, wait.dependency);
}

void Waits::unlink(Txn& txn, uint32_t i) const {
  Wait& wait = region_.wait(i);
  if ((wait.flags & (kWaitLinked | kWaitBuried)) == 0) return;
  const bool linked = (wait.flags & kWaitLinked) != 0;
  Dependency& dependency = region_.dependency(wait.dependency);
  const uint32_t prev = wait.prev, next = wait.next;
  Shared<uint32_t>& first = linked ? dependency.first : dependency.buried;
  txn.set(prev == kNoIndex ? first : region_.wait(prev).next, next);
  if (next != kNoIndex) {
    txn.set(region_.wait(next).prev, prev);
  } else if (linked) {
    txn.set(dependency.last, prev);
  }
  put(txn, wait.flags, wait.flags & ~(kWaitLinked | kWaitBuried));
}

void Waits::bury(Txn& txn, uint32_t i) const {
  Wait& wait = region_.wait(i);
  Dependency& dependency = region_.dependency(wait.dependency);
  const uint32_t next = dependency.buried;
  put(txn, wait.prev, kNoIndex);
  put(txn, wait.next, next);
  if (next != kNoIndex) txn.set(region_.wait(next).prev, i);
  txn.set(dependency.buried, i);
  put(txn, wait.flags, wait.flags | kWaitBuried);
}

void Waits::bury_all(Txn& txn, const Extra& extra) const {
  StepLimit limit(kWaitsMax);
  for (uint32_t i = extra.waits; i != kNoIndex; i = region_.wait(i).chain) {
    limit.step();
    unlink(txn, i);
    if ((region_.wait(i).flags & kWaitAny) == 0) bury(txn, i);
  }
}

void Waits::add(Txn& txn, uint32_t waiter, Extra& extra, const NewWait& from) const {
  const uint32_t dependency = dependency_of(txn, from.id);
  const auto [i, wait] = take_element(txn, region_.arena, region_.root.waits, region_.root.wait_supply);
  txn.fresh(wait.waiter, waiter);
  txn.fresh(wait.dependency, dependency);
  txn.fresh(wait.prev, kNoIndex);
  txn.fresh(wait.next, kNoIndex);
  txn.fresh(wait.flags, from.any ? kWaitAny : 0);
  put(txn, wait.chain, extra.waits.get());  // noted: until the commit it is its place among the free ones
  put(txn, extra.waits, i);
  add_to(txn, region_.dependency(dependency).waits, 1);
  if (from.failed) put(txn, region_.dependency(dependency).fate, Fate::other);
  if (from.linked) link(txn, i);
}

void Waits::drop(Txn& txn, Extra& extra) const {
  StepLimit limit(kWaitsMax);
  for (uint32_t i = extra.waits; i != kNoIndex;) {
    limit.step();
    Wait& wait = region_.wait(i);
    const uint32_t next = wait.chain, dependency = wait.dependency;
    unlink(txn, i);
    take_from(txn, region_.dependency(dependency).waits, 1);
    free_element(txn, region_.root.wait_supply, wait, i);
    free_if_unused(txn, dependency);
    i = next;
  }
  put(txn, extra.waits, kNoIndex);
}

void Waits::free_if_unused(Txn& txn, uint32_t i) const {
  Dependency& dependency = region_.dependency(i);
  if (dependency.waits != 0) return;
  forget_ended(txn, i);
  index_.remove(txn, i, dependency);
  free_element(txn, region_.root.dependency_supply, dependency, i);
}

void Waits::note_ended(Txn& txn, uint64_t id, Fate fate) const {
  if (region_.root.dependency_supply.used == 0) return;
  const uint32_t i =
      index_.find(hash_id(id), [&](const Dependency& dependency) { return dependency.id == id; });
  if (i == kNoIndex) return;
  Dependency& dependency = region_.dependency(i);
  if (fate != Fate::unknown) put(txn, dependency.fate, fate);
  add_to_ended(txn, i);
}

void Waits::add_to_ended(Txn& txn, uint32_t i) const {
  Dependency& dependency = region_.dependency(i);
  if (dependency.ended != 0) return;
  const uint32_t last = region_.root.last_ended;
  put(txn, dependency.ended, 1);
  put(txn, dependency.ended_prev, last);
  put(txn, dependency.ended_next, kNoIndex);
  txn.set(last == kNoIndex ? region_.root.first_ended : region_.dependency(last).ended_next, i);
  txn.set(region_.root.last_ended, i);
}

bool Waits::has_failed(const Extra& extra) const {
  StepLimit limit(kWaitsMax);
  for (uint32_t i = extra.waits; i != kNoIndex; i = region_.wait(i).chain) {
    limit.step();
    const Wait& wait = region_.wait(i);
    const bool ended = (wait.flags & kWaitLinked) == 0;
    if (ended && region_.dependency(wait.dependency).fate == Fate::other) return true;
  }
  return false;
}

void Waits::forget_ended(Txn& txn, uint32_t i) const {
  Dependency& dependency = region_.dependency(i);
  if (dependency.ended == 0) return;
  const uint32_t prev = dependency.ended_prev, next = dependency.ended_next;
  txn.set(prev == kNoIndex ? region_.root.first_ended : region_.dependency(prev).ended_next, next);
  txn.set(next == kNoIndex ? region_.root.last_ended : region_.dependency(next).ended_prev, prev);
  put(txn, dependency.ended, 0);
}

}  // namespace fq
