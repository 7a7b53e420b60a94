#include "cli/requests/push_options.h"

// fq, this room.
#include "cli/words/job_options.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

Result<void> take_due(const Arguments& arguments, PushFields& fields) {
  if (const auto typed = arguments.value("delay")) {
    FQ_TRY_SET(fields.delay_ms, to_duration_or("none", "--delay", *typed));
  }
  if (const auto typed = arguments.value("at")) {
    FQ_TRY_SET(fields.at_wall_ms, to_wall_time("--at", *typed));
  }
  if (fields.delay_ms && fields.at_wall_ms)
    return usage_error("--delay", "does not go with --at; give one of them");
  return {};
}

Result<void> take_spans(const Arguments& arguments, PushFields& fields) {
  if (const auto typed = arguments.value("timeout")) {
    FQ_TRY_SET(fields.timeout_ms, to_positive_duration_or("none", "--timeout", *typed));
  }
  if (const auto typed = arguments.value("ttl")) {
    FQ_TRY_SET(fields.ttl_ms, to_positive_duration_or("none", "--ttl", *typed));
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
  if (fields.after.size() + fields.after_any.size() > kAfterMax) {
    const std::string_view name = fields.after.empty() ? "--after-any" : "--after";
    return usage_error(name, "names more than " + std::to_string(kAfterMax) + " messages");
  }
  if (const auto typed = arguments.value("debounce")) {
    FQ_TRY_SET(fields.debounce, to_unique_key("--debounce", *typed));
  }
  if (const auto typed = arguments.value("quiet")) {
    FQ_TRY_SET(fields.quiet_ms, to_positive_duration("--quiet", *typed));
  }
  if (const auto typed = arguments.value("max-wait")) {
    FQ_TRY_SET(fields.max_wait_ms, to_positive_duration_or("unlimited", "--max-wait", *typed));
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
  if (fields.quiet_ms == 0)
    return usage_error("--debounce", "needs --quiet DUR, the silence after which it is due");
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
  FQ_TRY_SET(PushFields fields, lasting_fields_of(arguments));
  FQ_TRY(take_due(arguments, fields));
  FQ_TRY(take_keys(arguments, fields));
  return fields;
}

Result<PushFields> single_fields_of(const Arguments& arguments) {
  FQ_TRY_SET(PushFields fields, lasting_fields_of(arguments));
  FQ_TRY(take_due(arguments, fields));
  return fields;
}

Result<PushFields> lasting_fields_of(const Arguments& arguments) {
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
  FQ_TRY(take_spans(arguments, fields));
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
  const std::pair<bool, std::string_view> ignored[] = {
      {fields.priority.has_value(), "a priority"},
      {!fields.key.empty(), "a sort key"},
      {fields.delay_ms.has_value(), "a delay"},
      {fields.at_wall_ms.has_value(), "a time"},
      {fields.ttl_ms.has_value(), "a time to live"},
      {fields.attempts_max.has_value(), "attempts"},
      {!fields.after.empty(), "messages that it comes after"},
      {!fields.after_any.empty(), "messages that it comes after"}};
  for (const auto& [given, what] : ignored) {
    if (!given) continue;
    return usage_error(mode_name,
                       "replace does not go with " + std::string(what) + ": one that waits keeps its own");
  }
  return {};
}

Result<void> check_order(const PushFields& fields, Order order, std::string_view priority_name,
                         std::string_view key_name) {
  const std::string_view names[] = {"priority", "fifo", "key"};
  const std::string setting = "the queue's order is \"" + std::string(names[static_cast<size_t>(order)]) +
                              "\" (order), which would ignore it";
  if (fields.priority && order != Order::priority) return usage_error(priority_name, setting);
  if (!fields.key.empty() && order != Order::key) return usage_error(key_name, setting);
  return {};
}

Result<void> check_comes_first(const PushFields& fields) {
  for (const std::vector<MessageId>& ids : {fields.after, fields.after_any}) {
    if (!ids.empty()) return unknown_before(ids.front());
  }
  return {};
}

}  // namespace fq::cli
