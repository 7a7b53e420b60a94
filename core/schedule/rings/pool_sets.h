// pool_sets - the sets of pools that messages need, each a bit of a word: see pool.h.
//
// A set is a pool and the set of the others, so a node that is a member of a pool turns the bits of what lies
// below it into those of what it is to its parent. Sets are made when something first needs them, and
// forgotten with their pool. There are as many as there are combinations on a path that are in use: most
// often one.
#pragma once

// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

class PoolSets {
 public:
  explicit PoolSets(const Region& region) : region_(region) {}

  /// The sets of a message that needs all of `sets` and this pool. Makes sets that are missing.
  uint64_t with(Txn& txn, uint64_t sets, uint32_t pool) const;
  /// The same, as far as the sets are there.
  uint64_t known_with(uint64_t sets, uint32_t pool) const;
  /// The bits of those sets that lack room.
  uint64_t closed() const;
  /// Some pool is blocked that was not, or the other way round.
  void note_change(Txn& txn) const { put(txn, region_.root.closed_sets, closed()); }
  /// Needs: this pool has no members.
  void forget(Txn& txn, uint32_t pool) const;

 private:
  bool needs(uint32_t bit, uint32_t pool) const;
  uint32_t find(uint32_t rest, uint32_t pool) const;
  uint32_t make(Txn& txn, uint32_t rest, uint32_t pool) const;

  const Region& region_;
};

/// The bits of what can be served now, as far as pools go.
inline uint64_t open_sets(const ScheduleRoot& root) { return ~root.closed_sets.get() | kNoPool | kSomePools; }

}  // namespace fq
