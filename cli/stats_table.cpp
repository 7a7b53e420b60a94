// stats_table - queues and tenants for a person: what waits, how fast it goes, who gets how much.

// System.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
// fq, below us.
#include "core/base/duration.h"
#include "core/base/size.h"
// fq, this room.
#include "cli/output.h"
#include "cli/stats_text.h"
#include "cli/stats_view.h"
#include "cli/table.h"

namespace fq::cli {

namespace {

constexpr StatsCount kGauges[] = {
    {"ready", &StatsRow::ready, "Messages that can be served or whose tenant is parked."},
    {"delayed", &StatsRow::delayed, "Messages that are not due yet."},
    {"leased", &StatsRow::leased, "Messages that somebody holds."},
    {"held", &StatsRow::held, "Messages that wait for others."},
    {"dead", &StatsRow::dead, "Buried messages."},
    {"tenants", &StatsRow::tenants, "Tenants that are known."},
    {"active_tenants", &StatsRow::active_tenants, "Tenants with something ready."},
    {"parked_tenants", &StatsRow::parked_tenants, "Tenants that have messages but may not be served now."},
};
constexpr StatsCount kCounters[] = {
    {"pushed", &StatsRow::pushed, "Messages accepted."},
    {"popped", &StatsRow::popped, "Deliveries of any kind."},
    {"acked", &StatsRow::acked, "Messages acked."},
    {"retried", &StatsRow::retried, "Messages given back, counted as an attempt."},
    {"released", &StatsRow::released, "Messages given back, not counted."},
    {"buried", &StatsRow::buried, "Messages buried."},
    {"expired", &StatsRow::expired, "Messages whose time to live ran out."},
    {"cancelled", &StatsRow::cancelled, "Messages cancelled."},
};

constexpr size_t kTenantsShown = 20;  // of each queue; --json tells of all
constexpr size_t kNarrowTable = 60;   // columns of a screen below which names are cut sooner
constexpr size_t kShareColumns = 10;

std::string queues_table(const std::vector<QueueStats>& queues, const Screen& screen) {
  enum Column {
    queue,
    ready,
    delayed,
    leased,
    dead,
    tenants,
    in,
    out,
    oldest,
    p50,
    p99,
    waits,
    fair,
    journal
  };
  Table table({queue, waits});
  table.right({in, out, oldest, p50, p99, journal});
  table.spare({journal, tenants, fair, delayed, in, p50, out, waits, leased, p99});
  table.row({"QUEUE", "READY", "DELAYED", "LEASED", "DEAD", "TENANTS", "IN/S", "OUT/S", "OLDEST", "WAIT P50",
             "P99", "WAITS", "FAIR", "JOURNAL"});
  table.paint_row(kHeading);
  const size_t name_columns = screen.columns < kNarrowTable ? 12 : 64;
  for (const QueueStats& each : queues) {
    for (const StatsRow& row : each.stats.rows) {
      table.row({shown_short(each.queue, name_columns), std::to_string(row.ready),
                 std::to_string(row.delayed), std::to_string(row.leased), std::to_string(row.dead),
                 std::to_string(row.tenants), rate_text(row.pushed_per_s), rate_text(row.acked_per_s),
                 age_text(row.oldest_ready_s), wait_text(row.wait_ms.p50), wait_text(row.wait_ms.p99),
                 waits_text(row.wait_ms, screen.utf8), index_text(row.jain), format_size(row.journal_bytes)});
      if (row.dead > 0) table.paint(dead, kBad);
      table.paint(waits, kGood);
    }
  }
  return table.text(screen);
}

struct Rest {
  size_t tenants = 0;
  uint64_t ready = 0, leased = 0, dead = 0;
};

/// The line for those that are not shown.
std::string rest_text(const Rest& rest) {
  std::string text = "and " + std::to_string(rest.tenants) + " more: " + std::to_string(rest.ready);
  text += " ready, " + std::to_string(rest.leased) + " leased, " + std::to_string(rest.dead) + " dead";
  return text + "\n";
}

std::string tenants_table(const QueueStats& of, bool several_queues, const Screen& screen) {
  std::vector<const StatsRow*> rows;
  rows.reserve(of.stats.rows.size());
  for (const StatsRow& row : of.stats.rows) rows.push_back(&row);
  const size_t shown = std::min(rows.size(), kTenantsShown);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                    [](const StatsRow* a, const StatsRow* b) { return waits_longer(*a, *b); });
  enum Column { queue, tenant, ready, delayed, leased, dead, oldest, due, got, picture, p50, p99 };
  Table table({queue, tenant, picture});
  table.right({oldest, due, got, p50, p99});
  // Whose tenants they are is never left out where there are those of other queues.
  table.spare(several_queues ? std::vector<size_t>{p50, delayed, p99, picture, due, leased, got, dead, oldest}
                             : std::vector<size_t>{p50, delayed, p99, queue, picture, due, leased, dead});
  table.row({"QUEUE", "TENANT", "READY", "DELAYED", "LEASED", "DEAD", "OLDEST", "SHARE", "SERVED", "",
             "WAIT P50", "P99"});
  table.paint_row(kHeading);
  const size_t name_width = name_columns(screen.columns, several_queues);
  Rest rest;
  for (size_t i = 0; i < rows.size(); ++i) {
    const StatsRow& row = *rows[i];
    if (i >= shown) {
      ++rest.tenants, rest.ready += row.ready, rest.leased += row.leased, rest.dead += row.dead;
      continue;
    }
    table.row({name_text(of.queue, name_width), name_text(row.tenant, name_width), std::to_string(row.ready),
               std::to_string(row.delayed), std::to_string(row.leased), std::to_string(row.dead),
               age_text(row.oldest_ready_s), percent_text(row.share), percent_text(row.served_share),
               bar(row.served_share.value_or(0), kShareColumns, screen.utf8), wait_text(row.wait_ms.p50),
               wait_text(row.wait_ms.p99)});
    if (row.dead > 0) table.paint(dead, kBad);
    if (row.parked_tenants > 0) table.paint(tenant, kWaiting);
    table.paint(picture, kGood);
  }
  return table.text(screen) + (rest.tenants > 0 ? rest_text(rest) : "");
}

}  // namespace

std::span<const StatsCount> stats_gauges() { return kGauges; }
std::span<const StatsCount> stats_counters() { return kCounters; }

bool waits_longer(const StatsRow& a, const StatsRow& b) {
  const double of_a = a.oldest_ready_s.value_or(-1), of_b = b.oldest_ready_s.value_or(-1);
  if (of_a != of_b) return of_a > of_b;
  if (a.ready != b.ready) return a.ready > b.ready;
  if (a.leased != b.leased) return a.leased > b.leased;
  return a.tenant < b.tenant;
}

std::string stats_table(const std::vector<QueueStats>& queues, bool tenants, const Screen& screen) {
  if (queues.empty()) return "";
  if (!tenants) return queues_table(queues, screen);
  std::string text;
  for (const QueueStats& queue : queues) {
    if (!text.empty() && !queue.stats.rows.empty()) text += "\n";
    if (!queue.stats.rows.empty()) text += tenants_table(queue, queues.size() > 1, screen);
  }
  return text;
}

}  // namespace fq::cli
