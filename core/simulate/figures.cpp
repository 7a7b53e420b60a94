#include "core/simulate/figures.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/jain.h"

namespace fq {

namespace {

/// The least wait that so many of a hundred do not exceed.
int64_t at_percent(std::vector<int64_t>& waits, size_t percent) {
  const size_t place = (waits.size() * percent + 99) / 100 - 1;
  std::nth_element(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(place), waits.end());
  return waits[place];
}

std::optional<WaitFigures> wait_of(std::vector<int64_t>& waits) {
  if (waits.empty()) return std::nullopt;
  return WaitFigures{at_percent(waits, 50), at_percent(waits, 99), at_percent(waits, 100)};
}

}  // namespace

std::optional<double> Figures::jain() const {
  Jain jain;
  for (const Noted& each : tenants_) {
    if (each.owed > 0) jain.add(each.served / each.owed);
  }
  return jain.index();
}

Report Figures::report(const std::vector<std::string>& names) {
  Report report;
  double served = 0, owed = 0;
  std::vector<int64_t> waits;
  for (const Noted& each : tenants_) {
    served += each.served;
    owed += each.owed;
    waits.insert(waits.end(), each.waits_ms.begin(), each.waits_ms.end());
    report.all.run_ms += each.run_ms;
  }
  for (size_t i = 0; i < tenants_.size(); ++i) {
    Noted& each = tenants_[i];
    TenantFigures& figures = report.tenants.emplace_back();
    figures.tenant = names[i];
    figures.count = each.waits_ms.size();
    figures.wait = wait_of(each.waits_ms);
    figures.run_ms = each.run_ms;
    if (served > 0) figures.share = each.served / served;
    if (owed > 0) figures.entitled = each.owed / owed;
  }
  std::sort(report.tenants.begin(), report.tenants.end(),
            [](const TenantFigures& a, const TenantFigures& b) { return a.tenant < b.tenant; });
  report.all.count = waits.size();
  report.all.wait = wait_of(waits);
  if (served > 0) report.all.share = 1;
  if (owed > 0) report.all.entitled = 1;
  report.jain = jain();
  return report;
}

}  // namespace fq
