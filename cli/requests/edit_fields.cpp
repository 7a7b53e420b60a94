#include "cli/requests/edit_fields.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/text/json_reader.h"
// fq, this room.
#include "cli/words/job_options.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

/// What a message keeps for its whole life.
constexpr std::array<std::string_view, 6> kKept = {"tenant",      "unique", "unique_for",
                                                   "unique_mode", "after",  "after_any"};

Result<std::optional<int64_t>> span_or_none(std::string_view name, std::string_view text) {
  return to_positive_duration_or("none", name, text);
}

Result<PushLine> parse_form(const std::string& text) {
  const JsonRead read = read_json_object(text);
  if (!read.fault.empty()) return Error{ErrorKind::bad_data, "the form " + read.fault, 0};
  for (const auto& [name, value] : read.object.members) {
    if (std::find(kKept.begin(), kKept.end(), name) == kKept.end()) continue;
    return Error{ErrorKind::bad_data, name + ": is not edited; a message keeps it", 0};
  }
  Result<PushLine> form = parse_message(text, PushFields());
  if (form) return form;
  return Error{ErrorKind::bad_data, form.error().text, 0};
}

template <class T>
std::optional<T> if_other(const T& before, const T& after) {
  return before == after ? std::optional<T>() : std::optional<T>(after);
}

std::vector<TagPatch> tag_difference(const std::vector<Tag>& before, const std::vector<Tag>& after) {
  std::vector<TagPatch> patches;
  for (const Tag& tag : before) {
    const bool stays =
        std::any_of(after.begin(), after.end(), [&](const Tag& t) { return t.name == tag.name; });
    if (!stays) patches.push_back({tag.name, std::nullopt});
  }
  for (const Tag& tag : after) {
    if (std::find(before.begin(), before.end(), tag) == before.end())
      patches.push_back({tag.name, tag.value});
  }
  return patches;
}

}  // namespace

MessagePatch patch_of(const EditFields& fields) {
  MessagePatch patch;
  if (fields.payload) patch.payload = as_bytes(*fields.payload);
  patch.priority = fields.priority;
  if (fields.key) patch.key = *fields.key;
  patch.delay_ms = fields.delay_ms;
  patch.at_wall_ms = fields.at_wall_ms;
  patch.attempts_max = fields.attempts_max;
  patch.timeout_ms = fields.timeout_ms;
  patch.keep_ms = fields.keep_ms;
  patch.ttl_ms = fields.ttl_ms;
  patch.tags = fields.tags;
  patch.command = fields.command;
  return patch;
}

Result<EditFields> edit_fields_of(const Arguments& arguments) {
  EditFields fields;
  if (const auto typed = arguments.value("priority")) {
    FQ_TRY_SET(fields.priority, to_priority("--priority", *typed));
  }
  if (const auto typed = arguments.value("key")) {
    fields.key.emplace();
    if (!typed->empty()) {
      FQ_TRY_SET(fields.key, to_sort_key("--key", *typed));
    }
  }
  if (arguments.has("delay") && arguments.has("at"))
    return usage_error("--delay", "does not go with --at; give one of them");
  if (const auto typed = arguments.value("delay")) {
    FQ_TRY_SET(const std::optional<int64_t> delay_ms, to_duration_or("none", "--delay", *typed));
    fields.delay_ms = delay_ms.value_or(0);
  }
  if (const auto typed = arguments.value("at")) {
    FQ_TRY_SET(fields.at_wall_ms, to_wall_time("--at", *typed));
  }
  if (const auto typed = arguments.value("ttl")) {
    FQ_TRY_SET(fields.ttl_ms, span_or_none("--ttl", *typed));
  }
  if (const auto typed = arguments.value("timeout")) {
    FQ_TRY_SET(fields.timeout_ms, span_or_none("--timeout", *typed));
  }
  if (const auto typed = arguments.value("attempts")) {
    FQ_TRY_SET(const uint64_t attempts, to_count("--attempts", *typed, kAttemptsMax));
    fields.attempts_max = static_cast<uint32_t>(attempts);
  }
  for (const std::string_view typed : arguments.values("tag")) {
    FQ_TRY_SET(const Tag tag, to_tag("--tag", typed));
    std::erase_if(fields.tags, [&](const TagPatch& each) { return each.name == tag.name; });
    fields.tags.push_back({tag.name, tag.value.empty() ? std::nullopt : std::optional(tag.value)});
  }
  FQ_TRY_SET(std::vector<std::string> words, job_words(arguments));
  if (words.empty()) return fields;
  fields.command = JobCommand{std::move(words), {}, {}};
  FQ_TRY_SET((*fields.command)->cwd, working_directory());
  return fields;
}

Result<EditFields> difference(const std::string& before, const std::string& after) {
  FQ_TRY_SET(const PushLine old, parse_form(before));
  FQ_TRY_SET(const PushLine now, parse_form(after));
  EditFields fields;
  fields.payload = if_other(old.payload, now.payload);
  fields.priority = if_other(old.fields.priority.value_or(0), now.fields.priority.value_or(0));
  fields.key = if_other(old.fields.key, now.fields.key);
  fields.attempts_max = if_other(old.fields.attempts_max, now.fields.attempts_max);
  fields.timeout_ms = if_other(old.fields.timeout_ms, now.fields.timeout_ms);
  fields.keep_ms = if_other(old.fields.keep_ms, now.fields.keep_ms);
  fields.ttl_ms = if_other(old.fields.ttl_ms, now.fields.ttl_ms);
  fields.tags = tag_difference(old.fields.tags, now.fields.tags);
  fields.command = if_other(old.fields.command, now.fields.command);
  if (now.fields.delay_ms) fields.delay_ms = now.fields.delay_ms;
  if (now.fields.at_wall_ms != old.fields.at_wall_ms && !fields.delay_ms) {
    fields.at_wall_ms = now.fields.at_wall_ms;
    if (!fields.at_wall_ms) fields.delay_ms = 0;  // it was taken out: due at once
  }
  return fields;
}

Result<void> check_order(const EditFields& fields, Order order, std::string_view priority_name,
                         std::string_view key_name) {
  PushFields changed;
  if (fields.priority.value_or(0) != 0) changed.priority = fields.priority;
  changed.key = fields.key.value_or("");
  return check_order(changed, order, priority_name, key_name);
}

}  // namespace fq::cli
