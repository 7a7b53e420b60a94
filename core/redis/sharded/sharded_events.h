// sharded_events - what happened in many shards, as one order: by time, then by shard, then as the shard
// says.
//
// What happens later in a shard is not before the time at which that was read: so far the order is known, and
// no further is told. A cursor is a place in that order.
#pragma once

// System.
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedEvents {
 public:
  explicit ShardedEvents(Shards& shards) : shards_(shards) {}

  Result<void> events(const EventRequest& request, EventPage& page);

 private:
  /// What was read of a shard, and how much of that was told.
  struct Part {
    std::unique_ptr<RedisEvents> reader;  // of its own: what it gave is told later
    RedisEvents::Place place;             // read up to here
    EventPage page;
    std::vector<RedisEvents::Place> ends;
    size_t told = 0;
    bool at_end = false;
    int64_t now_ms = 0;  // when it was read
    bool has_more() const { return told < page.events.size(); }
  };
  Result<void> begin(const EventRequest& request);
  Result<void> read_on(const EventRequest& request);
  void merge(size_t n, EventPage& page);
  /// The part with the next event, where that is known; none: it is not, or there is none.
  std::optional<size_t> next_part() const;
  bool is_all_told() const;
  Waiting::End await_event(const EventRequest& request, Waiting& waiting);

  Shards& shards_;
  Awaiting awaiting_;
  std::vector<Part> parts_;
  std::string told_to_;     // the cursor up to which all of them were told
  std::optional<Tag> tag_;  // that was asked for, as the next
  std::optional<int64_t> since_wall_ms_;
};

}  // namespace fq
