#include "cli/views/schedule_view.h"

// System.
#include <array>
#include <utility>
// fq, below us.
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/size.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/views/message_view.h"
#include "cli/words/local_time.h"

namespace fq::cli {

namespace {

constexpr size_t kScheduleColumns = 60;

/// Why there is no next time, or when it is and those after it are: "in 5m, 10m, 15m".
std::string next_text(const ScheduleInfo& info, int64_t now_ms) {
  if (info.paused) return "paused";
  if (!info.fault.empty()) return shown(info.fault);
  if (info.refused) return "no room";
  std::string text;
  for (const int64_t at_ms : info.next_wall_ms) {
    const std::string next = relative_time(at_ms, now_ms);
    text += text.empty() ? next : ", " + (next.starts_with("in ") ? next.substr(3) : next);
  }
  return text.empty() ? "never" : text;
}

void write_time(JsonWriter& json, std::string_view key, int64_t at_ms) {
  json.key(key).text(format_wall_time(at_ms));
}

std::array<std::pair<std::string_view, std::optional<int64_t>>, 3> spans_of(const MessageInfo& message) {
  return {{{"timeout", message.timeout_ms}, {"ttl", message.ttl_ms}, {"keep", message.keep_ms}}};
}

/// How long it is and how it begins: it may be 64 KiB.
std::string payload_text(const MessageInfo& message) {
  const std::string payload = message.payload.value_or("");
  const std::string preview = shown_short(payload, kScheduleColumns);
  return format_size(payload.size()) + (preview.empty() ? "" : ": " + preview);
}

void write_message(JsonWriter& json, const MessageInfo& message) {
  json.key("tenant").text(message.tenant);
  json.key("priority").number(int64_t{message.priority});
  json.key("key");
  message.key.empty() ? json.null() : json.text(message.key);
  json.key("tags").begin_object();
  for (const Tag& tag : message.tags) json.key(tag.name).text(tag.value);
  json.end_object().key("argv");
  if (message.command) {
    json.begin_array();
    for (const std::string& word : message.command->argv) json.text(word);
    json.end_array().key("cwd").text(message.command->cwd);
  } else {
    json.null().key("cwd").null();
  }
  for (const auto& [key, ms] : spans_of(message)) {
    json.key(key);
    ms ? json.text(format_duration(*ms)) : json.null();
  }
  json.key("attempts");
  message.attempts_max != 0 ? json.number(uint64_t{message.attempts_max}) : json.null();
  write_variables(json, message.command);
  json.payload(message.payload.value_or(""));
}

}  // namespace

std::string_view name_of(MissedRule rule) {
  switch (rule) {
    case MissedRule::all:
      return "all";
    case MissedRule::skip:
      return "skip";
    case MissedRule::one:
      break;
  }
  return "one";
}

std::string_view name_of(OverlapRule rule) {
  switch (rule) {
    case OverlapRule::queue:
      return "queue";
    case OverlapRule::cancel:
      return "cancel";
    case OverlapRule::skip:
      break;
  }
  return "skip";
}

std::string_view name_of(Occurrence occurrence) {
  switch (occurrence) {
    case Occurrence::made:
      return "made";
    case Occurrence::overlap:
      return "skipped";
    case Occurrence::missed:
      return "missed";
    case Occurrence::none:
      break;
  }
  return "none";
}

std::string schedule_table(const std::vector<ToldSchedule>& schedules, int64_t now_ms, const Screen& screen) {
  Table table({0, 1, 2, 3, 4, 5, 6});
  table.spare({2, 6, 4, 5});
  table.shorten({0}, kNameLeast);
  table.crop({1, 3, 6});
  table.row({"NAME", "SPEC", "ZONE", "NEXT", "LAST", "FATE", "MAKES"});
  for (const ToldSchedule& each : schedules) {
    const ScheduleInfo& info = each.info;
    const bool ran = info.last != Occurrence::none;
    table.row({info.name, shown(info.spec), shown(info.zone), next_text(info, now_ms),
               ran ? relative_time(info.last_wall_ms, now_ms) : "-", ran ? each.fate : "-",
               content_text(info.message, kScheduleColumns)});
  }
  return table.text(screen);
}

std::string schedule_text(const ToldSchedule& schedule) {
  const ScheduleInfo& info = schedule.info;
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    text.append(name).append(name.size() < 10 ? 10 - name.size() : 1, ' ').append(value).append("\n");
  };
  line("name", info.name);
  line("spec", shown(info.spec));
  line("zone", shown(info.zone));
  line("missed", name_of(info.missed));
  line("overlap", name_of(info.overlap));
  line("from", info.of_file ? "fq.toml" : "fq schedule set");
  if (info.paused) line("paused", "yes");
  if (!info.fault.empty()) line("fault", shown(info.fault));
  if (info.refused) line("waiting", "its time has come, and the queue has no room or is draining");
  for (size_t i = 0; i < info.next_wall_ms.size(); ++i)
    line(i == 0 ? "next" : "", local_time_text(info.next_wall_ms[i]));
  if (info.last != Occurrence::none) line("last", local_time_text(info.last_wall_ms));
  if (info.last == Occurrence::overlap) {
    line("", "skipped: the one before was unfinished");
  } else if (info.last == Occurrence::missed) {
    line("", "skipped: nobody was there in time");
  }
  if (number(info.last_id) != 0) line("message", std::to_string(number(info.last_id)) + " " + schedule.fate);
  const MessageInfo& message = info.message;
  line("tenant", shown(message.tenant));
  if (message.priority != 0) line("priority", std::to_string(message.priority));
  if (!message.key.empty()) line("key", shown(message.key));
  for (const Tag& tag : message.tags) line("tag", shown(tag.name + "=" + tag.value));
  if (message.attempts_max != 0) line("attempts", std::to_string(message.attempts_max));
  for (const auto& [name, ms] : spans_of(message)) {
    if (ms) line(name, format_duration(*ms));
  }
  line("makes", message.command ? command_text(*message.command) : payload_text(message));
  if (!message.command) return text;
  line("cwd", shown(message.command->cwd));
  if (!message.command->env.empty())
    line("env", shown_short(names_text(message.command->env), kScheduleColumns));
  if (!message.payload.value_or("").empty()) line("payload", payload_text(message));
  return text;
}

