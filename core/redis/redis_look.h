// redis_look - shows messages and sums of a shard, and changes nothing.
#pragma once

// fq, this room.
#include "core/redis/redis_leases.h"

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
  /// Of a message as the server's program shows it in this reply.
  Result<MessageInfo> info_of(const Reply& shown, const Reply& reply);

 private:
  Result<StatsRow> sums();
  Result<uint64_t> parked();
  Result<void> add_times(StatsRow& row);
  Result<std::vector<StatsRow>> tenants(const std::string& top);
  Result<bool> have_ended(std::span<const MessageId> ids);

  Shard& shard_;
  const RedisLeases& leases_;
};

}  // namespace fq
