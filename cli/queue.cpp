// queue - lists, makes, empties and removes whole queues.

// fq, below us.
#include "core/base/escape.h"
#include "core/base/json_writer.h"
#include "core/base/suggestion.h"
// fq, this room.
#include "cli/command.h"
#include "cli/selection.h"
#include "cli/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kOptions[] = {
    {"How", 0, "yes", Takes::nothing, "", "do not ask; needed without a terminal"},
};

Result<Exit> list(const Arguments&, Session& session) {
  FQ_TRY_SET(const std::vector<std::string> queues, session.all_queues());
  for (const std::string& name : queues) {
    std::string line;
    if (session.format() == Format::json) {
      JsonWriter(line).begin_object().key("queue").text(name).end_object();
    } else {
      line = name;
    }
    FQ_TRY(session.out().write(line + "\n"));
  }
  FQ_TRY(session.out().flush());
  return queues.empty() ? Exit::nothing : Exit::done;
}

Result<Exit> create(const Arguments&, Session& session) {
  FQ_TRY(create_queue(session.location()));
  return Exit::done;
}

Result<Exit> purge(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const bool go_on, confirmed(arguments.has("yes"), "purge takes every message out of queue '" +
                                                                   session.queue_name() + "'"));
  if (!go_on) return Exit::nothing;
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  Selection everything;
  everything.states = all_states();
  return act_on(session, *queue, everything, Action::cancel);
}

Result<Exit> remove(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const bool go_on,
             confirmed(arguments.has("yes"),
                       "remove deletes queue '" + session.queue_name() + "' and all that is in it"));
  if (!go_on) return Exit::nothing;
  FQ_TRY(remove_queue(session.location()));
  return Exit::done;
}

struct Verb {
  std::string_view name;
  Result<Exit> (*run)(const Arguments&, Session&);
  bool takes_name;
  bool needs_name;  // as an operand: what destroys is never meant by default
};
constexpr Verb kVerbs[] = {{"list", list, false, false},
                           {"create", create, true, false},
                           {"purge", purge, true, true},
                           {"remove", remove, true, true}};

Error unknown_verb(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  std::string_view near = suggest(word, names);
  if (near.empty() && (word == "ls" || word == "show")) near = "list";
  if (near.empty() && (word == "rm" || word == "delete" || word == "drop")) near = "remove";
  if (near.empty() && (word == "clear" || word == "empty" || word == "flush")) near = "purge";
  if (near.empty() && (word == "add" || word == "new" || word == "make")) near = "create";
  const std::string hint =
      near.empty() ? "use list, create, purge or remove" : "did you mean " + std::string(near) + "?";
  return usage_error("queue", "unknown command " + in_quotes(word) + "; " + hint);
}

Result<Exit> run_queue(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  if (operands.empty()) return usage_error("queue", "needs a command; use list, create, purge or remove");
  const Verb* verb = nullptr;
  for (const Verb& each : kVerbs) {
    if (each.name == operands[0]) verb = &each;
  }
  if (verb == nullptr) return unknown_verb(operands[0]);
  const std::string object = "queue " + std::string(verb->name);
  if (operands.size() > (verb->takes_name ? 2 : 1))
    return usage_error(object, verb->takes_name ? "takes one queue" : "takes no queue");
  if (verb->needs_name && operands.size() < 2) return usage_error(object, "needs the name of the queue");
  if (operands.size() == 2) {
    FQ_TRY_SET(std::string name, to_queue("QUEUE", operands[1]));
    if (arguments.value("queue").value_or(name) != name)
      return usage_error(object, "two queues are named, " + in_quotes(*arguments.value("queue")) + " and " +
                                     in_quotes(name) + "; give one of them");
    session.name_queue(std::move(name));
  }
  return verb->run(arguments, session);
}

}  // namespace

const Command queue_command = {
    "queue",
    "list | create [QUEUE] | purge QUEUE | remove QUEUE",
    "Lists, makes, empties or removes whole queues; purge prints how many it took.",
    {kOptions, true, "human|json"},
    "fq queue create mail",
    "0 done; 1 nothing there; 75 remove: somebody uses the queue",
    run_queue,
};

}  // namespace fq::cli
