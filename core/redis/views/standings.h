// standings - how tenants stand beside each other: the part of the turns that each is entitled to, what it
// was given lately, and what is in its way.
//
// Of each tenant a shard tells its weights, see core/redis/lua/turns/standing.lua; what that makes depends on
// those of all tenants that have something, in all shards.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
// fq, this room.
#include "core/api/stats.h"
#include "core/redis/wire/reply.h"

namespace fq {

class Standings {
 public:
  /// As the server tells it, at its time.
  void add(std::string_view tenant, const Reply& stands, int64_t now_ms);
  /// That, and a row of it, to be had at the end.
  void add(StatsRow row, const Reply& stands, int64_t now_ms);

  /// After the last one: of all together.
  void tell(StatsRow& queue);
  /// By path.
  std::vector<StatsRow> take_rows();

 private:
  struct Standing {
    std::string tenant;
    std::vector<double> weights;  // from its own messages on to below the root; 0: does not sit there
    double served = 0;
    std::optional<double> waits_s;  // none: nothing is ready
    std::optional<Reason::Kind> blocked;
    bool is_parked() const { return waits_s && blocked; }
    bool is_seated() const { return !weights.empty() && weights[0] > 0; }
  };
  /// Where each of its weights counts, from the first to the last.
  template <class Visit>
  static void each_seat(const Standing& standing, Visit visit);
  void sum_weights();
  std::optional<double> jain();
  double share_of(const Standing& standing) const;

  std::vector<Standing> all_;
  struct Row {
    StatsRow told;
    size_t at;  // in all_
  };
  std::vector<Row> rows_;
  std::unordered_map<std::string, double>
      ring_weights_;  // by the node whose ring it is; empty: not summed yet
  std::optional<double> oldest_s_;
  uint64_t parked_ = 0;
};

}  // namespace fq
