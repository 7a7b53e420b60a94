#include "core/schedule/check/messages_check.h"

// System.
#include <set>
// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/schedule/order/outcomes.h"
#include "core/schedule/rings/costs.h"

namespace fq {

void MessagesCheck::check_entries() {
  const ScheduleRoot& root = region_.root;
  tally_.of_nodes.assign(root.tenant_supply.high_water, {});
  tally_.charges.assign(root.tenant_supply.high_water, 0);
  for (uint32_t i = 0; i < root.entry_supply.high_water; ++i) {
    const Entry& entry = region_.entry(i);
    const SlotState state = state_of(entry);
    if (state == SlotState::free) continue;
    ++tally_.used_entries;
    if (state > SlotState::held || entry.tenant >= tally_.of_nodes.size()) {
      expect(false, "a message in no known state or tenant", i);
      continue;
    }
    NodeSums& sums = tally_.of_nodes[entry.tenant];
    ++sums.of_state[static_cast<size_t>(state)];
    const uint32_t bytes = bytes_of(region_, entry);
    if (state != SlotState::dead) sums.bytes += bytes;
    tally_.all_bytes += bytes;
    tally_.journal_bytes += journal_bytes_of(entry);
    tally_.of_all[static_cast<size_t>(state)] += 1;
    if (state == SlotState::dead) tally_.dead_bytes += bytes;
    check_steps(i, entry);
    if (state == SlotState::leased) add_charge(entry);
    tally_.returning += state == SlotState::delayed && entry.deliveries != 0 ? 1u : 0u;
    const auto found = schedule_.messages().find(MessageId{entry.id.get()});
    expect(found.has_value() && *found == SlotIndex{i}, "H1: a message that its id does not find", i);
    const bool waits = state == SlotState::delayed || state == SlotState::leased;
    const bool timed = (waits && entry.at_ms != kNever) ||
                       (state == SlotState::ready && expires_ms(region_, entry) != kNever);
    tally_.extras += has_extra(entry) ? 1u : 0u;
    expect((entry.heap_place != kNoIndex) == timed, "D2: a message whose timer is wrong", i);
    if ((entry.flags & kEntryKeyed) != 0)
      tally_.text_cells += text_cells(text_length(region_, rank_of(region_, entry)));
    tally_.timers += timed ? 1u : 0u;
    tally_.held += state == SlotState::leased && has_holder(entry) ? 1u : 0u;
  }
}

void MessagesCheck::add_charge(const Entry& entry) {
  StepLimit limit(kDepthMax);
  for (uint32_t i = entry.tenant; i < tally_.charges.size() && region_.tenant(i).level > entry.height;
       limit.step()) {
    tally_.charges[i] += ticks_of(entry.rough_cost);
    i = region_.tenant(i).parent;
  }
}

void MessagesCheck::check_outcomes() {
  const ScheduleRoot& root = region_.root;
  uint32_t count = 0, last = kNoIndex;
  StepLimit limit(kOutcomesMax);
  for (uint32_t i = root.first_outcome; i != kNoIndex; ++count) {
    limit.step();
    const Entry& entry = region_.entry(i);
    expect(state_of(entry) == SlotState::free, "O1: an outcome of a message that has not ended", i);
    expect(outcome_find(region_, entry.id) == i, "O2: an outcome that its id does not find", i);
    last = i;
    i = entry.next;
  }
  if (count != root.outcome_count || last != root.last_outcome) fault("O1: the outcomes are counted wrongly");
}

void MessagesCheck::check_heap() {
  const DelayHeap heap(region_);
  const ScheduleRoot& root = region_.root;
  expect(root.heap_count == tally_.timers, "D2: timers that are not in the heap, or the other way round",
         root.heap_count);
  for (uint32_t i = 0; i < root.heap_count; ++i) {
    const uint32_t cell = region_.arena.at(root.heap, i).index;
    expect(heap.place_of(cell) == i, "D2: a timer that does not know its place", i);
    if (i == 0) continue;
    const uint32_t above = region_.arena.at(root.heap, (i - 1) / 4).index;
    expect(heap.time_of(above) <= heap.time_of(cell), "D1: a timer above an earlier one", i);
  }
}

void MessagesCheck::check_holders() {
  uint64_t linked = 0;
  for (uint32_t i = 0; i < kHoldersMax; ++i) {
    const Holder& holder = region_.root.holders[i];
    uint32_t slot = holder.count == 0 ? kNoIndex : holder.head.get();
    uint32_t prev = kNoIndex, count = 0;
    for (StepLimit limit(region_.root.entry_supply.high_water); slot != kNoIndex; ++count) {
      limit.step();
      const Entry& entry = region_.entry(slot);
      expect(entry.holder == i && state_of(entry) == SlotState::leased && entry.prev == prev,
             "a wrong message in a holder's list", slot);
      prev = slot;
      slot = entry.next;
    }
    expect(count == holder.count, "a holder that does not count right", i);
    linked += count;
  }
  expect(linked == tally_.held, "leases that their holders do not know", static_cast<uint32_t>(tally_.held));
}

void MessagesCheck::check_dead() {
  const Lane& dead = region_.root.dead;
  check_lane(DeadKind{&region_}, dead, 0);
  expect(dead.count == region_.root.counts.dead, "dead letters that are not in their lane", dead.count);
  LaneWalk<DeadKind> walk(DeadKind{&region_}, dead);
  for (uint32_t slot; (slot = walk.next()) != kNoIndex;)
    expect(state_of(region_.entry(slot)) == SlotState::dead, "a wrong message among the dead letters", slot);
}

void MessagesCheck::check_steps(uint32_t slot, const Entry& entry) {
  const KeptSteps kept(region_);
  if (!has_extra(entry)) return;
  const Extra& extra = region_.extra(entry.rank);
  std::set<uint64_t> names;
  uint32_t count = 0, oldest = kNoIndex;
  uint64_t bytes = 0, record_bytes = 0;
  StepLimit limit(kStepsPerMessageMax);
  for (uint32_t i = extra.steps; i != kNoIndex; i = kept.at(i).chain, ++count) {
    limit.step();
    const Step& step = kept.at(i);
    expect(step.id == entry.id && step.fresh == extra.fresh && kept.is_used(i), "S1: another's step", slot);
    expect(names.insert(step.hash).second, "S2: two steps of one name", slot);
    bytes += step.bytes;
    record_bytes += step.record_bytes;
    oldest = i;
  }
  expect(count == extra.step_count && oldest == extra.oldest_step,
         "S1: a message that counts its steps wrongly", slot);
  expect(bytes == extra.step_bytes && record_bytes == extra.step_record_bytes,
         "S1: a message that counts the bytes of its steps wrongly", slot);
  tally_.steps += count;
  tally_.journal_bytes += record_bytes;
}

}  // namespace fq
