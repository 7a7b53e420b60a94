#include "cli/policy_file.h"

// System.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
// Its parser asserts on input such as `[?` and reports it as an error right behind: bad input must not abort.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <vector>
// fq, below us.
#include "core/api/message.h"
#include "core/base/duration.h"
#include "core/base/escape.h"
#include "core/base/size.h"
#include "core/base/suggestion.h"
#include "core/base/tenant_name.h"

namespace fq::cli {

namespace {

/// One `[queue.X]` table.
struct Entry {
  std::string_view pattern;
  const toml::table* table;
  bool plain;
  size_t literals;
  size_t line;
};

/// A name, or a pattern that takes in some.
bool can_name_queue(std::string_view pattern) {
  std::string example(pattern);
  std::replace(example.begin(), example.end(), '*', 'x');
  return queue_name_fault(example).empty();
}

class PolicyReader {
 public:
  explicit PolicyReader(const std::string& path) : path_(path) {}

  Result<Settings> read(const toml::table& top, std::string_view queue) {
    std::vector<Entry> entries;
    FQ_TRY(collect(top, entries));
    Settings settings;
    for (const Entry& entry : entries) {
      Settings ignored;
      const bool ours = entry.plain ? entry.pattern == queue : pattern_matches(entry.pattern, queue);
      for (const auto& [key, node] : *entry.table) {
        FQ_TRY(apply(std::string_view(key.str()), key.source(), node, ours ? settings : ignored));
      }
    }
    return settings;
  }

  Error fault(size_t line, const std::string& what) const {
    return Error{ErrorKind::config, path_ + ":" + std::to_string(line) + ": " + what, 0};
  }

 private:
  /// The tables, least exact first, so that later values overwrite earlier ones.
  Result<void> collect(const toml::table& top, std::vector<Entry>& entries) const {
    for (const auto& [key, node] : top) {
      const std::string_view name(key.str());
      if (name != "queue") return unknown(name, key.source(), {{"queue"}});
      if (!node.is_table())
        return fault(key.source().begin.line, "'queue' must be a table; write [queue.NAME]");
      for (const auto& [pattern, value] : *node.as_table()) {
        const std::string_view text(pattern.str());
        if (!value.is_table()) {
          return fault(pattern.source().begin.line,
                       in_quotes(text) +
                           " stands outside a queue's table; write it below [queue.\"*\"] or [queue.NAME]");
        }
        if (!can_name_queue(text)) {
          return fault(pattern.source().begin.line,
                       in_quotes(text) + " is no queue's name; use A-Z a-z 0-9 . _ - and * as a wildcard");
        }
        const auto stars = static_cast<size_t>(std::count(text.begin(), text.end(), '*'));
        entries.push_back(
            {text, value.as_table(), stars == 0, text.size() - stars, pattern.source().begin.line});
      }
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tuple(a.plain, a.literals, a.line) < std::tuple(b.plain, b.literals, b.line);
    });
    return {};
  }

  Error unknown(std::string_view name, const toml::source_region& where,
                std::vector<std::string_view> known) const {
    const std::string_view near = suggest(name, known);
    std::string what = "unknown key " + in_quotes(name);
    if (!near.empty()) {
      what += "; did you mean '" + std::string(near) + "'?";
    } else {
      what += "; known are";
      for (const std::string_view each : known) what.append(each == known.front() ? " " : ", ").append(each);
    }
    return fault(where.begin.line, what);
  }

  Result<void> apply(std::string_view key, const toml::source_region& where, const toml::node& node,
                     Settings& to) const {
    if (key == "order") return apply_order(node, where, to);
    if (key == "sync") return apply_sync(node, where, to);
    if (key == "lease") return apply_duration(key, node, where, to.lease_ms);
    if (key == "lock_timeout") return apply_duration(key, node, where, to.lock_timeout_ms);
    if (key == "attempts") return apply_attempts(node, where, to);
    if (key == "max_payload") return apply_size(node, where, to);
    return unknown(key, where, {"order", "sync", "lease", "attempts", "max_payload", "lock_timeout"});
  }

  Error bad(std::string_view key, const toml::source_region& where, std::string_view what) const {
    return fault(where.begin.line, std::string(key).append(": ").append(what));
  }

  /// The text of a quoted value; "" for any other kind, which no key takes.
  static std::string_view text_of(const toml::node& node) {
    const auto* text = node.as_string();
    return text == nullptr ? std::string_view() : std::string_view(text->get());
  }

  Result<void> apply_order(const toml::node& node, const toml::source_region& where, Settings& to) const {
    const std::string_view text = text_of(node);
    if (text == "priority") return to.order = Order::priority, Result<void>{};
    if (text == "fifo") return to.order = Order::fifo, Result<void>{};
    if (text == "key") return to.order = Order::key, Result<void>{};
    return bad("order", where, R"(must be "priority", "fifo" or "key")");
  }

  Result<void> apply_sync(const toml::node& node, const toml::source_region& where, Settings& to) const {
    const std::string_view text = text_of(node);
    if (text == "always") return to.sync = SyncMode::always, Result<void>{};
    if (text == "lazy") return to.sync = SyncMode::lazy, Result<void>{};
    return bad("sync", where, R"(must be "always" or "lazy")");
  }

  Result<void> apply_duration(std::string_view key, const toml::node& node, const toml::source_region& where,
                              int64_t& to) const {
    const DurationParse parsed = parse_duration(text_of(node));
    if (parsed.fault == DurationFault::too_long) return bad(key, where, "is too long; the limit is 36500d");
    if (parsed.fault != DurationFault::none || parsed.ms == 0)
      return bad(key, where, R"(must be a duration like "60s" or "5m")");
    to = parsed.ms;
    return {};
  }

  Result<void> apply_attempts(const toml::node& node, const toml::source_region& where, Settings& to) const {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < 1 || number->get() > int64_t{kAttemptsMax}) {
      return bad("attempts", where, "must be a whole number from 1 to " + std::to_string(kAttemptsMax));
    }
    to.attempts_max = static_cast<uint32_t>(number->get());
    return {};
  }

  Result<void> apply_size(const toml::node& node, const toml::source_region& where, Settings& to) const {
    const std::optional<uint64_t> bytes = parse_size(text_of(node));
    if (!bytes || *bytes == 0) return bad("max_payload", where, R"(must be a size like "64KiB" or "10MB")");
    to.payload_bytes_max = *bytes;
    return {};
  }

  const std::string& path_;
};

}  // namespace

Result<Settings> parse_policy(std::string_view text, const std::string& path, std::string_view queue) {
  const toml::parse_result parsed = toml::parse(text);
  PolicyReader reader(path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return reader.fault(error.source().begin.line, std::string(error.description()));
  }
  return reader.read(parsed.table(), queue);
}

bool pattern_matches(std::string_view pattern, std::string_view name) {
  // Greedy with one step back: the last `*` takes one more character whenever the rest does not fit.
  size_t p = 0, n = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos && name[resume] != '/') {
      n = ++resume;
      p = star + 1;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace fq::cli
