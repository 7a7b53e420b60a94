// schedule - messages that are made at times: set, shown, paused, run.

// System.
#include <algorithm>
// fq, below us.
#include "core/api/command_check.h"
#include "core/base/clock.h"
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
#include "core/base/time/recurrence.h"
#include "core/base/time/zone_file.h"
#include "core/policy/policy.h"
// fq, this room.
#include "cli/requests/message_options.h"
#include "cli/requests/push_options.h"
#include "cli/requests/typed_payload.h"
#include "cli/session/session.h"
#include "cli/terminal/input.h"
#include "cli/terminal/signals.h"
#include "cli/views/schedule_view.h"
#include "cli/words/command.h"
#include "cli/words/subcommand.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kPage = 256;

constexpr OptionSpec kScheduleOptions[] = {
    {"When", 0, "tz", Takes::value, "ZONE", "of SPEC's clock (default: $TZ, else the system's)"},
    {"When", 0, "missed", Takes::value, "RULE", "of missed times: one, all, skip (default: one)"},
    {"When", 0, "overlap", Takes::value, "RULE", "skip, queue or cancel (default: skip)"},
    message_option::kOwner,
    message_option::kPriority,
    message_option::kSortKey,
    message_option::kTtl,
    message_option::kAttempts,
    message_option::kLabel,
    message_option::kTypedPayload,
    message_option::kPayloadFile,
    message_option::kTimeout,
    message_option::kKeep,
    message_option::kShellText,
    message_option::kVariable,
    message_option::kAllVariables,
    {"Output", 0, "names", Takes::nothing, "", "list: only the names, one a line"},
};

/// Where the local clock is, by a name that other processes know too.
/// A file of the database is kept by the name that it has in there.
std::string zone_name(std::string_view given) {
  if (given.starts_with(':')) given.remove_prefix(1);
  const std::string place = std::string(kSystemZones) + "/";
  if (given.starts_with(place)) given.remove_prefix(place.size());
  return std::string(given);
}

std::string local_zone() {
  const auto set = environment("TZ");
  return set ? zone_name(*set) : system_zone_name();
}

/// One that is not known is named as it was given: by --tz, or by TZ, which is then wrong for every command.
Result<void> check_zone(const std::string& zone, bool typed) {
  const Result<Zone> known = load_zone(zone);
  if (known.ok()) return {};
  if (known.error().kind != ErrorKind::usage) return known.error();
  const std::string what = in_quotes(zone) + " is not a known time zone; write one like Europe/Berlin or UTC";
  if (typed) return usage_error("--tz", what);
  return Error{ErrorKind::config, "TZ: " + what + ", or give --tz", 0};
}

template <class Rule>
Result<Rule> to_rule(std::string_view option, std::string_view text, std::initializer_list<Rule> rules) {
  for (const Rule rule : rules) {
    if (name_of(rule) == text) return rule;
  }
  std::vector<std::string_view> names;
  for (const Rule rule : rules) names.push_back(name_of(rule));
  return not_among(option, text, "a rule", names);
}

Result<Schedules*> schedules_of(Queue& queue, const Session& session) {
  if (Schedules* schedules = queue.schedules()) return schedules;
  return Error{ErrorKind::unusable,
               "queue " + in_quotes(session.queue_name()) + ": its engine has no schedules", 0};
}

Error refuse_missing(const std::string& name) {
  return Error{ErrorKind::missing, "schedule " + in_quotes(name) + ": there is none", 0};
}

/// The name behind the verb.
Result<std::string> named(const Arguments& arguments) {
  const auto& operands = arguments.operands();
  if (operands.size() < 2) return usage_error("schedule " + operands[0], "needs the name of a schedule");
  return operands[1];
}

/// A word that no field of five is: all of SPEC.
bool is_whole_spec(const std::string& word) {
  return word.starts_with('@') || word.find(' ') != std::string::npos;
}

/// "SPEC is one argument": five fields that were not quoted.
Result<void> check_operands(const std::vector<std::string>& operands) {
  if (operands.size() < 3)
    return usage_error("schedule set", "needs NAME and SPEC, as in fq schedule set nightly '0 3 * * *'");
  if (operands.size() <= 4) return {};
  if (is_whole_spec(operands[2]))
    return usage_error("PAYLOAD", "is one argument, " + std::to_string(operands.size() - 3) +
                                      " were given; quote it, or put -- before a command");
  return usage_error("SPEC",
                     "is one argument; quote it, as in '" + operands[2] + " " + operands[3] + " ...'");
}

