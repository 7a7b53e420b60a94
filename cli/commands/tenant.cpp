// tenant - the policy of one tenant and all below it: shown, set, paused, limited.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/policy/assignment.h"
#include "cli/policy/policy_layers.h"
#include "cli/words/command.h"
#include "cli/session/session.h"
#include "cli/words/subcommand.h"
#include "cli/views/tenant_list.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kTenantOptions[] = {
    {"Which", 't', "tenant", Takes::value, "TENANT", "this one and all below it (list: default: all)"},
    {"How", 0, "for", Takes::value, "DUR", "limit: nothing starts for this long; none ends it"},
    {"Output", 0, "names", Takes::nothing, "", "list: only the names, one per line, as they are"},
};

/// A pattern that was meant for fq.toml would be set for a tenant of that very name, which nobody has. Behind
/// --tenant it is meant so.
Result<void> refuse_pattern(Queue& queue, const std::string& tenant) {
  if (tenant.find('*') == std::string::npos) return {};
  FQ_TRY_SET(const StatsReply known, queue.stats({.tenants = true, .tenant = tenant}));
  FQ_TRY_SET(const std::vector<PolicyOverride> set, all_overrides(queue));
  const bool was_set =
      std::any_of(set.begin(), set.end(), [&](const auto& each) { return each.path == tenant; });
  if (was_set || !known.rows.empty()) return {};
  return usage_error("TENANT", "there is no tenant " + in_quotes(tenant) + "; patterns belong in fq.toml");
}

Result<Exit> apply_patch(const Arguments& arguments, Session& session, const std::string& tenant,
                         const PolicyPatch& patch) {
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  if (!arguments.has("tenant")) FQ_TRY(refuse_pattern(*queue, tenant));
  FQ_TRY(check_patch("tenant set", patch, *queue, session.location()));
  FQ_TRY(queue->policy_set(tenant, patch));
  return Exit::done;
}

/// The operand behind the verb, or -t: so a name may begin with a dash.
Result<std::string> named_tenant(const Arguments& arguments) {
  const auto& operands = arguments.operands();
  if (const auto typed = arguments.value("tenant")) return to_tenant("--tenant", *typed);
  if (operands.size() < 2) return usage_error("tenant " + operands[0], "needs the name of the tenant");
  return to_tenant("TENANT", operands[1]);
}

Result<Exit> set(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string tenant, named_tenant(arguments));
  const std::span<const std::string> words(arguments.operands());
  const size_t first = arguments.has("tenant") ? 1 : 2;
  FQ_TRY_SET(const PolicyPatch patch, to_patch("tenant set", words.subspan(first), kTenantNode));
  return apply_patch(arguments, session, tenant, patch);
}

Result<Exit> pause(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string tenant, named_tenant(arguments));
  return apply_patch(arguments, session, tenant, {{{PolicyKey::paused, 1, 0, {}}}, {}});
}

Result<Exit> resume(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string tenant, named_tenant(arguments));
  return apply_patch(arguments, session, tenant, {{}, {PolicyKey::paused}});
}

/// Else the tenant that a worker's job is for.
Result<std::string> limited_tenant(const Arguments& arguments) {
  const auto own = environment("FQ_TENANT");
  const bool named = arguments.has("tenant") || arguments.operands().size() > 1;
  if (!named && !own) return usage_error("tenant limit", "needs a tenant; give one, or set FQ_TENANT");
  return named ? named_tenant(arguments) : to_tenant("FQ_TENANT", *own);
}

Result<Exit> limit(const Arguments& arguments, Session& session) {
  const auto typed = arguments.value("for");
  if (!typed) return usage_error("tenant limit", "needs --for; write fq tenant limit acme --for 10m");
  FQ_TRY_SET(const std::optional<int64_t> for_ms, to_positive_duration_or("none", "--for", *typed));
  const PolicyPatch patch = for_ms ? limited_for(*for_ms) : limited_no_more();
  FQ_TRY_SET(const std::string tenant, limited_tenant(arguments));
  return apply_patch(arguments, session, tenant, patch);
}

Result<Exit> list(const Arguments& arguments, Session& session) {
  std::string below;
  if (const auto typed = arguments.value("tenant")) {
    FQ_TRY_SET(below, to_tenant("--tenant", *typed));
  }
  return list_tenants(session, below, arguments.has("names"));
}

struct Verb {
  std::string_view name;
  Result<Exit> (*run)(const Arguments&, Session&);
  size_t operands_max;  // behind it
};
constexpr Verb kVerbs[] = {{"list", list, 0},
                           {"set", set, SIZE_MAX - 1},
                           {"pause", pause, 1},
                           {"resume", resume, 1},
                           {"limit", limit, 1}};

Result<Exit> run_tenant(const Arguments& arguments, Session& session) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  const auto& operands = arguments.operands();
  if (operands.empty()) return missing_subcommand("tenant", names);
  for (const Verb& verb : kVerbs) {
    if (verb.name != operands[0]) continue;
    const std::string object = "tenant " + operands[0];
    if (operands.size() > 1 + verb.operands_max) {
      return usage_error(object,
                         verb.run == list ? "takes no operand; name a tenant by -t" : "takes one tenant");
    }
    if (arguments.has("for") && verb.run != limit) return usage_error(object, "takes no --for");
    if (arguments.has("names") && verb.run != list) return usage_error(object, "takes no --names");
    if (arguments.has("names") && session.format() == Format::json)
      return usage_error(object, "--names does not go with --json");
    if (arguments.has("tenant") && operands.size() > 1 && verb.run != set)
      return usage_error(object, "two tenants are named; give one of them");
    return verb.run(arguments, session);
  }
  return unknown_subcommand("tenant", operands[0], names);
}

}  // namespace

const Command tenant_command = {
    "tenant",
    "show, set, pause and limit tenants",
    "list [-t TENANT] | set TENANT KEY=VALUE... | pause TENANT |\n"
    "          resume TENANT | limit [TENANT] --for DUR|none",
    "Lists tenants; sets, pauses or limits one with all below it.\n"
    "KEY= removes a setting.\n"
    "What runs goes on, pushes are accepted. Default TENANT of limit: $FQ_TENANT.",
    {kTenantOptions, &kQueueOption, "human|json"},
    "fq tenant set acme weight=3 rate=100/min",
    "0 done; 1 nothing there; 75 no room to write it down",
    run_tenant,
    kTenantNode,
};

}  // namespace fq::cli
