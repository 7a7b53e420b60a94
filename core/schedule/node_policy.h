// node_policy - the policy of nodes, as set at run time and by the policy file.
//
// Three layers say something of a node: the rules and pools of the file, the values set for it at run time,
// and the queue's terms for all. A file is loaded beside the one in force (add_rule, add_pool), is put into
// force by one store (make_rules_hold), and then the nodes follow, some at a time, before the old one is
// removed.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
// fq, this room.
#include "core/schedule/memory/terms.h"
#include "core/schedule/rings/pools.h"
#include "core/schedule/tree/rules.h"

namespace fq {

class NodePolicy {
 public:
  explicit NodePolicy(const Region& region) : region_(region) {}

  /// Changes what was set at run time for the node of this path ("" is the whole queue), made where it is
  /// missing. At most 24 steps. Needs: room for Growth::need_of_setting(path, patch).
  void set(Txn& txn, std::string_view path, const NodePatch& patch, int64_t now_ms) const;
  /// The next values set at run time, of nodes from `from` on and before `end`, in index order; none: there
  /// are no more.
  struct Setting {
    TenantIndex node;
    std::string path;
    PolicyValues values;  // `limited` as boot time
  };
  std::optional<Setting> next_setting(TenantIndex from, uint32_t end) const;
  std::optional<Setting> setting_of(TenantIndex node) const;

  /// Behind the last rule or pool.
  uint32_t rules_end() const;
  void sum_up_rules(uint32_t from, uint32_t to, RuleSummary& summary) const {
    Rules(region_).sum_up(from, to, summary);
  }
  /// A generation that nothing has. Needs: the summary of all.
  uint32_t new_rules(const RuleSummary& summary) const;
  /// Needs: room for Growth::need_of_rule(pattern, values).
  void add_rule(Txn& txn, uint32_t generation, uint32_t rank, std::string_view pattern,
                const NodePatch& values) const {
    Rules(region_).add(txn, generation, rank, pattern, values);
  }
  /// Needs: room for Growth::need_of_pool(name).
  void add_pool(Txn& txn, uint32_t generation, std::string_view name, const NodePatch& values) const {
    Pools(region_).add(txn, generation, name, values.set);
  }
  /// 0: none. Needs: the summary of all, these among them.
  void make_rules_hold(Txn& txn, uint32_t generation, const RuleSummary& summary) const {
    Rules(region_).make_current(txn, generation, summary);
  }
  /// Each of these does some from index `from` on and returns where to go on, or none at the end. Pools and
  /// then nodes get the values that hold now; rules and pools that do not hold are removed after that.
  std::optional<uint32_t> bring_pools_up_to_date(Txn& txn, uint32_t from, int64_t now_ms) const {
    return Pools(region_).bring_up_to_date(txn, from, now_ms);
  }
  std::optional<TenantIndex> bring_up_to_date(Txn& txn, TenantIndex from, int64_t now_ms) const;
  std::optional<uint32_t> remove_old_rules(Txn& txn, uint32_t from) const {
    return Rules(region_).remove_old(txn, from);
  }
  std::optional<uint32_t> remove_old_pools(Txn& txn, uint32_t from) const {
    return Pools(region_).remove_old(txn, from);
  }

  /// Sets the queue's terms for all its turns. One step; the nodes follow as Timers::fire comes to them.
  void set_terms(Txn& txn, const Terms& terms) const { store_terms(txn, region_.root, terms); }
  /// For Timers: some of the nodes that are behind the terms follow.
  void follow_terms(Txn& txn, int64_t now_ms) const;

  /// Some rate has tokens to come: how many, only these bytes tell.
  bool is_any_bucket_filling(int64_t now_ms) const;

  /// The messages and bytes that a node and all below it hold (dead messages do not count), and their limits.
  struct Holding {
    uint64_t messages = 0, bytes = 0;
    uint64_t messages_max = UINT64_MAX, bytes_max = UINT64_MAX;
  };
  /// Also of a node that is not there yet.
  Holding holding_of(std::string_view path) const;
  /// Whether any node may hold only so much.
  bool is_capped() const { return region_.root.capped.peek() != 0; }

 private:
  const Region& region_;
};

}  // namespace fq
