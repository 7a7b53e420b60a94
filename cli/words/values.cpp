#include "cli/words/values.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/sort_key.h"
#include "core/base/text/suggestion.h"
#include "core/base/tenant_name.h"
#include "core/base/text/utf8.h"
#include "core/base/text/wall_time.h"

// fq, this room.
#include "cli/words/local_time.h"

namespace fq::cli {

namespace {

std::string with(std::string_view text, std::string_view what) {
  return in_quotes(text).append(" ").append(what);
}

/// None where the text is `word`; a fault says that it could have been.
template <class Read>
auto value_or(std::string_view word, std::string_view text, Read&& read)
    -> Result<std::optional<typename std::decay_t<decltype(*read())>>> {
  using Value = std::optional<typename std::decay_t<decltype(*read())>>;
  if (text == word) return Value();
  auto value = read();
  if (value.ok()) return Value(*value);
  Error fault = std::move(value).error();
  fault.text.append(", or ").append(word);
  return fault;
}

}  // namespace

Error usage_error(std::string_view name, std::string_view what) {
  return Error{ErrorKind::usage, std::string(name).append(": ").append(what), 0};
}

Error not_among(std::string_view name, std::string_view typed, std::string_view what,
                std::span<const std::string_view> words) {
  const std::string_view near = suggest(typed, words);
  const std::string hint = near.empty() ? "use " + either(words) : "did you mean " + std::string(near) + "?";
  return usage_error(name, with(typed, "is not " + std::string(what) + "; " + hint));
}

Result<int64_t> to_duration(std::string_view name, std::string_view text) {
  const DurationParse parsed = parse_duration(text);
  switch (parsed.fault) {
    case DurationFault::not_a_duration:
      return usage_error(name, with(text, "is not a duration; write 5s, 10m or 2h"));
    case DurationFault::too_long:
      return usage_error(name, with(text, "is too long; the limit is 36500d"));
    case DurationFault::none:
      break;
  }
  return parsed.ms;
}

Result<int64_t> to_positive_duration(std::string_view name, std::string_view text) {
  FQ_TRY_SET(const int64_t ms, to_duration(name, text));
  if (ms == 0) return usage_error(name, with(text, "is too short; write at least 1ms"));
  return ms;
}

Result<std::optional<int64_t>> to_duration_or(std::string_view word, std::string_view name,
                                              std::string_view text) {
  return value_or(word, text, [&] { return to_duration(name, text); });
}

Result<std::optional<int64_t>> to_positive_duration_or(std::string_view word, std::string_view name,
                                                       std::string_view text) {
  return value_or(word, text, [&] { return to_positive_duration(name, text); });
}

Result<std::optional<uint64_t>> to_count_or_unlimited(std::string_view name, std::string_view text) {
  return value_or("unlimited", text, [&] { return to_count(name, text, UINT64_MAX); });
}

Result<int64_t> to_wall_time(std::string_view name, std::string_view text) {
  const int64_t now_ms = system_clock().wall_ms();
  FQ_TRY_SET(const std::optional<int64_t> local, parse_local_time(name, text, now_ms, Nearest::next));
  if (local) return *local;
  if (const std::optional<int64_t> at = parse_wall_time(text, now_ms)) return *at;
  return usage_error(
      name,
      with(text, "is not a time; write 2030-01-31T08:00:00Z, '2030-01-31 08:00', 08:00, @1900000000 or +5m"));
}

Result<uint64_t> to_count(std::string_view name, std::string_view text, uint64_t most) {
  const std::optional<uint64_t> count = parse_decimal(text);
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  const bool endless = !count && digits && !text.empty();  // more than any number here can be
  if (!endless && (!count || *count == 0))
    return usage_error(name, with(text, "is not a number of 1 or more"));
  if (endless || *count > most)
    return usage_error(name, with(text, "is too large; the limit is " + std::to_string(most)));
  return *count;
}

Result<int32_t> to_priority(std::string_view name, std::string_view text) {
  const std::optional<int64_t> priority = parse_signed(text);
  if (!priority || *priority < INT32_MIN || *priority > INT32_MAX) {
    return usage_error(name,
                       with(text, "is not a priority; write a whole number from -2147483648 to 2147483647"));
  }
  return static_cast<int32_t>(*priority);
}

Result<std::string> to_tenant(std::string_view name, std::string_view text) {
  if (text.empty()) return usage_error(name, "is empty; name a tenant");
  const std::string_view fault = tenant_name_fault(text);
  if (!fault.empty()) return usage_error(name, "tenant " + with(text, fault));
  return std::string(text);
}

Result<std::string> to_queue(std::string_view name, std::string_view text) {
  const std::string_view fault = queue_name_fault(text);
  if (!fault.empty()) return usage_error(name, "queue " + with(text, fault));
  return std::string(text);
}

Result<std::string> to_sort_key(std::string_view name, std::string_view text) {
  SortKeyEncoding key = encode_sort_key(text);
  switch (key.fault) {
    case SortKeyFault::empty:
      return usage_error(name, "is empty; leave it out for none");
    case SortKeyFault::not_utf8:
      return usage_error(name, with(text, "is not UTF-8"));
    case SortKeyFault::too_long:
      return usage_error(name, with(text, "is too long; the limit is 63 bytes"));
    case SortKeyFault::none:
      break;
  }
  return std::move(key.bytes);
}

Result<void> check_kept_tag(std::string_view name, const Tag& tag) {
  if (!is_shell_name(tag.name)) {
    return usage_error(name,
                       with(tag.name, "is not a tag's name; use letters, digits and _, no digit first"));
  }
  if (tag.name.size() + tag.value.size() > kTagBytesMax) {
    return usage_error(name,
                       "tag " + with(tag.name, "is longer than " + std::to_string(kTagBytesMax) + " bytes"));
  }
  return {};
}

Result<void> check_tag(std::string_view name, const Tag& tag) {
  FQ_TRY(check_kept_tag(name, tag));
  if (!utf8_valid(tag.value)) return usage_error(name, "the value of tag " + with(tag.name, "is not UTF-8"));
  // It becomes a variable of its job.
  if (tag.value.find('\0') != tag.value.npos)
    return usage_error(name, "the value of tag " + with(tag.name, "must be without a NUL"));
  return {};
}

Result<UniqueMode> to_unique_mode(std::string_view name, std::string_view text) {
  if (text == "keep") return UniqueMode::keep;
  if (text == "replace") return UniqueMode::replace;
  if (text == "after") return UniqueMode::after;
  constexpr std::string_view kModes[] = {"keep", "replace", "after"};
  return not_among(name, text, "a mode", kModes);
}

Result<std::vector<MessageId>> to_id_list(std::string_view name, std::string_view text) {
  std::vector<MessageId> ids;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    FQ_TRY_SET(const MessageId id, to_id(name, text.substr(start, end - start)));
    ids.push_back(id);
    start = end + 1;
  }
  return ids;
}

