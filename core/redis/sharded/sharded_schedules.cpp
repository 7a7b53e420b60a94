#include "core/redis/sharded/sharded_schedules.h"

// System.
#include <algorithm>
#include <iterator>
#include <utility>
// fq, below us.
#include "core/base/text/escape.h"

namespace fq {

/// All of them in one go.
Result<std::vector<size_t>> ShardedSchedules::shards_of(std::string_view name, Away away) {
  std::vector<std::vector<std::string>> commands;
  for (size_t shard = 0; shard < shards_.count(); ++shard)
    commands.push_back({"HEXISTS", shards_.tag(shard) + "sd", std::string(name)});
  const std::vector<Result<Reply>> replies =
      away == Away::is_waited_for ? shards_.link().ask_and_wait(commands) : shards_.ask_each(commands);
  std::vector<size_t> found;
  std::optional<Error> fault;
  for (size_t shard = 0; shard < replies.size(); ++shard) {
    if (!replies[shard]) fault = replies[shard].error();
    if (replies[shard] && replies[shard]->number == 1) found.push_back(shard);
  }
  if (found.empty() && fault) return *std::move(fault);
  return found;
}

Result<std::optional<size_t>> ShardedSchedules::shard_of(std::string_view name) {
  FQ_TRY_SET(const std::vector<size_t> found, shards_of(name));
  return found.empty() ? std::optional<size_t>() : std::optional(found[0]);
}

/// Nothing holds a name over shards: whoever has set it looks whether another has, too, and then nobody has.
Result<void> ShardedSchedules::set(const ScheduleDefinition& definition) {
  const size_t wanted = shards_.of_tenant(definition.message.tenant);
  const auto is_elsewhere = [&]() -> Result<bool> {
    FQ_TRY_SET(const std::vector<size_t> there, shards_of(definition.name, Away::is_waited_for));
    return std::any_of(there.begin(), there.end(), [&](size_t shard) { return shard != wanted; });
  };
  const Error taken{ErrorKind::usage,
                    "schedule " + in_quotes(definition.name) +
                        ": there is one for an account of another shard; remove it first",
                    0};
  FQ_TRY_SET(const bool was_elsewhere, is_elsewhere());
  if (was_elsewhere) return taken;
  FQ_TRY_SET(const std::optional<ScheduleInfo> before, at(wanted).get(definition.name));
  FQ_TRY(at(wanted).set(definition));
  FQ_TRY_SET(const bool is_taken, is_elsewhere());
  if (!is_taken) return {};
  if (!before) FQ_TRY(at(wanted).remove(definition.name));
  return taken;
}

/// Each shard forgets what the file does not say of it. One that was set at run time, for an account of any
/// shard, keeps its name.
Result<void> ShardedSchedules::load(std::span<const ScheduleDefinition> definitions) {
  std::vector<std::vector<ScheduleDefinition>> of_shards(shards_.count());
  for (const ScheduleDefinition& each : definitions) {
    const size_t wanted = shards_.of_tenant(each.message.tenant);
    // Of those that do not answer it is not known now; the file is loaded again when they do.
    const Result<std::optional<size_t>> there = shard_of(each.name);
    if (!there && !is_away(there.error())) return there.error();
    if (there && *there && **there != wanted) {
      const Result<std::optional<ScheduleInfo>> info = at(**there).get(each.name);
      if (!info && !serves_nothing(info.error())) return info.error();
      if (info && *info && !(*info)->of_file) continue;
    }
    of_shards[wanted].push_back(each);
  }
  return shards_.for_each([&](size_t shard) { return at(shard).load(of_shards[shard]); });
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

Result<bool> ShardedSchedules::for_each_of(std::string_view name,
                                           const std::function<Result<bool>(Schedules&)>& change) {
  FQ_TRY_SET(const std::vector<size_t> found, shards_of(name));
  bool is_done = false;
  for (const size_t shard : found) {
    FQ_TRY_SET(const bool done, change(at(shard)));
    is_done = is_done || done;
  }
  return is_done;
}

Result<bool> ShardedSchedules::pause(std::string_view name, bool paused) {
  return for_each_of(name, [&](Schedules& shard) { return shard.pause(name, paused); });
}

Result<bool> ShardedSchedules::remove(std::string_view name) {
  return for_each_of(name, [&](Schedules& shard) { return shard.remove(name); });
}

Result<std::optional<MessageId>> ShardedSchedules::run(std::string_view name) {
  FQ_TRY_SET(const std::optional<size_t> shard, shard_of(name));
  if (!shard) return std::optional<MessageId>();
  return at(*shard).run(name);
}

}  // namespace fq
