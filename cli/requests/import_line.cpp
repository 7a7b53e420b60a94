#include "cli/requests/import_line.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/base64.h"
#include "core/base/text/escape.h"
#include "core/policy/policy_value.h"
// fq, this room.
#include "cli/requests/import_members.h"
#include "cli/views/export_view.h"
#include "cli/views/schedule_view.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

using Kind = JsonValue::Kind;
Error bad(std::string text) { return bad_export(std::move(text)); }
Error wrong(std::string_view key, std::string_view expected) { return wrong_member(key, expected); }

Result<State> state_of(const std::string& word) {
  for (const State state :
       {State::ready, State::delayed, State::held, State::dead, State::acked, State::cancelled}) {
    if (word == name_of(state)) return state;
  }
  return bad("state: " + in_quotes(word) + " is none that is exported");
}

Result<StepKind> kind_of(const std::string& word) {
  for (uint8_t kind = 1; kind <= static_cast<uint8_t>(kLastStepKind); ++kind) {
    if (word == name_of(static_cast<StepKind>(kind))) return static_cast<StepKind>(kind);
  }
  return bad("kind: " + in_quotes(word) + " is no kind of step");
}

Result<void> take_begin(Members& members, ImportLine& line) {
  FQ_TRY_SET(const uint64_t format, members.count("format", UINT32_MAX));
  if (format == 0) return bad("format: is missing");
  if (format > kExportFormat)
    return bad("was written by a newer fq (format " + std::to_string(format) + ", this one reads " +
               std::to_string(kExportFormat) + "); use that one to import it");
  FQ_TRY_SET(line.origin, members.needed("origin"));
  members.take("queue");
  members.take("at");
  return {};
}

Result<void> take_setting(Members& members, int64_t now_wall_ms, ImportLine& line) {
  FQ_TRY_SET(line.tenant, members.text("tenant"));
  if (!line.tenant.empty()) FQ_TRY(to_tenant("tenant", line.tenant));
  FQ_TRY_SET(const std::string key, members.needed("key"));
  FQ_TRY_SET(const std::string value, members.text("value"));
  if (key == "paused" || key == "draining") {
    const PolicyKey which = key == "paused" ? PolicyKey::paused : PolicyKey::draining;
    line.value = PolicyValue{which, 1, 0, {}};
    return {};
  }
  if (key == "limited") {
    FQ_TRY_SET(const int64_t until_wall_ms, to_wall_time("value", value));
    if (until_wall_ms > now_wall_ms)
      line.value = PolicyValue{PolicyKey::limited, until_wall_ms - now_wall_ms, 0, {}};
    return {};
  }
  const PolicyKeySpec* const spec = find_policy_key(key);
  const unsigned node = line.tenant.empty() ? kQueueNode : kTenantNode;
  if (spec == nullptr || (spec->nodes & node) == 0)
    return bad("key: " + in_quotes(key) + " is no setting that this fq knows");
  Result<PolicyValue> parsed = parse_policy_value(*spec, value);
  if (!parsed) return bad(key + ": " + in_quotes(value) + " " + parsed.error().text);
  line.value = std::move(parsed).value();
  return {};
}

Result<void> take_step(Members& members, ImportLine& line) {
  ExportedStep& step = line.step;
  FQ_TRY_SET(const uint64_t of, members.count("id", kMessageIdMax));
  line.of = MessageId{of};
  FQ_TRY_SET(step.name, members.needed("name"));
  FQ_TRY_SET(const std::string kind, members.needed("kind"));
  FQ_TRY_SET(step.kind, kind_of(kind));
  FQ_TRY_SET(step.at_wall_ms, members.time("at"));
  FQ_TRY_SET(step.output, members.bytes("output"));
  FQ_TRY_SET(const uint64_t child, members.count("child", kMessageIdMax));
  step.child = MessageId{child};
  FQ_TRY_SET(step.open, members.yes("open"));
  FQ_TRY_SET(step.failed, members.yes("failed"));
  FQ_TRY_SET(step.ids, members.ids("waits_for"));
  return {};
}

Result<void> take_tags(Members& members, ExportedMessage& message) {
  const JsonValue* tags = members.take("tags");
  const JsonValue* const coded = members.take("tags_base64");
  if (tags == nullptr) tags = coded;
  if (tags == nullptr) return {};
  if (tags->kind != Kind::object) return wrong("tags", "an object of names and texts");
  for (const auto& [name, value] : tags->members) {
    if (value.kind != Kind::text) return wrong("tags", "an object of names and texts");
    const auto text = tags == coded ? base64_decode(value.text) : std::optional(value.text);
    if (!text) return bad("tags_base64: is not base64");
    const Tag tag{name, *text};
    FQ_TRY(check_kept_tag("tags", tag));
    FQ_TRY(add_tag("tags", message.tags, tag));
  }
  return {};
}

