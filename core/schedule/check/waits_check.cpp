#include "core/schedule/check/waits_check.h"

// fq, this room.
#include "core/schedule/order/waits.h"

namespace fq {

void WaitsCheck::check() {
  const ScheduleRoot& root = region_.root;
  uint64_t waits = 0, linked = 0;
  std::vector<uint32_t> of_dependency(root.dependency_supply.high_water, 0);
  for (uint32_t slot = 0; slot < root.entry_supply.high_water; ++slot) {
    const Entry& entry = region_.entry(slot);
    const SlotState state = state_of(entry);
    if (state == SlotState::free || !has_extra(entry)) continue;
    const Extra& extra = region_.extra(entry.rank);
    const bool may_wait =
        state == SlotState::held || state == SlotState::dead || (extra.flags & kExtraSuspended) != 0;
    expect(may_wait || extra.waits == kNoIndex, "W2: a message waits although it is not held", slot);
    StepLimit limit(kWaitsMax);
    for (uint32_t i = extra.waits; i != kNoIndex; i = region_.wait(i).chain) {
      limit.step();
      ++waits;
      const Wait& wait = region_.wait(i);
      const bool is_linked = (wait.flags & kWaitLinked) != 0;
      const bool is_buried = (wait.flags & kWaitBuried) != 0;
      expect(wait.waiter == slot, "W2: a message with another's wait", slot);
      expect(!is_linked || state == SlotState::held, "W2: a dead message whose wait is in a list", slot);
      expect(!is_buried || (state == SlotState::dead && !is_linked && (wait.flags & kWaitAny) == 0),
             "W2: a wait among the buried that is none", slot);
      linked += is_linked || is_buried ? 1u : 0u;
      if (wait.dependency < of_dependency.size()) ++of_dependency[wait.dependency];
    }
  }
  uint64_t dependencies = 0, listed = 0;
  for (uint32_t b = 0; b < root.dependency_bucket_count; ++b) {
    StepLimit limit(kChainMax);
    for (uint32_t i = region_.arena.at(root.dependency_buckets, b).index; i != kNoIndex;) {
      limit.step();
      ++dependencies;
      const Dependency& dependency = region_.dependency(i);
      expect(i < of_dependency.size() && dependency.waits == of_dependency[i],
             "W1: a dependency that counts its waits wrongly", i);
      expect(dependency.first == kNoIndex || dependency.ended == 1 ||
                 Waits(region_).is_unfinished(dependency.id),
             "W3: what has ended is waited for and is not to be looked at", i);
      const auto check_list = [&](uint32_t first, uint32_t flag) {
        uint32_t prev = kNoIndex;
        StepLimit list_limit(root.wait_supply.high_water);
        for (uint32_t w = first; w != kNoIndex; prev = w, w = region_.wait(w).next) {
          list_limit.step();
          ++listed;
          const Wait& wait = region_.wait(w);
          expect(wait.dependency == i && wait.prev == prev && (wait.flags & flag) != 0,
                 "W1: a wait in a wrong list", w);
        }
      };
      check_list(dependency.first, kWaitLinked);
      check_list(dependency.buried, kWaitBuried);
      i = dependency.chain;
    }
  }
  uint32_t prev = kNoIndex;
  StepLimit limit(root.dependency_supply.high_water);
  for (uint32_t i = root.first_ended; i != kNoIndex; prev = i, i = region_.dependency(i).ended_next) {
    limit.step();
    expect(region_.dependency(i).ended == 1 && region_.dependency(i).ended_prev == prev,
           "W1: a broken list of what has ended", i);
  }
  if (listed != linked) fault("W1: waits that their dependencies do not know");
  if (waits != root.wait_supply.used) fault("A1: used waits are counted wrongly");
  if (dependencies != root.dependency_supply.used) fault("A1: used dependencies are counted wrongly");
}

}  // namespace fq
