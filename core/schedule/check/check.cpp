// check - everything that must hold inside one schedule, walked from end to end: for fq check and tests.
//
// The invariants are those named in the headers; a breach is a line. Links of a damaged region may lead
// anywhere: each walk is bounded, and RegionDamaged becomes a line too.

// fq, this room.
#include "core/schedule/check/arrays_check.h"
#include "core/schedule/check/faults.h"
#include "core/schedule/check/indexes_check.h"
#include "core/schedule/check/keys_check.h"
#include "core/schedule/check/messages_check.h"
#include "core/schedule/check/pools_check.h"
#include "core/schedule/check/tenants_check.h"
#include "core/schedule/check/timetable_check.h"
#include "core/schedule/check/waits_check.h"

namespace fq {

namespace {

/// The sums of the root, once all walks were made.
class SumsCheck : private CheckPart {
 public:
  explicit SumsCheck(CheckScene& scene) : CheckPart(scene) {}

  void check() {
    const ScheduleRoot& root = region_.root;
    const auto of = [&](SlotState state) { return tally_.of_all[static_cast<size_t>(state)]; };
    if (root.counts.ready != of(SlotState::ready) || root.counts.delayed != of(SlotState::delayed) ||
        root.counts.leased != of(SlotState::leased) || root.counts.held != of(SlotState::held) ||
        root.counts.dead != of(SlotState::dead) || root.payload_bytes != tally_.all_bytes ||
        root.dead_bytes != tally_.dead_bytes || root.journal_bytes != tally_.journal_bytes) {
      fault("A2: the queue counts its messages wrongly");
    }
    if (root.returning != tally_.returning) fault("A2: the queue counts what comes back wrongly");
    if (root.entry_supply.used != tally_.used_entries + root.outcome_count)
      fault("A1: used entries are counted wrongly");
    if (root.tenant_supply.used != tally_.used_tenants) fault("A1: used tenants are counted wrongly");
    if (root.text_supply.used != tally_.text_cells) fault("A1: used text cells are counted wrongly");
    if (root.step_supply.used != tally_.steps) fault("A1: used steps are counted wrongly");
    if (root.extra_supply.used != tally_.extras) fault("X1: used extras are counted wrongly");
    if (root.tenants_count != tally_.leaves || root.active_count != tally_.active ||
        root.parked_count != tally_.parked) {
      fault("A2: the queue counts its tenants wrongly");
    }
  }
};

void walk(CheckScene& scene) {
  ArraysCheck arrays(scene);
  arrays.check_capacities();
  if (!scene.faults().empty()) return;
  arrays.check_supplies();
  MessagesCheck messages(scene);
  messages.check_entries();
  messages.check_outcomes();
  TenantsCheck tenants(scene);
  tenants.add_to_those_above();
  tenants.check();
  KeysCheck(scene).check();
  tenants.check_controls();
  IndexesCheck indexes(scene);
  indexes.check_rules();
  PoolsCheck(scene).check();
  WaitsCheck(scene).check();
  TimetableCheck(scene).check();
  messages.check_heap();
  messages.check_holders();
  indexes.check_indexes();
  messages.check_dead();
  SumsCheck(scene).check();
}

}  // namespace

std::vector<std::string> schedule_faults(const Schedule& schedule) {
  CheckScene scene(schedule);
  try {
    walk(scene);
  } catch (const RegionDamaged& damaged) {
    scene.fault(damaged.what);
  }
  return scene.faults();
}

}  // namespace fq
