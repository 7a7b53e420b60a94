// sharded_schedules - schedules of a queue of many shards: each lies where its messages do, and its name is
// one in the whole queue.
#pragma once

// System.
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>
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
  enum class Away { is_left_out, is_waited_for };
  /// The shards that have one of that name: one, but for a moment where two clients set it at once. None:
  /// there is none. An Error: those that answer have none, and others do not answer.
  Result<std::vector<size_t>> shards_of(std::string_view name, Away away = Away::is_left_out);
  /// The first of them.
  Result<std::optional<size_t>> shard_of(std::string_view name);
  /// Does it in each of them; whether any of them has done so.
  Result<bool> for_each_of(std::string_view name, const std::function<Result<bool>(Schedules&)>& change);
  Schedules& at(size_t shard) { return *shards_.at(shard).schedules(); }

  Shards& shards_;
};

}  // namespace fq
