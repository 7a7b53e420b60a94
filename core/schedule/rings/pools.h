// pools - the policy's pools and their members: see pool.h for how members that lack room are passed over.
//
// A pool is there once a policy file has defined it, and is removed when no file does any more and it has no
// members. A file is loaded beside the one in force: its terms lie in `next`, with its generation, and hold
// from the store on that puts this generation in force. A pool without terms of that generation counts as
// absent.
#pragma once

// System.
#include <optional>
#include <string_view>
// fq, this room.
#include "core/schedule/rings/control.h"
#include "core/schedule/memory/linear_hash.h"
#include "core/schedule/rings/pool_sets.h"

namespace fq {

struct PoolIndexKind
    : IndexKind<&ScheduleRoot::pool_buckets, &ScheduleRoot::pool_bucket_count, &ScheduleRoot::pools, 1> {
  static uint64_t hash_of(const Pool& pool) { return pool.hash; }
};

class Pools {
 public:
  explicit Pools(const Region& region) : region_(region), sets_(region), index_(PoolIndexKind{&region}) {}

  bool any() const { return region_.root.pool_supply.used != 0; }
  /// The pool of this name (as a text or as typed), kNoIndex where the policy that holds knows none.
  uint32_t find(uint32_t name) const;
  uint32_t find(std::string_view name) const;
  bool is_defined(const Pool& pool) const;
  /// The pool that it is itself a member of lacks room.
  bool has_full_pool(const Tenant& tenant) const {
    const uint32_t pool = pool_of(region_, tenant);
    return pool != kNoIndex && region_.pool(pool).blocks != 0;
  }
  /// A lease of this leaf counts there: it or a node above it is a member.
  bool counts(uint32_t leaf, uint32_t pool) const {
    return pool_of(region_, region_.tenant(leaf)) == pool || member_above(leaf, pool) != kNoIndex;
  }
  /// The nearest node above it that is in this pool, kNoIndex: none.
  uint32_t member_above(uint32_t node, uint32_t pool) const;

  /// The node is a member of this pool (kNoIndex: of none) from now on, with what is leased below it. Needs:
  /// it has a Control.
  void assign(Txn& txn, uint32_t node, uint32_t pool) const;
  /// `to` gets what `from` had, which has the same path and the same leases.
  void move(Txn& txn, uint32_t from, uint32_t to) const;

  /// One more lease below this leaf, or one less. At most a step a level, and log steps in each pool.
  void count(Txn& txn, uint32_t leaf, bool more) const;
  /// It has started now: its pools pay for it.
  void started(Txn& txn, uint32_t leaf, int64_t now_ms) const;
  /// Its timer is due.
  void fire(Txn& txn, uint32_t pool, int64_t now_ms) const;

  /// Takes in what a file that is being loaded says of a pool. Needs: room for a pool and its name.
  void add(Txn& txn, uint32_t generation, std::string_view name, const NodeTerms& terms) const;
  /// Puts into force what the file says of some pools, from index `from` on; returns where to go on, or none.
  std::optional<uint32_t> bring_up_to_date(Txn& txn, uint32_t from, int64_t now_ms) const;
  /// Removes pools that are no longer defined, some at a time in the same way.
  std::optional<uint32_t> remove_old(Txn& txn, uint32_t from) const;

 private:
  void set_block(Txn& txn, uint32_t pool, uint32_t reason, bool on) const;
  void add_leased(Txn& txn, uint32_t pool, uint32_t more, uint32_t less) const;
  void set_timer(Txn& txn, uint32_t pool) const;
  void join(Txn& txn, uint32_t node, uint32_t pool) const;
  void leave(Txn& txn, uint32_t node, uint32_t pool) const;
  Opened<Lane> members_of(Txn& txn, uint32_t pool) const;
  void set_leased(Txn& txn, uint32_t member, uint32_t pool, uint32_t leased) const;
  uint32_t nearest_of(uint32_t node, uint32_t pool) const;

  const Region& region_;
  PoolSets sets_;
  LinearHash<PoolIndexKind> index_;
};

}  // namespace fq