Result<void> take_error(Members& members, ExportedMessage& message) {
  const JsonValue* const value = members.take("last_error");
  if (value == nullptr) return {};
  if (value->kind != Kind::object) return wrong("last_error", "an object");
  Members own(value->members);
  LastError& error = message.last_error.emplace();
  const auto number_of = [&](std::string_view name, std::optional<int>& to) -> Result<void> {
    const bool is_there = own.take(name) != nullptr;
    FQ_TRY_SET(const uint64_t number, own.count(name, 255));
    if (is_there) to = static_cast<int>(number);
    return {};
  };
  FQ_TRY(number_of("exit", error.exit));
  FQ_TRY(number_of("signal", error.signal));
  FQ_TRY_SET(error.reason, own.bytes("reason"));
  FQ_TRY_SET(error.stderr_tail, own.bytes("stderr"));
  FQ_TRY_SET(error.at_wall_ms, own.time("at"));
  return own.nothing_left();
}

Result<uint32_t> small_count(Members& members, std::string_view name) {
  FQ_TRY_SET(const uint64_t count, members.count(name, kAttemptsMax));
  return static_cast<uint32_t>(count);
}

Result<void> take_counts(Members& members, ExportedMessage& message) {
  FQ_TRY_SET(message.attempts, small_count(members, "attempts"));
  FQ_TRY_SET(message.attempts_in_force, small_count(members, "attempts_in_force"));
  FQ_TRY_SET(message.crashes, small_count(members, "crashes"));
  FQ_TRY_SET(const uint64_t deliveries, members.count("deliveries", UINT32_MAX));
  message.deliveries = static_cast<uint32_t>(deliveries);
  return {};
}

Result<void> take_waits(Members& members, ExportedMessage& message) {
  FQ_TRY_SET(const std::vector<MessageId> all, members.ids("after"));
  FQ_TRY_SET(const std::vector<MessageId> any, members.ids("after_any"));
  FQ_TRY_SET(const std::vector<MessageId> closed, members.ids("after_closed"));
  const auto is_closed = [&](MessageId id) {
    return std::find(closed.begin(), closed.end(), id) != closed.end();
  };
  for (const MessageId id : all) message.after.push_back({id, false, is_closed(id)});
  for (const MessageId id : any) message.after.push_back({id, true, is_closed(id)});
  FQ_TRY_SET(const uint64_t behind, members.count("behind", kMessageIdMax));
  message.behind = MessageId{behind};
  FQ_TRY_SET(message.wait_failed, members.yes("wait_failed"));
  return {};
}

Result<void> take_terms(Members& members, ExportedMessage& message) {
  FQ_TRY_SET(const std::optional<int64_t> ttl_ms, members.span("ttl"));
  message.ttl_ms = ttl_ms.value_or(0);
  FQ_TRY_SET(message.unique, members.bytes("unique"));
  FQ_TRY_SET(const std::optional<int64_t> unique_for_ms, members.span("unique_for"));
  message.unique_for_ms = unique_for_ms.value_or(0);
  FQ_TRY_SET(message.debounce, members.bytes("debounce"));
  FQ_TRY_SET(message.schedule, members.text("schedule"));
  FQ_TRY_SET(message.scheduled_at_wall_ms, members.time("scheduled_at"));
  FQ_TRY_SET(message.expired, members.yes("expired"));
  return {};
}

Result<void> take_times(Members& members, int64_t now_wall_ms, ExportedMessage& message) {
  FQ_TRY_SET(const int64_t since_wall_ms, members.time("since"));
  FQ_TRY_SET(message.due_wall_ms, members.time("due_at"));
  FQ_TRY_SET(const std::optional<int64_t> delay_ms, members.span("delay"));
  FQ_TRY_SET(const int64_t pushed_wall_ms, members.time("pushed_at"));
  message.pushed_at_wall_ms = pushed_wall_ms == 0 ? now_wall_ms : pushed_wall_ms;
  message.delay_ms = delay_ms.value_or(0);
  message.since_wall_ms = message.state == State::delayed ? message.due_wall_ms : since_wall_ms;
  if (message.state == State::delayed && message.due_wall_ms == 0) return bad("due_at: is missing");
  if (message.state == State::dead && since_wall_ms == 0) return bad("since: is missing");
  return {};
}

Result<void> take_command(Members& members, ExportedMessage& message) {
  JobCommand command;
  FQ_TRY_SET(command.argv, members.words("argv"));
  FQ_TRY_SET(command.cwd, members.bytes("cwd"));
  FQ_TRY_SET(command.env, members.words("env"));
  if (command.argv.empty()) return {};
  message.command = std::move(command);
  return {};
}

/// What its push, or its schedule, asks for.
Result<void> take_wishes(Members& members, ExportedMessage& message) {
  FQ_TRY_SET(const std::string tenant, members.needed("tenant"));
  FQ_TRY_SET(message.tenant, to_tenant("tenant", tenant));
  if (const JsonValue* const priority = members.take("priority")) {
    if (priority->kind != Kind::number) return wrong("priority", "a number");
    FQ_TRY_SET(message.priority, to_priority("priority", priority->text));
  }
  FQ_TRY_SET(const std::string key, members.bytes("key"));
  if (!key.empty()) {
    FQ_TRY_SET(message.key, to_sort_key("key", key));
  }
  FQ_TRY(take_tags(members, message));
  FQ_TRY_SET(const uint32_t attempts_max, small_count(members, "max_attempts"));
  if (attempts_max != 0) message.attempts_max = attempts_max;
  FQ_TRY_SET(message.timeout_ms, members.span("timeout"));
  FQ_TRY_SET(message.keep_ms, members.span("keep"));
  FQ_TRY(take_command(members, message));
  FQ_TRY_SET(message.payload, members.bytes("payload"));
  return {};
}

