// row_parts - the parts that rows of queues and of tenants have in common.
#pragma once

// fq, below us.
#include "core/api/queue.h"
#include "core/schedule/memory/histogram.h"

namespace fq {

template <class AnyHistogram>
Percentiles percentiles_of(const AnyHistogram& histogram) {
  Percentiles result;
  result.count = histogram_count(histogram);
  if (result.count == 0) return result;
  const auto part = [&](double p) {
    return static_cast<int64_t>(histogram_percentile_ms(histogram, p).value_or(0));
  };
  result.p50 = part(0.5);
  result.p90 = part(0.9);
  result.p99 = part(0.99);
  result.max = static_cast<int64_t>(histogram_longest_ms(histogram));
  return result;
}

template <class Counters>
void put_counts(StatsRow& row, const CountsNow& counts, const Counters& counters) {
  row.ready = counts.ready;
  row.delayed = counts.delayed;
  row.leased = counts.leased;
  row.held = counts.held;
  row.dead = counts.dead;
  row.pushed = counters.pushed;
  row.popped = counters.popped;
  row.acked = counters.acked;
  row.retried = counters.retried;
  row.released = counters.released;
  row.buried = counters.buried;
  row.expired = counters.expired;
  row.cancelled = counters.cancelled;
}

}  // namespace fq
