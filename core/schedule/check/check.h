// check - the walk behind schedule_faults. Only check.cpp includes this; callers use faults.h.
#pragma once

// System.
#include <array>
#include <string>
#include <vector>
// fq, this room.
#include "core/schedule/memory/id_index.h"
#include "core/schedule/check/faults.h"
#include "core/schedule/tree/rules.h"
#include "core/schedule/states/state.h"

namespace fq {

class Checker {
 public:
  explicit Checker(const Schedule& schedule);
  std::vector<std::string> run();

 private:
  static constexpr size_t kFaultsMax = 100;  // more are of no help

  struct Sums {
    std::array<uint32_t, 6> of_state{};
    uint64_t bytes = 0;
  };

  void fault(const std::string& what);
  void expect(bool holds, const char* what, uint32_t index);
  void check_capacities();
  template <class Array>
  void check_capacity(const Array& array, const char* what);
  void check_supplies();
  void check_entries();
  void add_charge(const Entry& entry);
  void check_tenants();
  void check_node(uint32_t i, const Tenant& tenant);
  void check_ring(uint32_t i, const Tenant& tenant);
  void check_messages(uint32_t i, const Tenant& tenant);
  template <class Kind>
  void check_lane(Kind kind, const Lane& lane, uint32_t owner);
  template <class Kind>
  uint32_t check_tree(Kind kind, uint32_t i, uint32_t depth, uint32_t& count, uint32_t owner);
  void check_keys();
  void check_waits();
  void check_timetable();
  void check_steps(uint32_t slot, const Entry& entry);
  void check_heap();
  void check_holders();
  void check_controls();
  void check_blocks(uint32_t i, const Tenant& tenant);
  void check_outcomes();
  void check_rules();
  void check_pools();
  void count_of_pools();
  void check_pool(uint32_t i, const Pool& pool);
  void check_members(const Pool& pool, uint32_t i);
  void check_sets(uint32_t seat);
  void add_to_those_above();
  template <class Kind>
  uint64_t check_index(Kind kind, const char* what);
  void check_indexes();
  void check_dead();
  void check_sums();

  const Schedule& schedule_;
  const Region& region_;
  std::vector<std::string> faults_;
  // The counts of the walks, to be compared with those of the root.
  std::vector<Sums> tenant_sums_;  // of a node and all below it
  std::vector<uint32_t> pool_leases_, pool_members_;
  std::vector<uint64_t> charges_;        // ticks of what runs below the node
  std::vector<uint32_t> member_leases_;  // of the node that is the nearest member
  uint64_t used_entries_ = 0, used_tenants_ = 0, used_controls_ = 0, named_ = 0, leaves_ = 0, active_ = 0,
           parked_ = 0;
  std::array<uint64_t, 6> of_all_{};
  uint64_t all_bytes_ = 0, journal_bytes_ = 0, setting_bytes_ = 0, dead_bytes_ = 0, timers_ = 0, held_ = 0,
           text_cells_ = 0, returning_ = 0, extras_ = 0, steps_ = 0;
};

}  // namespace fq
