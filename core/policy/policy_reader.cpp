#include "core/policy/policy_reader.h"

// System.
#include <algorithm>
#include <charconv>
#include <optional>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/suggestion.h"
#include "core/base/tenant_name.h"
// fq, this room.
#include "core/policy/policy_value.h"
#include "core/policy/schedule_table.h"
#include "core/policy/toml.h"

namespace fq {

namespace {

PolicyPlace place_of(const toml::source_region& where) { return {where.begin.line, where.begin.column}; }

/// What a pattern takes in, if it takes in anything.
std::string example_of(std::string_view pattern) {
  std::string example(pattern);
  std::replace(example.begin(), example.end(), '*', 'x');
  return example;
}

constexpr size_t kDotsMax = 16;  // arbitrary: [queue.X.tenant.Y] has three

/// toml++ bounds how deep values are nested, but not how many parts a key has, and takes its tables down by
/// recursion: a key of a megabyte would be the end of the stack. So this looks first. It reads strings as
/// TOML does, apart from those over several lines, which have no place here.
class KeyDepth {
 public:
  explicit KeyDepth(const std::string& path) : path_(path) {}

  Result<void> check(std::string_view text) const {
    for (uint32_t line = 1; !text.empty(); ++line) {
      const size_t end = text.find('\n');
      const std::string_view what = fault_in(text.substr(0, end));
      if (!what.empty()) return policy_fault(path_, line, what);
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return {};
  }

 private:
  static std::string_view fault_in(std::string_view line) {
    size_t dots = 0;
    while (!line.empty() && line[0] != '#') {
      const char c = line[0];
      if (line.starts_with("\"\"\"") || line.starts_with("'''"))
        return "a text over several lines is not used here";
      if (c == '"' || c == '\'') {
        skip_string(line);
        continue;
      }
      if (std::string_view("=,{}[]").find(c) != std::string_view::npos) dots = 0;
      if (c == '.' && ++dots > kDotsMax) return "a key has too many parts";
      line.remove_prefix(1);
    }
    return "";
  }

  static void skip_string(std::string_view& line) {
    const char quote = line[0];
    size_t at = 1;
    while (at < line.size() && line[at] != quote) {
      at += quote == '"' && line[at] == '\\' ? size_t{2} : 1;
    }
    line.remove_prefix(std::min(at + 1, line.size()));
  }

  const std::string& path_;
};

bool is_number(ValueKind kind) { return kind == ValueKind::count || kind == ValueKind::weight; }

/// As it would be written behind `set KEY=`; none when it is of a kind that the key does not take.
std::optional<std::string> text_of(const toml::node& node, const PolicyKeySpec& spec) {
  if (const auto* text = node.as_string()) {
    const std::vector<std::string_view> words = split_words(spec.words);
    const bool word = std::find(words.begin(), words.end(), text->get()) != words.end();
    if (is_number(spec.kind) && !word) return std::nullopt;
    return text->get();
  }
  if (!is_number(spec.kind)) return std::nullopt;
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  const auto* real = node.as_floating_point();
  if (real == nullptr || spec.kind != ValueKind::weight) return std::nullopt;
  char digits[64];
  const auto [end, fault] =
      std::to_chars(digits, digits + sizeof digits, real->get(), std::chars_format::fixed);
  if (fault != std::errc{}) return std::nullopt;
  std::string text(digits, end);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

class PolicyReader {
 public:
  explicit PolicyReader(const std::string& path) : path_(path) {}

  Result<std::vector<FileQueue>> read(const toml::table& top) const {
    std::vector<FileQueue> queues;
    for (const auto& [key, node] : top) {
      const std::string_view name(key.str());
      if (name != "queue") {
        const std::string_view known[] = {"queue"};
        const std::string hint =
            suggest(name, known).empty() ? "; tables are [queue.NAME]" : "; did you mean 'queue'?";
        return fault(key, "unknown key " + in_quotes(name) + hint);
      }
      if (!node.is_table()) return fault(key, "'queue' must be a table; write [queue.NAME]");
      for (const auto& [pattern, value] : *node.as_table()) {
        FQ_TRY_SET(FileQueue queue, read_queue(pattern, value));
        queues.push_back(std::move(queue));
      }
    }
    return queues;
  }

 private:
  Error fault(const toml::key& key, std::string_view what) const {
    return policy_fault(path_, key.source().begin.line, what);
  }

  Result<FileQueue> read_queue(const toml::key& pattern, const toml::node& node) const {
    const std::string_view name(pattern.str());
    if (!node.is_table()) {
      return fault(pattern, in_quotes(name) +
                                " stands outside a queue's table; write it below [queue.\"*\"] or "
                                "[queue.NAME]");
    }
    if (!queue_name_fault(example_of(name)).empty()) {
      return fault(pattern,
                   in_quotes(name) + " is not a queue's name; use A-Z a-z 0-9 . _ - and * as a wildcard");
    }
    FileQueue queue;
    queue.queue.name = name;
    queue.queue.place = place_of(pattern.source());
    for (const auto& [key, value] : *node.as_table()) {
      if (key.str() == "tenant") {
        FQ_TRY(read_rules(key, value, kTenantNode, queue.tenants));
      } else if (key.str() == "pool") {
        FQ_TRY(read_rules(key, value, kPoolNode, queue.pools));
      } else if (key.str() == "schedule") {
        FQ_TRY(read_schedules(key, value, queue.schedules));
      } else {
        FQ_TRY(read_value(key, value, kQueueNode, queue.queue.values));
      }
    }
    return queue;
  }

  /// The tables of `[queue.X.tenant.*]` or `[queue.X.pool.*]`.
  Result<void> read_rules(const toml::key& kind, const toml::node& node, PolicyNode of,
                          std::vector<FileRule>& to) const {
    const std::string word(kind.str());
    if (!node.is_table())
      return fault(kind, in_quotes(word) + " must be a table; write [queue.\"*\"." + word + ".NAME]");
    for (const auto& [key, table] : *node.as_table()) {
      const std::string_view name(key.str());
      if (!table.is_table()) {
        return fault(key, in_quotes(name) + " stands outside a " + word +
                              "'s table; write it below [queue.\"*\"." + word + ".NAME]");
      }
      if (const std::string what = name_fault(name, of); !what.empty()) return fault(key, what);
      FileRule& rule = to.emplace_back(FileRule{std::string(name), place_of(key.source()), {}});
      for (const auto& [each, value] : *table.as_table()) FQ_TRY(read_value(each, value, of, rule.values));
    }
    return {};
  }

  /// The tables of `[queue.X.schedule.*]`.
  Result<void> read_schedules(const toml::key& kind, const toml::node& node,
                              std::vector<SharedSchedule>& to) const {
    if (!node.is_table()) return fault(kind, "'schedule' must be a table; write [queue.NAME.schedule.NAME]");
    for (const auto& [key, table] : *node.as_table()) {
      const std::string_view name(key.str());
      if (!table.is_table()) {
        return fault(key,
                     in_quotes(name) +
                         " stands outside a schedule's table; write it below [queue.NAME.schedule.NAME]");
      }
      if (const std::string_view what = queue_name_fault(name); !what.empty())
        return fault(key, "schedule " + in_quotes(name) + ": " + std::string(what));
      ScheduleTableFault wrong;
      SharedSchedule schedule = read_schedule(name, *table.as_table(), wrong);
      if (schedule == nullptr) return policy_fault(path_, wrong.line, wrong.text);
      to.push_back(std::move(schedule));
    }
    return {};
  }

  static std::string name_fault(std::string_view name, PolicyNode of) {
    if (of == kPoolNode) {
      if (name == "none") return "'none' is not a pool's name; it is the word for no pool";
      if (queue_name_fault(name).empty()) return "";
      return in_quotes(name) + " is not a pool's name; use 1 to 64 of A-Z a-z 0-9 . _ -";
    }
    const std::string_view what = tenant_name_fault(example_of(name));
    return what.empty() ? "" : "tenant " + in_quotes(name) + " " + std::string(what);
  }

  /// Only a queue has tables of its own.
  static std::string unknown_table_text(std::string_view name, PolicyNode of) {
    const std::string_view tables[] = {"tenant", "pool", "schedule"};
    const std::string_view near = of == kQueueNode ? suggest(name, tables) : std::string_view();
    if (!near.empty()) return "unknown key " + in_quotes(name) + "; did you mean " + in_quotes(near) + "?";
    return unknown_key_text(name, of) + "; a name with . or / in it stands in quotes";
  }

  Result<void> read_value(const toml::key& key, const toml::node& node, PolicyNode of,
                          std::vector<FileValue>& to) const {
    const std::string_view name(key.str());
    const PolicyKeySpec* spec = find_policy_key(name);
    if (spec == nullptr || (spec->nodes & of) == 0) {
      if (node.is_table() && spec == nullptr) return fault(key, unknown_table_text(name, of));
      return fault(key, unknown_key_text(name, of));
    }
    const std::optional<std::string> text = text_of(node, *spec);
    Result<PolicyValue> value = parse_policy_value(*spec, text.value_or(""));
    if (!text || !value) return fault(key, std::string(name).append(": ").append(spec->must_be));
    to.push_back({std::move(value).value(), key.source().begin.line});
    return {};
  }

  const std::string& path_;
};

}  // namespace

Result<std::vector<FileQueue>> read_policy_tables(std::string_view text, const std::string& path) {
  FQ_TRY(KeyDepth(path).check(text));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return policy_fault(path, error.source().begin.line, error.description());
  }
  return PolicyReader(path).read(parsed.table());
}

Error policy_fault(const std::string& path, uint32_t line, std::string_view what) {
  return Error{ErrorKind::config, (path + ":" + std::to_string(line) + ": ").append(what), 0};
}

}  // namespace fq
