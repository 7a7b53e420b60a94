#include "cli/session/session.h"

// System.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/disk/no_such_spool.h"
#include "core/base/disk/own_user.h"
// fq, this room.
#include "cli/session/companion.h"
#include "cli/words/command.h"
#include "core/policy/policy.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

struct FormatName {
  std::string_view name;
  Format format;
};
constexpr FormatName kFormats[] = {{"human", Format::human},
                                   {"json", Format::json},
                                   {"sh", Format::sh},
                                   {"raw", Format::raw},
                                   {"prometheus", Format::prometheus}};

/// The parts of "human|json|sh".
std::vector<std::string_view> split_formats(std::string_view formats) {
  std::vector<std::string_view> names;
  while (!formats.empty()) {
    const size_t bar = formats.find('|');
    names.push_back(formats.substr(0, bar));
    formats.remove_prefix(bar == std::string_view::npos ? formats.size() : bar + 1);
  }
  return names;
}

Result<Format> to_format(std::string_view allowed, std::string_view text) {
  const std::vector<std::string_view> names = split_formats(allowed);
  for (const std::string_view name : names) {
    if (name != text) continue;
    for (const FormatName& each : kFormats) {
      if (each.name == name) return each.format;
    }
  }
  return not_among("--format", text, "a format of this command", names);
}

Error config_error(Error error) {
  error.kind = ErrorKind::config;
  return error;
}

}  // namespace

Error no_spool() {
  return Error{ErrorKind::config, "HOME: is not set, so there is no place for the spool; set FQ_SPOOL", 0};
}

Result<Settings> settings_to_be(const Location& location) {
  FQ_TRY_SET(const FilePolicy file, read_policy_for(location));
  Settings settings;
  take_over(settings, without_lines(file).queue);
  return settings;
}

Result<void> Session::resolve(const Arguments& arguments) {
  FQ_TRY(resolve_format(arguments));
  if (arguments.command().options.queue == nullptr) return {};
  FQ_TRY(resolve_spool(arguments));
  return resolve_queue(arguments);
}

Result<void> Session::resolve_spool(const Arguments& arguments) {
  if (const auto typed = arguments.value("spool")) {
    if (typed->empty()) return usage_error("--spool", "is empty; name a directory");
    location_.spool = std::string(*typed);
    FQ_TRY(find_engine_or_companion(argv_, location_.spool));
  } else if (const auto set = environment("FQ_SPOOL")) {
    location_.spool = *set;
    Result<void> engine = find_engine_or_companion(argv_, location_.spool);
    const bool is_wrong = !engine && engine.error().kind == ErrorKind::usage;
    if (is_wrong) return config_error(engine.error());
    FQ_TRY(std::move(engine));
  } else if (own_user() == 0) {
    location_.spool = "/var/spool/fq";
  } else if (const auto state = environment("XDG_STATE_HOME"); state && state->starts_with('/')) {
    location_.spool = *state + "/fq";
  } else if (const auto home = environment("HOME")) {
    location_.spool = *home + "/.local/state/fq";
  } else {
    return arguments.command().options.needs_spool ? no_spool() : Result<void>();
  }
  // What is named from here is meant from here, wherever a job or a message about it is read.
  if (location_.spool.starts_with('/') || !scheme_of(location_.spool).empty()) return {};
  const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
  if (!here)
    return sys_error(
        "read", "the working directory, from which spool " + in_quotes(location_.spool) + " is named", errno);
  location_.spool = std::string(here.get()) + "/" + location_.spool;
  return {};
}

Result<void> Session::resolve_queue(const Arguments& arguments) {
  if (const auto typed = arguments.value("queue")) {
    FQ_TRY_SET(location_.queue, to_queue("--queue", *typed));
    queue_named_ = true;
  } else if (const auto set = environment("FQ_QUEUE")) {
    Result<std::string> name = to_queue("FQ_QUEUE", *set);
    if (!name) return config_error(std::move(name).error());
    location_.queue = std::move(name).value();
    queue_named_ = true;
  }
  return {};
}

Result<void> Session::resolve_format(const Arguments& arguments) {
  for (const Arguments::Given& given : arguments.given()) {
    if (given.option == &kJsonOption) format_ = Format::json;
    if (given.option == &kRawOption) format_ = Format::raw;
    if (given.option != &kFormatOption) continue;
    FQ_TRY_SET(format_, to_format(arguments.command().options.formats, *given.value));
  }
  return {};
}

