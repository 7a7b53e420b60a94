#include "core/engine/schedule_times.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"
#include "core/base/time/zone_file.h"
// fq, this room.
#include "core/engine/message_checks.h"

namespace fq {

namespace {

constexpr int64_t kOnTimeMs = 1000;  // as late a time may be for the rule that skips what has passed

/// The fault of what is kept of it beside its message; "": none.
std::string_view range_fault(const ScheduleDefinition& definition) {
  if (definition.missed > kLastMissedRule) return "missed: there is no such rule";
  if (definition.overlap > kLastOverlapRule) return "overlap: there is no such rule";
  if (!definition.past) return "";
  const SchedulePast& past = *definition.past;
  const auto is_time = [](int64_t wall_ms) { return wall_ms >= 0 && wall_ms <= kLatestMs; };
  if (past.last > kLastOccurrence) return "last: is nothing that a time came to";
  if (!is_time(past.begun_wall_ms) || !is_time(past.last_wall_ms)) return "its past: is out of range";
  return number(past.last_id) <= kMessageIdMax ? "" : "last: has an id that no message has";
}

}  // namespace

Result<ScheduleTimes> ScheduleTimes::of(std::string_view spec, std::string_view zone, int64_t begun_wall_ms) {
  ScheduleTimes times;
  times.begun_wall_ms_ = begun_wall_ms;
  FQ_TRY_SET(times.recurrence_, Recurrence::parse(spec));
  if (times.recurrence_.is_interval()) return times;
  FQ_TRY_SET(times.zone_, load_zone(zone));
  return times;
}

int64_t ScheduleTimes::next(int64_t wall_ms) const {
  return recurrence_.next(wall_ms, zone_, begun_wall_ms_).value_or(kNever);
}

int64_t ScheduleTimes::accounted(int64_t done_wall_ms, int64_t next_wall_ms, int64_t now_wall_ms) {
  if (done_wall_ms - now_wall_ms <= kClockWrongMs) return done_wall_ms;
  return next_wall_ms <= now_wall_ms ? next_wall_ms - 1 : now_wall_ms;
}

ScheduleTimes::Decision ScheduleTimes::decide(MissedRule missed, int64_t accounted_wall_ms,
                                              int64_t now_wall_ms) const {
  using What = Decision::What;
  const int64_t first_ms = next(accounted_wall_ms);
  if (first_ms > now_wall_ms) return {What::wait, 0, first_ms};
  if (missed == MissedRule::all) return {What::make, first_ms, next(first_ms)};
  const int64_t latest_ms =
      recurrence_.last(accounted_wall_ms, now_wall_ms, zone_, begun_wall_ms_).value_or(first_ms);
  const bool late = missed == MissedRule::skip && now_wall_ms - latest_ms > kOnTimeMs;
  return {late ? What::skip : What::make, latest_ms, next(latest_ms)};
}

std::vector<int64_t> ScheduleTimes::next_times(int64_t wall_ms, size_t n) const {
  std::vector<int64_t> times;
  for (int64_t at_ms = next(wall_ms); times.size() < n && at_ms != kNever; at_ms = next(at_ms))
    times.push_back(at_ms);
  return times;
}

Result<void> check_schedule(const ScheduleDefinition& definition, uint64_t payload_bytes_max) {
  const auto refuse = [](std::string what) { return Error{ErrorKind::usage, std::move(what), 0}; };
  if (const std::string_view fault = queue_name_fault(definition.name); !fault.empty())
    return refuse("its name " + std::string(fault));
  if (const std::string_view fault = range_fault(definition); !fault.empty())
    return refuse(std::string(fault));
  FQ_TRY(ScheduleTimes::of(definition.spec, definition.zone, 0));
  // Of a zone that an `every` does not need a name is asked for all the same: it is kept.
  FQ_TRY(load_zone(definition.zone));
  const NewMessage& message = definition.message;
  FQ_TRY(check_message(message, payload_bytes_max));
  const bool keyed = !message.unique.empty() || !message.debounce.empty();
  const bool timed = message.delay_ms || message.at_wall_ms;
  if (keyed || timed || !message.after.empty() || !message.after_any.empty())
    return refuse("schedule: takes no delay, at, unique, debounce or after");
  if (message.payload.size() <= kInlinePayloadBytesMax) return {};
  return Error{ErrorKind::bad_data,
               "payload: has " + std::to_string(message.payload.size()) +
                   " bytes, the limit in a schedule is " + std::to_string(kInlinePayloadBytesMax),
               0};
}

Result<void> check_schedules(std::span<const ScheduleDefinition> definitions) {
  for (const ScheduleDefinition& each : definitions) {
    Result<void> checked = check_schedule(each, UINT64_MAX);
    if (checked.ok()) continue;
    Error error = std::move(checked).error();
    error.text = "schedule " + in_quotes(each.name) + ": " + error.text;
    return error;
  }
  return {};
}

void keep_to_order(NewMessage& message, Order order) {
  if (order != Order::priority) message.priority = 0;
  if (order != Order::key) message.key = {};
}

}  // namespace fq
