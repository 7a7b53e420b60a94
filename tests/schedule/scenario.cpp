#include "tests/schedule/scenario.h"

// System.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string_view>
// fq, below us.
#include "core/base/text/duration.h"

namespace fq::test {
namespace {

/// The words of one line, taken one by one.
class Words {
 public:
  explicit Words(const std::string& line) : in_(line.substr(0, line.find('#'))) {}

  bool next(std::string& word) { return static_cast<bool>(in_ >> word); }
  std::string must(const std::string& what) {
    std::string word;
    if (!next(word)) throw std::runtime_error(what + " is missing");
    return word;
  }
  int64_t duration(const std::string& what) { return duration_of(must(what)); }
  uint32_t count(const std::string& what) { return count_of(must(what)); }

  static int64_t duration_of(const std::string& text) {
    const DurationParse parsed = parse_duration(text);
    if (parsed.fault != DurationFault::none) throw std::runtime_error("'" + text + "' is not a duration");
    return parsed.ms;
  }
  static uint32_t count_of(const std::string& text) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
      throw std::runtime_error("'" + text + "' is not a count");
    return static_cast<uint32_t>(std::stoul(text));
  }

 private:
  std::istringstream in_;
};

struct KeyName {
  const char* name;
  PolicyKey key;
};
constexpr KeyName kKeyNames[] = {{"weight", PolicyKey::weight}, {"concurrency", PolicyKey::concurrency},
                                 {"rate", PolicyKey::rate},     {"burst", PolicyKey::burst},
                                 {"paused", PolicyKey::paused}, {"limited", PolicyKey::limited},
                                 {"pool", PolicyKey::pool}};

constexpr std::string_view kFairBy[] = {"turns", "bytes", "time"};

PolicyKey key_of(const std::string& name) {
  for (const KeyName& each : kKeyNames)
    if (name == each.name) return each.key;
  throw std::runtime_error("'" + name + "' cannot be set");
}

std::string name_of(PolicyKey key) {
  for (const KeyName& each : kKeyNames)
    if (key == each.key) return each.name;
  throw std::runtime_error("a key without name");
}

PolicyValue value_of(PolicyKey key, const std::string& text) {
  switch (key) {
    case PolicyKey::weight: {
      const double weight = std::strtod(text.c_str(), nullptr);
      if (!(weight >= 0.1) || weight > 1000) throw std::runtime_error("'" + text + "' is not a weight");
      return {key, std::llround(weight * 1000), 0, {}};
    }
    case PolicyKey::rate: {
      const size_t slash = std::min(text.find('/'), text.size());
      return {key,
              Words::count_of(text.substr(0, slash)),
              Words::duration_of(text.substr(std::min(slash + 1, text.size()))),
              {}};
    }
    case PolicyKey::paused:
      if (text != "yes") throw std::runtime_error("paused is yes, or unset");
      return {key, 1, 0, {}};
    case PolicyKey::limited:
      return {key, Words::duration_of(text), 0, {}};
    case PolicyKey::pool:
      return {key, 0, 0, text};
    default:
      return {key, Words::count_of(text), 0, {}};
  }
}

PolicyValues values_of(Words& words) {
  PolicyValues values;
  for (std::string name; words.next(name);) {
    const PolicyKey key = key_of(name);
    values.push_back(value_of(key, words.must("the value of " + name)));
  }
  if (values.empty()) throw std::runtime_error("nothing is set");
  return values;
}

void take_option(Scenario::Push& push, const std::string& name, Words& words) {
  if (name == "run") {
    const std::string span = words.must("a run time");
    const size_t dots = span.find("..");
    push.run_min_ms = Words::duration_of(span.substr(0, dots));
    push.run_max_ms = dots == std::string::npos ? push.run_min_ms : Words::duration_of(span.substr(dots + 2));
    if (push.run_max_ms < push.run_min_ms) throw std::runtime_error("'" + span + "' runs backwards");
  } else if (name == "bytes") {
    const std::string span = words.must("a size");
    const size_t dots = span.find("..");
    push.bytes_min = Words::count_of(span.substr(0, dots));
    push.bytes_max = dots == std::string::npos ? push.bytes_min : Words::count_of(span.substr(dots + 2));
    if (push.bytes_max < push.bytes_min) throw std::runtime_error("'" + span + "' shrinks");
  } else if (name == "delay") {
    push.delay_ms = words.duration("a delay");
  } else if (name == "fails") {
    push.fails = words.count("a count of failures");
  } else if (name == "every") {
    push.every_ms = words.duration("a span");
    if (words.must("times") != "times") throw std::runtime_error("every DUR times N");
    push.times = words.count("a count of times");
  } else if (name == "tenants") {
    push.tenants = words.count("a count of tenants");
  } else {
    throw std::runtime_error("'" + name + "' is not known");
  }
}

void take_event(Scenario& scenario, Words& words) {
  const int64_t at_ms = words.duration("a time");
  const std::string what = words.must("push, set or unset");
  const std::string tenant = words.must("a tenant");
  std::string word;
  if (what == "push") {
    Scenario::Push push{.at_ms = at_ms, .tenant = tenant, .count = words.count("a count")};
    while (words.next(word)) take_option(push, word, words);
    scenario.pushes.push_back(push);
    return;
  }
  Scenario::Change change{.at_ms = at_ms, .tenant = tenant == "-" ? "" : tenant, .patch = {}};
  if (what == "set") {
    change.patch.set = values_of(words);
  } else if (what == "unset") {
    while (words.next(word)) change.patch.unset.push_back(key_of(word));
  } else {
    throw std::runtime_error("'" + what + "' is neither push nor set nor unset");
  }
  scenario.changes.push_back(change);
}

void take_line(Scenario& scenario, const std::string& line) {
  Words words(line);
  std::string word;
  if (!words.next(word)) return;
  if (word == "slots") {
    scenario.slots = words.count("a count");
  } else if (word == "seed") {
    scenario.seed = words.count("a number");
  } else if (word == "fair_by") {
    const std::string name = words.must("turns, bytes or time");
    const auto* const found = std::find(std::begin(kFairBy), std::end(kFairBy), name);
    if (found == std::end(kFairBy)) throw std::runtime_error("turns cannot be counted by '" + name + "'");
    scenario.fair_by = static_cast<FairBy>(found - std::begin(kFairBy));
  } else if (word == "stop") {
    scenario.stop_ms = words.duration("a time");
  } else if (word == "rule") {
    const std::string pattern = words.must("a pattern");
    scenario.rules.push_back({pattern, values_of(words)});
  } else if (word == "pool") {
    const std::string name = words.must("a name");
    scenario.pools.push_back({name, values_of(words)});
  } else if (word == "at") {
    take_event(scenario, words);
  } else {
    throw std::runtime_error("'" + word + "' is not known");
  }
  if (words.next(word)) throw std::runtime_error("'" + word + "' is too much");
}

std::string value_text(const PolicyValue& value) {
  switch (value.key) {
    case PolicyKey::weight: {
      const std::string thousandths = std::to_string(1000 + value.number % 1000).substr(1);
      return std::to_string(value.number / 1000) + "." + thousandths;
    }
    case PolicyKey::rate:
      return std::to_string(value.number) + "/" + format_duration(value.second);
    case PolicyKey::paused:
      return "yes";
    case PolicyKey::limited:
      return format_duration(value.number);
    case PolicyKey::pool:
      return value.text;
    default:
      return std::to_string(value.number);
  }
}

std::string values_text(const PolicyValues& values) {
  std::string text;
  for (const PolicyValue& value : values) text += " " + name_of(value.key) + " " + value_text(value);
  return text;
}

std::string push_text(const Scenario::Push& push) {
  std::string text = "at " + format_duration(push.at_ms) + " push " + push.tenant + " " +
                     std::to_string(push.count) + " run " + format_duration(push.run_min_ms) + ".." +
                     format_duration(push.run_max_ms);
  if (push.bytes_max > 0)
    text += " bytes " + std::to_string(push.bytes_min) + ".." + std::to_string(push.bytes_max);
  if (push.delay_ms > 0) text += " delay " + format_duration(push.delay_ms);
  if (push.fails > 0) text += " fails " + std::to_string(push.fails);
  if (push.times > 1)
    text += " every " + format_duration(push.every_ms) + " times " + std::to_string(push.times);
  if (push.tenants > 1) text += " tenants " + std::to_string(push.tenants);
  return text;
}

}  // namespace

