// redis_look - shows messages and sums of a shard, and changes nothing.
#pragma once

// System.
#include <map>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/leases/redis_leases.h"
#include "core/redis/views/standings.h"
#include "core/redis/views/time_counts.h"

namespace fq {

bool is_taken_by(const Filter& filter, const MessageInfo& info);

class RedisLook {
 public:
  RedisLook(Shard& shard, const RedisLeases& leases) : shard_(shard), leases_(leases) {}

  Result<std::optional<MessageInfo>> get(MessageId id);
  Result<MessagePage> ended(const Filter& filter, const Cursor& from, size_t n);
  Result<StatsReply> stats(const StatsRequest& request);
  Result<std::optional<JobOutput>> output(MessageId id);
  Result<std::vector<Attendee>> attendees();
  Result<EndStatus> await_end(const EndRequest& request);
  /// One that this server hears of, and of how many messages its jobs are.
  struct Session {
    Attendee attendee;
    size_t messages = 1;
  };
  Result<std::map<std::string, Session>> sessions();
  /// As others are told of it; none: it does nothing that they would ask for.
  static std::optional<Attendee> told_of(Session session);
  /// The last of its ids that has not ended; none: all have. How those have ended that it looks at is noted
  /// in `request.ends`; with `all` it looks at each.
  Result<std::optional<MessageId>> unended(const EndRequest& request, bool all);
  Result<bool> is_idle();
  /// Its times are added to these, and its tenants that have something ready.
  Result<StatsRow> sums(TimeCounts& waited, TimeCounts& ran, Standings& standings);
  Result<void> add_active(Standings& standings);
  /// All of them, with rows of those at this path or below.
  Result<void> add_tenants(const std::string& top, Standings& standings);
  /// Of a message as the server's program shows it in this reply; none: it is gone, or not even its state can
  /// be read.
  std::optional<MessageInfo> info_of(const Reply& shown, const Reply& reply);

 private:
  template <class Take>
  Result<void> each_tenant(std::string_view list, Take take);
  Result<void> add_times(TimeCounts& waited, TimeCounts& ran);

  Shard& shard_;
  const RedisLeases& leases_;
};

}  // namespace fq
