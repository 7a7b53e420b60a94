// queue - lists, makes, renames, pauses, drains, sets, empties and removes whole queues.

// System.
#include <algorithm>
#include <bit>
// fq, below us.
#include "core/api/create_options.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/policy/assignment.h"
#include "cli/words/away_words.h"
#include "cli/words/command.h"
#include "core/policy/policy.h"
#include "cli/policy/policy_layers.h"
#include "cli/session/selection.h"
#include "cli/session/stopped_workers.h"
#include "cli/terminal/signals.h"
#include "cli/words/subcommand.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kQueueOptions[] = {
    {"How", 0, "yes", Takes::nothing, "", "do not ask; needed without a terminal"},
    {"How", 0, "shards", Takes::value, "N", "create: on a server, cut into N parts"},
    {"How", 0, "events", Takes::value, "DUR", "create: on a server, keep events so long"},
};

/// Known of a queue that can be opened.
struct Ways {
  bool paused = false;
  bool draining = false;
  std::string_view durability;
  uint32_t shards = 1;
  int64_t events_ms = 0;  // 0: as long as its journal needs their file
};

Result<Ways> ways_of(Session& session, const std::string& name) {
  FQ_TRY_SET(const std::unique_ptr<Queue> queue,
             session.open({session.spool(), name}, Session::Policy::last_good));
  FQ_TRY_SET(const OverridePage page, queue->policy_overrides({}, 1));  // the queue's own is the first
  say_notices(*queue);
  FQ_TRY_SET(const Settings settings, queue->settings());
  const Caps caps = queue->caps();
  const bool is_lazy = settings.sync == SyncMode::lazy && caps.level == Caps().level;
  Ways ways{
      .durability = is_lazy ? "lazy" : caps.level, .shards = caps.shards, .events_ms = caps.event_horizon_ms};
  for (const PolicyOverride& each : page.overrides) {
    for (const PolicyValue& value : each.values) {
      if (each.path.empty() && value.key == PolicyKey::paused) ways.paused = true;
      if (each.path.empty() && value.key == PolicyKey::draining) ways.draining = true;
    }
  }
  return ways;
}

std::string json_line(const std::string& name, const Result<Ways>& ways, const AwayList& away) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("queue").text(name);
  json.key("paused");
  ways ? json.boolean(ways->paused) : json.null();
  json.key("draining");
  ways ? json.boolean(ways->draining) : json.null();
  json.key("durability");
  ways ? json.text(ways->durability) : json.null();
  json.key("shards");
  ways ? json.number(uint64_t{ways->shards}) : json.null();
  json.key("events_ms");
  ways && ways->events_ms > 0 ? json.number(ways->events_ms) : json.null();
  write_partial(json, away);
  json.end_object();
  return line;
}

/// Names alone for scripts; on a terminal also what is unusual about a queue.
Result<Exit> list(const Arguments&, Session& session) {
  FQ_TRY_SET(const std::vector<std::string> queues, session.all_queues());
  const bool json = session.format() == Format::json;
  Exit worst = queues.empty() ? Exit::nothing : Exit::done;
  for (const std::string& name : queues) {
    std::string line = name;
    if (json || session.out().is_terminal()) {
      const Result<Ways> ways = ways_of(session, name);
      const bool is_broken_off = !ways && ways.error().kind == ErrorKind::missing;
      const std::string why = is_broken_off ? session.why_only_listed(name) : "";
      if (is_broken_off && why.empty()) continue;  // it was removed meanwhile
      if (is_broken_off) say(why);  // nothing that anybody pushes is in the way of: the list is whole
      if (!ways && !is_broken_off)
        say(of_queue(name, ways.error()).text), worst = worse_of(worst, exit_of(ways.error().kind));
      const AwayList away = session.take_away();
      if (!away.is_empty()) say(away.text()), worst = worse_of(worst, Exit::later);
      if (json) line = json_line(name, ways, away);
      if (!json && ways && ways->paused) line += "  paused";
      if (!json && ways && ways->draining) line += "  draining";
    }
    FQ_TRY(session.out().write(line + "\n"));
  }
  FQ_TRY(session.out().flush());
  return worst;
}

