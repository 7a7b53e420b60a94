#include "core/redis/redis_schedules.h"

// System.
#include <algorithm>
#include <array>
#include <set>
// fq, below us.
#include "core/base/limits.h"
#include "core/base/sort_key.h"
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/redis_push.h"

namespace fq {

namespace {

constexpr int kSetTries = 64;  // against others that change the same schedule at the same time
constexpr size_t kTimesTold = 3;
constexpr int64_t kRefusedMs = 1'000;      // until one that found no room is tried again
constexpr int64_t kUnreadableMs = 60'000;  // until one whose times nobody can tell is looked at again
constexpr size_t kSchedulesPerCall = 64;

Error changed_by_others(std::string_view name) {
  return Error{ErrorKind::later, "schedule " + in_quotes(name) + ": is being changed by others; try again",
               0};
}

std::string due_text(bool paused, int64_t next_wall_ms) {
  return paused || next_wall_ms == kNever ? "-1" : std::to_string(next_wall_ms);
}
std::string next_text(int64_t next_wall_ms) {
  return std::to_string(std::min(next_wall_ms, int64_t{1} << 62));
}

MessageInfo info_of_message(const ScheduledMessage& made) {
  const NewMessage& message = made.message;
  MessageInfo info;
  info.tenant = message.tenant;
  info.priority = message.priority;
  info.key = decode_sort_key(message.key).value_or(std::string(message.key));
  info.tags = message.tags;
  info.command = message.command;
  info.attempts_max = message.attempts_max.value_or(0);
  info.timeout_ms = message.timeout_ms;
  info.keep_ms = message.keep_ms;
  info.ttl_ms = message.ttl_ms;
  info.payload = made.payload;
  return info;
}

ScheduleInfo info_of(const std::string& name, const ScheduleRecord& record, int64_t now_wall_ms) {
  ScheduleInfo info;
  info.name = name;
  info.spec = record.spec;
  info.zone = record.zone;
  info.missed = record.missed;
  info.overlap = record.overlap;
  info.paused = record.paused;
  info.of_file = record.of_file;
  info.refused = record.refused;
  info.begun_wall_ms = record.begun_wall_ms;
  info.last = record.last;
  info.last_wall_ms = record.last_wall_ms;
  info.last_id = MessageId{record.last_id};
  const Result<ScheduleTimes> times = ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms);
  if (!times) info.fault = times.error().text;
  if (times && !record.paused) {
    const int64_t accounted = ScheduleTimes::accounted(record.done_wall_ms, record.next_wall_ms, now_wall_ms);
    info.next_wall_ms = times->next_times(accounted, kTimesTold);
  }
  if (const std::optional<ScheduledMessage> made = read_schedule_message(record.message))
    info.message = info_of_message(*made);
  return info;
}

/// Times that came while it was in neither queue are not made up.
void set_past(const SchedulePast& past, ScheduleRecord& record) {
  record.paused = past.paused;
  record.begun_wall_ms = std::min(past.begun_wall_ms, record.begun_wall_ms);
  record.last = past.last;
  record.last_wall_ms = past.last_wall_ms;
  record.last_id = number(past.last_id);
}

Error unreadable(std::string_view name) {
  return Error{ErrorKind::bad_data,
               "schedule " + in_quotes(name) + ": its record cannot be read; set it again", 0};
}

}  // namespace

Result<RedisSchedules::Look> RedisSchedules::look(std::span<const std::string_view> words) {
  FQ_TRY_SET(const Reply reply, shard_.look(std::vector<std::string_view>(words.begin(), words.end())));
  Look look;
  look.now_wall_ms = shard_.wall_of(clock_in(reply));
  for (const Reply& each : reply.at(1).items)
    look.found.push_back({each.at(0).text, read_schedule(each.at(1).text)});
  return look;
}

Result<RedisSchedules::Look> RedisSchedules::find(std::string_view name) {
  return look(std::array<std::string_view, 2>{"schedule", name});
}

Result<bool> RedisSchedules::put(std::string_view name, const ScheduleRecord& record, int64_t due_wall_ms,
                                 bool told) {
  const std::string version = std::to_string(record.version), bytes = schedule_bytes(record);
  const std::string due = due_text(record.paused, due_wall_ms);
  const std::optional<ScheduledMessage> made = read_schedule_message(record.message);
  const std::string_view tenant = made ? made->message.tenant : std::string_view();
  FQ_TRY_SET(const Reply reply,
             shard_.change("arrange", {"put", name, version, bytes, due, told ? "1" : "0", tenant}));
  const std::string& said = reply.at(1).at(0).text;
  if (said == "many")
    return Error{ErrorKind::later,
                 "queue: has " + std::to_string(kSchedulesMax) + " schedules, which is the limit", 0};
  return said == "ok";
}

