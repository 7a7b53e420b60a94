// check - everything that must hold inside one schedule, walked from end to end: for fq check and tests.
//
// The invariants are those named in the headers; a breach is a line. Links of a damaged region may lead
// anywhere: each walk is bounded, and RegionDamaged becomes a line too.
#include "core/schedule/check/check.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/order/outcomes.h"
#include "core/schedule/rings/costs.h"

namespace fq {
namespace {

template <class T>
uint32_t free_link(const T& element) {
  if constexpr (requires { element.chain; }) {
    return element.chain;
  } else {
    return element.next;  // of a text
  }
}

}  // namespace

Checker::Checker(const Schedule& schedule) : schedule_(schedule), region_(schedule.region()) {}

void Checker::fault(const std::string& what) {
  if (faults_.size() < kFaultsMax) faults_.push_back(what);
}

void Checker::expect(bool holds, const char* what, uint32_t index) {
  if (!holds) fault(std::string(what) + " (" + std::to_string(index) + ")");
}

std::vector<std::string> Checker::run() {
  try {
    check_capacities();
    if (!faults_.empty()) return faults_;  // loops over a wrong capacity might not end
    check_supplies();
    check_entries();
    check_outcomes();
    add_to_those_above();
    check_tenants();
    check_keys();
    check_controls();
    check_rules();
    check_pools();
    check_waits();
    check_timetable();
    check_heap();
    check_holders();
    check_indexes();
    check_dead();
    check_sums();
  } catch (const RegionDamaged& damaged) {
    fault(damaged.what);
  }
  return faults_;
}

template <class Array>
void Checker::check_capacity(const Array& array, const char* what) {
  using Type = std::remove_const_t<Array>;
  const uint64_t small = std::min<uint32_t>(array.chunk_count, kSmallChunks);
  const uint64_t large = array.chunk_count - small;
  const bool fits = array.chunk_count <= Type::kChunksMax &&
                    small * Type::kSmallBytes + large * Type::kLargeBytes <= region_.arena.bytes();
  const uint64_t capacity = small * Type::kPerSmall + large * Type::kPerLarge;
  if (!fits || array.capacity != capacity) fault(std::string("the capacity of ") + what + " is wrong");
}

void Checker::check_capacities() {
  const ScheduleRoot& root = region_.root;
  any_array([&](ArrayName, const auto& row) {
    const auto& array = root.*row.array;
    check_capacity(array, row.name);
    if constexpr (requires { row.supply; }) {
      if ((root.*row.supply).high_water > array.capacity)
        fault(std::string("A1: ") + row.name + " beyond their capacity");
    }
    if constexpr (requires { row.count; }) {
      if (root.*row.count > array.capacity) fault(std::string("more ") + row.name + " than cells");
    }
    return false;
  });
  if (root.places_used != 0 && root.places.capacity < root.tenant_supply.high_water)
    fault("tenants without a place");
  if (root.heap_count > root.heap.capacity) fault("A3: more timers than places");
}

void Checker::check_supplies() {
  const ScheduleRoot& root = region_.root;
  any_array([&](ArrayName, const auto& row) {
    if constexpr (requires { row.supply; }) {
      const auto& supply = root.*row.supply;
      uint64_t free = 0;
      StepLimit limit(supply.high_water + 1);
      for (uint32_t i = supply.free_head; i != kNoIndex; ++free) {
        limit.step();
        i = free_link(region_.arena.at(root.*row.array, i));
      }
      if (supply.used + free != supply.high_water) fault(std::string("A1: lost elements of ") + row.name);
    }
    return false;
  });
  if (root.heap.capacity < HeapRow::wanted(root, {})) fault("A3: heap too small");
}

void Checker::check_entries() {
  const ScheduleRoot& root = region_.root;
  tenant_sums_.assign(root.tenant_supply.high_water, {});
  charges_.assign(root.tenant_supply.high_water, 0);
  for (uint32_t i = 0; i < root.entry_supply.high_water; ++i) {
    const Entry& entry = region_.entry(i);
    const SlotState state = state_of(entry);
    if (state == SlotState::free) continue;
    ++used_entries_;
    if (state > SlotState::held || entry.tenant >= tenant_sums_.size()) {
      expect(false, "a message in no known state or tenant", i);
      continue;
    }
    Sums& sums = tenant_sums_[entry.tenant];
    ++sums.of_state[static_cast<size_t>(state)];
    const uint32_t bytes = bytes_of(region_, entry);
    if (state != SlotState::dead) sums.bytes += bytes;
    all_bytes_ += bytes;
    journal_bytes_ += journal_bytes_of(entry);
    of_all_[static_cast<size_t>(state)] += 1;
    if (state == SlotState::dead) dead_bytes_ += bytes;
    check_steps(i, entry);
    if (state == SlotState::leased) add_charge(entry);
    returning_ += state == SlotState::delayed && entry.deliveries != 0 ? 1u : 0u;
    const auto found = schedule_.messages().find(MessageId{entry.id.get()});
    expect(found.has_value() && *found == SlotIndex{i}, "H1: a message that its id does not find", i);
    const bool waits = state == SlotState::delayed || state == SlotState::leased;
    const bool timed = (waits && entry.at_ms != kNever) ||
                       (state == SlotState::ready && expires_ms(region_, entry) != kNever);
    extras_ += has_extra(entry) ? 1u : 0u;
    expect((entry.heap_place != kNoIndex) == timed, "D2: a message whose timer is wrong", i);
    if ((entry.flags & kEntryKeyed) != 0)
      text_cells_ += text_cells(text_length(region_, rank_of(region_, entry)));
    timers_ += timed ? 1u : 0u;
    held_ += state == SlotState::leased && has_holder(entry) ? 1u : 0u;
  }
}

void Checker::add_charge(const Entry& entry) {
  StepLimit limit(kDepthMax);
  for (uint32_t i = entry.tenant; i < charges_.size() && region_.tenant(i).level > entry.height;
       limit.step()) {
    charges_[i] += ticks_of(entry.rough_cost);
    i = region_.tenant(i).parent;
  }
}

void Checker::check_outcomes() {
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

void Checker::check_rules() {
  const ScheduleRoot& root = region_.root;
  uint64_t used = 0;
  for (uint32_t i = 0; i < root.rule_supply.high_water; ++i) {
    const Rule& rule = region_.arena.at(root.rules, i);
    if (rule.generation == 0) continue;
    ++used;
    text_cells_ += text_cells(text_length(region_, rule.pattern));
    if ((rule.values.given & kGivenPool) != 0)
      text_cells_ += text_cells(text_length(region_, rule.values.pool));
  }
  if (used != root.rule_supply.used) fault("A1: used rules are counted wrongly");
  if (root.rule_bucket_count == 0) return;
  const uint64_t heads = check_index(RuleIndexKind{&region_}, "H1: a rule in a wrong bucket");
  if (heads != root.rule_heads) fault("H1: the rule index does not hold what it should");
}

void Checker::check_pools() {
  const ScheduleRoot& root = region_.root;
  pool_leases_.assign(root.pool_supply.high_water, 0);
  pool_members_.assign(root.pool_supply.high_water, 0);
  member_leases_.assign(root.tenant_supply.high_water, 0);
  count_of_pools();
  uint64_t used = 0;
  for (uint32_t i = 0; i < root.pool_supply.high_water; ++i) {
    const Pool& pool = region_.pool(i);
    if (pool.used == 0) continue;
    ++used;
    check_pool(i, pool);
    check_members(pool, i);
  }
  if (used != root.pool_supply.used) fault("A1: used pools are counted wrongly");
  if (PoolSets(region_).closed() != root.closed_sets) fault("P4: what lacks room is not what is full");
  if (root.pool_bucket_count == 0) return;
  const uint64_t named = check_index(PoolIndexKind{&region_}, "H1: a pool in a wrong bucket");
  if (named != used) fault("H1: the pool index does not hold all pools");
}

void Checker::check_heap() {
  const DelayHeap heap(region_);
  const ScheduleRoot& root = region_.root;
  expect(root.heap_count == timers_, "D2: timers that are not in the heap, or the other way round",
         root.heap_count);
  for (uint32_t i = 0; i < root.heap_count; ++i) {
    const uint32_t cell = region_.arena.at(root.heap, i).index;
    expect(heap.place_of(cell) == i, "D2: a timer that does not know its place", i);
    if (i == 0) continue;
    const uint32_t above = region_.arena.at(root.heap, (i - 1) / 4).index;
    expect(heap.time_of(above) <= heap.time_of(cell), "D1: a timer above an earlier one", i);
  }
}

void Checker::check_holders() {
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
  expect(linked == held_, "leases that their holders do not know", static_cast<uint32_t>(held_));
}

template <class Kind>
uint64_t Checker::check_index(Kind kind, const char* what) {
  uint64_t count = 0;
  const uint32_t buckets = kind.bucket_count();
  for (uint32_t b = 0; b < buckets; ++b) {
    StepLimit limit(kChainMax);
    for (uint32_t i = kind.cell(b); i != kNoIndex; i = kind.at(i).chain, ++count) {
      limit.step();
      expect(LinearHash<Kind>::bucket_of(Kind::hash_of(kind.at(i)), buckets) == b, what, i);
    }
  }
  return count;
}

void Checker::check_indexes() {
  const ScheduleRoot& root = region_.root;
  const uint64_t ids = check_index(EntryIndexKind{&region_}, "H1: a message in a wrong bucket");
  const uint64_t names = check_index(TenantIndexKind{&region_}, "H1: a tenant in a wrong bucket");
  if (ids != root.entry_supply.used) fault("H1: the id index does not hold all messages");
  if (names != root.named_tenants || names != named_) fault("H1: the tenant index does not hold all tenants");
}

void Checker::check_sums() {
  const ScheduleRoot& root = region_.root;
  const auto of = [&](SlotState state) { return of_all_[static_cast<size_t>(state)]; };
  if (root.counts.ready != of(SlotState::ready) || root.counts.delayed != of(SlotState::delayed) ||
      root.counts.leased != of(SlotState::leased) || root.counts.held != of(SlotState::held) ||
      root.counts.dead != of(SlotState::dead) || root.payload_bytes != all_bytes_ ||
      root.dead_bytes != dead_bytes_ || root.journal_bytes != journal_bytes_) {
    fault("A2: the queue counts its messages wrongly");
  }
  if (root.returning != returning_) fault("A2: the queue counts what comes back wrongly");
  if (root.entry_supply.used != used_entries_ + root.outcome_count)
    fault("A1: used entries are counted wrongly");
  if (root.tenant_supply.used != used_tenants_) fault("A1: used tenants are counted wrongly");
  if (root.text_supply.used != text_cells_) fault("A1: used text cells are counted wrongly");
  if (root.step_supply.used != steps_) fault("A1: used steps are counted wrongly");
  if (root.extra_supply.used != extras_) fault("A1: used extras are counted wrongly");
  if (root.tenants_count != leaves_ || root.active_count != active_ || root.parked_count != parked_) {
    fault("A2: the queue counts its tenants wrongly");
  }
}

std::vector<std::string> schedule_faults(const Schedule& schedule) { return Checker(schedule).run(); }

}  // namespace fq