/// A queue that is new has no last good policy to go on with. Over several shards there is no one order.
Result<void> check_policy_for(const Location& location, const CreateOptions& options) {
  FQ_TRY_SET(const Settings settings, settings_to_be(location));
  if (options.shards.value_or(1) == 1 || settings.scope == Scope::tenant) return {};
  return Error{ErrorKind::config,
               policy_path(location.spool) + ": scope = queue: needs a queue of one shard (in queue " +
                   in_quotes(location.queue) + ")",
               0};
}

Result<Exit> create(const Arguments& arguments, Session& session) {
  CreateOptions options;
  if (const auto shards = arguments.value("shards")) {
    FQ_TRY_SET(const uint64_t count, to_count("--shards", *shards, kShardsMax));
    if (!std::has_single_bit(count))
      return usage_error("--shards", in_quotes(*shards) + " is not a power of two");
    options.shards = static_cast<uint32_t>(count);
  }
  if (const auto events = arguments.value("events")) {
    FQ_TRY_SET(options.events_ms, to_duration("--events", *events));
  }
  FQ_TRY_SET(const std::vector<std::string> there, list_queues(session.spool()));
  const bool is_new = std::find(there.begin(), there.end(), session.queue_name()) == there.end();
  if (is_new) FQ_TRY(check_policy_for(session.location(), options));
  FQ_TRY(create_queue(session.location(), options));
  return Exit::done;
}

std::string purged_text(const Session& session, uint64_t count) {
  if (session.format() == Format::human) return std::to_string(count);
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("queue").text(session.queue_name()).key("purged").number(count).end_object();
  return line;
}

Result<Exit> purge(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const bool go_on, confirmed(arguments.has("yes"), "purge takes every message out of queue '" +
                                                                   session.queue_name() + "'"));
  if (!go_on) return Exit::nothing;
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  Selection everything;
  everything.states = all_states();
  catch_signals();
  const std::vector<Attendee> stopped = stopped_workers(session, *queue);
  Result<uint64_t> purged = change_by_filter(*queue, everything, Action::cancel);
  say_what_runs_on(session, *queue, stopped);
  if (!purged) return std::move(purged).error();
  FQ_TRY(session.out().write(purged_text(session, *purged) + "\n"));
  FQ_TRY(session.out().flush());
  return *purged > 0 ? Exit::done : Exit::nothing;
}

Result<Exit> remove(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const bool go_on,
             confirmed(arguments.has("yes"),
                       "remove deletes queue '" + session.queue_name() + "' and all that is in it"));
  if (!go_on) return Exit::nothing;
  FQ_TRY(remove_queue(session.location()));
  return Exit::done;
}

/// fq.toml is written by people: what it says of the old name stays there, and they are told.
void say_what_stays_behind(const Location& location, const std::string& name) {
  const Result<PolicyFile> file = read_policy_file(location.spool);
  if (!file || !file->has_table_of(location.queue)) return;
  say(policy_path(location.spool) + ": [queue." + location.queue + "] stays behind and is not for '" + name +
      "'; rename it there too");
}

Result<Exit> rename(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string name, to_queue("NEW", arguments.operands()[2]));
  FQ_TRY(rename_queue(session.location(), name));
  say_what_stays_behind(session.location(), name);
  return Exit::done;
}

Result<Exit> apply_patch(Session& session, const PolicyPatch& patch) {
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY(check_patch("queue set", patch, *queue, session.location()));
  FQ_TRY(queue->policy_set("", patch));
  return Exit::done;
}

Result<Exit> pause(const Arguments&, Session& session) {
  return apply_patch(session, {{{PolicyKey::paused, 1, 0, {}}}, {}});
}

