#include "cli/views/stats/tenant_table.h"

// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/views/stats/stats_text.h"

namespace fq::cli {

namespace {

constexpr size_t kShareColumns = 10;

}  // namespace

TenantTable::TenantTable(const Screen& screen, bool several_queues)
    : screen_(screen), table_({queue, tenant, picture, state}) {
  table_.right({oldest, due, got, p50, p99});
  table_.spare(several_queues
                   ? std::vector<size_t>{p50, delayed, p99, picture, due, held, leased, got, dead, oldest}
                   : std::vector<size_t>{p50, delayed, p99, queue, picture, due, held, leased, dead, got});
  table_.shorten({queue, tenant}, name_columns(screen.columns, several_queues));
  table_.row({"QUEUE", "TENANT", "READY", "DELAYED", "HELD", "LEASED", "DEAD", "OLDEST", "SHARE", "SERVED",
              "", "WAIT P50", "P99", "STATE"});
  table_.paint_row(kHeading);
}

void TenantTable::add(const std::string& of, const StatsRow& row) {
  table_.row({shown(of), shown(row.tenant), std::to_string(row.ready), std::to_string(row.delayed),
              std::to_string(row.held), std::to_string(row.leased), std::to_string(row.dead),
              age_text(row.oldest_ready_s), percent_text(row.share), percent_text(row.served_share),
              bar(row.served_share.value_or(0), kShareColumns, screen_.utf8), wait_text(row.wait_ms.p50),
              wait_text(row.wait_ms.p99), std::string(row.blocked ? name_of(*row.blocked) : "")});
  if (row.dead > 0) table_.paint(dead, kBad);
  if (row.blocked) table_.paint(tenant, kWaiting);
  if (row.blocked) table_.paint(state, kWaiting);
  table_.paint(picture, kGood);
  any_held_ = any_held_ || row.held > 0;
  any_blocked_ = any_blocked_ || row.blocked;
}

std::vector<std::string> TenantTable::lines() {
  // Most queues have none of these ever, and columns are dear.
  std::vector<size_t> empty;
  if (!any_held_) empty.push_back(held);
  if (!any_blocked_) empty.push_back(state);
  table_.hide(std::move(empty));
  return table_.lines(screen_);
}

}  // namespace fq::cli
