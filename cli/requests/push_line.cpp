// push_line - one line of push --ndjson: the fields that a push takes, and those that only the JSON of a
// message tells.

// System.
#include <algorithm>
#include <span>
// fq, below us.
#include "core/api/command_check.h"
#include "core/base/clock.h"
#include "core/base/text/base64.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_reader.h"
#include "core/base/text/suggestion.h"
// fq, this room.
#include "cli/requests/push_options.h"
#include "cli/words/job_options.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view kLineKeys[] = {
    "payload", "payload_base64", "tenant",      "priority", "key",       "delay", "at",           "attempts",
    "timeout", "tags",           "keep",        "ttl",      "unique",    "argv",  "max_attempts", "due_at",
    "after",   "unique_for",     "unique_mode", "cwd",      "after_any", "env"};

/// What JSON tells of a message that a push cannot say: how it went.
constexpr std::string_view kToldKeys[] = {
    "id",          "queue",  "state",      "deliveries",   "crashes", "pushed_at", "expires_at", "receipt",
    "lease_until", "holder", "started_at", "ended_at",     "run_ms",  "exit",      "signal",     "worker",
    "last_error",  "lost",   "schedule",   "scheduled_at", "steps",   "moved_to",  "host",       "history"};

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Error bad_line(std::string text) { return Error{ErrorKind::bad_data, std::move(text), 0}; }

Error wrong_kind(std::string_view key, std::string_view expected) {
  return bad_line(std::string(key).append(": must be ").append(expected));
}

/// Takes one key of a line into the message.
class LineFields {
 public:
  /// `counted`: the line has max_attempts, as a message has that is told: its attempts are those that were
  /// made, and a debounce key is what its push said, which a line cannot.
  LineFields(PushLine& to, std::vector<Tag>& tags, bool counted) : to_(to), tags_(tags), counted_(counted) {}

  Result<void> take(const std::string& key, const JsonValue& value) {
    const bool told = is_among(key, kToldKeys) || (counted_ && (key == "attempts" || key == "debounce"));
    if (!told && !is_among(key, kLineKeys)) return unknown(key);
    if (told || value.kind == Kind::null) return {};
    if (key == "tags") return take_tags(value);
    if (key == "argv") return take_words(value);
    if (key == "env") return take_variables(value);
    if (key == "priority" || key == "attempts" || key == "max_attempts") return take_number(key, value);
    if (key == "after") return take_ids(key, value, to_.fields.after);
    if (key == "after_any") return take_ids(key, value, to_.fields.after_any);
    const bool text = value.kind == Kind::text || (key == "key" && value.kind == Kind::number);
    if (!text) return wrong_kind(key, "text in quotes");
    return take_text(key, value.text);
  }

  /// A command needs no input.
  bool has_payload() const { return payloads_ == 1 || !command_.argv.empty(); }
  bool has_two_payloads() const { return payloads_ > 1; }
  bool has_two_times() const { return times_ > 1; }

  /// Once all keys are taken. Of an option, which is for the lines that have a key, others need not know.
  Result<void> check_unique() const {
    if (!to_.fields.unique.empty() || of_unique_.empty()) return {};
    return bad_line(of_unique_ + ": goes with unique only");
  }

  /// Once all keys are taken: the command that they say.
  Result<void> take_command() {
    if (command_.argv.empty()) {
      if (!command_.cwd.empty()) return bad_line("cwd: goes with argv only");
      if (!command_.env.empty()) return bad_line("env: goes with argv only");
      return {};
    }
    if (command_.cwd.empty()) {
      FQ_TRY_SET(command_.cwd, working_directory());
    }
    if (const Result<void> checked = check_job_command(command_); !checked)
      return bad_line(checked.error().text);
    to_.fields.command = std::move(command_);
    return {};
  }

 private:
  static Error unknown(const std::string& key) {
    const std::string_view near = suggest(key, kLineKeys);
    std::string text = "unknown key " + in_quotes(key);
    if (!near.empty()) text += "; did you mean '" + std::string(near) + "'?";
    return bad_line(std::move(text));
  }

  Result<void> take_text(const std::string& key, const std::string& text) {
    if (key == "payload") {
      to_.payload = text;
      ++payloads_;
    } else if (key == "payload_base64") {
      std::optional<std::string> bytes = base64_decode(text);
      if (!bytes) return bad_line("payload_base64: is not base64");
      to_.payload = std::move(*bytes);
      ++payloads_;
    } else if (key == "tenant") {
      FQ_TRY_SET(to_.fields.tenant, to_tenant(key, text));
    } else if (key == "key") {
      FQ_TRY_SET(to_.fields.key, to_sort_key(key, text));
    } else if (key == "delay") {
      FQ_TRY_SET(to_.fields.delay_ms, to_duration_or("none", key, text));
      to_.fields.at_wall_ms.reset();
      ++times_;
    } else if (key == "cwd") {
      command_.cwd = text;
    } else if (key == "due_at") {
      FQ_TRY(take_due(text));
    } else if (key == "timeout") {
      FQ_TRY_SET(to_.fields.timeout_ms, to_positive_duration_or("none", key, text));
    } else if (key == "unique") {
      FQ_TRY_SET(to_.fields.unique, to_unique_key(key, text));
    } else if (key == "unique_mode") {
      FQ_TRY_SET(to_.fields.unique_mode, to_unique_mode(key, text));
      of_unique_ = key;
    } else if (key == "unique_for") {
      FQ_TRY_SET(to_.fields.unique_for_ms, to_duration(key, text));
      of_unique_ = key;
    } else if (key == "ttl") {
      FQ_TRY_SET(to_.fields.ttl_ms, to_positive_duration_or("none", key, text));
    } else if (key == "keep") {
      FQ_TRY_SET(to_.fields.keep_ms, to_positive_duration(key, text));
    } else {
      FQ_TRY_SET(to_.fields.at_wall_ms, to_wall_time(key, text));
      to_.fields.delay_ms.reset();
      ++times_;
    }
    return {};
  }