Result<Exit> drain(const Arguments&, Session& session) {
  return apply_patch(session, {{{PolicyKey::draining, 1, 0, {}}}, {}});
}

Result<Exit> resume(const Arguments&, Session& session) {
  return apply_patch(session, {{}, {PolicyKey::paused, PolicyKey::draining}});
}

Result<Exit> set(const Arguments& arguments, Session& session) {
  std::span<const std::string> words(arguments.operands());
  words = words.subspan(1);
  if (!words.empty() && words[0].find('=') == std::string::npos) words = words.subspan(1);
  FQ_TRY_SET(const PolicyPatch patch, to_patch("queue set", words, kQueueNode));
  return apply_patch(session, patch);
}

struct Verb {
  std::string_view name;
  Result<Exit> (*run)(const Arguments&, Session&);
  size_t names;      // that it takes at most
  bool needs_names;  // all of them, as operands: what takes a queue away is never meant by default
};
constexpr Verb kVerbs[] = {
    {"list", list, 0, false},     {"create", create, 1, false}, {"pause", pause, 1, false},
    {"resume", resume, 1, false}, {"drain", drain, 1, false},   {"set", set, 1, false},
    {"rename", rename, 2, true},  {"purge", purge, 1, true},    {"remove", remove, 1, true}};

/// The QUEUE operand, if there is one; the words behind it are of `set` only.
Result<void> take_name(const Verb& verb, const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  const std::string object = "queue " + std::string(verb.name);
  const bool sets = verb.run == set;
  const bool named = operands.size() > 1 && !(sets && operands[1].find('=') != std::string::npos);
  constexpr std::string_view kTakes[] = {"takes no queue", "takes one queue",
                                         "takes a queue and its new name"};
  constexpr std::string_view kNeeds[] = {"", "needs the name of the queue",
                                         "needs the name of the queue and a new one"};
  if (!sets && operands.size() > verb.names + 1) return usage_error(object, kTakes[verb.names]);
  if (verb.needs_names && operands.size() <= verb.names) return usage_error(object, kNeeds[verb.names]);
  if (!named) return {};
  FQ_TRY_SET(std::string name, to_queue("QUEUE", operands[1]));
  if (arguments.value("queue").value_or(name) != name)
    return usage_error(object, "two queues are named, " + in_quotes(*arguments.value("queue")) + " and " +
                                   in_quotes(name) + "; give one of them");
  session.name_queue(std::move(name));
  return {};
}

Result<Exit> run_queue(const Arguments& arguments, Session& session) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  const auto& operands = arguments.operands();
  if (operands.empty()) return missing_subcommand("queue", names);
  for (const Verb& verb : kVerbs) {
    if (verb.name != operands[0]) continue;
    for (const char* const fixed : {"shards", "events"}) {
      if (arguments.has(fixed) && verb.run != create)
        return usage_error("queue " + operands[0],
                           "takes no --" + std::string(fixed) + "; that is fixed when a queue is made");
    }
    FQ_TRY(take_name(verb, arguments, session));
    return verb.run(arguments, session);
  }
  return unknown_subcommand("queue", operands[0], names);
}

}  // namespace

const Command queue_command = {
    "queue",
    "list, create, rename, pause, set, empty and remove queues",
    "list | create [QUEUE] | pause [QUEUE] | resume [QUEUE] |\n"
    "         drain [QUEUE] | set [QUEUE] KEY=VALUE... |\n"
    "         rename QUEUE NEW | purge QUEUE | remove QUEUE",
    "Lists, creates, changes, renames, empties or removes queues.\n"
    "pause: nothing is served; drain: nothing is accepted; resume ends both.\n"
    "KEY= removes a setting.",
    {kQueueOptions, &kQueueOption, "human|json"},
    "fq queue set mail attempts=3 concurrency=20",
    "0 done; 1 nothing there; 75 rename, remove: in use; no room",
    run_queue,
    kQueueNode,
};

}  // namespace fq::cli