Scenario parse_scenario(const std::string& text) {
  Scenario scenario;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    try {
      take_line(scenario, line);
    } catch (const std::runtime_error& fault) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + fault.what());
    }
  }
  return scenario;
}

std::string to_text(const Scenario& scenario) {
  std::string text =
      "slots " + std::to_string(scenario.slots) + "\nseed " + std::to_string(scenario.seed) + "\n";
  if (scenario.fair_by != FairBy::turns)
    text += "fair_by " + std::string(kFairBy[static_cast<size_t>(scenario.fair_by)]) + "\n";
  if (scenario.stop_ms != INT64_MAX) text += "stop " + format_duration(scenario.stop_ms) + "\n";
  for (const TenantRule& rule : scenario.rules)
    text += "rule " + rule.pattern + values_text(rule.values) + "\n";
  for (const PoolRule& pool : scenario.pools) text += "pool " + pool.name + values_text(pool.values) + "\n";
  for (const Scenario::Push& push : scenario.pushes) text += push_text(push) + "\n";
  for (const Scenario::Change& change : scenario.changes) {
    const std::string head = "at " + format_duration(change.at_ms);
    const std::string tenant = change.tenant.empty() ? "-" : change.tenant;
    if (!change.patch.set.empty()) text += head + " set " + tenant + values_text(change.patch.set) + "\n";
    if (change.patch.unset.empty()) continue;
    text += head + " unset " + tenant;
    for (const PolicyKey key : change.patch.unset) text += " " + name_of(key);
    text += "\n";
  }
  return text;
}

}  // namespace fq::test
