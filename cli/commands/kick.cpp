// kick - brings dead or delayed messages back to ready.

// fq, this room.
#include "cli/words/command.h"
#include "cli/session/selection.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kKickOptions[] = {
    {"Which", 't', "tenant", Takes::value, "TENANT", "those of this one and below"},
    {"Which", 0, "all", Takes::nothing, "", "those of every tenant"},
    {"Which", 0, "state", Takes::value, "STATE", "dead or delayed (default: dead)"},
    {"Which", 'n', "count", Takes::value, "N", "at most so many (default: unlimited)"},
};

Result<Selection> kick_selection(const Arguments& arguments) {
  Selection selection;
  FQ_TRY_SET(selection.ids, ids_of(arguments));
  const bool by_filter = arguments.has("tenant") || arguments.has("all");
  if (by_filter && !arguments.operands().empty())
    return usage_error("ID", "does not go with -t or --all; give one of them");
  if (arguments.has("all") && arguments.has("tenant"))
    return usage_error("--all", "does not go with -t, which takes less; give one of them");
  if (!by_filter && arguments.operands().empty())
    return usage_error("kick", "which? give ids, -t TENANT or --all");
  if (!by_filter && (arguments.has("state") || arguments.has("count")))
    return usage_error("ID", "does not go with --state or -n, which are for -t and --all");
  if (const auto typed = arguments.value("tenant")) {
    FQ_TRY_SET(selection.filter.tenant, to_tenant("--tenant", *typed));
  }
  const std::string_view state = arguments.value("state").value_or("dead");
  if (state != "dead" && state != "delayed") return usage_error("--state", "must be dead or delayed");
  selection.states = {state == "dead" ? State::dead : State::delayed};
  if (const auto typed = arguments.value("count")) {
    FQ_TRY_SET(selection.count_max, to_count("-n", *typed, UINT64_MAX));
  }
  return selection;
}

Result<Exit> run_kick(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const Selection selection, kick_selection(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  if (selection.ids.empty() && !arguments.operands().empty()) return Exit::done;  // "-" without a line
  return act_on(session, *queue, selection, Action::kick);
}

}  // namespace

const Command kick_command = {
    "kick",
    "[ID... | - | -t TENANT | --all] [--state dead|delayed] [-n N]",
    "Brings dead or delayed messages back to ready; their attempts start anew.",
    {kKickOptions, &kQueueOption, ""},
    "fq kick --all",
    "0 done (by filter it prints how many); 1 none, or an id was refused",
    run_kick,
};

}  // namespace fq::cli
