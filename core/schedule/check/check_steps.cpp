// check_steps - the invariants of steps (T1, T2), for schedule_faults.

// System.
#include <set>
// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/schedule/check/check.h"

namespace fq {

void Checker::check_steps(uint32_t slot, const Entry& entry) {
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
    expect(step.id == entry.id && step.fresh == extra.fresh && kept.is_used(i), "T1: another's step", slot);
    expect(names.insert(step.hash).second, "T2: two steps of one name", slot);
    bytes += step.bytes;
    record_bytes += step.record_bytes;
    oldest = i;
  }
  expect(count == extra.step_count && oldest == extra.oldest_step,
         "T1: a message that counts its steps wrongly", slot);
  expect(bytes == extra.step_bytes && record_bytes == extra.step_record_bytes,
         "T1: a message that counts the bytes of its steps wrongly", slot);
  steps_ += count;
  journal_bytes_ += record_bytes;
}

}  // namespace fq
