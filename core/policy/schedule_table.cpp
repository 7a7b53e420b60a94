#include "core/policy/schedule_table.h"

// System.
#include <algorithm>
#include <functional>
// fq, below us.
#include "core/base/sort_key.h"
#include "core/base/tenant_name.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/shell_words.h"
#include "core/base/text/suggestion.h"
#include "core/base/text/utf8.h"
#include "core/base/time/recurrence.h"
#include "core/base/time/zone_file.h"
#include "core/engine/schedule_times.h"

namespace fq {

namespace {

constexpr std::string_view kScheduleKeys[] = {"spec", "tz",  "missed",   "overlap", "tenant", "priority",
                                              "key",  "ttl", "attempts", "timeout", "keep",   "tags",
                                              "argv", "env", "cwd",      "shell",   "payload"};

using Text = std::string;

/// One table, key by key; the first fault ends it.
class ScheduleTable {
 public:
  ScheduleTable(const toml::table& table, FileSchedule& to) : table_(table), to_(to) {}

  Result<void> read() {
    for (const auto& [key, node] : table_) {
      line_ = key.source().begin.line;
      const std::string_view name(key.str());
      if (std::find(std::begin(kScheduleKeys), std::end(kScheduleKeys), name) == std::end(kScheduleKeys)) {
        const std::string_view near = suggest(name, kScheduleKeys);
        return refuse(
            "unknown key " + in_quotes(name) + "; " +
            (near.empty() ? "write " + either(kScheduleKeys) : "did you mean " + in_quotes(near) + "?"));
      }
      Result<void> taken = take(name, node);
      if (!taken) return refuse(taken.error().text);
    }
    return finish();
  }
  uint32_t line() const { return line_; }

 private:
  /// A fault that is found from now on is told at this key, where it is there, else at the table.
  void stands_at(std::string_view name) {
    const toml::node* node = table_.get(name);
    line_ = (node != nullptr ? node->source() : table_.source()).begin.line;
  }

  Error refuse(std::string text) const { return Error{ErrorKind::config, std::move(text), 0}; }

  Result<Text> text(std::string_view name, const toml::node& node) const {
    if (const auto* value = node.as_string()) return value->get();
    return refuse(std::string(name) + ": must be a text in quotes");
  }

  Result<std::vector<Text>> words(std::string_view name, const toml::node& node) const {
    std::vector<Text> words;
    const auto* array = node.as_array();
    if (array == nullptr) return refuse(std::string(name) + ": must be a list of texts");
    for (const auto& each : *array) {
      FQ_TRY_SET(Text word, text(name, each));
      words.push_back(std::move(word));
    }
    return words;
  }

  Result<void> take(std::string_view name, const toml::node& node) {
    NewMessage& message = to_.definition.message;
    if (name == "tags") return take_tags(node);
    if (name == "priority" || name == "attempts") {
      const auto* number = node.as_integer();
      const bool priority = name == "priority";
      const int64_t least = priority ? INT32_MIN : 1;
      const int64_t most = priority ? INT32_MAX : int64_t{kAttemptsMax};
      if (number == nullptr || number->get() < least || number->get() > most) {
        return refuse(std::string(name) + ": must be a number from " + std::to_string(least) + " to " +
                      std::to_string(most));
      }
      if (priority) {
        message.priority = static_cast<int32_t>(number->get());
        to_.priority_line = message.priority == 0 ? 0 : line_;
      }
      if (!priority) message.attempts_max = static_cast<uint32_t>(number->get());
      return {};
    }
    if (name == "argv" || name == "env") {
      FQ_TRY_SET((name == "argv" ? command_.argv : command_.env), words(name, node));
      return {};
    }
    FQ_TRY_SET(const Text value, text(name, node));
    return take_text(name, value);
  }

  Result<void> take_text(std::string_view name, const Text& value) {
    ScheduleDefinition& definition = to_.definition;
    NewMessage& message = definition.message;
    if (name == "spec") definition.spec = value;
    if (name == "tz") definition.zone = value;
    if (name == "payload") to_.payload = value, to_.payload_line = line_, has_payload_ = true;
    if (name == "cwd") command_.cwd = value;
    if (name == "shell") command_.argv = words_of_shell(value);
    if (name == "missed") return take_rule(name, value, {"one", "all", "skip"}, definition.missed);
    if (name == "overlap") return take_rule(name, value, {"skip", "queue", "cancel"}, definition.overlap);
    if (name == "tenant") {
      if (const std::string_view fault = tenant_name_fault(value); !fault.empty())
        return refuse("tenant " + in_quotes(value) + " " + std::string(fault));
      to_.tenant = value;
    }
    if (name == "key") {
      SortKeyEncoding encoded = encode_sort_key(value);
      if (encoded.fault != SortKeyFault::none)
        return refuse("key: " + in_quotes(value) + " is not a sort key");
      to_.key = std::move(encoded.bytes);
      to_.key_line = to_.key.empty() ? 0 : line_;
    }
    for (const auto& [each, span] :
         {std::pair<std::string_view, std::optional<int64_t>*>("ttl", &message.ttl_ms),
          {"timeout", &message.timeout_ms},
          {"keep", &message.keep_ms}}) {
      if (each != name) continue;
      const DurationParse parsed = parse_duration(value);
      if (parsed.fault != DurationFault::none || parsed.ms == 0)
        return refuse(std::string(name) + ": must be a duration like \"5m\"");
      *span = parsed.ms;
    }
    return {};
  }

