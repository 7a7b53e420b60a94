// past - see past.h.
#include "core/schedule/past.h"

// System.
#include <algorithm>

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

std::optional<Outcome> Past::outcome(MessageId id) const {
  const uint32_t slot = outcome_find(region_, number(id));
  if (slot == kNoIndex) return std::nullopt;
  return outcome_at(region_, slot);
}

uint64_t Past::end_count() const {
  const RootCounters& ends = region_.root.counters;
  return ends.acked + ends.cancelled + ends.left;
}

uint32_t Past::forget_outcomes(Txn& txn, uint32_t most) const {
  const uint32_t count = std::min<uint32_t>(most, region_.root.outcome_count);
  for (uint32_t i = 0; i < count; ++i) outcome_forget(txn, region_);
  return count;
}

Counts Past::counts() const {
  const RootCounters& from = region_.root.counters;
  return {from.pushed, from.popped,  from.acked,     from.retried,   from.released,
          from.buried, from.expired, from.cancelled, from.recoveries};
}

void Past::set_counts(Txn& txn, const Counts& counts) const {
  RootCounters& to = region_.root.counters;
  txn.set(to.pushed, counts.pushed);
  txn.set(to.popped, counts.popped);
  txn.set(to.acked, counts.acked);
  txn.set(to.retried, counts.retried);
  txn.set(to.released, counts.released);
  txn.set(to.buried, counts.buried);
  txn.set(to.expired, counts.expired);
  txn.set(to.cancelled, counts.cancelled);
  txn.set(to.recoveries, counts.recoveries);
}

void Past::take_over(Txn& txn, const Past& from) const {
  ScheduleRoot& root = region_.root;
  const ScheduleRoot& other = from.region_.root;
  forget_outcomes(txn, kOutcomesMax);
  StepLimit limit(kOutcomesMax);
  for (uint32_t i = other.first_outcome; i != kNoIndex;) {
    limit.step();
    const Entry& ended = from.region_.entry(i);
    outcome_copy(txn, region_, ended.id, outcome_at(from.region_, i));
    i = ended.next;
  }
  set_counts(txn, from.counts());
  copy(txn, root.wait, other.wait);
  copy(txn, root.run, other.run);
  copy(txn, root.rates, other.rates);
  txn.set(root.usual_run, other.usual_run.get());
}

}  // namespace fq
