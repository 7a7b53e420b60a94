// model_stats - the numbers that the model queue tells of itself.

// System.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
// fq, below us.
#include "core/base/jain.h"
#include "core/base/time/short_time.h"
// Tests.
#include "tests/fakes/model_queue.h"

namespace fq::test {

namespace {

void count(StatsRow& row, const Model::Message& message) {
  static const std::map<std::string_view, uint64_t StatsRow::*> kCounters = {
      {"pushed", &StatsRow::pushed},       {"leased", &StatsRow::popped},     {"acked", &StatsRow::acked},
      {"retried", &StatsRow::retried},     {"released", &StatsRow::released}, {"buried", &StatsRow::buried},
      {"cancelled", &StatsRow::cancelled}, {"expired", &StatsRow::expired}};
  for (const HistoryEvent& event : message.history) {
    const auto counter = kCounters.find(event.event);
    if (counter != kCounters.end()) row.*counter->second += 1;
  }
  row.retried += message.last_retries;
  static const std::map<State, uint64_t StatsRow::*> kStates = {{State::ready, &StatsRow::ready},
                                                                {State::delayed, &StatsRow::delayed},
                                                                {State::leased, &StatsRow::leased},
                                                                {State::held, &StatsRow::held},
                                                                {State::dead, &StatsRow::dead}};
  if (is_finished(message.info.state)) return;
  row.*kStates.at(message.info.state) += 1;
  row.bytes += message.info.payload->size();
  for (const Model::Step& step : message.steps) row.bytes += step.output.size();
}

/// As they are told of a tenant: by the next power of two, but never as longer than the longest, which is told
/// by a number of 16 bits. There are not so many that they are halved.
Percentiles percentiles_of(std::vector<int64_t> all_ms) {
  Percentiles result;
  result.count = all_ms.size();
  if (all_ms.empty()) return result;
  std::sort(all_ms.begin(), all_ms.end());
  const auto longest = static_cast<int64_t>(ms_of(short_time_of(static_cast<uint64_t>(all_ms.back()))));
  const auto part = [&](double p) {
    const auto place = static_cast<size_t>(std::ceil(p * static_cast<double>(all_ms.size())));
    const auto width = std::bit_width(static_cast<uint64_t>(all_ms[place - 1]));
    const bool is_open = width > 22;  // all that are as long as that are told by the longest
    return is_open ? longest : std::min(int64_t{1} << width, longest);
  };
  result.p50 = part(0.5);
  result.p90 = part(0.9);
  result.p99 = part(0.99);
  result.max = longest;
  return result;
}

/// How many events of this name there were in each of the last 1, 5 and 15 minutes.
Rates rates_of(const Model& model, std::string_view name) {
  const int64_t now_ms = model.clock.wall_ms();
  const auto a_second = [&](int64_t minutes) {
    uint64_t count = 0;
    for (const Model::Message& message : model.messages) {
      for (const HistoryEvent& event : message.history) {
        if (event.event == name && event.at_wall_ms > now_ms - minutes * 60'000) ++count;
      }
    }
    return static_cast<double>(count) / (60.0 * static_cast<double>(minutes));
  };
  return {a_second(1), a_second(5), a_second(15)};
}

/// What was given lately to each, half of it forgotten each half minute. By time is not told.
std::map<std::string, double> served_of(const Model& model, FairBy by) {
  constexpr int64_t kHalfMs = 30'000;
  const int64_t wall_minus_boot_ms = model.clock.wall_ms() - model.clock.boot_ms();
  std::map<std::string, double> served;
  for (const Model::Message& message : model.messages) {
    const double size = by == FairBy::turns ? 1 : static_cast<double>(1 + message.info.payload->size());
    for (const HistoryEvent& event : message.history) {
      if (event.event != "leased") continue;
      const int64_t halves =
          model.clock.boot_ms() / kHalfMs - (event.at_wall_ms - wall_minus_boot_ms) / kHalfMs;
      served[message.info.tenant] += size / std::pow(2.0, halves);
    }
  }
  return served;
}

std::optional<Reason::Kind> first_reason(const ModelTurns& turns, const std::string& tenant, int64_t now_ms) {
  std::vector<Reason> reasons;
  turns.add_reasons(tenant + "/", now_ms, 0, reasons);
  const auto first = std::min_element(reasons.begin(), reasons.end(),
                                      [](const Reason& a, const Reason& b) { return a.kind < b.kind; });
  return first == reasons.end() ? std::nullopt : std::optional(first->kind);
}

constexpr int kReturnedMost = 16;  // at the front of a line, that are looked at where they came back

/// The first row is the queue's.
void add_standings(Model& model, const ModelTurns& turns, std::map<std::string, StatsRow>& rows) {
  StatsRow& queue = rows[""];
  queue.fair_by = turns.fair_by();
  // Of each tenant the one that is next speaks for it, and where that came back, those behind it, up to the
  // first that was never handed out.
  std::map<std::string, int> seen;
  for (const MessageId id : model.ready("")) {
    const Model::Message& message = *model.find(id);
    int& of_it = seen[message.info.tenant];
    if (of_it == kReturnedMost) continue;
    of_it = message.info.deliveries == 0 ? kReturnedMost : of_it + 1;
    StatsRow& row = rows[message.info.tenant];
    const double waits_s = static_cast<double>(model.clock.boot_ms() - message.since_ms) / 1000;
    row.oldest_ready_s = std::max(row.oldest_ready_s.value_or(0), waits_s);
    queue.oldest_ready_s = std::max(queue.oldest_ready_s.value_or(0), *row.oldest_ready_s);
  }
  std::map<std::string, double> served = served_of(model, turns.fair_by());
  double all_served = 0;
  Jain jain;
  for (auto& [tenant, row] : rows) {
    if (tenant.empty()) continue;
    const double share = turns.share_of(tenant + "/");
    row.blocked = first_reason(turns, tenant, model.clock.boot_ms());
    row.share = row.blocked ? 0 : share;
    row.parked_tenants = row.ready > 0 && row.blocked ? 1 : 0;
    queue.parked_tenants += row.parked_tenants;
    if (share > 0) jain.add(served[tenant] / share);
    if (share > 0) all_served += served[tenant];
  }
  queue.jain = jain.index();
  for (auto& [tenant, row] : rows) {
    const bool is_active = !tenant.empty() && turns.share_of(tenant + "/") > 0;
    if (is_active && all_served > 0) row.served_share = served[tenant] / all_served;
  }
}

}  // namespace

Result<StatsReply> ModelQueue::stats(const StatsRequest& request) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  std::map<std::string, StatsRow> rows;
  rows[""];
  for (const Model::Message& message : store_->model.messages) {
    count(rows[""], message);
    count(rows[message.info.tenant], message);
  }
  rows[""].pushed_per_s = rates_of(store_->model, "pushed");
  rows[""].popped_per_s = rates_of(store_->model, "leased");
  rows[""].acked_per_s = rates_of(store_->model, "acked");
  for (const auto& [tenant, times] : store_->model.times) {
    rows[tenant].wait_ms = percentiles_of(times.waits_ms);
    rows[tenant].run_ms = percentiles_of(times.runs_ms);
  }
  add_standings(store_->model, store_->model.turns(), rows);
  StatsReply reply;
  reply.as_of_wall_ms = store_->model.clock.wall_ms();
  for (auto& [tenant, row] : rows) {
    if (tenant.empty() == request.tenants) continue;
    if (request.tenants && !is_below(tenant, request.tenant)) continue;
    row.tenant = tenant;
    reply.rows.push_back(row);
  }
  return reply;
}

}  // namespace fq::test
