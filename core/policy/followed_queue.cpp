#include "core/policy/followed_queue.h"

// fq, this room.
#include "core/policy/policy.h"

namespace fq {

namespace {

Result<std::unique_ptr<Queue>> open_or_make(const Location& location, OpenOptions options) {
  const bool makes = std::exchange(options.create, false);
  Result<std::unique_ptr<Queue>> queue = open_queue(location, options);
  if (queue || !makes || queue.error().kind != ErrorKind::missing) return queue;
  FQ_TRY(read_policy_for(location));  // a queue that is new has no last good one
  options.create = true;
  return open_queue(location, options);
}

}  // namespace

Result<FollowedQueue> FollowedQueue::open(const Location& location, const OpenOptions& options) {
  FQ_TRY_SET(std::unique_ptr<Queue> queue, open_or_make(location, options));
  Result<void> loaded = bring_policy_up_to_date(*queue, location);
  if (!loaded && !is_policy_fault(loaded.error())) return std::move(loaded).error();
  FollowedQueue followed(std::move(queue), location);
  if (!loaded) followed.fault_ = std::move(loaded).error();
  return followed;
}

Queue* FollowedQueue::operator->() {
  fault_.reset();
  Result<void> loaded = bring_policy_up_to_date(*queue_, location_);
  if (!loaded) fault_ = std::move(loaded).error();
  return queue_.get();
}

}  // namespace fq
