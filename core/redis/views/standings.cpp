#include "core/redis/views/standings.h"

// System.
#include <algorithm>
#include <unordered_set>
// fq, below us.
#include "core/base/jain.h"
#include "core/base/text/decimal.h"

namespace fq {

namespace {

/// The one that is told of several.
std::optional<Reason::Kind> first_reason(const Reply& kinds) {
  std::optional<Reason::Kind> first;
  for (const Reply& each : kinds.items) {
    const std::optional<Reason::Kind> kind = reason_named(each.text);
    if (kind && (!first || *kind < *first)) first = kind;
  }
  return first;
}

std::string_view parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

void Standings::add(std::string_view tenant, const Reply& stands, int64_t now_ms) {
  Standing& standing = all_.emplace_back();
  standing.tenant = tenant;
  for (const Reply& each : stands.at(1).items) standing.weights.push_back(static_cast<double>(each.number));
  standing.served = static_cast<double>(parse_decimal(stands.at(2).text).value_or(0));
  standing.blocked = first_reason(stands.at(0));
  const std::optional<uint64_t> since_ms = parse_decimal(stands.at(3).text);
  if (!since_ms) return;  // nothing waits
  const auto now = static_cast<uint64_t>(std::max<int64_t>(0, now_ms));
  standing.waits_s = static_cast<double>(now - std::min(now, *since_ms)) / 1000;
  oldest_s_ = std::max(oldest_s_.value_or(0), *standing.waits_s);
  parked_ += standing.is_parked() ? 1U : 0U;
}

void Standings::add(StatsRow row, const Reply& stands, int64_t now_ms) {
  add(row.tenant, stands, now_ms);
  rows_.push_back({std::move(row), all_.size() - 1});
}

template <class Visit>
void Standings::each_seat(const Standing& standing, Visit visit) {
  std::string_view path = standing.tenant;
  const auto levels = static_cast<size_t>(std::count(path.begin(), path.end(), '/')) + 1;
  // Beside nobody its own messages have no weight of their own.
  if (standing.weights.size() > levels && !visit(std::string(path) + "/", path, standing.weights[0])) return;
  const size_t first = standing.weights.size() > levels ? 1 : 0;
  for (size_t i = first; i < std::min(standing.weights.size(), first + levels); ++i) {
    const std::string_view parent = parent_of(path);
    if (!visit(std::string(path), parent, standing.weights[i])) return;
    path = parent;
  }
}

/// Of those who sit in each ring, each once. Two tenants of one node may tell of different moments: so what
/// is above a node that was counted before is looked at again.
void Standings::sum_weights() {
  if (!ring_weights_.empty()) return;
  std::unordered_set<std::string> counted;
  for (const Standing& each : all_) {
    each_seat(each, [&](std::string node, std::string_view ring, double weight) {
      if (weight <= 0) return false;
      if (counted.insert(std::move(node)).second) ring_weights_[std::string(ring)] += weight;
      return true;
    });
  }
}

/// The part of all turns that it gets while those that have something now go on having it.
double Standings::share_of(const Standing& standing) const {
  double share = standing.weights.empty() ? 0 : 1;
  each_seat(standing, [&](const std::string&, std::string_view ring, double weight) {
    share *= weight <= 0 ? 0 : weight / ring_weights_.at(std::string(ring));
    return share > 0;
  });
  return share;
}

std::optional<double> Standings::jain() {
  sum_weights();
  Jain jain;
  for (const Standing& each : all_) {
    if (const double share = share_of(each); share > 0) jain.add(each.served / share);
  }
  return jain.index();
}

void Standings::tell(StatsRow& queue) {
  queue.parked_tenants = parked_;
  queue.oldest_ready_s = oldest_s_;
  queue.jain = jain();
}

std::vector<StatsRow> Standings::take_rows() {
  sum_weights();
  double served = 0;
  for (const Standing& each : all_) served += each.is_seated() ? each.served : 0;
  std::vector<StatsRow> rows;
  for (auto& [told, at] : rows_) {
    const Standing& standing = all_[at];
    StatsRow& row = rows.emplace_back(std::move(told));
    row.tenants = 1;
    row.active_tenants = standing.waits_s ? 1 : 0;
    row.parked_tenants = standing.is_parked() ? 1 : 0;
    row.oldest_ready_s = standing.waits_s;
    row.blocked = standing.blocked;
    row.share = standing.blocked ? 0.0 : share_of(standing);
    if (standing.is_seated() && served > 0) row.served_share = standing.served / served;
  }
  std::sort(rows.begin(), rows.end(),
            [](const StatsRow& a, const StatsRow& b) { return a.tenant < b.tenant; });
  return rows;
}

}  // namespace fq
