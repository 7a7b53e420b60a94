#include "core/engine/message_checks.h"

// System.
#include <algorithm>
#include <utility>
// fq, below us.
#include "core/api/command_check.h"
#include "core/base/clock.h"
#include "core/base/tenant_name.h"

namespace fq {

namespace {

Result<void> check_key(const NewMessage& message) {
  const auto refuse = [](const std::string& what) { return Error{ErrorKind::usage, what, 0}; };
  const auto too_long = [&](const std::string& which) {
    return refuse(which + ": has more than " + std::to_string(kUniqueKeyBytesMax) + " bytes");
  };
  if (message.unique.size() > kUniqueKeyBytesMax) return too_long("unique");
  if (message.debounce.size() > kUniqueKeyBytesMax) return too_long("debounce");
  if (message.after.size() + message.after_any.size() > kAfterMax)
    return refuse("after: names more than " + std::to_string(kAfterMax) + " messages");
  if (message.debounce.empty()) return {};
  const bool other = !message.unique.empty() || message.delay_ms || message.at_wall_ms;
  if (other || !message.after.empty() || !message.after_any.empty())
    return refuse("debounce: does not go with unique, delay, at or after");
  if (message.quiet_ms <= 0) return refuse("quiet: must be longer than 0s");
  if (message.max_wait_ms && *message.max_wait_ms <= 0) return refuse("max_wait: must be longer than 0s");
  return {};
}

Error bad_tenant(std::string_view tenant, std::string_view fault) {
  return Error{ErrorKind::usage, "tenant '" + std::string(tenant) + "': " + std::string(fault), 0};
}

Error too_large(size_t bytes, uint64_t most) {
  if (bytes <= most) return Error{ErrorKind::bad_data, "payload: has 4 GiB or more", 0};
  return Error{ErrorKind::bad_data,
               "payload: has " + std::to_string(bytes) + " bytes, the limit is " + std::to_string(most) +
                   " (max_payload)",
               0};
}

/// How long is not bounded: what does not fit is for ever.
Result<void> check_times(const NewMessage& message) {
  const std::pair<std::string_view, int64_t> times[] = {{"delay", message.delay_ms.value_or(0)},
                                                        {"timeout", message.timeout_ms.value_or(0)},
                                                        {"keep", message.keep_ms.value_or(0)},
                                                        {"unique_for", message.unique_for_ms}};
  for (const auto& [name, time] : times)
    if (time < 0) return Error{ErrorKind::usage, std::string(name) + ": is negative", 0};
  return {};
}

Result<void> check_rest(const NewMessage& message) {
  if (message.key.size() > kSortKeyBytesMax) {
    return Error{ErrorKind::usage, "key: has more than " + std::to_string(kSortKeyBytesMax) + " bytes", 0};
  }
  if (message.tags.size() > kTagsMax) {
    return Error{ErrorKind::usage, "tags: there are more than " + std::to_string(kTagsMax), 0};
  }
  size_t tag_bytes = 0;
  for (const Tag& tag : message.tags) tag_bytes += tag.name.size() + tag.value.size() + 4;
  if (tag_bytes > kTagBytesMax) {
    return Error{ErrorKind::usage, "tags: have more than " + std::to_string(kTagBytesMax) + " bytes in all",
                 0};
  }
  const bool bad_attempts =
      message.attempts_max && (*message.attempts_max == 0 || *message.attempts_max > kAttemptsMax);
  if (bad_attempts)
    return Error{ErrorKind::usage, "attempts: must be 1 to " + std::to_string(kAttemptsMax), 0};
  if (!message.schedule.empty() && !queue_name_fault(message.schedule).empty())
    return Error{ErrorKind::usage, "schedule: " + std::string(queue_name_fault(message.schedule)), 0};
  FQ_TRY(check_key(message));
  FQ_TRY(check_times(message));
  if (message.ttl_ms && *message.ttl_ms <= 0)
    return Error{ErrorKind::usage, "ttl: must be longer than 0s", 0};
  return message.command ? check_job_command(*message.command) : Result<void>();
}

// Far from where the counter begins anew, which would give a later delivery the receipt of an earlier one.
constexpr uint32_t kImportedDeliveriesMax = 1'000'000'000;

std::string count_fault(const ExportedMessage& message) {
  const std::pair<std::string_view, uint32_t> counts[] = {{"attempts", message.attempts},
                                                          {"attempts_in_force", message.attempts_in_force},
                                                          {"crashes", message.crashes}};
  for (const auto& [name, count] : counts)
    if (count > kAttemptsMax) return std::string(name) + ": are more than " + std::to_string(kAttemptsMax);
  if (message.deliveries <= kImportedDeliveriesMax) return "";
  return "deliveries: are more than " + std::to_string(kImportedDeliveriesMax);
}

/// Of the states of a message those in which one leaves a queue.
std::string state_fault(const ExportedMessage& message) {
  const bool may_come = has_ended(message.state) || message.state == State::ready ||
                        message.state == State::delayed || message.state == State::held ||
                        message.state == State::dead;
  if (!may_come) return "state: is none of a message that comes from elsewhere";
  return message.state == State::delayed && message.since_wall_ms <= 0 ? "due_at: is missing" : "";
}

/// Sums of these have to be times, too.
std::string time_fault(const ExportedMessage& message) {
  const std::pair<std::string_view, int64_t> times[] = {
      {"since", message.since_wall_ms},         {"due_at", message.due_wall_ms},
      {"delay", message.delay_ms},              {"pushed_at", message.pushed_at_wall_ms},
      {"ttl", message.ttl_ms},                  {"unique_for", message.unique_for_ms},
      {"scheduled_at", message.scheduled_at_wall_ms}};
  for (const auto& [name, time] : times)
    if (time < 0 || time > kLatestMs) return std::string(name) + ": is out of range";
  return "";
}

bool tells_more_than_its_end(const ExportedMessage& message) {
  return !message.payload.empty() || !message.key.empty() || !message.tags.empty() || message.command ||
         !message.unique.empty() || !message.debounce.empty() || !message.schedule.empty() ||
         !message.after.empty() || !message.steps.empty() || message.last_error;
}

bool names_one_twice(const std::vector<ExportedWait>& after) {
  std::vector<uint64_t> ids;
  for (const ExportedWait& wait : after)
    if (!wait.closed) ids.push_back(number(wait.id));
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

/// Whom it is behind because of its key it waits for, too, also where it did not come after that one.
size_t wait_count(const ExportedMessage& message) {
  const auto is_behind = [&](const ExportedWait& wait) { return wait.id == message.behind; };
  const bool is_named = std::any_of(message.after.begin(), message.after.end(), is_behind);
  return message.after.size() + (number(message.behind) != 0 && !is_named ? 1 : 0);
}

}  // namespace

Result<void> check_message(const NewMessage& message, uint64_t payload_bytes_max) {
  const std::string_view fault = tenant_name_fault(message.tenant);
  if (!fault.empty()) return bad_tenant(message.tenant, fault);
  if (message.payload.size() > std::min<uint64_t>(payload_bytes_max, UINT32_MAX))
    return too_large(message.payload.size(), payload_bytes_max);
  return is_bare(message) ? Result<void>() : check_rest(message);
}

NewMessage values_of(const ExportedMessage& message) {
  NewMessage pushed;
  pushed.tenant = message.tenant;
  pushed.payload = as_bytes(message.payload);
  pushed.priority = message.priority;
  pushed.key = message.key;
  pushed.attempts_max = message.attempts_max;
  pushed.tags = message.tags;
  pushed.command = message.command;
  pushed.timeout_ms = message.timeout_ms;
  pushed.keep_ms = message.keep_ms;
  if (message.ttl_ms > 0) pushed.ttl_ms = message.ttl_ms;
  pushed.unique = message.unique;
  pushed.unique_for_ms = message.unique_for_ms;
  pushed.debounce = message.debounce;
  pushed.schedule = message.schedule;
  pushed.scheduled_at_wall_ms = message.scheduled_at_wall_ms;
  return pushed;
}

Result<void> check_step_name(std::string_view name) {
  if (const std::string_view fault = queue_name_fault(name); !fault.empty())
    return Error{ErrorKind::usage, "step '" + std::string(name) + "': its name " + std::string(fault), 0};
  return {};
}

std::string import_fault(const ExportedMessage& message, uint64_t payload_bytes_max) {
  if (!message.lost.empty()) return message.lost;
  if (std::string fault = state_fault(message); !fault.empty()) return fault;
  if (has_ended(message.state))
    return tells_more_than_its_end(message) ? "it has ended, and more is told of it" : "";
  if (std::string fault = time_fault(message); !fault.empty()) return fault;
  NewMessage pushed = values_of(message);
  pushed.debounce = {};  // it needs no delay any more
  const Result<void> checked = check_message(pushed, payload_bytes_max);
  if (!checked.ok()) return checked.error().text;
  if (message.debounce.size() > kUniqueKeyBytesMax) return "debounce: is too long";
  if (wait_count(message) > kAfterMax + 1) return "after: names too many messages";
  if (names_one_twice(message.after)) return "after: names a message twice";
  if (std::string fault = count_fault(message); !fault.empty()) return fault;
  if (message.steps.size() > kStepsPerMessageMax) return "it has too many steps";
  uint64_t bytes = 0;
  for (const ExportedStep& step : message.steps) {
    if (const Result<void> named = check_step_name(step.name); !named) return named.error().text;
    if (step.kind < StepKind::run || step.kind > kLastStepKind) return "step '" + step.name + "': is of no kind";
    if (step.output.size() > kStepBytesMax) return "step '" + step.name + "': its output is too long";
    if (step.ids.size() > kStepsPerMessageMax) return "step '" + step.name + "': waits for too many messages";
    bytes += step.output.size();
  }
  return bytes > kStepsBytesMax ? "the outputs of its steps are too long" : "";
}

}  // namespace fq
