// memory - what a schedule knows and no journal tells, taken over from another one of the same queue: how the
// last messages ended, what was counted and measured. Needs room for as many messages as are remembered.
#include "core/schedule/schedule.h"

// fq, this room.
#include "core/schedule/order/outcomes.h"

namespace fq {
namespace {

void copy(Txn& txn, QueueHistogram& to, const QueueHistogram& from) {
  for (uint32_t i = 0; i < QueueHistogram::kBuckets; ++i) txn.set(to.bucket[i], from.bucket[i].get());
  txn.set(to.max_ms, from.max_ms.get());
  txn.set(to.sum_ms, from.sum_ms.get());
}

void copy(Txn& txn, SharedRates& to, const SharedRates& from) {
  for (uint32_t i = 0; i < SharedRates::kSamples; ++i) {
    txn.set(to.samples[i].at_ms, from.samples[i].at_ms.get());
    txn.set(to.samples[i].pushed, from.samples[i].pushed.get());
    txn.set(to.samples[i].popped, from.samples[i].popped.get());
    txn.set(to.samples[i].acked, from.samples[i].acked.get());
  }
  txn.set(to.next_ms, from.next_ms.get());
  txn.set(to.taken, from.taken.get());
}

}  // namespace

void Schedule::take_memory(Txn& txn, const Schedule& from) {
  ScheduleRoot& root = region_.root;
  const ScheduleRoot& other = from.root();
  forget_outcomes(txn, kOutcomesMax);
  StepLimit limit(kOutcomesMax);
  for (uint32_t i = other.first_outcome; i != kNoIndex;) {
    limit.step();
    const Entry& outcome = from.region().entry(i);
    outcome_copy(txn, region_, outcome);
    i = outcome.next;
  }
  set_counts(txn, from.counts());
  copy(txn, root.wait, other.wait);
  copy(txn, root.run, other.run);
  copy(txn, root.rates, other.rates);
  txn.set(root.usual_run, other.usual_run.get());
}

}  // namespace fq
