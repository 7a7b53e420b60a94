#include "cli/views/export_view.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/sort_key.h"
#include "core/base/text/base64.h"
#include "core/base/text/duration.h"
#include "core/base/text/utf8.h"
#include "core/base/text/wall_time.h"
#include "core/policy/policy_value.h"
// fq, this room.
#include "cli/views/schedule_view.h"

namespace fq::cli {

namespace {

void write_bytes(JsonWriter& json, std::string_view key, std::string_view bytes) {
  if (bytes.empty()) return;
  if (utf8_valid(bytes)) {
    json.key(key).text(bytes);
  } else {
    json.key(std::string(key) + "_base64").text(base64_encode(bytes));
  }
}

/// One of them that is no UTF-8 puts them all into base64.
void write_words(JsonWriter& json, std::string_view key, const std::vector<std::string>& words) {
  if (words.empty()) return;
  const bool plain =
      std::all_of(words.begin(), words.end(), [](const auto& word) { return utf8_valid(word); });
  json.key(plain ? std::string(key) : std::string(key) + "_base64").begin_array();
  for (const std::string& word : words) json.text(plain ? word : base64_encode(word));
  json.end_array();
}

void write_moment(JsonWriter& json, std::string_view key, int64_t wall_ms) {
  if (wall_ms != 0) json.key(key).text(format_wall_time(wall_ms));
}

/// One that is for ever is the longest that is read again.
std::string readable_span(int64_t ms) { return format_duration(std::min(ms, kDurationMsMax)); }

void write_span(JsonWriter& json, std::string_view key, std::optional<int64_t> ms) {
  if (ms && *ms != 0) json.key(key).text(readable_span(*ms));
}

void write_count(JsonWriter& json, std::string_view key, uint64_t count) {
  if (count != 0) json.key(key).number(count);
}

void write_yes(JsonWriter& json, std::string_view key, bool value) {
  if (value) json.key(key).boolean(true);
}

void write_ids(JsonWriter& json, std::string_view key, const std::vector<MessageId>& ids) {
  if (ids.empty()) return;
  json.key(key).begin_array();
  for (const MessageId id : ids) json.number(number(id));
  json.end_array();
}

void write_given_tags(JsonWriter& json, const std::vector<Tag>& tags) {
  if (tags.empty()) return;
  const bool plain =
      std::all_of(tags.begin(), tags.end(), [](const Tag& tag) { return utf8_valid(tag.value); });
  json.key(plain ? "tags" : "tags_base64").begin_object();
  for (const Tag& tag : tags) json.key(tag.name).text(plain ? tag.value : base64_encode(tag.value));
  json.end_object();
}

void write_error(JsonWriter& json, const std::optional<LastError>& error) {
  if (!error) return;
  json.key("last_error").begin_object();
  if (error->exit) json.key("exit").number(int64_t{*error->exit});
  if (error->signal) json.key("signal").number(int64_t{*error->signal});
  write_bytes(json, "reason", error->reason);
  write_bytes(json, "stderr", error->stderr_tail);
  json.key("at").text(format_wall_time(error->at_wall_ms)).end_object();
}

void write_waits(JsonWriter& json, const ExportedMessage& message) {
  std::vector<MessageId> all, any, closed;
  for (const ExportedWait& wait : message.after) {
    (wait.any ? any : all).push_back(wait.id);
    if (wait.closed) closed.push_back(wait.id);
  }
  write_ids(json, "after", all);
  write_ids(json, "after_any", any);
  write_ids(json, "after_closed", closed);
  write_count(json, "behind", number(message.behind));
}

void write_counts(JsonWriter& json, const ExportedMessage& message) {
  write_count(json, "attempts", message.attempts);
  write_count(json, "max_attempts", message.attempts_max.value_or(0));
  write_count(json, "attempts_in_force", message.attempts_in_force);
  write_count(json, "deliveries", message.deliveries);
  write_count(json, "crashes", message.crashes);
}

void write_given_command(JsonWriter& json, const std::optional<JobCommand>& command) {
  if (!command) return;
  write_words(json, "argv", command->argv);
  write_bytes(json, "cwd", command->cwd);
  write_words(json, "env", command->env);
}

std::string step_line(MessageId id, const ExportedStep& step) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("type").text("step").key("id").number(number(id));
  json.key("name").text(step.name).key("kind").text(name_of(step.kind));
  write_moment(json, "at", step.at_wall_ms);
  write_bytes(json, "output", step.output);
  write_count(json, "child", number(step.child));
  write_yes(json, "open", step.open);
  write_yes(json, "failed", step.failed);
  write_ids(json, "waits_for", step.ids);
  json.end_object();
  return line.append("\n");
}

}  // namespace

