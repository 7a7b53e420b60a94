// past - the part of a queue's past that no message tells: the last outcomes, the counts and the
// measurements.
//
// Outcomes take the slots of the messages that ended (order/outcomes.h). A rebuild sets the counts from the
// journal's snapshot, since Messages::restore counts nothing; a new segment takes all of it over from the old
// one.
#pragma once

// System.
#include <optional>
// fq, this room.
#include "core/schedule/memory/rates.h"
#include "core/schedule/order/outcomes.h"

namespace fq {

class Past {
 public:
  explicit Past(const Region& region) : region_(region) {}

  std::optional<Outcome> outcome(MessageId id) const;
  /// How many ends there were; it may begin anew with a new segment.
  uint64_t end_count() const;
  /// Frees the slots of at most `most` outcomes, the oldest first; returns how many. Two steps each.
  uint32_t forget_outcomes(Txn& txn, uint32_t most) const;
  /// Counts since the queue was made.
  Counts counts() const;
  void set_counts(Txn& txn, const Counts& counts) const;
  /// Events a second over the last `window_ms`, at most 15 minutes.
  RatesOver rates_over(int64_t window_ms, int64_t now_ms) const {
    return fq::rates_over(region_.root, window_ms, now_ms);
  }
  /// Takes over the outcomes, counts and measurements of `from`, the same queue. Never where others see the
  /// region. Needs: room for as many messages as are remembered.
  void take_over(Txn& txn, const Past& from) const;

 private:
  const Region& region_;
};

}  // namespace fq
