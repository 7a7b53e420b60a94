#include "core/worker/jobs/gather.h"

// System.
#include <algorithm>

namespace fq::worker {

void Gather::add(size_t source, Arrival arrival, int64_t now_ms, int64_t now_wall_ms) {
  // The wall clock may have been set since the push: what it tells is no reason to wait longer.
  const int64_t waited_ms =
      std::clamp<int64_t>(now_wall_ms - arrival.delivery.pushed_at_wall_ms, 0, linger_ms_);
  const int64_t left_ms = linger_ms_ - waited_ms;
  const int64_t due_ms = now_ms > kNever - left_ms ? kNever : now_ms + left_ms;
  open_[{source, arrival.delivery.tenant}].push_back({std::move(arrival), due_ms});
  ++held_;
}

int64_t Gather::due_ms(const std::vector<Gathered>& gathered) const {
  int64_t due_ms = kNever;
  for (const Gathered& each : gathered) due_ms = std::min(due_ms, each.due_ms);
  return due_ms;
}

Load Gather::take(Open::iterator from) {
  Load load;
  load.many = true;
  load.source = from->first.first;
  std::vector<Gathered>& gathered = from->second;
  const auto end = gathered.begin() + static_cast<std::ptrdiff_t>(std::min(most_, gathered.size()));
  std::for_each(gathered.begin(), end,
                [&](Gathered& each) { load.arrivals.push_back(std::move(each.arrival)); });
  gathered.erase(gathered.begin(), end);
  held_ -= load.arrivals.size();
  if (gathered.empty()) open_.erase(from);
  return load;
}

Load Gather::take_ready(int64_t now_ms) {
  auto each = last_ ? open_.upper_bound(*last_) : open_.begin();
  for (size_t snapshot = 0; snapshot < open_.size(); ++snapshot, ++each) {
    if (each == open_.end()) each = open_.begin();
    const bool ready = each->second.size() >= most_ || due_ms(each->second) <= now_ms;
    if (!ready) continue;
    last_ = each->first;
    return take(each);
  }
  return {};
}

Load Gather::take_any() { return open_.empty() ? Load{} : take(open_.begin()); }

void Gather::drop(const Receipt& receipt) {
  for (auto each = open_.begin(); each != open_.end();) {
    held_ -= std::erase_if(each->second,
                           [&](const Gathered& one) { return one.arrival.delivery.receipt == receipt; });
    each = each->second.empty() ? open_.erase(each) : std::next(each);
  }
}

size_t Gather::batches() const {
  size_t batches = 0;
  for (const auto& [key, gathered] : open_) batches += (gathered.size() + most_ - 1) / most_;
  return batches;
}

int64_t Gather::next_ms() const {
  int64_t next = kNever;
  for (const auto& [key, gathered] : open_) {
    next = std::min(next, gathered.size() >= most_ ? 0 : due_ms(gathered));
  }
  return next;
}

}  // namespace fq::worker