Result<std::string> RedisSchedules::signature_of(const ScheduleDefinition& definition,
                                                 const ScheduleRecord& before) const {
  NewMessage message = definition.message;
  message.schedule = definition.name;
  if (!message.command) return std::string();
  const std::optional<ScheduledMessage> made = read_schedule_message(before.message);
  const bool is_good =
      made && signer_.has_key() && signer_.fault(message, made->signature, kUnlimited).empty();
  return is_good ? made->signature : signer_.sign_schedule(message);
}

Result<void> RedisSchedules::set_one(const ScheduleDefinition& definition, bool of_file) {
  for (int tries = 0; tries < kSetTries; ++tries) {
    FQ_TRY_SET(const Look there, find(definition.name));
    ScheduleRecord before;
    if (!there.found.empty() && !there.found[0].record) return unreadable(definition.name);
    if (!there.found.empty()) before = *there.found[0].record;
    // What was set at run time wins.
    if (before.version != 0 && of_file && !before.of_file) return {};
    ScheduleRecord record = before;
    const bool goes_on =
        before.version != 0 && record.spec == definition.spec && record.zone == definition.zone;
    record.spec = definition.spec;
    record.zone = definition.zone;
    record.missed = definition.missed;
    record.overlap = definition.overlap;
    record.of_file = of_file;
    FQ_TRY_SET(const std::string signature, signature_of(definition, before));
    record.message = schedule_message(definition.message, signature);
    if (!goes_on) {
      record.begun_wall_ms = record.done_wall_ms = there.now_wall_ms;
      if (before.version == 0 && definition.past) set_past(*definition.past, record);
      FQ_TRY_SET(const ScheduleTimes times,
                 ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms));
      record.next_wall_ms = times.next(there.now_wall_ms);
    }
    if (record == before) return {};
    FQ_TRY_SET(const bool done, put(definition.name, record, record.next_wall_ms, true));
    if (done) return {};
  }
  return changed_by_others(definition.name);
}

Result<void> RedisSchedules::set(const ScheduleDefinition& definition) {
  FQ_TRY_SET(const Settings settings, policy_.settings());
  FQ_TRY(check_schedule(definition, settings.payload_bytes_max));
  return set_one(definition, false);
}

Result<void> RedisSchedules::load(std::span<const ScheduleDefinition> definitions) {
  FQ_TRY(check_schedules(definitions));
  std::set<std::string_view> names;
  for (const ScheduleDefinition& each : definitions) {
    FQ_TRY(set_one(each, true));
    names.insert(each.name);
  }
  const std::string count = std::to_string(kSchedulesPerCall);
  for (std::string last;;) {
    FQ_TRY_SET(const Look page, look(std::array<std::string_view, 3>{"schedules", last, count}));
    for (const DueSchedule& each : page.found) {
      last = each.name;
      // One that changes meanwhile is found by the next load, or is none of the file's any more.
      if (each.record && each.record->of_file && !names.contains(each.name))
        FQ_TRY(take_out(each.name, *each.record));
    }
    if (page.found.size() < kSchedulesPerCall) return {};
  }
}

Result<SchedulePage> RedisSchedules::list(const Cursor& from, size_t n) {
  SchedulePage page;
  const std::string count = std::to_string(std::min(n, kSchedulesPerCall));
  std::string last = from.text;
  while (page.schedules.size() < n) {
    FQ_TRY_SET(const Look some, look(std::array<std::string_view, 3>{"schedules", last, count}));
    for (const DueSchedule& each : some.found) {
      last = each.name;
      if (!each.record) return unreadable(each.name);
      page.schedules.push_back(info_of(each.name, *each.record, some.now_wall_ms));
      if (page.schedules.size() == n) page.next.text = last;
      if (page.schedules.size() == n) return page;
    }
    if (some.found.size() < kSchedulesPerCall) return page;
  }
  return page;
}

Result<std::optional<ScheduleInfo>> RedisSchedules::get(std::string_view name) {
  FQ_TRY_SET(const Look there, find(name));
  if (there.found.empty()) return std::optional<ScheduleInfo>();
  if (!there.found[0].record) return unreadable(name);
  return std::optional(info_of(there.found[0].name, *there.found[0].record, there.now_wall_ms));
}

Result<bool> RedisSchedules::pause(std::string_view name, bool paused) {
  for (int tries = 0; tries < kSetTries; ++tries) {
    FQ_TRY_SET(const Look there, find(name));
    if (there.found.empty()) return false;
    if (!there.found[0].record) return unreadable(name);
    ScheduleRecord record = *there.found[0].record;
    if (record.paused == paused) return true;
    record.paused = paused;
    if (!paused) {
      // What passed in the pause is not made up.
      FQ_TRY_SET(const ScheduleTimes times,
                 ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms));
      record.done_wall_ms = there.now_wall_ms;
      record.next_wall_ms = times.next(record.done_wall_ms);
    }
    FQ_TRY_SET(const bool done, put(name, record, record.next_wall_ms, true));
    if (done) return true;
  }
  return changed_by_others(name);
}

Result<bool> RedisSchedules::take_out(std::string_view name, const ScheduleRecord& record) {
  const std::string version = std::to_string(record.version);
  FQ_TRY_SET(const Reply reply, shard_.change("arrange", {"remove", name, version}));
  return reply.at(1).at(0).text == "ok";
}