Result<std::string> to_unique_key(std::string_view name, std::string_view text) {
  if (text.empty()) return usage_error(name, "is empty");
  if (text.size() > kUniqueKeyBytesMax)
    return usage_error(name, "is longer than " + std::to_string(kUniqueKeyBytesMax) + " bytes");
  return std::string(text);
}

Result<Tag> to_tag(std::string_view name, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return usage_error(name, with(text, "is not a tag; write NAME=VALUE"));
  Tag tag{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  FQ_TRY(check_tag(name, tag));
  return tag;
}

Result<void> add_tag(std::string_view name, std::vector<Tag>& tags, Tag tag) {
  const auto there =
      std::find_if(tags.begin(), tags.end(), [&tag](const Tag& each) { return each.name == tag.name; });
  if (there == tags.end()) {
    tags.push_back(std::move(tag));
  } else {
    there->value = std::move(tag.value);
  }
  if (tags.size() > kTagsMax)
    return usage_error(name, "there are more than " + std::to_string(kTagsMax) + " tags");
  size_t bytes = 0;
  for (const Tag& each : tags) bytes += each.name.size() + each.value.size();
  if (bytes > kTagBytesMax)
    return usage_error(name, "the tags have more than " + std::to_string(kTagBytesMax) + " bytes in all");
  return {};
}

Result<MessageId> to_id(std::string_view name, std::string_view text) {
  const std::optional<uint64_t> id = parse_decimal(text);
  if (!id || *id > kMessageIdMax)
    return usage_error(name, with(text, "is not a message id; ids are whole numbers up to " +
                                            std::to_string(kMessageIdMax)));
  return MessageId{*id};
}

Result<std::optional<State>> to_state(std::string_view name, std::string_view text) {
  if (text == "all") return std::optional<State>{};
  constexpr State kStates[] = {State::ready, State::delayed, State::leased, State::held, State::dead};
  std::vector<std::string_view> names;
  for (const State state : kStates) {
    if (name_of(state) == text) return std::optional<State>{state};
    names.push_back(name_of(state));
  }
  if (text == kRunning) return std::optional<State>{State::leased};
  names.insert(names.end(), {kRunning, "all"});
  return not_among(name, text, "a state", names);
}

}  // namespace fq::cli
