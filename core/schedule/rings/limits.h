// limits - the limits of a node, and what a start or an end changes about them.
//
// A node that is at one of its limits is blocked: it and all below it leave their rings until the event that
// frees it, so that a search for the next turn never meets a blocked node. Concurrency is counted by the
// leases themselves (T2 in tenant.h), a rate is a bucket (bucket.h). A message that a pool has no room for is
// passed over (pool.h).
//
// Invariants
//  B1  A node is blocked by kBlockConcurrency if and only if its leases have reached its concurrency.
//  B2  A node or pool that a rate blocks has a timer.
#pragma once

// fq, this room.
#include "core/schedule/rings/pools.h"
#include "core/schedule/rings/seats.h"

namespace fq {

class Limits {
 public:
  explicit Limits(const Region& region) : region_(region), seats_(region), pools_(region) {}

  /// A message of this leaf has started: its nodes pay for it, and those that have reached a limit are
  /// blocked. At most two steps a level.
  void started(Txn& txn, uint32_t leaf, int64_t now_ms) const;
  /// A lease of this leaf has ended: the nodes that were blocked until then are free.
  void ended(Txn& txn, uint32_t leaf) const;
  /// Frees what time has freed. Needs: the node has no timer; sets the next one.
  void fire(Txn& txn, uint32_t node, int64_t now_ms) const;
  /// Sets its timer to the time that frees it next. A node that is blocked by no time keeps the timer that it
  /// has.
  void set_timer(Txn& txn, uint32_t node) const;

  /// Changes what was set at run time. Needs: room for a Control and for the pool's name.
  void set(Txn& txn, uint32_t node, const NodePatch& patch) const;
  /// Puts into force what the file (`from_file`) and the run time say of this node. Needs: room for a
  /// Control.
  void bring_up_to_date(Txn& txn, uint32_t node, const NodeTerms& from_file, int64_t now_ms) const;

  /// Whether forgetting it would lose something: what was set, or how empty its bucket is.
  bool is_needed(const Tenant& tenant, int64_t now_ms) const;
  /// Something was set for it at run time.
  bool is_set(const Tenant& tenant) const;
  /// `to` gets what `from` had, which has the same path.
  void move(Txn& txn, uint32_t from, uint32_t to) const;
  void remove(Txn& txn, Tenant& tenant) const;

 private:
  Control& make(Txn& txn, uint32_t node) const;
  bool is_at_concurrency(uint32_t node, const Control& control) const;
  void assign_pool(Txn& txn, uint32_t node, const NodeTerms& terms) const;

  const Region& region_;
  Seats seats_;
  Pools pools_;
};

}  // namespace fq
