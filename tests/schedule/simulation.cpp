#include "tests/schedule/simulation.h"

// System.
#include <algorithm>
#include <cstdio>

namespace fq::test {

Simulation::Simulation(Scenario scenario, Watcher* watcher, uint32_t mib)
    : scenario_(std::move(scenario)),
      watcher_(watcher != nullptr ? watcher : &nobody_),
      queue_(std::make_unique<ScheduleFixture>(mib != 0 ? mib : room_for(scenario_))),
      random_(scenario_.seed),
      start_ms_(queue_->now),
      messages_(1) {
  queue_->load_rules(scenario_.rules, scenario_.pools);
  queue_->set_terms({.fair_by = scenario_.fair_by});
  // Changes before pushes of the same time.
  for (size_t i = 0; i < scenario_.changes.size(); ++i)
    plan(start_ms_ + scenario_.changes[i].at_ms, What::change, i);
  for (size_t i = 0; i < scenario_.pushes.size(); ++i)
    plan(start_ms_ + scenario_.pushes[i].at_ms, What::push, i);
}

uint32_t Simulation::room_for(const Scenario& scenario) {
  uint64_t messages = 0, tenants = 0;
  for (const Scenario::Push& push : scenario.pushes) {
    messages += uint64_t{push.count} * push.times * push.tenants;
    tenants += push.tenants;
  }
  // Some 200 bytes a message and 1 KiB a tenant with its levels, in chunks that double.
  return static_cast<uint32_t>(16 + (messages * 200 + tenants * 1024) / (1 << 19));
}

void Simulation::plan(int64_t at_ms, What what, uint64_t which) {
  events_.push({at_ms, planned_++, what, which});
}

bool Simulation::has_work() const {
  const CountsNow counts(queue_->header().root.counts);
  return !events_.empty() || (counts.ready | counts.delayed | counts.leased) != 0;
}

void Simulation::run() {
  const int64_t stop_ms = scenario_.stop_ms == INT64_MAX ? kNever : start_ms_ + scenario_.stop_ms;
  while (has_work()) {
    int64_t at_ms = queue_->schedule().timers().next_ms();
    if (!events_.empty()) at_ms = std::min(at_ms, events_.top().at_ms);
    if (at_ms == kNever || at_ms > stop_ms) return;
    queue_->wait_until(std::max(at_ms, queue_->now));
    while (!events_.empty() && events_.top().at_ms <= queue_->now) {
      const Event event = events_.top();
      events_.pop();
      happen(event);
    }
    start_all();
    watcher_->settled(scenario_.slots - running_);
  }
}

void Simulation::happen(const Event& event) {
  switch (event.what) {
    case What::change:
      return change(scenario_.changes[event.which]);
    case What::push:
      return push(scenario_.pushes[event.which], event.which);
    case What::end:
      return end(event.which);
  }
}

void Simulation::change(const Scenario::Change& change) {
  PolicyPatch patch = change.patch;
  for (PolicyValue& value : patch.set)
    if (value.key == PolicyKey::limited) value.number += queue_->now;
  queue_->set(change.tenant, patch.set, patch.unset);
  turns_.close_windows();
  watcher_->changed(change.tenant, patch);
}

void Simulation::push(Scenario::Push& push, uint64_t which) {
  const size_t hole = push.tenant.find("{}");
  for (uint32_t i = 0; i < push.tenants; ++i) {
    std::string tenant = push.tenant;
    if (hole != std::string::npos) tenant.replace(hole, 2, std::to_string(i));
    for (uint32_t n = 0; n < push.count; ++n) push_one(push, tenant);
  }
  if (--push.times > 0) plan(queue_->now + push.every_ms, What::push, which);
}

void Simulation::push_one(const Scenario::Push& push, const std::string& tenant) {
  const int64_t due_ms = queue_->now + push.delay_ms;
  const auto bytes = static_cast<uint32_t>(drawn(push.bytes_min, push.bytes_max));
  const uint64_t id = queue_->add({.tenant = tenant, .payload_bytes = bytes, .due_ms = due_ms});
  const auto [found, made] = tenant_numbers_.try_emplace(tenant, static_cast<uint32_t>(tenants_.size()));
  if (made) tenants_.push_back({.name = tenant});
  ++tenants_[found->second].pushed;
  messages_.push_back({.tenant = found->second,
                       .fails_left = push.fails,
                       .run_min_ms = push.run_min_ms,
                       .run_max_ms = push.run_max_ms,
                       .ready_at_ms = due_ms});
  watcher_->pushed(id, tenant, due_ms);
}

int64_t Simulation::drawn(int64_t least, int64_t most) {
  if (least == most) return least;
  return least + static_cast<int64_t>(random_() % (static_cast<uint64_t>(most - least) + 1));
}

void Simulation::end(uint64_t id) {
  Message& message = messages_[id];
  const bool comes_back = message.fails_left > 0;
  if (comes_back) {
    --message.fails_left;
    queue_->give_back(id, true);
  } else {
    queue_->ack(id);
  }
  --running_;
  watcher_->ended(id, comes_back);
}

void Simulation::start_all() {
  while (running_ < scenario_.slots) {
    const std::optional<SlotIndex> next = queue_->schedule().turns().next(kRootTenant);
    if (!next) return;
    const uint64_t id = queue_->schedule().messages().entry(*next).id;
    Message& message = messages_[id];
    TenantFigures& tenant = tenants_[message.tenant];
    // Its bound is one of turns.
    if (scenario_.fair_by != FairBy::turns) turns_.close_windows();
    turns_.before_turn(queue_->schedule(), *next, tenant.name);
    watcher_->before_start(id);
    FQ_ASSERT(queue_->lease() == id);
    const int64_t run_ms = drawn(message.run_min_ms, message.run_max_ms);
    turns_.after_turn(queue_->schedule(), run_ms);
    if (!message.delivered) tenant.waits_ms.push_back(queue_->now - message.ready_at_ms);
    message.delivered = true;
    ++tenant.served;
    tenant.run_ms += run_ms;
    tenant.bytes += queue_->entry(id).payload_bytes;
    ++running_;
    plan(queue_->now + run_ms, What::end, id);
    watcher_->started(id);
    if (run_ms == 0) {
      // Over at once: nothing else has to wait for it.
      const Event event = events_.top();
      if (event.what == What::end && event.which == id) events_.pop(), end(id);
    }
  }
}

std::string Simulation::row(const TenantFigures& tenant) const {
  const TurnLog::Node* node = turns_.find(tenant.name);
  const auto& all = turns_.nodes()[0];
  std::vector<int64_t> waits = tenant.waits_ms;
  std::sort(waits.begin(), waits.end());
  const auto at = [&](double part) {
    return waits.empty() ? 0 : waits[static_cast<size_t>(part * static_cast<double>(waits.size() - 1))];
  };
  const auto percent = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  char line[256];
  std::snprintf(line, sizeof line, "%-24.24s %8llu %7.2f%% %7.2f%% %7.2f%% %9lld %9lld %9lld %7llu/%llu\n",
                tenant.name.c_str(), static_cast<unsigned long long>(tenant.served),
                node == nullptr ? 0 : percent(node->turns, all.turns),
                node == nullptr ? 0 : percent(node->run_ms, all.run_ms),
                node == nullptr ? 0 : 100 * turns_.share_of(*node), static_cast<long long>(at(0.5)),
                static_cast<long long>(at(0.99)), static_cast<long long>(at(1)),
                static_cast<unsigned long long>(node == nullptr ? 0 : node->most),
                static_cast<unsigned long long>(node == nullptr ? 0 : node->allowed));
  return line;
}

std::string Simulation::report(size_t lines_max) const {
  std::vector<const TenantFigures*> order;
  for (const TenantFigures& tenant : tenants_) order.push_back(&tenant);
  std::stable_sort(order.begin(), order.end(), [](auto* x, auto* y) { return x->served > y->served; });
  char head[256];
  std::snprintf(head, sizeof head, "%-24s %8s %8s %8s %8s %9s %9s %9s %9s\n", "tenant", "served", "turns",
                "run", "weight", "wait p50", "p99", "max ms", "bound");
  std::string text = head;
  for (size_t i = 0; i < std::min(order.size(), lines_max); ++i) text += row(*order[i]);
  if (order.size() > lines_max) text += "... and " + std::to_string(order.size() - lines_max) + " more\n";
  text += std::to_string(tenants_.size()) + " tenants, " + std::to_string(turns_.nodes()[0].turns) +
          " turns in " + std::to_string(queue_->now - start_ms_) + " ms, " +
          std::to_string(turns_.windows()) + " windows, the bound broken in " +
          std::to_string(turns_.breaches().size()) + "\n";
  for (const std::string& breach : turns_.breaches()) text += "  " + breach + "\n";
  return text;
}

Simulation simulated(const std::string& scenario, Watcher* watcher) {
  Simulation simulation(parse_scenario(scenario), watcher);
  simulation.run();
  return simulation;
}

}  // namespace fq::test