  /// `rules` in the order of their numbers.
  template <class Rule>
  Result<void> take_rule(std::string_view name, const Text& value,
                         std::initializer_list<std::string_view> rules, Rule& to) {
    const auto* found = std::find(rules.begin(), rules.end(), value);
    if (found == rules.end()) return refuse(std::string(name) + ": must be " + either(rules, "\""));
    to = static_cast<Rule>(found - rules.begin());
    return {};
  }

  Result<void> take_tags(const toml::node& node) {
    const auto* tags = node.as_table();
    if (tags == nullptr) return refuse("tags: must be a table, as in { kind = \"backup\" }");
    for (const auto& [key, value] : *tags) {
      const Text name(key.str());
      FQ_TRY_SET(const Text word, text("tags", value));
      const bool starts_well = !name.empty() && (name[0] < '0' || name[0] > '9');
      const bool is_name =
          starts_well && std::all_of(name.begin(), name.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
          });
      if (!is_name) return refuse("tags: " + in_quotes(name) + " is not a tag's name");
      if (!utf8_valid(word)) return refuse("tags: the value of " + in_quotes(name) + " is not UTF-8");
      if (word.find('\0') != word.npos)
        return refuse("tags: the value of " + in_quotes(name) + " must be without a NUL");
      to_.definition.message.tags.push_back({name, word});
    }
    return {};
  }

  /// What needs more than one key.
  Result<void> finish() {
    ScheduleDefinition& definition = to_.definition;
    stands_at("spec");
    if (definition.spec.empty()) return refuse("a schedule needs `spec`, as in \"30 3 * * *\"");
    FQ_TRY(Recurrence::parse(definition.spec));
    stands_at("tz");
    FQ_TRY(load_zone(definition.zone));
    stands_at("argv");
    const bool has_argv = table_.contains("argv");
    if (has_argv && table_.contains("shell"))
      return refuse("`argv` does not go with `shell`; write one of them");
    if (has_argv && command_.argv.empty())
      return refuse("argv: is empty; write the command, or leave it out");
    stands_at("env");
    const bool command = !command_.argv.empty();
    if (!command && !has_payload_) return refuse("a schedule needs `payload`, `argv` or `shell`");
    if (!command && (!command_.env.empty() || !command_.cwd.empty()))
      return refuse("`env` and `cwd` go with `argv` or `shell`");
    if (command && command_.cwd.empty()) command_.cwd = "/";
    NewMessage& message = definition.message;
    if (command) message.command = command_;
    message.tenant = to_.tenant;
    message.payload = as_bytes(to_.payload);
    message.key = to_.key;
    return check_as_engine(definition);
  }

  /// What an engine would not take is no good file. Of how long a payload may be the queue's tables decide.
  Result<void> check_as_engine(const ScheduleDefinition& definition) {
    const Result<void> checked = check_schedule(definition, UINT64_MAX);
    if (checked) return {};
    const std::string& text = checked.error().text;
    const std::string_view object = std::string_view(text).substr(0, text.find(':'));
    const bool of_words = object == "argv" || object == "command";
    stands_at(of_words ? (table_.contains("argv") ? "argv" : "shell") : object);
    return refuse(text);
  }

  const toml::table& table_;
  FileSchedule& to_;
  JobCommand command_;
  bool has_payload_ = false;
  uint32_t line_ = 0;
};

}  // namespace

SharedSchedule read_schedule(std::string_view name, const toml::table& table, ScheduleTableFault& fault) {
  auto schedule = std::make_shared<FileSchedule>();
  schedule->definition.name = name;
  schedule->tenant = kDefaultTenant;
  ScheduleTable reader(table, *schedule);
  const Result<void> read = reader.read();
  if (read) return schedule;
  fault = {reader.line(), read.error().text};
  return nullptr;
}

}  // namespace fq
