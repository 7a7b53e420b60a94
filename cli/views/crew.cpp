#include "cli/views/crew.h"

// System.
#include <algorithm>

namespace fq::cli {

/// What a process was before its queue's segment was made anew counts as what it is now.
void Crew::add(const std::string& queue, Attendee one) {
  const bool orphan = one.kind == Attendee::Kind::orphan;
  const auto same = std::find_if(members_.begin(), members_.end(), [&](const Member& each) {
    return each.all.pid == one.pid && each.all.host == one.host &&
           (each.all.kind == Attendee::Kind::orphan) == orphan;
  });
  if (same == members_.end()) {
    members_.push_back({std::move(one), {queue}});
    return;
  }
  Attendee& all = same->all;
  if (one.kind == Attendee::Kind::worker) all.kind = one.kind;
  all.slots = std::max(all.slots, one.slots);
  all.busy = std::min(all.slots, all.busy + one.busy);
  if (!all.since_wall_ms || (one.since_wall_ms && *one.since_wall_ms < *all.since_wall_ms))
    all.since_wall_ms = one.since_wall_ms;
  all.stopped = all.stopped || one.stopped;
  all.ids.insert(all.ids.end(), one.ids.begin(), one.ids.end());
  if (same->queues.back() != queue) same->queues.push_back(queue);
}

Crew::Hands Crew::hands_of(const std::string& queue) const {
  Hands hands;
  for (const Member& one : members_) {
    const bool here = std::find(one.queues.begin(), one.queues.end(), queue) != one.queues.end();
    if (!here || one.all.kind != Attendee::Kind::worker) continue;
    ++hands.workers;
    if (one.all.stopped) ++hands.stopped;
    if (one.all.stopped) continue;
    hands.slots += one.all.slots;
    hands.busy += one.all.busy;
  }
  return hands;
}

}  // namespace fq::cli