  Result<void> take_number(const std::string& key, const JsonValue& value) {
    if (value.kind != Kind::number) return wrong_kind(key, "a number");
    if (key == "priority") {
      FQ_TRY_SET(const int32_t priority, to_priority(key, value.text));
      if (priority != 0) to_.fields.priority = priority;
    } else {
      FQ_TRY_SET(const uint64_t attempts, to_count(key, value.text, kAttemptsMax));
      to_.fields.attempts_max = static_cast<uint32_t>(attempts);
    }
    return {};
  }

  Result<void> take_ids(const std::string& key, const JsonValue& value, std::vector<MessageId>& ids) {
    if (value.kind != Kind::array) return wrong_kind(key, "an array of ids");
    ids.clear();
    for (const auto& [name, each] : value.members) {
      if (each.kind != Kind::number) return wrong_kind(key, "an array of ids");
      FQ_TRY_SET(const MessageId id, to_id(key, each.text));
      ids.push_back(id);
    }
    return {};
  }

  Result<void> take_tags(const JsonValue& value) {
    if (value.kind != Kind::object) return wrong_kind("tags", "an object of names and texts");
    for (const auto& [name, text] : value.members) {
      if (text.kind == Kind::null) continue;
      if (text.kind != Kind::text) return wrong_kind("tags", "an object of names and texts");
      const Tag tag{name, text.text};
      FQ_TRY(check_tag("tags", tag));
      FQ_TRY(add_tag("tags", tags_, tag));
    }
    return {};
  }

  /// What was to come, when it was told, may have passed.
  Result<void> take_due(const std::string& text) {
    FQ_TRY_SET(const int64_t due_wall_ms, to_wall_time("due_at", text));
    if (due_wall_ms <= system_clock().wall_ms()) return {};
    to_.fields.at_wall_ms = due_wall_ms;
    to_.fields.delay_ms.reset();
    ++times_;
    return {};
  }

  Result<void> take_words(const JsonValue& value) {
    const std::string_view expected = "an array of texts, the command first";
    if (value.kind != Kind::array || value.members.empty()) return wrong_kind("argv", expected);
    for (const auto& [name, word] : value.members) {
      if (word.kind != Kind::text) return wrong_kind("argv", expected);
      command_.argv.push_back(word.text);
    }
    return {};
  }

  Result<void> take_variables(const JsonValue& value) {
    if (value.kind != Kind::object) return wrong_kind("env", "an object of names and texts");
    for (const auto& [name, text] : value.members) {
      if (text.kind == Kind::null) continue;
      if (text.kind != Kind::text) return wrong_kind("env", "an object of names and texts");
      if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
        return wrong_kind("env", "an object whose names are those of variables");
      command_.env.push_back(name + "=" + text.text);
    }
    return {};
  }

  PushLine& to_;
  std::vector<Tag>& tags_;
  const bool counted_;
  JobCommand command_;
  std::string of_unique_;  // a key of the line that says something of its unique key
  int payloads_ = 0;
  int times_ = 0;
};

}  // namespace

Result<PushLine> parse_push_line(std::string_view line, const PushFields& defaults, Order order) {
  FQ_TRY_SET(PushLine push, parse_message(line, defaults));
  FQ_TRY(check_replacement(push.fields, "unique_mode"));
  FQ_TRY(check_order(push.fields, order, "priority", "key"));
  return push;
}

Result<PushLine> parse_message(std::string_view line, const PushFields& defaults) {
  JsonRead read = read_json_object(line);
  if (!read.fault.empty()) return bad_line(std::move(read.fault));
  PushLine push;
  push.fields = defaults;
  std::vector<Tag> tags = defaults.tags;
  const auto& members = read.object.members;
  const bool counted = std::any_of(members.begin(), members.end(), [](const JsonMember& each) {
    return each.name == "max_attempts" && each.value.kind != Kind::null;
  });
  LineFields fields(push, tags, counted);
  for (const auto& [key, value] : read.object.members) FQ_TRY(fields.take(key, value));
  if (fields.has_two_payloads())
    return bad_line("payload: does not go with payload_base64; give one of them");
  if (!fields.has_payload()) return bad_line("has no payload; give payload or payload_base64");
  if (fields.has_two_times()) return bad_line("delay, at and due_at: do not go together; give one of them");
  FQ_TRY(fields.check_unique());
  FQ_TRY(fields.take_command());
  push.fields.tags = std::move(tags);
  return push;
}

}  // namespace fq::cli
