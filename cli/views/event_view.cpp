#include "cli/views/event_view.h"

// System.
#include <algorithm>
#include <array>
#include <charconv>
// fq, below us.
#include "core/base/sort_key.h"
#include "core/base/text/size.h"
#include "core/base/text/wall_time.h"
#include "core/policy/policy_value.h"
// fq, this room.
#include "cli/words/local_time.h"
#include "cli/terminal/shown.h"
#include "cli/views/policy_view.h"

namespace fq::cli {

namespace {

constexpr size_t kEventColumns = 11;  // unscheduled
constexpr size_t kIdColumns = 8;
constexpr size_t kEventTenantColumns = 16;
constexpr size_t kMsDigitsAt = 20;  // in "2026-11-02T08:00:00.500Z"

/// What is set at run time only: fq.toml has no word for it, so nothing is as there again.
bool is_never_in_file(PolicyKey key) {
  return key == PolicyKey::paused || key == PolicyKey::draining || key == PolicyKey::limited;
}

void append_number(std::string& to, int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  to.append(digits.data(), end);
}

/// Of JSON: a text that needs no escape goes as it is.
void append_text(std::string& to, std::string_view text) {
  const auto needs_care = [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; };
  if (std::none_of(text.begin(), text.end(), needs_care)) {
    to.append("\"").append(text).append("\"");
  } else {
    JsonWriter(to).text(text);
  }
}

void append_key(std::string& to, std::string_view key_with_quotes, std::string_view text) {
  to.append(key_with_quotes);
  if (text.empty()) {
    to.append("null");
  } else {
    append_text(to, text);
  }
}

void append_key(std::string& to, std::string_view key_with_quotes, std::optional<int64_t> value) {
  to.append(key_with_quotes);
  if (value) {
    append_number(to, *value);
  } else {
    to.append("null");
  }
}

/// For people: what is plain ASCII needs no escape. Returns the columns that it takes.
size_t append_shown(std::string& to, std::string_view text) {
  const auto needs_care = [](char c) { return c < ' ' || c > '~' || c == '\\'; };
  if (std::none_of(text.begin(), text.end(), needs_care)) {
    to.append(text);
    return text.size();
  }
  const std::string safe = shown(text);
  to.append(safe);
  return columns_of(safe);
}

/// What a turn rests on, which only a push tells; of what a step has put out the bytes.
void append_load(std::string& to, const Event& event) {
  if (!event.bytes) {
    to.append(R"(,"bytes":null,"priority":null,"key":null,"after":null,"after_any":null)");
    return;
  }
  append_number(to.append(",\"bytes\":"), static_cast<int64_t>(*event.bytes));
  if (!event.step.empty()) {
    to.append(R"(,"priority":null,"key":null,"after":null,"after_any":null)");
    return;
  }
  append_number(to.append(",\"priority\":"), event.priority);
  append_key(to, ",\"key\":", event.key.empty() ? "" : decode_sort_key(event.key).value_or(""));
  const auto append_ids = [&](std::string_view key_with_quotes, std::string_view ids) {
    to.append(key_with_quotes);
    ids.empty() ? to.append("null") : to.append("[").append(ids).append("]");
  };
  append_ids(",\"after\":", event.after);
  append_ids(",\"after_any\":", event.after_any);
}

/// As fq.toml has it; null: it is as the file has it again.
void append_set(std::string& to, const PolicyPatch* patch) {
  to.append(",\"set\":");
  if (patch == nullptr) {
    to.append("null");
    return;
  }
  JsonWriter json(to);
  json.begin_object();
  for (const PolicyValue& value : patch->set) {
    json.key(policy_key_name(value.key));
    if (value.key == PolicyKey::limited) {
      json.text(format_wall_time(value.number));
    } else {
      write_policy_value(json, value);
    }
  }
  for (const PolicyKey key : patch->unset) json.key(policy_key_name(key)).null();
  json.end_object();
}

void pad(std::string& to, size_t used, size_t columns) {
  to.append(used < columns ? columns - used : 0, ' ');
}

}  // namespace

std::string_view TimeText::of(int64_t wall_ms) {
  const int64_t ms = ((wall_ms % 1000) + 1000) % 1000;
  const int64_t second = (wall_ms - ms) / 1000;
  if (second != second_) {
    text_ = format_(wall_ms);
    second_ = text_[kMsDigitsAt - 1] == '.' ? second : INT64_MIN;  // a year of more digits is rare
    return text_;
  }
  text_[kMsDigitsAt] = static_cast<char>('0' + ms / 100);
  text_[kMsDigitsAt + 1] = static_cast<char>('0' + ms / 10 % 10);
  text_[kMsDigitsAt + 2] = static_cast<char>('0' + ms % 10);
  return text_;
}

EventView::EventView(std::string_view queue) : time_(format_wall_time), local_(local_time_text) {
  JsonWriter(queue_).text(queue);
}

void EventView::append_json(std::string& to, const Event& event) {
  to.append("{\"event\":\"").append(event.event);
  to.append("\",\"at\":\"").append(time_.of(event.at_wall_ms)).append("\",\"queue\":").append(queue_);
  // About a schedule, and no message.
  append_key(to, ",\"id\":",
             number(event.id) == 0 ? std::nullopt : std::optional(static_cast<int64_t>(number(event.id))));
  append_key(to, ",\"tenant\":", event.tenant);
  // Most events have nothing more, or a receipt and a process.
  const bool has_holder = !event.receipt.empty() || event.pid != 0 || !event.reason.empty();
  const bool has_rest = event.until_wall_ms != 0 || event.due_wall_ms != 0 || event.exit || event.signal ||
                        event.expires_wall_ms != 0 || !event.stderr_tail.empty();
  if (has_holder) {
    append_key(to, ",\"receipt\":", event.receipt);
    append_key(to, ",\"pid\":", event.pid == 0 ? std::nullopt : std::optional<int64_t>(event.pid));
    append_key(to, ",\"reason\":", event.reason);
  } else {
    to.append(",\"receipt\":null,\"pid\":null,\"reason\":null");
  }
  if (has_rest) {
    append_key(to, ",\"lease_until\":", event.until_wall_ms == 0 ? "" : time_.of(event.until_wall_ms));
    append_key(to, ",\"due_at\":", event.due_wall_ms == 0 ? "" : time_.of(event.due_wall_ms));
    append_key(to, ",\"exit\":", event.exit ? std::optional<int64_t>(*event.exit) : std::nullopt);
    append_key(to, ",\"signal\":", event.signal ? std::optional<int64_t>(*event.signal) : std::nullopt);
    append_key(to, ",\"stderr\":", event.stderr_tail);
    append_key(to, ",\"expires_at\":", event.expires_wall_ms == 0 ? "" : time_.of(event.expires_wall_ms));
  } else {
    to.append(
        R"(,"lease_until":null,"due_at":null,"exit":null,"signal":null,"stderr":null,"expires_at":null)");
  }
  if (event.other_queue.empty()) {
    to.append(R"(,"other_queue":null,"other_id":null)");
  } else {
    append_key(to, ",\"other_queue\":", event.other_queue);
    const auto id = static_cast<int64_t>(number(event.other_id));
    append_key(to, ",\"other_id\":", id == 0 ? std::nullopt : std::optional(id));
  }
  if (event.schedule.empty()) {
    to.append(R"(,"schedule":null,"scheduled_at":null)");
  } else {
    append_key(to, ",\"schedule\":", event.schedule);
    append_key(to,
               ",\"scheduled_at\":", event.scheduled_wall_ms == 0 ? "" : time_.of(event.scheduled_wall_ms));
  }
  if (event.step.empty()) {
    to.append(R"(,"step":null,"kind":null)");
  } else {
    append_key(to, ",\"step\":", event.step);
    append_key(to, ",\"kind\":", event.kind);
  }
  append_load(to, event);
  append_set(to, event.set);
  to.push_back('}');
}

void EventView::append_settings(std::string& to, const PolicyPatch& patch) {
  std::string_view between;
  for (const PolicyValue& value : patch.set) {
    to.append(between).append(policy_key_name(value.key));
    if (value.key == PolicyKey::limited) {
      to.append(" until ").append(local_.of(value.number));
    } else if (!is_never_in_file(value.key)) {
      append_shown(to.append(" "), policy_value_text(value));
    }
    between = ", ";
  }
  for (const PolicyKey key : patch.unset) {
    to.append(between);
    if (is_never_in_file(key)) {
      to.append("not ").append(policy_key_name(key));
    } else {
      to.append(policy_key_name(key)).append(" as in fq.toml");
    }
    between = ", ";
  }
}

void EventView::append_details(std::string& to, const Event& event, std::string_view between) {
  const auto next = [&]() -> std::string& {
    to.append(between);
    between = ", ";
    return to;
  };
  if (!event.receipt.empty()) append_shown(next(), event.receipt);
  if (event.pid != 0) append_number(next().append("process "), event.pid);
  if (event.until_wall_ms != 0) next().append("until ").append(local_.of(event.until_wall_ms));
  if (event.due_wall_ms != 0) next().append("due ").append(local_.of(event.due_wall_ms));
  if (event.expires_wall_ms != 0) next().append("expires ").append(local_.of(event.expires_wall_ms));
  if (!event.other_queue.empty())
    next().append(event.event == "arrived" ? "from queue " : "to queue ").append(event.other_queue);
  if (number(event.other_id) != 0)
    append_number(to.append(", message "), static_cast<int64_t>(number(event.other_id)));
  if (!event.schedule.empty()) append_shown(next().append("schedule "), event.schedule);
  if (event.scheduled_wall_ms != 0) next().append("of ").append(local_.of(event.scheduled_wall_ms));
  if (!event.step.empty()) {
    next().append(event.kind).append(" ").append(event.step);
    if (event.bytes.value_or(0) != 0) next().append(format_size(*event.bytes));
  }
  if (event.exit || event.signal) {
    const std::string status = status_text(event.exit, event.signal, event.reason);
    if (!status.empty()) next().append(status);
  }
  if (!event.reason.empty()) append_shown(next(), event.reason);
  if (event.set != nullptr) append_settings(next(), *event.set);
}

void EventView::append_line(std::string& to, const Event& event) {
  to.append(local_.of(event.at_wall_ms)).append("  ");
  to.append(event.event);
  pad(to, event.event.size(), kEventColumns);
  to.append("  ");
  const size_t begin = to.size();
  if (number(event.id) == 0) {
    to.push_back('-');
  } else {
    append_number(to, static_cast<int64_t>(number(event.id)));
  }
  pad(to, to.size() - begin, kIdColumns);
  to.append("  ");
  const size_t columns = append_shown(to, event.tenant.empty() ? "-" : event.tenant);
  const size_t end = to.size();
  pad(to, columns, kEventTenantColumns);
  const size_t padded_end = to.size();
  append_details(to, event, "  ");
  if (to.size() == padded_end) to.resize(end);  // nothing to stand apart from
  to.push_back('\n');
}

std::string status_text(std::optional<int> exit, std::optional<int> signal, std::string_view reason) {
  std::string status;
  if (exit) status = "exit " + std::to_string(*exit);
  if (signal) status = "signal " + std::to_string(*signal);
  // A worker's reason may be the status itself.
  return reason.find(status) == std::string_view::npos ? status : "";
}

Event view_of(const HistoryEvent& event, MessageId id, std::string_view tenant) {
  Event view;
  view.event = event.event;
  view.at_wall_ms = event.at_wall_ms;
  view.id = id;
  view.tenant = tenant;
  view.receipt = event.receipt;
  view.pid = event.pid.value_or(0);
  view.until_wall_ms = event.until_wall_ms;
  view.due_wall_ms = event.due_wall_ms;
  view.exit = event.exit;
  view.signal = event.signal;
  view.reason = event.reason;
  view.stderr_tail = event.stderr_tail;
  if (event.elsewhere) view.other_queue = event.elsewhere->queue;
  if (event.elsewhere) view.other_id = event.elsewhere->id;
  return view;
}

}  // namespace fq::cli
