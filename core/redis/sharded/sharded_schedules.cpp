#include "core/redis/sharded/sharded_schedules.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"

namespace fq {

/// All of them in one go.
Result<std::optional<size_t>> ShardedSchedules::shard_of(std::string_view name) {
  std::vector<std::vector<std::string>> commands;
  for (size_t shard = 0; shard < shards_.count(); ++shard)
    commands.push_back({"HEXISTS", shards_.tag(shard) + "sd", std::string(name)});
  FQ_TRY_SET(const std::vector<Reply> replies, shards_.ask(commands));
  for (size_t shard = 0; shard < replies.size(); ++shard) {
    if (replies[shard].number == 1) return std::optional(shard);
  }
  return std::optional<size_t>();
}

Result<void> ShardedSchedules::set(const ScheduleDefinition& definition) {
  const size_t wanted = shards_.of_tenant(definition.message.tenant);
  FQ_TRY_SET(const std::optional<size_t> there, shard_of(definition.name));
  if (there && *there != wanted) {
    return Error{ErrorKind::usage,
                 "schedule " + in_quotes(definition.name) +
                     ": there is one for an account of another shard; remove it first",
                 0};
  }
  return at(wanted).set(definition);
}

/// Each shard forgets what the file does not say of it. One that was set at run time, for an account of any
/// shard, keeps its name.
Result<void> ShardedSchedules::load(std::span<const ScheduleDefinition> definitions) {
  std::vector<std::vector<ScheduleDefinition>> of_shards(shards_.count());
  for (const ScheduleDefinition& each : definitions) {
    const size_t wanted = shards_.of_tenant(each.message.tenant);
    FQ_TRY_SET(const std::optional<size_t> there, shard_of(each.name));
    if (there && *there != wanted) {
      FQ_TRY_SET(const std::optional<ScheduleInfo> info, at(*there).get(each.name));
      if (info && !info->of_file) continue;
    }
    of_shards[wanted].push_back(each);
  }
  for (size_t shard = 0; shard < of_shards.size(); ++shard) FQ_TRY(at(shard).load(of_shards[shard]));
  return {};
}

Result<SchedulePage> ShardedSchedules::list(const Cursor& from, size_t n) {
  SchedulePage page;
  bool is_more = false;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    FQ_TRY_SET(SchedulePage some, at(shard).list(from, n));
    is_more = is_more || !some.next.text.empty();
    std::move(some.schedules.begin(), some.schedules.end(), std::back_inserter(page.schedules));
    return {};
  }));
  std::sort(page.schedules.begin(), page.schedules.end(),
            [](const ScheduleInfo& a, const ScheduleInfo& b) { return a.name < b.name; });
  is_more = is_more || page.schedules.size() > n;
  if (page.schedules.size() > n) page.schedules.resize(n);
  if (is_more && !page.schedules.empty()) page.next.text = page.schedules.back().name;
  return page;
}

Result<std::optional<ScheduleInfo>> ShardedSchedules::get(std::string_view name) {
  FQ_TRY_SET(const std::optional<size_t> shard, shard_of(name));
  if (!shard) return std::optional<ScheduleInfo>();
  return at(*shard).get(name);
}

Result<bool> ShardedSchedules::pause(std::string_view name, bool paused) {
  FQ_TRY_SET(const std::optional<size_t> shard, shard_of(name));
  if (!shard) return false;
  return at(*shard).pause(name, paused);
}

Result<bool> ShardedSchedules::remove(std::string_view name) {
  FQ_TRY_SET(const std::optional<size_t> shard, shard_of(name));
  if (!shard) return false;
  return at(*shard).remove(name);
}

Result<std::optional<MessageId>> ShardedSchedules::run(std::string_view name) {
  FQ_TRY_SET(const std::optional<size_t> shard, shard_of(name));
  if (!shard) return std::optional<MessageId>();
  return at(*shard).run(name);
}

}  // namespace fq
