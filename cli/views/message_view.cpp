#include "cli/views/message_view.h"

// fq, below us.
#include "core/base/host_name.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/terminal/shown.h"

namespace fq::cli {

namespace {

void write_time(JsonWriter& json, std::string_view key, const std::optional<int64_t>& at) {
  json.key(key);
  if (at) {
    json.text(format_wall_time(*at));
  } else {
    json.null();
  }
}

void write_optional(JsonWriter& json, std::string_view key, const std::optional<int>& value) {
  json.key(key);
  if (value) {
    json.number(int64_t{*value});
  } else {
    json.null();
  }
}

void write_tags(JsonWriter& json, const std::vector<Tag>& tags) {
  json.key("tags").begin_object();
  for (const Tag& tag : tags) json.key(tag.name).text(tag.value);
  json.end_object();
}

void write_command(JsonWriter& json, const std::optional<JobCommand>& command) {
  if (!command) {
    json.key("argv").null().key("cwd").null();
    return;
  }
  json.key("argv").begin_array();
  for (const std::string& word : command->argv) json.text(word);
  json.end_array().key("cwd").text(command->cwd);
}

void write_duration(JsonWriter& json, std::string_view key, const std::optional<int64_t>& ms) {
  json.key(key);
  ms ? json.text(format_duration(*ms)) : json.null();
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key);
  text.empty() ? json.null() : json.text(text);
}

/// While it waits for them.
void write_ids(JsonWriter& json, std::string_view key, const MessageInfo& message,
               const std::vector<MessageId>& ids) {
  json.key(key);
  if (ids.empty() || message.state != State::held) {
    json.null();
    return;
  }
  json.begin_array();
  for (const MessageId id : ids) json.number(number(id));
  json.end_array();
}

/// What its push said of it, as a line of push --ndjson takes it.
void write_terms(JsonWriter& json, const MessageInfo& message) {
  write_duration(json, "timeout", message.timeout_ms);
  write_duration(json, "ttl", message.ttl_ms);
  write_duration(json, "keep", message.keep_ms);
  write_text(json, "unique", message.unique);
  write_duration(json, "unique_for", message.unique_for_ms);
  write_text(json, "debounce", message.debounce);
  write_text(json, "schedule", message.schedule);
  write_time(json, "scheduled_at", message.scheduled_at_wall_ms);
  write_variables(json, message.command);
}

void write_last_error(JsonWriter& json, const std::optional<LastError>& error) {
  json.key("last_error");
  if (!error) {
    json.null();
    return;
  }
  json.begin_object();
  write_optional(json, "exit", error->exit);
  write_optional(json, "signal", error->signal);
  json.key("reason").text(error->reason);
  json.key("stderr").text(error->stderr_tail);
  json.key("at").text(format_wall_time(error->at_wall_ms)).end_object();
}

/// The last run of a finished message, and its end.
void write_run(JsonWriter& json, const MessageInfo& message) {
  write_time(json, "started_at", message.started_at_wall_ms);
  write_time(json, "ended_at", message.ended_at_wall_ms);
  json.key("run_ms");
  const std::optional<int64_t> ran_ms = run_ms(message);
  ran_ms ? json.number(*ran_ms) : json.null();
  write_optional(json, "exit", message.exit);
  write_optional(json, "signal", message.signal);
  json.key("worker");
  if (!message.worker_pid) {
    json.null();
    return;
  }
  json.begin_object();
  write_optional(json, "pid", message.worker_pid);
  // While it runs, that of its holder; a record of an end has none, and no engine keeps slots.
  write_text(json, "host", message.holder_host);
  json.key("slot").null().end_object();
}

std::string on_host(std::string_view host) {
  return host.empty() || host == host_name() ? "" : " on " + shown(host);
}

}  // namespace

std::string names_text(const std::vector<std::string>& variables) {
  std::string text;
  for (const std::string& variable : variables)
    text.append(text.empty() ? "" : ", ").append(variable, 0, variable.find('='));
  return text;
}

void write_variables(JsonWriter& json, const std::optional<JobCommand>& command) {
  json.key("env");
  if (!command || command->env.empty()) {
    json.null();
    return;
  }
  json.begin_object();
  for (const std::string_view variable : command->env) {
    const size_t equals = variable.find('=');
    json.key(variable.substr(0, equals)).text(variable.substr(std::min(equals, variable.size() - 1) + 1));
  }
  json.end_object();
}

std::string process_text(int pid, std::string_view host) {
  return "process " + std::to_string(pid) + on_host(host);
}

std::string left_behind_text(std::string_view host) {
  return "what the job of a dead worker left behind" + on_host(host);
}

std::optional<int64_t> run_ms(const MessageInfo& message) {
  // One that was not running when it was cancelled ended later than its run, and so did a dead one unless it
  // died of how that ended.
  const bool by_its_run = message.state == State::dead && (message.exit || message.signal);
  const bool ran =
      message.started_at_wall_ms && message.ended_at_wall_ms && (message.state == State::acked || by_its_run);
  if (!ran) return std::nullopt;
  return std::max<int64_t>(0, *message.ended_at_wall_ms - *message.started_at_wall_ms);
}

Result<MessageInfo> info_of(const Delivery& delivery) {
  MessageInfo info;
  info.id = delivery.id;
  info.tenant = delivery.tenant;
  info.state = State::leased;
  info.priority = delivery.priority;
  info.tags = delivery.tags;
  info.command = delivery.command;
  info.attempts = delivery.attempt - 1;
  info.attempts_max = delivery.attempts_max;
  info.deliveries = delivery.delivery;
  info.crashes = delivery.crashes;
  info.pushed_at_wall_ms = delivery.pushed_at_wall_ms;
  info.receipt = delivery.receipt;
  info.lease_until_wall_ms = delivery.deadline_wall_ms;
  info.schedule = delivery.schedule;
  if (!delivery.schedule.empty()) info.scheduled_at_wall_ms = delivery.scheduled_at_wall_ms;
  info.timeout_ms = delivery.timeout_ms;
  info.keep_ms = delivery.keep_ms;
  FQ_TRY_SET(info.payload, delivery.payload.read_all());
  return info;
}