Result<Exit> set(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  FQ_TRY(check_operands(operands));
  FQ_TRY_SET(const PushFields fields, lasting_fields_of(arguments));
  FQ_TRY_SET(const TypedPayload typed_payload,
             typed_payload_of(arguments, operands.size() > 3 ? &operands[3] : nullptr));
  if (!typed_payload.is_given() && !fields.command)
    return usage_error("schedule set", "needs PAYLOAD or -- CMD for the messages that it makes");
  Result<std::string> payload = typed_payload.read(kInlinePayloadBytesMax);
  if (!payload.ok() && Reader::is_too_long(payload.error()))
    return Error{ErrorKind::bad_data, "PAYLOAD: is longer than 64KiB, the limit of what a schedule makes", 0};
  if (!payload.ok()) return payload.error();
  ScheduleDefinition definition;
  definition.name = operands[1];
  definition.spec = operands[2];
  definition.zone = local_zone();
  if (const auto typed = arguments.value("tz")) definition.zone = zone_name(*typed);
  if (const auto typed = arguments.value("missed")) {
    FQ_TRY_SET(definition.missed,
               to_rule("--missed", *typed, {MissedRule::one, MissedRule::all, MissedRule::skip}));
  }
  if (const auto typed = arguments.value("overlap")) {
    FQ_TRY_SET(definition.overlap,
               to_rule("--overlap", *typed, {OverlapRule::skip, OverlapRule::queue, OverlapRule::cancel}));
  }
  // What cannot be one makes no queue.
  if (const std::string_view fault = queue_name_fault(definition.name); !fault.empty())
    return usage_error("NAME", in_quotes(definition.name) + " " + std::string(fault));
  FQ_TRY(Recurrence::parse(definition.spec));
  FQ_TRY(check_zone(definition.zone, arguments.has("tz")));
  const auto suits = [&](const Settings& settings, bool is_there) -> Result<void> {
    FQ_TRY(check_order(fields, settings.order, "--priority", "--key"));
    if (payload->size() > settings.payload_bytes_max)
      return payload_too_long("PAYLOAD", settings.payload_bytes_max);
    const bool is_first_command = !is_there && fields.command;
    return is_first_command ? check_takes_commands(session.spool(), "command") : Result<void>();
  };
  FQ_TRY_SET(const std::unique_ptr<Queue> queue,
             session.open(Session::Policy::last_good, Session::Missing::is_made, suits));
  definition.message = message_of(fields, *payload);
  FQ_TRY_SET(Schedules* const schedules, schedules_of(*queue, session));
  FQ_TRY(schedules->set(definition));
  return Exit::done;
}

/// What became of its last time, in a word.
Result<void> find_fate(Queue& queue, ToldSchedule& told) {
  if (told.info.last == Occurrence::none) return {};
  told.fate = fq::cli::name_of(told.info.last);
  if (told.info.last != Occurrence::made) return {};
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue.get(told.info.last_id));
  if (message) told.fate = fq::name_of(message->state);
  return {};
}

Result<Exit> list(const Arguments& arguments, Session& session) {
  const bool names_only = arguments.has("names");
  const bool json = session.format() == Format::json;
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Schedules* const schedules, schedules_of(*queue, session));
  std::vector<ToldSchedule> all;
  Cursor from;
  do {
    FQ_TRY_SET(SchedulePage page, schedules->list(from, kPage));
    for (ScheduleInfo& info : page.schedules) {
      ToldSchedule one{std::move(info), ""};
      if (!names_only) FQ_TRY(find_fate(*queue, one));
      if (names_only) FQ_TRY(session.out().write(one.info.name + "\n"));
      if (json) FQ_TRY(session.out().write(schedule_json(one, session.queue_name())));
      all.push_back(std::move(one));
    }
    from = std::move(page.next);
  } while (goes_on(from));
  if (!all.empty() && !json && !names_only)
    FQ_TRY(session.out().write(schedule_table(all, system_clock().wall_ms(), screen_of(session.out()))));
  FQ_TRY(session.out().flush());
  return all.empty() ? Exit::nothing : Exit::done;
}

