// sharded_events - what happened in many shards, as one order: by time, then by shard, then as the shard
// says.
//
// What happens later in a shard is not before the time at which that was read: so far the order is known, and
// no further is told. Where clocks of servers are far apart, who wants what there is does not wait for that
// for long. A cursor is a place in that order.
#pragma once

// System.
#include <cstdint>
#include <memory>
#include <optional>
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
    int64_t now_ms = 0;  // when it was read; kNever: it tells nothing any more
    bool has_more() const { return told < page.events.size(); }
  };
  Result<void> begin(const EventRequest& request);
  Result<void> read_on(const EventRequest& request);
  static Result<void> read_on(const EventRequest& request, Part& part);
  /// The part with the next event of what was read, its time, and for how long others may still have one that
  /// was before it (0: none has). None: there is none, or not all was read that is there.
  struct Next {
    size_t part = 0;
    int64_t ms = 0, held_ms = 0;
  };
  std::optional<Next> next() const;
  int64_t first_ms(const Part& part) const;
  /// Answers how long the next one is held back by the order.
  int64_t merge(size_t n, bool in_order, EventPage& page);
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