bool only_outcome_known(const MessageInfo& message) {
  const bool finished = has_ended(message.state) || message.state == State::moved;
  return finished && !message.ended_at_wall_ms;
}

bool record_known(const MessageInfo& message) { return message.pushed_at_wall_ms.has_value(); }

void write_message(JsonWriter& json, std::string_view queue, const MessageInfo& message) {
  const bool known = !only_outcome_known(message);
  const auto count = [&json, known](std::string_view key, uint64_t value) {
    json.key(key);
    known ? json.number(value) : json.null();
  };
  json.key("id").number(number(message.id)).key("queue").text(queue).key("tenant");
  message.tenant.empty() ? json.null() : json.text(message.tenant);
  json.key("state").text(name_of(message.state)).key("priority");
  record_known(message) ? json.number(int64_t{message.priority}) : json.null();
  write_text(json, "key", message.key);
  write_tags(json, message.tags);
  json.key("attempts").number(uint64_t{message.attempts});
  count("max_attempts", message.attempts_max);
  count("deliveries", message.deliveries);
  count("crashes", message.crashes);
  write_time(json, "pushed_at", message.pushed_at_wall_ms);
  write_time(json, "due_at", message.due_at_wall_ms);
  write_duration(json, "delay", message.delay_ms);
  write_time(json, "expires_at", message.expires_at_wall_ms);
  json.key("receipt");
  if (message.receipt) {
    json.text(message.receipt->text());
  } else {
    json.null();
  }
  write_time(json, "lease_until", message.lease_until_wall_ms);
  write_optional(json, "holder", message.holder_pid);
  json.key("host");
  message.holder_host.empty() ? json.null() : json.text(message.holder_host);
  write_ids(json, "after", message, message.after);
  write_ids(json, "after_any", message, message.after_any);
  write_command(json, message.command);
  if (message.payload) {
    json.payload(*message.payload);
  } else {
    json.key("payload").null().key("payload_base64").null();
  }
  write_terms(json, message);
  write_run(json, message);
  write_last_error(json, message.last_error);
  json.key("moved_to");
  if (message.moved_to) {
    json.begin_object().key("queue").text(message.moved_to->queue);
    json.key("id").number(number(message.moved_to->id)).end_object();
  } else {
    json.null();
  }
  json.key("lost");
  message.lost.empty() ? json.null() : json.text(message.lost);
}

std::string message_line(std::string_view queue, const MessageInfo& message) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  write_message(json, queue, message);
  json.end_object();
  return line.append("\n");
}

std::string message_form(const MessageInfo& message) {
  std::string form = "{";
  const auto add = [&form](auto&& write) {
    std::string members;
    JsonWriter json(members);
    write(json);
    form.append(form.size() == 1 ? "\n  " : ",\n  ").append(members);
  };
  add([&](JsonWriter& json) { json.key("priority").number(int64_t{message.priority}); });
  add([&](JsonWriter& json) { write_text(json, "key", message.key); });
  add([&](JsonWriter& json) { write_tags(json, message.tags); });
  add([&](JsonWriter& json) { json.key("max_attempts").number(uint64_t{message.attempts_max}); });
  add([&](JsonWriter& json) { write_time(json, "due_at", message.due_at_wall_ms); });
  add([&](JsonWriter& json) { write_duration(json, "ttl", message.ttl_ms); });
  add([&](JsonWriter& json) { write_duration(json, "timeout", message.timeout_ms); });
  add([&](JsonWriter& json) { write_duration(json, "keep", message.keep_ms); });
  add([&](JsonWriter& json) { write_command(json, message.command); });
  add([&](JsonWriter& json) { write_variables(json, message.command); });
  add([&](JsonWriter& json) { json.payload(message.payload.value_or("")); });
  return form.append("\n}\n");
}

std::string command_text(const JobCommand& command) {
  std::string text;
  for (const std::string& word : command.argv)
    text.append(text.empty() ? "" : " ").append(shell_word(word, !locale_shows_utf8()));
  return text;
}

std::string content_text(const MessageInfo& message, size_t columns) {
  if (!message.lost.empty()) return "(lost)";
  return message.command ? cut_short(command_text(*message.command), columns)
                         : shown_short(message.payload.value_or(""), columns);
}

std::string ids_text(const std::vector<MessageId>& ids) {
  std::string text;
  for (const MessageId id : ids) text.append(text.empty() ? "" : ", ").append(std::to_string(number(id)));
  return text;
}

std::string relative_time(int64_t wall_ms, int64_t now_ms) {
  const bool comes = wall_ms > now_ms;
  const int64_t away_ms = comes ? wall_ms - now_ms : now_ms - wall_ms;
  if (away_ms < 1000) return "now";
  // Only the leading unit says something to an eye. A time to come is rounded: what was put off by an hour a
  // moment ago comes in 1h, and not in 59m.
  constexpr int64_t kUnitsMs[] = {86'400'000, 3'600'000, 60'000, 1000, 1};
  size_t at = 0;
  while (away_ms + (comes ? kUnitsMs[at + 1] / 2 : 0) < kUnitsMs[at]) ++at;
  const int64_t unit_ms = kUnitsMs[at];
  const std::string span = format_duration((away_ms + (comes ? unit_ms / 2 : 0)) / unit_ms * unit_ms);
  return comes ? "in " + span : span + " ago";
}

}  // namespace fq::cli
