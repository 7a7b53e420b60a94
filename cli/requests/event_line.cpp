#include "cli/requests/event_line.h"

// System.
#include <charconv>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/wall_time.h"
#include "core/policy/policy_value.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

namespace {

using Kind = JsonValue::Kind;

Error bad_event(std::string text) { return Error{ErrorKind::bad_data, std::move(text), 0}; }
Error wrong_value(std::string_view key, std::string_view expected) {
  return bad_event(std::string(key).append(": must be ").append(expected));
}

std::optional<int64_t> wall_ms_of(const JsonValue& value) {
  const auto instant = value.kind == Kind::text ? parse_instant(value.text) : std::nullopt;
  if (!instant) return std::nullopt;
  return instant->seconds * 1000 + instant->nanoseconds / 1'000'000;
}

/// What a switch of the queue or a tenant is called: no person sets these by KEY=VALUE.
Result<PolicyKey> policy_key_of(const std::string& name) {
  if (const PolicyKeySpec* spec = find_policy_key(name)) return spec->key;
  if (name == "paused") return PolicyKey::paused;
  if (name == "draining") return PolicyKey::draining;
  if (name == "limited") return PolicyKey::limited;
  return wrong_value("set", "settings of fq.toml, which " + in_quotes(name) + " is not");
}

Result<PolicyValue> policy_value_of(const std::string& name, PolicyKey key, const JsonValue& value) {
  PolicyValue policy{key, 1, 0, {}};
  if (key == PolicyKey::limited) {
    const auto until = wall_ms_of(value);
    if (!until) return wrong_value(name, "a time");
    policy.number = *until;
  }
  const PolicyKeySpec* spec = spec_of(key);
  if (spec == nullptr) return policy;
  Result<PolicyValue> parsed = parse_policy_value(*spec, value.text);
  if (!parsed) return bad_event(name + ": " + parsed.error().text);
  return parsed;
}

}  // namespace

Result<void> EventLine::read(std::string_view line) {
  event_ = Event();
  for (std::string* text : {&queue_, &word_, &tenant_, &key_, &after_, &after_any_}) text->clear();
  set_ = PolicyPatch();
  JsonRead read = read_json_object(line);
  if (!read.fault.empty()) return bad_event(std::move(read.fault));
  for (const JsonMember& member : read.object.members) FQ_TRY(take(member.name, member.value));
  if (word_.empty() || event_.at_wall_ms == 0)
    return bad_event("is not an event; give what 'fq log --json' prints");
  event_.event = word_;
  event_.tenant = tenant_;
  event_.key = key_;
  event_.after = after_;
  event_.after_any = after_any_;
  return {};
}

Result<void> EventLine::take(const std::string& key, const JsonValue& value) {
  if (value.kind == Kind::null) return {};
  if (key == "event" || key == "queue" || key == "tenant" || key == "key") return take_text(key, value);
  if (key == "at") return take_time(key, value, event_.at_wall_ms);
  if (key == "due_at") return take_time(key, value, event_.due_wall_ms);
  if (key == "expires_at") return take_time(key, value, event_.expires_wall_ms);
  if (key == "lease_until") return take_time(key, value, event_.until_wall_ms);
  if (key == "id" || key == "bytes" || key == "priority") return take_number(key, value);
  if (key == "after") return take_ids(key, value, after_);
  if (key == "after_any") return take_ids(key, value, after_any_);
  return key == "set" ? take_settings(value) : Result<void>();
}

Result<void> EventLine::take_text(const std::string& key, const JsonValue& value) {
  if (value.kind != Kind::text) return wrong_value(key, "text in quotes");
  if (key == "event") word_ = value.text;
  if (key == "queue") queue_ = value.text;
  if (key == "tenant") {
    FQ_TRY_SET(tenant_, to_tenant(key, value.text));
  }
  if (key == "key") {
    FQ_TRY_SET(key_, to_sort_key(key, value.text));
  }
  return {};
}

Result<void> EventLine::take_time(const std::string& key, const JsonValue& value, int64_t& to) {
  const auto time = wall_ms_of(value);
  if (!time || *time <= 0) return wrong_value(key, "a time");
  to = *time;
  return {};
}

Result<void> EventLine::take_number(const std::string& key, const JsonValue& value) {
  if (value.kind != Kind::number) return wrong_value(key, "a number");
  if (key == "id") {
    FQ_TRY_SET(event_.id, to_id(key, value.text));
  }
  if (key == "priority") {
    FQ_TRY_SET(event_.priority, to_priority(key, value.text));
  }
  if (key == "bytes") {
    const char* const end = value.text.data() + value.text.size();
    const auto parsed = std::from_chars(value.text.data(), end, event_.bytes.emplace());
    if (parsed.ec != std::errc() || parsed.ptr != end) return wrong_value(key, "a number of bytes");
  }
  return {};
}

Result<void> EventLine::take_ids(const std::string& key, const JsonValue& value, std::string& to) {
  if (value.kind != Kind::array) return wrong_value(key, "a list of ids");
  for (const JsonMember& each : value.members) {
    if (each.value.kind != Kind::number || !to_id(key, each.value.text))
      return wrong_value(key, "a list of ids");
    to.append(to.empty() ? "" : ",").append(each.value.text);
  }
  return {};
}

Result<void> EventLine::take_settings(const JsonValue& value) {
  if (value.kind != Kind::object) return wrong_value("set", "settings");
  for (const JsonMember& each : value.members) {
    FQ_TRY_SET(const PolicyKey key, policy_key_of(each.name));
    if (each.value.kind == Kind::null) {
      set_.unset.push_back(key);
      continue;
    }
    FQ_TRY_SET(PolicyValue policy, policy_value_of(each.name, key, each.value));
    set_.set.push_back(std::move(policy));
  }
  event_.set = &set_;
  return {};
}

}  // namespace fq::cli
