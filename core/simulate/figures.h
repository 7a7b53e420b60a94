// figures - the results of a simulation: the waits of each tenant's messages, and its share of the turns
// beside its entitlement.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq {

struct WaitFigures {
  int64_t p50_ms = 0, p99_ms = 0, max_ms = 0;
};

struct TenantFigures {
  std::string tenant;
  uint64_t count = 0;               // messages whose wait counts
  std::optional<WaitFigures> wait;  // from ready to the first delivery; none without a message
  int64_t run_ms = 0;
  std::optional<double> share, entitled;  // parts of all; none where nothing was taken
};

struct Report {
  std::vector<TenantFigures> tenants;  // by name
  TenantFigures all;
  std::optional<double> jain;  // of what each got in parts of its entitlement; none with fewer than two
  uint64_t refused = 0;        // pushes, by limits on what may be held
  uint64_t left = 0;           // messages that wait at the end, since nothing ever lets them start
};

class Figures {
 public:
  explicit Figures(size_t tenants) : tenants_(tenants) {}

  void note_wait(uint32_t tenant, int64_t wait_ms) { tenants_[tenant].waits_ms.push_back(wait_ms); }
  void note_run(uint32_t tenant, int64_t run_ms) { tenants_[tenant].run_ms += run_ms; }
  /// In the unit of what a turn costs.
  void note_served(uint32_t tenant, double cost) { tenants_[tenant].served += cost; }
  void note_owed(uint32_t tenant, double cost) { tenants_[tenant].owed += cost; }

  /// Sorts what was noted. `names`: of each tenant, by number.
  Report report(const std::vector<std::string>& names);

 private:
  struct Noted {
    std::vector<int64_t> waits_ms;
    int64_t run_ms = 0;
    double served = 0, owed = 0;
  };
  std::optional<double> jain() const;

  std::vector<Noted> tenants_;
};

}  // namespace fq
