// tenant_survey - one walk over all tenants: the age of their oldest messages, the entitlement of each, and
// its service.
//
// Under the lock a page of nodes is copied as it lies there, into room that was made before; all else is done
// behind it. So the lock is held for some ten microseconds at a time, however many tenants there are. A
// change between two pages may be seen half: counts of one tenant are of one moment, those of two are not.
#pragma once

// System.
#include <array>
#include <memory>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
#include "core/schedule/schedule.h"

namespace fq {

class TenantSurvey {
 public:
  /// `rows`: also a StatsRow a tenant, of those at or below the path `below` ("": all).
  TenantSurvey(bool rows, std::string_view below);
  ~TenantSurvey();

  /// Copies the next page. Needs: the lock. Allocates nothing; may be repeated before digest().
  void look(const Schedule& schedule, int64_t now_ms);
  /// Behind the lock: takes in what was copied; returns whether there is more to look at.
  bool digest();

  /// After the last page. Service above one tenant's entitlement is another's loss: Jain's index over the
  /// recent service of each active tenant, in parts of its entitlement; none with fewer than two, or where
  /// nothing was given.
  std::optional<double> jain();
  std::optional<double> oldest_ready_s() const;
  /// Tenants that have something ready and may not be served now, whatever above them is in the way.
  uint64_t parked() const { return parked_; }
  /// By path.
  std::vector<StatsRow> take_rows();

 private:
  struct Page;
  struct Node {
    uint32_t parent = kNoIndex;
    uint32_t weight_milli = 0;
    uint32_t served = 0;
    bool leaf = false;
    bool seated = false;
    bool waits = false;    // leaf: something is ready
    bool counted = false;  // in its ring's weights
    uint8_t blocks = 0;    // kBlock..., kFull...; of a leaf after the last page: with those above it
  };
  void take_in(uint32_t i);
  void find_parked();
  void sum_weights();
  void sort_rows();
  double share_of(uint32_t index) const;

  const bool wants_rows_;
  const std::string below_;
  std::unique_ptr<Page> page_;
  std::vector<Node> nodes_;             // by index
  std::vector<uint64_t> ring_weights_;  // by the node whose ring it is; empty: not summed yet
  std::vector<StatsRow> rows_;
  std::vector<uint32_t> indices_;  // of the nodes that they are of
  int64_t oldest_ms_ = kNever;
  int64_t now_ms_ = 0;
  uint64_t parked_ = 0;
};

}  // namespace fq