Result<void> take_message(Members& members, int64_t now_wall_ms, ImportLine& line) {
  ExportedMessage& message = line.message;
  FQ_TRY_SET(const uint64_t id, members.count("id", kMessageIdMax));
  if (id == 0) return bad("id: is missing");
  message.id = MessageId{id};
  FQ_TRY_SET(const std::string state, members.needed("state"));
  FQ_TRY_SET(message.state, state_of(state));
  if (has_ended(message.state)) return {};
  FQ_TRY(take_times(members, now_wall_ms, message));
  FQ_TRY(take_wishes(members, message));
  FQ_TRY(take_counts(members, message));
  FQ_TRY(take_terms(members, message));
  FQ_TRY(take_waits(members, message));
  FQ_TRY(take_error(members, message));
  FQ_TRY_SET(line.count, members.count("steps", kStepsPerMessageMax));
  return {};
}

template <class Rule>
Result<Rule> take_rule(Members& members, std::string_view name, std::initializer_list<Rule> rules) {
  FQ_TRY_SET(const std::string word, members.needed(name));
  for (const Rule rule : rules) {
    if (word == fq::cli::name_of(rule)) return rule;
  }
  return bad(std::string(name) + ": " + in_quotes(word) + " is none that this fq knows");
}

Result<void> take_schedule(Members& members, ImportLine& line) {
  ScheduleDefinition& schedule = line.schedule;
  SchedulePast& past = schedule.past.emplace();
  FQ_TRY_SET(schedule.name, members.needed("name"));
  if (const std::string_view fault = queue_name_fault(schedule.name); !fault.empty())
    return bad("name: " + in_quotes(schedule.name) + " " + std::string(fault));
  FQ_TRY_SET(schedule.spec, members.needed("spec"));
  FQ_TRY_SET(schedule.zone, members.needed("tz"));
  FQ_TRY_SET(schedule.missed,
             take_rule(members, "missed", {MissedRule::one, MissedRule::all, MissedRule::skip}));
  FQ_TRY_SET(schedule.overlap,
             take_rule(members, "overlap", {OverlapRule::skip, OverlapRule::queue, OverlapRule::cancel}));
  FQ_TRY_SET(past.paused, members.yes("paused"));
  FQ_TRY_SET(past.begun_wall_ms, members.time("begun"));
  if (past.begun_wall_ms == 0) return bad("begun: is missing");
  FQ_TRY_SET(past.last_wall_ms, members.time("last_at"));
  if (past.last_wall_ms != 0) {
    FQ_TRY_SET(past.last,
               take_rule(members, "last", {Occurrence::made, Occurrence::overlap, Occurrence::missed}));
  }
  FQ_TRY_SET(const uint64_t last_id, members.count("last_id", kMessageIdMax));
  past.last_id = MessageId{last_id};
  FQ_TRY(take_wishes(members, line.message));
  FQ_TRY_SET(const std::optional<int64_t> ttl_ms, members.span("ttl"));
  line.message.ttl_ms = ttl_ms.value_or(0);
  return {};
}

}  // namespace

Result<ImportLine> parse_import_line(std::string_view text, int64_t now_wall_ms) {
  const JsonRead read = read_json_object(text);
  if (!read.fault.empty()) return bad(read.fault);
  Members members(read.object.members);
  FQ_TRY_SET(const std::string type, members.text("type"));
  ImportLine line;
  if (type == "export") {
    FQ_TRY(take_begin(members, line));
  } else if (type == "setting") {
    line.kind = ImportLine::Kind::setting;
    FQ_TRY(take_setting(members, now_wall_ms, line));
  } else if (type == "step") {
    line.kind = ImportLine::Kind::step;
    FQ_TRY(take_step(members, line));
  } else if (type == "message") {
    line.kind = ImportLine::Kind::message;
    FQ_TRY(take_message(members, now_wall_ms, line));
  } else if (type == "schedule") {
    line.kind = ImportLine::Kind::schedule;
    FQ_TRY(take_schedule(members, line));
  } else if (type == "end") {
    line.kind = ImportLine::Kind::end;
    FQ_TRY_SET(line.count, members.count("messages", kMessageIdMax));
    FQ_TRY_SET(line.schedules, members.count("schedules", kMessageIdMax));
  } else {
    return bad(type.empty() ? "is no line of fq export"
                            : "type: " + in_quotes(type) +
                                  " is none that this fq knows; a newer one may "
                                  "have written it");
  }
  FQ_TRY(members.nothing_left());
  return line;
}

}  // namespace fq::cli