Result<bool> RedisSchedules::remove(std::string_view name) {
  for (int tries = 0; tries < kSetTries; ++tries) {
    FQ_TRY_SET(const Look there, find(name));
    if (there.found.empty()) return false;
    if (!there.found[0].record) return unreadable(name);
    if (there.found[0].record->of_file) {
      return Error{ErrorKind::usage,
                   "schedule " + in_quotes(name) + ": stands in fq.toml; take it out there, or pause it", 0};
    }
    FQ_TRY_SET(const bool done, take_out(name, *there.found[0].record));
    if (done) return true;
  }
  return changed_by_others(name);
}

Result<Reply> RedisSchedules::make(const DueSchedule& seen, int64_t at_wall_ms,
                                   std::vector<std::string_view> words) {
  std::optional<ScheduledMessage> made = read_schedule_message(seen.record->message);
  if (!made) return unreadable(seen.name);
  NewMessage& message = made->message;
  message.payload = as_bytes(made->payload);
  message.schedule = seen.name;
  message.scheduled_at_wall_ms = at_wall_ms;
  if (message.priority != 0 || !message.key.empty()) {
    FQ_TRY_SET(const Settings settings, policy_.settings());
    keep_to_order(message, settings.order);
  }
  FQ_TRY(check_on_server(message));
  const std::string fields = push_fields(message, 0), rest = push_rest(message, made->signature);
  for (const std::string_view each :
       {message.tenant, std::string_view(fields), message.key, std::string_view(rest)})
    words.push_back(each);
  // What falls due is told to nobody as accepted, and falls due again where it was lost: no replica is waited
  // for.
  const bool falls_due = words.front() == "fire";
  return shard_.change("fire", words, Shard::Lost::is_unknown, nullptr, falls_due);
}

Result<std::optional<MessageId>> RedisSchedules::run(std::string_view name) {
  for (int tries = 0; tries < kSetTries; ++tries) {
    FQ_TRY_SET(const Look there, find(name));
    if (there.found.empty()) return std::optional<MessageId>();
    if (!there.found[0].record) return unreadable(name);
    const std::string version = std::to_string(there.found[0].record->version);
    const std::string now = std::to_string(there.now_wall_ms);
    FQ_TRY_SET(const Reply reply, make(there.found[0], there.now_wall_ms, {"run", name, version, now}));
    if (reply.at(1).at(0).text == "ok")
      return std::optional(MessageId{parse_decimal(reply.at(1).at(1).text).value_or(0)});
  }
  return changed_by_others(name);
}

Result<void> RedisSchedules::defer(std::string_view name, int64_t until_wall_ms) {
  FQ_TRY(shard_.change("arrange", {"defer", name, "0", std::to_string(until_wall_ms)}));
  return {};
}

Result<void> RedisSchedules::run_one(const DueSchedule& seen, int64_t now_wall_ms) {
  using What = ScheduleTimes::Decision::What;
  if (!seen.record) return defer(seen.name, now_wall_ms + kUnreadableMs);
  const ScheduleRecord& record = *seen.record;
  const Result<ScheduleTimes> times = ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms);
  if (!times) return defer(seen.name, now_wall_ms + kUnreadableMs);
  const int64_t accounted = ScheduleTimes::accounted(record.done_wall_ms, record.next_wall_ms, now_wall_ms);
  const ScheduleTimes::Decision due = times->decide(record.missed, accounted, now_wall_ms);
  const std::string version = std::to_string(record.version), at = std::to_string(due.at_wall_ms);
  const std::string next = next_text(due.next_wall_ms), wake = due_text(false, due.next_wall_ms);
  if (due.what == What::wait) {
    ScheduleRecord later = record;
    later.next_wall_ms = due.next_wall_ms;
    FQ_TRY(put(seen.name, later, due.next_wall_ms, false));
    return {};
  }
  if (due.what == What::skip) {
    FQ_TRY(shard_.change("timetable", {"skip", seen.name, version, at, next, wake}));
    return {};
  }
  const Result<Reply> made = make(seen, due.at_wall_ms, {"fire", seen.name, version, at, next, wake});
  if (made) return {};
  if (made.error().kind == ErrorKind::bad_data) return defer(seen.name, now_wall_ms + kUnreadableMs);
  if (made.error().kind != ErrorKind::later) return made.error();
  // Full, draining, or the server's memory is: kept until there is room.
  ScheduleRecord refused = record;
  refused.refused = true;
  FQ_TRY(put(seen.name, refused, now_wall_ms + kRefusedMs, false));
  return {};
}

Result<void> RedisSchedules::run_due() {
  FQ_TRY_SET(const Look due, look(std::array<std::string_view, 1>{"schedules_due"}));
  for (const DueSchedule& each : due.found) FQ_TRY(run_one(each, due.now_wall_ms));
  return {};
}

}  // namespace fq
