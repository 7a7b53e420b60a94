// tenant_table - tenants of queues for a person, as fq stats and fq top show them.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/terminal/screen.h"
#include "cli/terminal/table.h"

namespace fq::cli {

class TenantTable {
 public:
  /// `several_queues`: each tenant's queue is told on the narrowest screen too.
  TenantTable(const Screen& screen, bool several_queues);

  void add(const std::string& queue, const StatsRow& row);
  /// The one that was added last.
  void choose() { table_.paint_row(kChosen); }
  /// The heading, then a line each.
  std::vector<std::string> lines();

 private:
  enum Column : size_t {
    queue,
    tenant,
    ready,
    delayed,
    held,
    leased,
    dead,
    oldest,
    due,
    got,
    picture,
    p50,
    p99,
    state
  };

  const Screen screen_;
  Table table_;
  bool any_held_ = false, any_blocked_ = false;
};

}  // namespace fq::cli