namespace {

std::string times_text(const ScheduleInfo& info) {
  std::string text;
  if (info.paused) {
    text = "paused";
  } else if (info.refused) {
    text = "its time has come, and the queue has no room or is draining";
  } else if (!info.fault.empty()) {
    text = shown(info.fault);
  } else {
    text = info.next_wall_ms.empty() ? "never again" : "next at " + local_time_text(info.next_wall_ms[0]);
  }
  if (info.last == Occurrence::overlap) text += "; the last time was skipped: the one before was unfinished";
  if (info.last == Occurrence::missed) text += "; the last time was missed: nobody was there";
  return text;
}

}  // namespace

std::string schedule_line(const ScheduleInfo& info) {
  return "schedule " + info.name + ": " + times_text(info) + "\n";
}

void write_schedule_keys(JsonWriter& json, const ScheduleInfo* schedule) {
  json.key("schedule");
  schedule != nullptr ? json.text(schedule->name) : json.null();
  json.key("next_at");
  schedule != nullptr && !schedule->next_wall_ms.empty()
      ? json.text(format_wall_time(schedule->next_wall_ms[0]))
      : json.null();
  json.key("text");
  schedule != nullptr ? json.text(times_text(*schedule)) : json.null();
}

std::string schedule_json(const ToldSchedule& schedule, std::string_view queue) {
  const ScheduleInfo& info = schedule.info;
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("name").text(info.name).key("queue").text(queue);
  json.key("spec").text(info.spec).key("tz").text(info.zone);
  json.key("missed").text(name_of(info.missed)).key("overlap").text(name_of(info.overlap));
  json.key("paused").boolean(info.paused).key("source").text(info.of_file ? "fq.toml" : "set");
  json.key("waiting").boolean(info.refused).key("fault");
  info.fault.empty() ? json.null() : json.text(info.fault);
  json.key("last");
  if (info.last == Occurrence::none) {
    json.null();
  } else {
    json.begin_object();
    write_time(json, "at", info.last_wall_ms);
    json.key("id");
    const bool made = info.last == Occurrence::made;
    made ? json.number(number(info.last_id)) : json.null();
    json.key("fate").text(schedule.fate).end_object();
  }
  json.key("next").begin_array();
  for (const int64_t at_ms : info.next_wall_ms) json.text(format_wall_time(at_ms));
  json.end_array();
  write_message(json, info.message);
  json.end_object();
  return line.append("\n");
}

}  // namespace fq::cli