std::string export_line(std::string_view queue, std::string_view origin, int64_t now_wall_ms) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("type").text("export").key("format").number(kExportFormat);
  json.key("queue").text(queue).key("origin").text(origin).key("at").text(format_wall_time(now_wall_ms));
  json.end_object();
  return line.append("\n");
}

std::string setting_line(std::string_view tenant, const PolicyValue& value, int64_t now_wall_ms) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("type").text("setting").key("tenant");
  tenant.empty() ? json.null() : json.text(tenant);
  json.key("key");
  if (value.key == PolicyKey::limited) {
    json.text("limited").key("value").text(format_wall_time(now_wall_ms + value.number));
  } else if (value.key == PolicyKey::paused || value.key == PolicyKey::draining) {
    json.text(value.key == PolicyKey::paused ? "paused" : "draining").key("value").text("yes");
  } else {
    json.text(spec_of(value.key)->name).key("value").text(policy_value_text(value));
  }
  json.end_object();
  return line.append("\n");
}

std::string exported_lines(const ExportedMessage& message) {
  std::string lines;
  for (const ExportedStep& step : message.steps) lines.append(step_line(message.id, step));
  JsonWriter json(lines);
  json.begin_object().key("type").text("message").key("id").number(number(message.id));
  json.key("state").text(name_of(message.state));
  if (has_ended(message.state)) {
    json.end_object();
    return lines.append("\n");
  }
  write_moment(json, message.state == State::delayed ? "due_at" : "since", message.since_wall_ms);
  if (message.state != State::delayed) write_moment(json, "due_at", message.due_wall_ms);
  write_span(json, "delay", message.delay_ms);
  json.key("tenant").text(message.tenant);
  if (message.priority != 0) json.key("priority").number(int64_t{message.priority});
  write_bytes(json, "key", decode_sort_key(message.key).value_or(""));
  write_given_tags(json, message.tags);
  write_counts(json, message);
  write_moment(json, "pushed_at", message.pushed_at_wall_ms);
  write_span(json, "ttl", message.ttl_ms);
  write_span(json, "timeout", message.timeout_ms);
  write_span(json, "keep", message.keep_ms);
  write_bytes(json, "unique", message.unique);
  if (!message.unique.empty()) json.key("unique_for").text(readable_span(message.unique_for_ms));
  write_bytes(json, "debounce", message.debounce);
  write_waits(json, message);
  write_yes(json, "wait_failed", message.wait_failed);
  write_yes(json, "expired", message.expired);
  if (!message.schedule.empty()) json.key("schedule").text(message.schedule);
  write_moment(json, "scheduled_at", message.scheduled_at_wall_ms);
  write_error(json, message.last_error);
  write_given_command(json, message.command);
  json.key("steps").number(uint64_t{message.steps.size()});
  write_bytes(json, "payload", message.payload);
  json.end_object();
  return lines.append("\n");
}

std::string exported_schedule(const ScheduleInfo& schedule) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("type").text("schedule").key("name").text(schedule.name);
  json.key("spec").text(schedule.spec).key("tz").text(schedule.zone);
  json.key("missed").text(name_of(schedule.missed)).key("overlap").text(name_of(schedule.overlap));
  write_yes(json, "paused", schedule.paused);
  write_moment(json, "begun", schedule.begun_wall_ms);
  if (schedule.last != Occurrence::none) {
    json.key("last").text(name_of(schedule.last));
    write_moment(json, "last_at", schedule.last_wall_ms);
  }
  write_count(json, "last_id", number(schedule.last_id));
  const MessageInfo& message = schedule.message;
  json.key("tenant").text(message.tenant);
  if (message.priority != 0) json.key("priority").number(int64_t{message.priority});
  write_bytes(json, "key", message.key);
  write_given_tags(json, message.tags);
  write_count(json, "max_attempts", message.attempts_max);
  write_span(json, "ttl", message.ttl_ms);
  write_span(json, "timeout", message.timeout_ms);
  write_span(json, "keep", message.keep_ms);
  write_given_command(json, message.command);
  write_bytes(json, "payload", message.payload.value_or(""));
  json.end_object();
  return line.append("\n");
}

std::string end_line(uint64_t messages, uint64_t schedules) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("type").text("end").key("messages").number(messages);
  write_count(json, "schedules", schedules);
  json.end_object();
  return line.append("\n");
}

}  // namespace fq::cli
