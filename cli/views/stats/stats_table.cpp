// stats_table - queues and tenants for a person: the messages that wait, the rates, the shares.

// System.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
// fq, below us.
#include "core/base/text/duration.h"
#include "core/base/text/size.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/views/stats/stats_text.h"
#include "cli/views/stats/stats_view.h"
#include "cli/terminal/table.h"
#include "cli/views/stats/tenant_table.h"

namespace fq::cli {

namespace {

constexpr StatsCount kGauges[] = {
    {"ready", &StatsRow::ready, "Messages that can be served or whose tenant is parked."},
    {"delayed", &StatsRow::delayed, "Messages that are not due yet."},
    {"leased", &StatsRow::leased, "Messages that somebody holds."},
    {"held", &StatsRow::held, "Messages that wait for others."},
    {"dead", &StatsRow::dead, "Dead messages, buried or expired."},
    {"tenants", &StatsRow::tenants, "Tenants that are known."},
    {"active_tenants", &StatsRow::active_tenants, "Tenants with something ready."},
    {"parked_tenants", &StatsRow::parked_tenants, "Tenants with something ready that may not be served now."},
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

/// A queue, or a tenant of it.
struct NamedRow {
  const std::string* queue;
  const StatsRow* row;
};

std::string state_text(const StatsRow& queue) {
  if (queue.paused && queue.draining) return "paused, draining";
  return queue.paused ? "paused" : queue.draining ? "draining" : "";
}

std::vector<std::string> queue_lines(const std::vector<NamedRow>& rows, const Screen& screen) {
  enum Column : size_t {
    queue,
    ready,
    delayed,
    held,
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
    journal,
    state
  };
  Table table({queue, waits, state});
  table.right({in, out, oldest, p50, p99, journal});
  table.spare({journal, tenants, fair, delayed, in, p50, out, waits, held, leased, p99, oldest, dead});
  table.shorten({queue}, name_columns(screen.columns, false));
  table.row({"QUEUE", "READY", "DELAYED", "HELD", "LEASED", "DEAD", "TENANTS", "IN/S", "OUT/S", "OLDEST",
             "WAIT P50", "P99", "WAITS", "FAIR", "JOURNAL", "STATE"});
  table.paint_row(kHeading);
  bool any_held = false, any_state = false;
  for (const auto& [name, each] : rows) {
    const StatsRow& row = *each;
    table.row({shown(*name), std::to_string(row.ready), std::to_string(row.delayed), std::to_string(row.held),
               std::to_string(row.leased), std::to_string(row.dead), std::to_string(row.tenants),
               rate_text(row.pushed_per_s), rate_text(row.acked_per_s), age_text(row.oldest_ready_s),
               wait_text(row.wait_ms.p50), wait_text(row.wait_ms.p99), waits_text(row.wait_ms, screen.utf8),
               index_text(row.jain), row.journal_bytes ? format_size(*row.journal_bytes) : "-",
               state_text(row)});
    if (row.dead > 0) table.paint(dead, kBad);
    table.paint(waits, kGood);
    table.paint(state, kWaiting);
    any_held = any_held || row.held > 0;
    any_state = any_state || row.paused || row.draining;
  }
  std::vector<size_t> empty;
  if (!any_held) empty.push_back(held);
  if (!any_state) empty.push_back(state);
  table.hide(std::move(empty));
  return table.lines(screen);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

/// The line for those that are not shown.
std::string rest_text(std::span<const NamedRow> rest, std::string_view what, const Screen& screen) {
  if (rest.empty()) return "";
  uint64_t ready = 0, leased = 0, dead = 0, delayed = 0, held = 0;
  for (const auto& [name, row] : rest) {
    ready += row->ready, leased += row->leased, dead += row->dead;
    delayed += row->delayed, held += row->held;
  }
  std::string text = "and " + std::to_string(rest.size()) + " more";
  text.append(what).append(": ").append(std::to_string(ready)).append(" ready, ");
  text += std::to_string(leased) + " leased, " + std::to_string(dead) + " dead";
  if (delayed > 0) text += ", " + std::to_string(delayed) + " delayed";
  if (held > 0) text += ", " + std::to_string(held) + " held";
  return cut_middle(text, screen.columns) + "\n";
}

/// What there is to do about it: dead ones, ready ones, others, nothing.
int urgency(const StatsRow& row) {
  if (row.dead > 0) return 0;
  if (row.ready > 0) return 1;
  return row.leased + row.delayed + row.held > 0 ? 2 : 3;
}

std::string queues_table(const std::vector<QueueStats>& queues, const Screen& screen, size_t lines) {
  std::vector<NamedRow> rows;
  for (const QueueStats& each : queues) {
    for (const StatsRow& row : each.stats.rows) rows.push_back({&each.queue, &row});
  }
  size_t shown = rows.size();
  if (rows.size() >= lines) {
    shown = std::max<size_t>(lines, 3) - 2;  // the heading, and what is not shown
    std::stable_sort(rows.begin(), rows.end(),
                     [](const NamedRow& a, const NamedRow& b) { return urgency(*a.row) < urgency(*b.row); });
  }
  const std::span<const NamedRow> rest = std::span(rows).subspan(shown);
  const std::string below = rest_text(rest, " queues", screen);
  rows.resize(shown);
  return joined(queue_lines(rows, screen)) + below;
}

/// The heading, so many tenants, and a line for the others.
std::string tenants_table(const QueueStats& of, bool several_queues, const Screen& screen, size_t tenants) {
  std::vector<NamedRow> rows;
  rows.reserve(of.stats.rows.size());
  for (const StatsRow& row : of.stats.rows) rows.push_back({&of.queue, &row});
  const size_t shown = std::min(rows.size(), tenants);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                    [](const NamedRow& a, const NamedRow& b) { return waits_longer(*a.row, *b.row); });
  TenantTable table(screen, several_queues);
  for (const auto& [queue, row] : std::span(rows).first(shown)) table.add(*queue, *row);
  return joined(table.lines()) + rest_text(std::span(rows).subspan(shown), "", screen);
}

size_t lines_with(const QueueStats& of, size_t tenants) {
  const size_t rows = of.stats.rows.size();
  return rows <= tenants ? 1 + rows : tenants + 2;
}

/// Of each queue as many tenants as there is room for; where that is none, of some queues only.
std::string tenants_tables(const std::vector<QueueStats>& queues, const Screen& screen, size_t lines) {
  std::vector<const QueueStats*> shown;
  for (const QueueStats& queue : queues) {
    if (!queue.stats.rows.empty()) shown.push_back(&queue);
  }
  const auto lines_of = [&](size_t tenants) {
    size_t all = shown.empty() ? 0 : shown.size() - 1;  // blank ones
    for (const QueueStats* queue : shown) all += lines_with(*queue, tenants);
    return all;
  };
  size_t tenants = kTenantsShown;
  while (tenants > 1 && lines_of(tenants) > lines) --tenants;
  std::vector<NamedRow> rest;
  while (shown.size() > 1 && lines_of(tenants) + (rest.empty() ? 0 : 1) > lines) {
    for (const StatsRow& row : shown.back()->stats.rows) rest.push_back({&shown.back()->queue, &row});
    shown.pop_back();
  }
  std::string text;
  for (const QueueStats* queue : shown)
    text.append(text.empty() ? "" : "\n").append(tenants_table(*queue, queues.size() > 1, screen, tenants));
  return text + rest_text(rest, " of other queues", screen);
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

std::string stats_table(const std::vector<QueueStats>& queues, bool tenants, const Screen& screen,
                        size_t lines) {
  if (queues.empty()) return "";
  return tenants ? tenants_tables(queues, screen, lines) : queues_table(queues, screen, lines);
}

}  // namespace fq::cli
