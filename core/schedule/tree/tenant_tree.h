// tenant_tree - the nodes by their path: found, made when first pushed to, forgotten when idle.
//
// Finding one is a keyed hash and a compare, or the compare alone where a hint tells where it was. A node is
// made with its parents; a leaf that gets a child becomes inner, and when it has messages of its own a new
// inner node takes its place and it becomes the self child of that: its messages keep their tenant. A leaf
// without messages, children and anything that was set for it is looked at by a timer and forgotten after
// kIdleMs, with the parents that it leaves childless.
#pragma once

// System.
#include <span>
#include <string>
#include <string_view>
// fq, this room.
#include "core/schedule/rings/gathering.h"
#include "core/schedule/tree/rules.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {

struct TenantIndexKind : IndexKind<&ScheduleRoot::tenant_buckets, &ScheduleRoot::tenant_bucket_count,
                                   &ScheduleRoot::tenants, 1> {
  static uint64_t hash_of(const Tenant& tenant) { return tenant.hash; }
};

class TenantTree {
 public:
  explicit TenantTree(const Region& region) : region_(region), index_(TenantIndexKind{&region}) {}

  void make_root(Txn& txn) const;
  /// The node of this path, kNoIndex when there is none. The empty path is the root.
  uint32_t find(std::string_view path) const;
  /// The leaf that holds the messages of this path; makes what is missing. At most 8 new nodes.
  uint32_t leaf_of(Txn& txn, std::string_view path) const;
  std::string path_of(uint32_t tenant) const;
  /// The same without allocating.
  std::string_view path_copy(uint32_t tenant, std::span<char, kTextBytesMax> into) const;
  bool is_below(uint32_t tenant, uint32_t ancestor) const;
  /// True when it or a node above it is parked, or in a pool that lacks room.
  bool is_blocked(uint32_t tenant) const;
  /// True when a node above it is paused.
  bool is_below_paused(uint32_t tenant) const;

  /// Changes what was set for it at run time.
  void set(Txn& txn, uint32_t tenant, const NodePatch& patch, int64_t now_ms) const;
  /// Finds out what holds for it now, and sees that it does.
  void bring_up_to_date(Txn& txn, uint32_t tenant, int64_t now_ms) const;

  /// No messages, no node below it, and nothing blocks it.
  static bool has_nothing(const Tenant& tenant);
  /// Sets the clean-up timer when it has nothing and has no timer.
  void note_idle(Txn& txn, uint32_t tenant, int64_t now_ms) const;
  /// A timer of this tenant is due: frees it, forgets it, or looks again later.
  void fire(Txn& txn, uint32_t tenant, int64_t now_ms) const;

 private:
  bool has_path(uint32_t tenant, std::string_view path) const;
  uint32_t find_hashed(std::string_view path, uint64_t hash) const;
  uint64_t hash_of(std::string_view path) const;
  uint32_t make(Txn& txn, uint32_t parent, uint8_t flags) const;
  uint32_t make_named(Txn& txn, uint32_t parent, std::string_view path, bool inner) const;
  uint32_t make_inner(Txn& txn, uint32_t leaf) const;
  uint32_t own_leaf(Txn& txn, uint32_t node) const;
  void forget(Txn& txn, uint32_t tenant, int64_t now_ms) const;

  // Made where they are needed: a search for a tenant needs none.
  Seats seats() const { return Seats(region_); }
  Limits limits() const { return Limits(region_); }
  Gathering gathering() const { return Gathering(region_); }
  Rules rules() const { return Rules(region_); }

  const Region& region_;
  LinearHash<TenantIndexKind> index_;
};

}  // namespace fq
