// kick - brings dead or delayed messages back to ready.

// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/session/selection.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kKickOptions[] = {
    {"Which", 't', "tenant", Takes::value, "TENANT", "those of this tenant and below"},
    {"Which", 0, "tag", Takes::value, "K=V", "those with this tag"},
    {"Which", 0, "reason", Takes::value, "TEXT", "those whose reason contains this text"},
    {"Which", 0, "all", Takes::nothing, "", "those of every tenant"},
    {"Which", 0, "state", Takes::value, "STATE", "dead or delayed (default: dead)"},
    {"Which", 0, "fresh", Takes::nothing, "", "forget their steps: see fq-step(1)"},
    {"Which", 'n', "count", Takes::value, "N", "at most N (default: unlimited)"},
};

constexpr std::string_view kMoreFilters[] = {"reason"};

Result<Selection> kick_selection(const Arguments& arguments) {
  FQ_TRY_SET(Selection selection, selection_of(arguments, kMoreFilters));
  if (const auto typed = arguments.value("reason")) {
    if (typed->empty()) return usage_error("--reason", "is empty");
    selection.filter.reason = *typed;
  }
  const std::string_view state = arguments.value("state").value_or("dead");
  if (state != "dead" && state != "delayed")  // another state is no slip of the keyboard
    return usage_error("--state",
                       in_quotes(state) + " is not a state that can be kicked; use dead or delayed");
  selection.states = {state == "dead" ? State::dead : State::delayed};
  return selection;
}

Result<Exit> run_kick(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const Selection selection, kick_selection(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  if (selection.ids.empty() && !arguments.operands().empty()) return Exit::done;  // "-" without a line
  return act_on(session, *queue, selection, arguments.has("fresh") ? Action::kick_fresh : Action::kick);
}

}  // namespace

const Command kick_command = {
    "kick",
    "bring dead or delayed messages back",
    "[ID... | - | -t TENANT | --tag K=V | --reason TEXT | --all]\n"
    "               [--state dead|delayed] [-n N] [--fresh]",
    "Makes dead or delayed messages ready again; their attempts are counted anew.",
    {kKickOptions, &kQueueOption, ""},
    "fq kick --all",
    "0 done (a filter prints how many); 1 none, or an id was refused",
    run_kick,
};

}  // namespace fq::cli
