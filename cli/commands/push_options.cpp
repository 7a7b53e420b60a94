#include "cli/commands/push_options.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/base64.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_reader.h"
#include "core/base/text/suggestion.h"
// fq, this room.
#include "cli/words/job_options.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view kLineKeys[] = {
    "payload", "payload_base64", "tenant",      "priority", "key",      "delay",
    "at",      "attempts",       "timeout",     "tags",     "keep",     "ttl",
    "unique",  "unique_for",     "unique_mode", "after",    "after_any"};

Error bad_line(std::string text) { return Error{ErrorKind::bad_data, std::move(text), 0}; }

Error wrong_kind(std::string_view key, std::string_view expected) {
  return bad_line(std::string(key).append(": must be ").append(expected));
}

/// Takes one key of a line into the message.
class LineFields {
 public:
  LineFields(PushLine& to, std::vector<Tag>& tags) : to_(to), tags_(tags) {}

  Result<void> take(const std::string& key, const JsonValue& value) {
    if (std::find(std::begin(kLineKeys), std::end(kLineKeys), key) == std::end(kLineKeys))
      return unknown(key);
    if (value.kind == Kind::null) return {};
    if (key == "tags") return take_tags(value);
    if (key == "priority" || key == "attempts") return take_number(key, value);
    if (key == "after") return take_ids(key, value, to_.fields.after);
    if (key == "after_any") return take_ids(key, value, to_.fields.after_any);
    const bool text = value.kind == Kind::text || (key == "key" && value.kind == Kind::number);
    if (!text) return wrong_kind(key, "text in quotes");
    return take_text(key, value.text);
  }

  bool has_payload() const { return payloads_ == 1; }
  bool has_two_payloads() const { return payloads_ > 1; }
  bool has_two_times() const { return times_ > 1; }

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
      FQ_TRY_SET(to_.fields.delay_ms, to_duration(key, text));
      to_.fields.at_wall_ms.reset();
      ++times_;
    } else if (key == "timeout") {
      FQ_TRY_SET(to_.fields.timeout_ms, to_positive_duration(key, text));
    } else if (key == "unique") {
      FQ_TRY_SET(to_.fields.unique, to_unique_key(key, text));
    } else if (key == "unique_mode") {
      FQ_TRY_SET(to_.fields.unique_mode, to_unique_mode(key, text));
    } else if (key == "unique_for") {
      FQ_TRY_SET(to_.fields.unique_for_ms, to_duration(key, text));
    } else if (key == "ttl") {
      FQ_TRY_SET(to_.fields.ttl_ms, to_positive_duration(key, text));
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
      FQ_TRY_SET(to_.fields.priority, to_priority(key, value.text));
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

  PushLine& to_;
  std::vector<Tag>& tags_;
  int payloads_ = 0;
  int times_ = 0;
};

Result<void> take_times(const Arguments& arguments, PushFields& fields) {
  if (const auto typed = arguments.value("delay")) {
    FQ_TRY_SET(fields.delay_ms, to_duration("--delay", *typed));
  }
  if (const auto typed = arguments.value("at")) {
    FQ_TRY_SET(fields.at_wall_ms, to_wall_time("--at", *typed));
  }
  if (fields.delay_ms && fields.at_wall_ms)
    return usage_error("--delay", "does not go with --at; give one of them");
  if (const auto typed = arguments.value("timeout")) {
    FQ_TRY_SET(fields.timeout_ms, to_positive_duration("--timeout", *typed));
  }
  if (const auto typed = arguments.value("ttl")) {
    FQ_TRY_SET(fields.ttl_ms, to_positive_duration("--ttl", *typed));
  }
  if (const auto typed = arguments.value("keep")) {
    FQ_TRY_SET(fields.keep_ms, to_positive_duration("--keep", *typed));
  }
  return {};
}

Result<void> take_keys(const Arguments& arguments, PushFields& fields) {
  if (const auto typed = arguments.value("unique")) {
    FQ_TRY_SET(fields.unique, to_unique_key("--unique", *typed));
  }
  if (const auto typed = arguments.value("unique-for")) {
    FQ_TRY_SET(fields.unique_for_ms, to_duration("--unique-for", *typed));
  }
  if (const auto typed = arguments.value("unique-mode")) {
    FQ_TRY_SET(fields.unique_mode, to_unique_mode("--unique-mode", *typed));
  }
  if (const auto typed = arguments.value("after")) {
    FQ_TRY_SET(fields.after, to_id_list("--after", *typed));
  }
  if (const auto typed = arguments.value("after-any")) {
    FQ_TRY_SET(fields.after_any, to_id_list("--after-any", *typed));
  }
  if (const auto typed = arguments.value("debounce")) {
    FQ_TRY_SET(fields.debounce, to_unique_key("--debounce", *typed));
  }
  if (const auto typed = arguments.value("quiet")) {
    FQ_TRY_SET(fields.quiet_ms, to_positive_duration("--quiet", *typed));
  }
  if (const auto typed = arguments.value("max-wait")) {
    FQ_TRY_SET(fields.max_wait_ms, to_positive_duration("--max-wait", *typed));
  }
  if (fields.debounce.empty()) {
    for (const std::string_view name : {"quiet", "max-wait"}) {
      if (arguments.has(name)) return usage_error("--" + std::string(name), "goes with --debounce only");
    }
    return {};
  }
  for (const std::string_view name :
       {"unique", "unique-for", "unique-mode", "delay", "at", "after", "after-any"}) {
    if (arguments.has(name)) return usage_error("--debounce", "does not go with --" + std::string(name));
  }
  if (fields.quiet_ms == 0) return usage_error("--debounce", "needs --quiet DUR, when it is due");
  return {};
}

}  // namespace

