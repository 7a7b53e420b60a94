#include "core/policy/policy_key.h"

// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/suggestion.h"

namespace fq {

namespace {

constexpr unsigned kLimited = kQueueNode | kTenantNode | kPoolNode;
constexpr std::string_view kCount = R"(must be a whole number from 1 to 1000000000 or "unlimited")";
constexpr std::string_view kSpan = R"(must be a duration like "60s" or "5m")";
constexpr std::string_view kSpanOrNone = R"(must be a duration like "60s" or "5m", or "none")";

constexpr PolicyKeySpec kKeys[] = {
    {PolicyKey::order, "order", ValueKind::word, kQueueNode, "priority|fifo|key", "priority",
     R"(must be "priority", "fifo" or "key")"},
    {PolicyKey::scope, "scope", ValueKind::word, kQueueNode, "tenant|queue", "tenant",
     R"(must be "tenant" or "queue")"},
    {PolicyKey::fair_by, "fair_by", ValueKind::word, kQueueNode, "turns|bytes|time", "turns",
     R"(must be "turns", "bytes" or "time")"},
    {PolicyKey::linger, "linger", ValueKind::duration, kQueueNode, "none", "none", kSpanOrNone},
    {PolicyKey::batch, "batch", ValueKind::count, kQueueNode, "unlimited", "unlimited", kCount},
    {PolicyKey::sync, "sync", ValueKind::word, kQueueNode, "always|lazy", "always",
     R"(must be "always" or "lazy")"},
    {PolicyKey::attempts, "attempts", ValueKind::count, kQueueNode, "", "5",
     "must be a whole number from 1 to 65535"},
    {PolicyKey::backoff, "backoff", ValueKind::range, kQueueNode, "", "5s..1h",
     R"(must be two durations like "5s..1h", the smaller one first)"},
    {PolicyKey::timeout, "timeout", ValueKind::duration, kQueueNode, "none", "none", kSpanOrNone},
    {PolicyKey::lease, "lease", ValueKind::duration, kQueueNode, "", "60s", kSpan},
    {PolicyKey::weight, "weight", ValueKind::weight, kTenantNode, "", "1",
     "must be a number from 0.1 to 1000, with at most three decimals"},
    {PolicyKey::max_messages, "max_messages", ValueKind::count, kQueueNode | kTenantNode, "unlimited",
     "unlimited", kCount},
    {PolicyKey::max_bytes, "max_bytes", ValueKind::size, kQueueNode | kTenantNode, "unlimited", "unlimited",
     R"(must be a size like "64KiB" or "10MB", or "unlimited")"},
    {PolicyKey::max_payload, "max_payload", ValueKind::size, kQueueNode, "", "1GiB",
     R"(must be a size like "64KiB" or "10MB")"},
    {PolicyKey::concurrency, "concurrency", ValueKind::count, kLimited, "unlimited", "unlimited", kCount},
    {PolicyKey::rate, "rate", ValueKind::rate, kLimited, "unlimited", "unlimited",
     R"(must be a rate like "100/min", with /s, /min, /h or /day, up to "100000/s", or "unlimited")"},
    {PolicyKey::burst, "burst", ValueKind::count, kLimited, "", "1",
     "must be a whole number from 1 to 1000000000"},
    {PolicyKey::pool, "pool", ValueKind::pool, kTenantNode, "none", "none",
     R"(must be the name of a pool (1 to 64 of A-Z a-z 0-9 . _ -) or "none")"},
    {PolicyKey::retention, "retention", ValueKind::duration, kQueueNode, "auto|none", "auto",
     R"(must be a duration like "60s" or "5m", "auto" or "none")"},
    {PolicyKey::dead_retention, "dead_retention", ValueKind::duration, kQueueNode, "unlimited", "unlimited",
     R"(must be a duration like "30d", or "unlimited")"},
    {PolicyKey::command_age, "command_age", ValueKind::duration, kQueueNode, "unlimited", "7d",
     R"(must be a duration like "30d", or "unlimited")"},
    {PolicyKey::lock_timeout, "lock_timeout", ValueKind::duration, kQueueNode, "", "5s", kSpan},
};

/// Words of other queues, and of our own commands, for what is another key or no key at all.
constexpr Synonym kKeySynonyms[] = {
    {"max_attempts", "attempts"},
    {"retries", "attempts"},
    {"max_retries", "attempts"},
    {"visibility_timeout", "lease"},
    {"ttr", "timeout"},
    {"time_limit", "timeout"},
    {"throttle", "rate"},
    {"rate_limit", "rate"},
    {"max_running", "concurrency"},
    {"limit", "concurrency"},
    {"max_concurrency", "concurrency"},
    {"parallel", "concurrency"},
    {"max_length", "max_messages"},
    {"priority", "order"},
    {"share", "weight"},
    {"durability", "sync"},
    {"fairness", "fair_by"},
    {"group", "pool"},
    {"keep", "retention"},
    {"max_size", "max_bytes"},
};

/// What is set at run time by a command of its own.
std::string_view command_for(std::string_view name) {
  if (name == "paused" || name == "pause") return "that is set by fq queue pause and fq tenant pause";
  if (name == "draining" || name == "drain") return "that is set by fq queue drain";
  if (name == "limited") return "that is set by fq tenant limit";
  return "";
}

}  // namespace

std::span<const PolicyKeySpec> policy_keys() { return kKeys; }

const PolicyKeySpec* find_policy_key(std::string_view name) {
  for (const PolicyKeySpec& spec : kKeys) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

const PolicyKeySpec* spec_of(PolicyKey key) {
  for (const PolicyKeySpec& spec : kKeys) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

std::vector<std::string_view> policy_key_names(unsigned nodes) {
  std::vector<std::string_view> names;
  for (const PolicyKeySpec& spec : kKeys) {
    if ((spec.nodes & nodes) != 0) names.push_back(spec.name);
  }
  return names;
}

std::string nodes_text(unsigned nodes) {
  std::string text;
  const auto add = [&](PolicyNode node, std::string_view name) {
    if ((nodes & node) == 0) return;
    text.append(text.empty() ? "of " : " and ").append(name);
  };
  add(kQueueNode, "queues");
  add(kTenantNode, "tenants");
  add(kPoolNode, "pools");
  return text;
}

std::string unknown_key_text(std::string_view name, PolicyNode node) {
  if (const PolicyKeySpec* elsewhere = find_policy_key(name)) {
    return in_quotes(name) + " is a key " + nodes_text(elsewhere->nodes) + ", not " + nodes_text(node);
  }
  std::string text = "unknown key " + in_quotes(name);
  if (const std::string_view command = command_for(name); !command.empty()) {
    return text.append("; ").append(command);
  }
  const std::vector<std::string_view> known = policy_key_names(node);
  std::string_view near = suggest(name, known);
  for (const Synonym& synonym : kKeySynonyms) {
    const bool fits = synonym.theirs == name && (find_policy_key(synonym.ours)->nodes & node) != 0;
    if (near.empty() && fits) near = synonym.ours;
  }
  if (!near.empty()) return text.append("; did you mean '").append(near).append("'?");
  text += "; known are";
  for (const std::string_view each : known) text.append(each == known.front() ? " " : ", ").append(each);
  return text;
}

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const size_t bar = words.find('|');
    parts.push_back(words.substr(0, bar));
    words.remove_prefix(bar == std::string_view::npos ? words.size() : bar + 1);
  }
  return parts;
}

}  // namespace fq
