#include "core/worker/jobs/gather.h"

// System.
#include <algorithm>

namespace fq::worker {

void Gather::add(size_t source, Arrival arrival) {
  std::vector<Arrival>& gathered = open_[{source, arrival.delivery.tenant}];
  gathered.push_back(std::move(arrival));
  ++held_;
}

int64_t Gather::due_wall_ms(const std::vector<Arrival>& gathered) const {
  int64_t oldest = kNever;
  for (const Arrival& arrival : gathered) oldest = std::min(oldest, arrival.delivery.pushed_at_wall_ms);
  return oldest > kNever - linger_ms_ ? kNever : oldest + linger_ms_;
}

Load Gather::take(Open::iterator from) {
  Load load;
  load.many = true;
  load.source = from->first.first;
  std::vector<Arrival>& gathered = from->second;
  const auto end = gathered.begin() + static_cast<std::ptrdiff_t>(std::min(most_, gathered.size()));
  load.arrivals.assign(std::move_iterator(gathered.begin()), std::move_iterator(end));
  gathered.erase(gathered.begin(), end);
  held_ -= load.arrivals.size();
  if (gathered.empty()) open_.erase(from);
  return load;
}

Load Gather::take_ready(int64_t now_wall_ms) {
  auto each = last_ ? open_.upper_bound(*last_) : open_.begin();
  for (size_t snapshot = 0; snapshot < open_.size(); ++snapshot, ++each) {
    if (each == open_.end()) each = open_.begin();
    const bool ready = each->second.size() >= most_ || due_wall_ms(each->second) <= now_wall_ms;
    if (!ready) continue;
    last_ = each->first;
    return take(each);
  }
  return {};
}

Load Gather::take_any() { return open_.empty() ? Load{} : take(open_.begin()); }

void Gather::drop(const Receipt& receipt) {
  for (auto each = open_.begin(); each != open_.end();) {
    held_ -= std::erase_if(each->second, [&](const Arrival& one) { return one.delivery.receipt == receipt; });
    each = each->second.empty() ? open_.erase(each) : std::next(each);
  }
}

size_t Gather::batches() const {
  size_t batches = 0;
  for (const auto& [key, gathered] : open_) batches += (gathered.size() + most_ - 1) / most_;
  return batches;
}

int64_t Gather::next_wall_ms() const {
  int64_t next = kNever;
  for (const auto& [key, gathered] : open_) {
    next = std::min(next, gathered.size() >= most_ ? 0 : due_wall_ms(gathered));
  }
  return next;
}

}  // namespace fq::worker
