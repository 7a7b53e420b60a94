// tenant - what holds for one tenant and all below it.

// fq, below us.
#include "core/base/escape.h"
#include "core/base/suggestion.h"
// fq, this room.
#include "cli/command.h"
#include "cli/session.h"
#include "cli/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kOptions[] = {
    {"How", 0, "for", Takes::value, "DUR", "nothing of it starts for so long; none: at once again"},
};

/// The operand behind the verb, else the tenant that a worker's job is for.
Result<std::string> tenant_of(const Arguments& arguments) {
  const auto& operands = arguments.operands();
  if (operands.size() == 2) return to_tenant("TENANT", operands[1]);
  if (const auto set = environment("FQ_TENANT")) return to_tenant("FQ_TENANT", *set);
  return usage_error("tenant limit", "needs a tenant; give one, or set FQ_TENANT");
}

Result<Exit> limit(const Arguments& arguments, Session& session) {
  const auto typed = arguments.value("for");
  if (!typed) return usage_error("tenant limit", "needs --for; write fq tenant limit acme --for 10m");
  PolicyPatch patch = limited_no_more();
  if (*typed != "none") {
    FQ_TRY_SET(const int64_t for_ms, to_positive_duration("--for", *typed));
    patch = limited_for(for_ms);
  }
  FQ_TRY_SET(const std::string tenant, tenant_of(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY(queue->policy_set(tenant, patch));
  return Exit::done;
}

Result<Exit> run_tenant(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  if (operands.empty()) return usage_error("tenant", "needs a command; write fq tenant limit acme --for 10m");
  if (operands[0] != "limit") {
    const std::string_view names[] = {"limit"};
    const std::string hint = suggest(operands[0], names).empty() ? "use limit" : "did you mean limit?";
    return usage_error("tenant", "unknown command " + in_quotes(operands[0]) + "; " + hint);
  }
  if (operands.size() > 2) return usage_error("tenant limit", "takes one tenant");
  return limit(arguments, session);
}

}  // namespace

const Command tenant_command = {
    "tenant",
    "limit [TENANT] --for DUR|none",
    "Starts nothing of a tenant for a while; what runs goes on, pushes are taken.",
    {kOptions, true, ""},
    "fq tenant limit acme --for 10m",
    "0 done; 1 there is no such queue; 75 no room to write it down",
    run_tenant,
};

}  // namespace fq::cli