NewMessage message_of(const PushFields& fields, std::string_view payload) {
  NewMessage message;
  message.tenant = fields.tenant;
  message.payload = as_bytes(payload);
  message.priority = fields.priority.value_or(0);
  message.key = fields.key;
  message.delay_ms = fields.delay_ms;
  message.at_wall_ms = fields.at_wall_ms;
  message.attempts_max = fields.attempts_max;
  message.tags = fields.tags;
  message.command = fields.command;
  message.timeout_ms = fields.timeout_ms;
  message.keep_ms = fields.keep_ms;
  message.ttl_ms = fields.ttl_ms;
  message.unique = fields.unique;
  if (fields.unique_for_ms) message.unique_for_ms = *fields.unique_for_ms;
  message.unique_mode = fields.unique_mode.value_or(UniqueMode::keep);
  message.after = fields.after;
  message.after_any = fields.after_any;
  message.debounce = fields.debounce;
  message.quiet_ms = fields.quiet_ms;
  message.max_wait_ms = fields.max_wait_ms;
  return message;
}

Result<PushFields> fields_of(const Arguments& arguments) {
  PushFields fields;
  if (const auto typed = arguments.value("tenant")) {
    { FQ_TRY_SET(fields.tenant, to_tenant("--tenant", *typed)); }
  } else if (const auto set = environment("FQ_TENANT")) {
    Result<std::string> tenant = to_tenant("FQ_TENANT", *set);
    if (!tenant) return Error{ErrorKind::config, tenant.error().text, 0};
    fields.tenant = std::move(tenant).value();
  }
  if (const auto typed = arguments.value("priority")) {
    FQ_TRY_SET(fields.priority, to_priority("--priority", *typed));
  }
  if (const auto typed = arguments.value("key")) {
    FQ_TRY_SET(fields.key, to_sort_key("--key", *typed));
  }
  FQ_TRY(take_times(arguments, fields));
  FQ_TRY(take_keys(arguments, fields));
  if (const auto typed = arguments.value("attempts")) {
    FQ_TRY_SET(const uint64_t attempts, to_count("--attempts", *typed, kAttemptsMax));
    fields.attempts_max = static_cast<uint32_t>(attempts);
  }
  for (const std::string_view typed : arguments.values("tag")) {
    FQ_TRY_SET(Tag tag, to_tag("--tag", typed));
    FQ_TRY(add_tag("--tag", fields.tags, std::move(tag)));
  }
  FQ_TRY_SET(fields.command, job_of(arguments));
  return fields;
}

Result<void> check_replacement(const PushFields& fields, std::string_view mode_name) {
  if (fields.unique_mode != UniqueMode::replace) return {};
  const std::pair<bool, std::string_view> ignored[] = {{fields.priority.has_value(), "a priority"},
                                                       {!fields.key.empty(), "a sort key"},
                                                       {fields.delay_ms.has_value(), "a delay"},
                                                       {fields.at_wall_ms.has_value(), "a time"},
                                                       {fields.ttl_ms.has_value(), "a time to live"},
                                                       {fields.attempts_max.has_value(), "attempts"},
                                                       {!fields.after.empty(), "messages that it comes after"},
                                                       {!fields.after_any.empty(), "messages that it comes after"}};
  for (const auto& [given, what] : ignored) {
    if (!given) continue;
    return usage_error(mode_name, "replace does not go with " + std::string(what) +
                                      ": one that waits keeps its own");
  }
  return {};
}

Result<void> check_order(const PushFields& fields, Order order, std::string_view priority_name,
                         std::string_view key_name) {
  const std::string_view names[] = {"priority", "fifo", "key"};
  const std::string setting = "the queue's order is \"" + std::string(names[static_cast<size_t>(order)]) +
                              "\" (order in fq.toml), which would ignore it";
  if (fields.priority && order != Order::priority) return usage_error(priority_name, setting);
  if (!fields.key.empty() && order != Order::key) return usage_error(key_name, setting);
  return {};
}

Result<PushLine> parse_push_line(std::string_view line, const PushFields& defaults, Order order) {
  JsonRead read = read_json_object(line);
  if (!read.fault.empty()) return bad_line(std::move(read.fault));
  PushLine push;
  push.fields = defaults;
  std::vector<Tag> tags = defaults.tags;
  LineFields fields(push, tags);
  for (const auto& [key, value] : read.object.members) FQ_TRY(fields.take(key, value));
  if (fields.has_two_payloads())
    return bad_line("payload: does not go with payload_base64; give one of them");
  if (!fields.has_payload()) return bad_line("has no payload; give payload or payload_base64");
  if (fields.has_two_times()) return bad_line("delay: does not go with at; give one of them");
  push.fields.tags = std::move(tags);
  FQ_TRY(check_replacement(push.fields, "unique_mode"));
  FQ_TRY(check_order(push.fields, order, "priority", "key"));
  return push;
}

}  // namespace fq::cli
