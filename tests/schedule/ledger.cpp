#include "tests/schedule/ledger.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/pattern.h"

namespace fq::test {
namespace {
constexpr int64_t kNsPerMs = 1'000'000;
}

void Ledger::break_promise(const std::string& what) {
  if (fault_.empty()) fault_ = "at " + std::to_string(now()) + ": " + what;
}

/// The whole queue, then each node down to the tenant.
template <class Visit>
void Ledger::visit_path(const std::string& tenant, Visit visit) {
  visit(std::string());
  for (size_t end = tenant.find('/'); end != std::string::npos; end = tenant.find('/', end + 1))
    visit(tenant.substr(0, end));
  visit(tenant);
}

void Ledger::take(Terms& terms, const PolicyValue& value) {
  if (value.key == PolicyKey::paused) terms.paused = true;
  if (value.key == PolicyKey::limited) terms.limited_until_ms = value.number;
  if (value.key == PolicyKey::concurrency) terms.concurrency = value.number;
  if (value.key == PolicyKey::burst) terms.burst = value.number;
  if (value.key == PolicyKey::rate)
    terms.interval_ns = (value.second * kNsPerMs + value.number - 1) / value.number;
  if (value.key == PolicyKey::pool) terms.pool = value.text;
}

void Ledger::round_up_burst(Terms& terms) {
  if (terms.interval_ns != 0)
    terms.burst = std::max(terms.burst, (kNsPerMs + terms.interval_ns - 1) / terms.interval_ns);
}

Ledger::Terms Ledger::terms_of(const std::string& path) const {
  Terms terms;
  // A tenant's pattern does not mean the queue.
  for (const TenantRule& rule : rules_)
    if (!path.empty() && pattern_matches(rule.pattern, path))
      for (const PolicyValue& value : rule.values) take(terms, value);
  const auto found = set_.find(path);
  if (found != set_.end())
    for (const PolicyValue& value : found->second) take(terms, value);
  round_up_burst(terms);
  return terms;
}

Ledger::Node& Ledger::node(const std::string& path) {
  Node& node = nodes_[path];
  if (node.known) return node;
  const Terms terms = terms_of(path);
  if (terms.interval_ns != node.terms.interval_ns) node.starts = 0, node.least = INT64_MAX;
  node.terms = terms;
  node.known = true;
  return node;
}

int64_t Ledger::free_at_ms(const Node& at) const {
  if (at.terms.paused || at.running >= at.terms.concurrency) return kNever;
  int64_t free_ms = at.terms.limited_until_ms;
  if (at.terms.interval_ns != 0 && at.starts > 0) {
    const int64_t interval = at.terms.interval_ns;
    const int64_t free_ns = at.starts * interval - at.least - (at.terms.burst - 1) * interval;
    free_ms = std::max(free_ms, free_ns <= 0 ? 0 : (free_ns + kNsPerMs - 1) / kNsPerMs);
  }
  return free_ms;
}

int64_t Ledger::path_free_at_ms(const std::string& tenant) {
  int64_t free_ms = 0;
  visit_path(tenant, [&](const std::string& path) { free_ms = std::max(free_ms, free_at_ms(node(path))); });
  for (const std::string& pool : pools_of(tenant)) free_ms = std::max(free_ms, free_at_ms(pools_[pool]));
  return free_ms;
}

std::set<std::string> Ledger::pools_of(const std::string& tenant) {
  std::set<std::string> pools;
  visit_path(tenant, [&](const std::string& path) {
    if (!path.empty() && pools_.contains(node(path).terms.pool)) pools.insert(node(path).terms.pool);
  });
  return pools;
}

void Ledger::pushed(uint64_t id, const std::string& tenant, int64_t due_ms) {
  tenant_of_.resize(std::max<size_t>(tenant_of_.size(), id + 1));
  tenant_of_[id] = tenant;
  if (due_ms > now()) {
    delayed_.emplace(due_ms, id);
  } else {
    ready_[tenant].insert(id);
  }
}

void Ledger::changed(const std::string& tenant, const PolicyPatch& patch) {
  PolicyValues& values = set_[tenant];
  const auto forget = [&](PolicyKey key) {
    std::erase_if(values, [&](const PolicyValue& value) { return value.key == key; });
  };
  for (const PolicyKey key : patch.unset) forget(key);
  for (const PolicyValue& value : patch.set) forget(value.key), values.push_back(value);
  nodes_[tenant].known = false;
  node(tenant);
  // Pools count by what is in them now.
  for (auto& [name, pool] : pools_) pool.running = 0;
  for (const uint64_t id : running_)
    for (const std::string& pool : pools_of(tenant_of_[id])) ++pools_[pool].running;
}

void Ledger::become_due() {
  for (auto it = delayed_.begin(); it != delayed_.end() && it->first <= now(); it = delayed_.erase(it))
    ready_[tenant_of_[it->second]].insert(it->second);
}

void Ledger::before_start(uint64_t id) {
  become_due();
  const std::string& tenant = tenant_of_[id];
  const auto found = ready_.find(tenant);
  if (found == ready_.end() || !found->second.contains(id))
    return break_promise("message " + std::to_string(id) + " starts and is not ready");
  if (*found->second.begin() != id)
    break_promise("message " + std::to_string(id) + " of " + tenant + " starts before " +
                  std::to_string(*found->second.begin()));
  visit_path(tenant, [&](const std::string& path) {
    if (free_at_ms(node(path)) > now())
      break_promise("a start of " + tenant + " is beyond a limit of '" + path + "'");
  });
  for (const std::string& pool : pools_of(tenant))
    if (free_at_ms(pools_[pool]) > now())
      break_promise("a start of " + tenant + " is beyond a limit of pool " + pool);
}

void Ledger::started(uint64_t id) {
  const std::string& tenant = tenant_of_[id];
  std::set<uint64_t>& ready = ready_[tenant];
  ready.erase(id);
  if (ready.empty()) ready_.erase(tenant);
  running_.insert(id);
  visit_path(tenant, [&](const std::string& path) { count_start(node(path)); });
  for (const std::string& pool : pools_of(tenant)) count_start(pools_[pool]);
}

void Ledger::count_start(Node& at) {
  ++at.running;
  if (at.terms.interval_ns == 0) return;
  at.least = std::min(at.least, at.starts * at.terms.interval_ns - now() * kNsPerMs);
  ++at.starts;
}

void Ledger::ended(uint64_t id, bool comes_back) {
  visit_path(tenant_of_[id], [&](const std::string& path) { --node(path).running; });
  for (const std::string& pool : pools_of(tenant_of_[id])) --pools_[pool].running;
  running_.erase(id);
  if (comes_back) ready_[tenant_of_[id]].insert(id);
}

void Ledger::settled(uint32_t free_slots) {
  become_due();
  int64_t wake_ms = delayed_.empty() ? kNever : delayed_.begin()->first;
  for (const auto& [tenant, ids] : ready_) {
    const int64_t free_ms = path_free_at_ms(tenant);
    if (free_ms <= now() && free_slots > 0)
      break_promise("message " + std::to_string(*ids.begin()) + " of " + tenant +
                    " waits beside a free slot");
    if (free_ms > now()) wake_ms = std::min(wake_ms, free_ms);
  }
  const int64_t timer_ms = queue_->schedule().timers().next_ms();
  if (timer_ms > wake_ms)
    break_promise("something may start at " + std::to_string(wake_ms) + ", the next timer is at " +
                  std::to_string(timer_ms));
}

}  // namespace fq::test