Result<Exit> show(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string name, named(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Schedules* const schedules, schedules_of(*queue, session));
  FQ_TRY_SET(std::optional<ScheduleInfo> info, schedules->get(name));
  if (!info) return refuse_missing(name);
  ToldSchedule one{std::move(*info), ""};
  FQ_TRY(find_fate(*queue, one));
  FQ_TRY(session.out().write(session.format() == Format::json ? schedule_json(one, session.queue_name())
                                                              : schedule_text(one)));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

Result<Exit> pause_or_resume(const Arguments& arguments, Session& session, bool paused) {
  FQ_TRY_SET(const std::string name, named(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Schedules* const schedules, schedules_of(*queue, session));
  FQ_TRY_SET(const bool there, schedules->pause(name, paused));
  if (!there) return refuse_missing(name);
  return Exit::done;
}

Result<Exit> pause(const Arguments& arguments, Session& session) {
  return pause_or_resume(arguments, session, true);
}

Result<Exit> resume(const Arguments& arguments, Session& session) {
  return pause_or_resume(arguments, session, false);
}

Result<Exit> remove(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string name, named(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Schedules* const schedules, schedules_of(*queue, session));
  // Where nobody can tell what it stood in front of, it stays.
  const Result<PolicyFile> file = read_policy_file(session.spool());
  if (!file && !is_policy_fault(file.error())) return file.error();
  FQ_TRY_SET(const bool there, schedules->remove(name));
  if (!there) return refuse_missing(name);
  // What it stood in front of, if fq.toml has one of this name. That it cannot be used has been said.
  Result<void> loaded = load_schedules(*queue, session.location());
  if (!loaded && !is_policy_fault(loaded.error())) return std::move(loaded).error();
  return Exit::done;
}

Result<Exit> run(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string name, named(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Schedules* const schedules, schedules_of(*queue, session));
  FQ_TRY_SET(const std::optional<MessageId> id, schedules->run(name));
  if (!id) return refuse_missing(name);
  std::string line = std::to_string(number(*id));
  if (session.format() == Format::json) {
    line.clear();
    JsonWriter json(line);
    json.begin_object().key("id").number(number(*id)).key("queue").text(session.queue_name());
    json.key("status").text("accepted").key("schedule").text(name).end_object();
  }
  FQ_TRY(session.out().write(line + "\n"));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

struct Verb {
  std::string_view name;
  Result<Exit> (*run)(const Arguments&, Session&);
  size_t operands_max;  // behind it
};
constexpr Verb kVerbs[] = {
    {"set", set, SIZE_MAX - 1}, {"list", list, 0},     {"show", show, 1}, {"pause", pause, 1},
    {"resume", resume, 1},      {"remove", remove, 1}, {"run", run, 1}};

Result<Exit> run_schedule(const Arguments& arguments, Session& session) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  const auto& operands = arguments.operands();
  if (operands.empty()) return missing_subcommand("schedule", names);
  for (const Verb& verb : kVerbs) {
    if (verb.name != operands[0]) continue;
    const std::string object = "schedule " + operands[0];
    if (operands.size() > 1 + verb.operands_max)
      return usage_error(object, verb.run == list ? "takes no operand" : "takes the name of one schedule");
    if (verb.run != set && !arguments.job().empty()) return usage_error(object, "takes no -- CMD");
    for (const Arguments::Given& given : arguments.given()) {
      const std::string_view group = given.option->group;
      const bool of_set = group == "When" || group == "Message" || group == "Job";
      const bool of_list = given.option->long_name == "names";
      if ((of_set && verb.run != set) || (of_list && verb.run != list))
        return usage_error(object, "takes no --" + std::string(given.option->long_name));
    }
    if (arguments.has("names") && session.format() == Format::json)
      return usage_error(object, "--names does not go with --json");
    return verb.run(arguments, session);
  }
  return unknown_subcommand("schedule", operands[0], names);
}

}  // namespace

const Command schedule_command = {
    "schedule",
    "make messages at set times",
    "set NAME SPEC [OPTIONS] [PAYLOAD | -- CMD ARG...] | list |\n"
    "          show NAME | pause NAME | resume NAME | remove NAME | run NAME",
    "Makes messages at set times, one for each; any process at work makes them.\n"
    "SPEC is five cron fields, @hourly and the like, or `every DUR`.",
    {kScheduleOptions, &kQueueOption, "human|json", true},
    "fq schedule set backup '30 3 * * *' -- backup.sh /srv",
    "0 done; 1 nothing there; 65 bad SPEC; 75 no room; 78 no tzdata",
    run_schedule,
};

}  // namespace fq::cli