Result<std::unique_ptr<Queue>> Session::open(Policy policy, Missing missing, const Demand& demand) {
  OpenOptions options;
  options.until_exit = true;
  FQ_TRY_SET(std::unique_ptr<Queue> queue, open(location_, policy, missing, options, demand));
  if (demand) {
    FQ_TRY_SET(const Settings settings, queue->settings());
    FQ_TRY(demand(settings, true));
  }
  return queue;
}

Result<std::unique_ptr<Queue>> Session::open(const Location& location, Policy policy, Missing missing) {
  return open(location, policy, missing, OpenOptions{});
}

Result<std::unique_ptr<Queue>> Session::open(const Location& location, Policy policy, Missing missing,
                                             OpenOptions options, const Demand& demand) {
  options.away = &away_;
  Result<std::unique_ptr<Queue>> queue = open_queue(location, options);
  if (!queue && missing != Missing::is_refused && queue.error().kind == ErrorKind::missing) {
    FQ_TRY_SET(const Settings settings, settings_to_be(location));
    if (demand) FQ_TRY(demand(settings, false));
    options.create = true;
    queue = open_queue(location, options);
    if (queue && missing == Missing::is_made_and_said)
      say("queue '" + location.queue + "': did not exist; created");
  }
  if (!queue) return queue;
  Result<void> loaded = bring_policy_up_to_date(**queue, location);
  if (!loaded && !is_policy_fault(loaded.error())) return std::move(loaded).error();
  const bool says = !loaded && policy == Policy::last_good && policy_fault_.empty();
  if (says) say(policy_fault_ = loaded.error().text + "; the last good one holds");
  say_notices(**queue);
  return queue;
}

void say_notices(Queue& queue) {
  for (const std::string& notice : queue.take_notices()) say(notice);
}

Result<std::vector<std::string>> Session::queues() {
  if (queue_named_) return std::vector<std::string>{location_.queue};
  return all_queues();
}

Result<std::vector<std::string>> Session::all_queues() const {
  FQ_TRY_SET(std::vector<std::string> names, list_queues(location_.spool));
  // A server that answers is there, and does not know whether it once had others.
  if (!names.empty() || !scheme_of(location_.spool).empty()) return names;
  if (::access(location_.spool.c_str(), F_OK) != 0) return no_such_spool(location_.spool);
  // Most likely another directory was meant; one whose queues were removed has their directory still.
  if (::access((location_.spool + "/queues").c_str(), F_OK) != 0) {
    return Error{ErrorKind::missing,
                 "spool " + in_quotes(location_.spool) +
                     ": there are no queues in it; --spool or FQ_SPOOL names another",
                 0};
  }
  return names;
}

std::string Session::why_only_listed(const std::string& queue) const {
  const Result<std::vector<std::string>> now = list_queues(location_.spool);
  const bool is_listed = now && std::find(now->begin(), now->end(), queue) != now->end();
  if (!is_listed) return "";
  return "queue " + in_quotes(queue) +
         ": has a name and nothing else: its making, removing or renaming was broken off; do that again";
}

Error of_queue(const std::string& queue, Error error) {
  if (!error.text.starts_with("queue '")) error.text = "queue '" + queue + "': " + error.text;
  return error;
}

bool Session::is_only_listed(const Error& error) const {
  return !queue_named_ && error.kind == ErrorKind::missing;
}

Result<Exit> Session::for_each_queue(const std::function<Result<Exit>(const std::string&, Queue&)>& look,
                                     const OpenOptions& options) {
  FQ_TRY_SET(const std::vector<std::string> names, queues());
  std::optional<Exit> worst;
  for (const std::string& name : names) {
    const Result<std::unique_ptr<Queue>> queue =
        open({location_.spool, name}, Policy::last_good, Missing::is_refused, options);
    if (!queue && is_only_listed(queue.error())) {
      if (const std::string why = why_only_listed(name); !why.empty()) say(why);
      continue;
    }
    Result<Exit> exit = queue ? look(name, **queue) : queue.error();
    if (out_.failed()) return exit;
    if (!exit) say(of_queue(name, exit.error()).text);
    const Exit ended = exit ? *exit : exit_of(exit.error().kind);
    worst = worst ? worse_of(*worst, ended) : ended;
  }
  return worst.value_or(Exit::nothing);
}

}  // namespace fq::cli
