// cancel - takes messages out of the queue for good.

// fq, this room.
#include "cli/words/command.h"
#include "cli/session/selection.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kCancelOptions[] = {
    {"Which", 't', "tenant", Takes::value, "TENANT", "those of this tenant and below"},
    {"Which", 0, "tag", Takes::value, "K=V", "those with this tag"},
    {"Which", 0, "all", Takes::nothing, "", "those of every tenant; asks first"},
    {"Which", 0, "state", Takes::value, "STATE",
     "only those: ready, delayed, leased or running, held,\ndead or all (default: all but dead)"},
    {"Which", 'n', "count", Takes::value, "N", "at most N (default: unlimited)"},
    {"General", 0, "yes", Takes::nothing, "", "do not ask; --all needs it without a terminal"},
};

Result<Selection> cancel_selection(const Arguments& arguments) {
  FQ_TRY_SET(Selection selection, selection_of(arguments));
  selection.states = {State::ready, State::delayed, State::leased, State::held};
  if (const auto typed = arguments.value("state")) {
    FQ_TRY_SET(const std::optional<State> state, to_state("--state", *typed));
    selection.states = state ? std::vector<State>{*state} : all_states();
  }
  return selection;
}

std::string what_all_is(const Arguments& arguments) {
  const std::string count =
      arguments.has("count") ? "up to " + std::string(*arguments.value("count")) + " of " : "";
  const auto state = arguments.value("state");
  if (!state) return count + "every message but the dead ones";
  return count + (*state == "all" ? "every message, the dead ones too,"
                                  : "every " + std::string(*state) + " message");
}

Result<Exit> run_cancel(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const Selection selection, cancel_selection(arguments));
  if (arguments.has("all")) {
    FQ_TRY_SET(const bool go_on,
               confirmed(arguments.has("yes"), "cancel --all takes " + what_all_is(arguments) +
                                                   " out of queue '" + session.queue_name() + "'"));
    if (!go_on) return Exit::nothing;
  }
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  if (selection.ids.empty() && !arguments.operands().empty()) return Exit::done;  // "-" without a line
  return act_on(session, *queue, selection, Action::cancel);
}

}  // namespace

const Command cancel_command = {
    "cancel",
    "remove messages for good",
    "[ID... | - | -t TENANT | --tag K=V | --all] [--state S] [-n N]",
    "Removes messages for good, leased ones too.",
    {kCancelOptions, &kQueueOption, ""},
    "fq cancel -t acme",
    "0 done (a filter prints how many); 1 none, or an id was refused",
    run_cancel,
};

}  // namespace fq::cli
