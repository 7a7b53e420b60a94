#include "cli/views/report/activity.h"

// System.
#include <algorithm>

namespace fq::cli {

namespace {

constexpr size_t kTenantsMost = 4096;  // arbitrary: 1.2 MB of counts
constexpr size_t kReasonsMost = 1024;  // arbitrary
constexpr std::string_view kOtherReasons = "other reasons";

void count(uint32_t& number) { number += number < UINT32_MAX ? 1 : 0; }

std::string reason_of(const Event& event) {
  if (!event.reason.empty()) return std::string(event.reason);
  if (event.exit) return "exit " + std::to_string(*event.exit);
  if (event.signal) return "signal " + std::to_string(*event.signal);
  if (event.event == "died") return "its worker died";  // that its lease ran out is told as a reason
  return event.event == "expired" ? std::string(kExpired) : "no reason was given";
}

template <class Item>
void most_first(std::vector<Item>& items, std::string Item::*name) {
  std::sort(items.begin(), items.end(), [name](const Item& a, const Item& b) {
    return a.count != b.count ? a.count > b.count : a.*name < b.*name;
  });
}

}  // namespace

size_t Activity::step_of(int64_t at_wall_ms) const {
  const int64_t from = from_wall_ms();
  const int64_t span = std::max<int64_t>(1, until_wall_ms_ - from);
  // What a clock that was set told of times outside stands at an end.
  const int64_t at = std::clamp<int64_t>(at_wall_ms - from, 0, span - 1);
  return static_cast<size_t>(static_cast<double>(at) / static_cast<double>(span) * kSteps);
}

void Activity::add(const Event& event) {
  if (!from_wall_ms_ || (events_ == 0 && event.at_wall_ms > *from_wall_ms_)) from_wall_ms_ = event.at_wall_ms;
  ++events_;
  const size_t step = step_of(event.at_wall_ms);
  if (event.event == "pushed") count(pushed_[step]);
  if (event.event == "acked") count(acked_[step]);
  if (event.event == "leased") add_turn(event, step);
  if (event.event == "retried" || event.event == "buried" || event.event == "died" ||
      event.event == "expired") {
    count(failed_[step]);
    add_failure(event);
  }
}

void Activity::add_turn(const Event& event, size_t step) {
  count(started_[step]);
  std::string tenant(event.tenant);
  if (turns_.size() >= kTenantsMost && turns_.count(tenant) == 0) tenant.clear();
  Turns& turns = turns_[tenant];
  turns.tenant = tenant;
  ++turns.count;
  count(turns.over_time[step]);
}

void Activity::add_failure(const Event& event) {
  std::string reason = reason_of(event);
  if (failures_.size() >= kReasonsMost && failures_.count(reason) == 0) reason = kOtherReasons;
  ++failures_[reason];
}

std::vector<Activity::Turns> Activity::turns(size_t most) const {
  std::vector<Turns> all;
  Turns others;
  for (const auto& [tenant, turns] : turns_) {
    if (tenant.empty()) others = turns;
    if (!tenant.empty()) all.push_back(turns);
  }
  most_first(all, &Turns::tenant);
  for (size_t i = most; i < all.size(); ++i) {
    others.count += all[i].count;
    for (size_t step = 0; step < kSteps; ++step) others.over_time[step] += all[i].over_time[step];
  }
  if (all.size() > most) all.resize(most);
  if (others.count > 0) all.push_back(others);
  return all;
}

std::vector<Activity::Failure> Activity::failures(size_t most) const {
  std::vector<Failure> all;
  for (const auto& [reason, times] : failures_) all.push_back({reason, times});
  most_first(all, &Failure::reason);
  Failure rest{"all others", 0};
  for (size_t i = most; i < all.size(); ++i) rest.count += all[i].count;
  if (all.size() > most) all.resize(most);
  if (rest.count > 0) all.push_back(rest);
  return all;
}

}  // namespace fq::cli
