// sharded_schedules - schedules of a queue of many shards: each lies where its messages do, and its name is
// one in the whole queue.
#pragma once

// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedSchedules final : public Schedules {
 public:
  explicit ShardedSchedules(Shards& shards) : shards_(shards) {}

  /// ErrorKind::usage also: there is one of this name for an account of another shard.
  Result<void> set(const ScheduleDefinition& definition) override;
  Result<void> load(std::span<const ScheduleDefinition> definitions) override;
  Result<SchedulePage> list(const Cursor& from, size_t n) override;
  Result<std::optional<ScheduleInfo>> get(std::string_view name) override;
  Result<bool> pause(std::string_view name, bool paused) override;
  Result<bool> remove(std::string_view name) override;
  Result<std::optional<MessageId>> run(std::string_view name) override;

 private:
  /// The shard that has it; none: there is none.
  Result<std::optional<size_t>> shard_of(std::string_view name);
  Schedules& at(size_t shard) { return *shards_.at(shard).schedules(); }

  Shards& shards_;
};

}  // namespace fq
