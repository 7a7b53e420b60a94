// config - the contents of fq.toml, the values that hold and why, and the place of the file.

// System.
#include <algorithm>
#include <array>
#include <map>
// fq, below us.
#include "core/api/policy_text.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/words/command.h"
#include "core/policy/policy.h"
#include "cli/policy/policy_edit.h"
#include "cli/views/policy_view.h"
#include "cli/session/session.h"
#include "cli/terminal/input.h"
#include "cli/words/subcommand.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kConfigOptions[] = {
    {"Which", 't', "tenant", Takes::value, "TENANT", "show: of this tenant (default: of the queue)"},
    {"Loading", 0, "if-version", Takes::value, "VERSION", "load: only over this one (default: any)"},
};

/// What the queue knows; nothing of a queue that the first push is still to make.
struct RunTime {
  std::vector<PolicyOverride> overrides;
  Settings settings;
  bool has_last_good = false;  // it goes on with values of a file that was good once
  std::optional<Error> fault;  // why it does not hold what the file says
};

Result<RunTime> ask_queue(Session& session) {
  Result<std::unique_ptr<Queue>> queue = session.open(Session::Policy::unsaid);
  if (!queue && queue.error().kind == ErrorKind::missing) return RunTime();
  if (!queue) return std::move(queue).error();
  RunTime run_time;
  FQ_TRY_SET(run_time.overrides, all_overrides(**queue));
  say_notices(**queue);
  FQ_TRY_SET(run_time.settings, (*queue)->settings());
  FQ_TRY_SET(const bool holds_nothing, (*queue)->policy_is_current(FileIdentity{}));
  run_time.has_last_good = !holds_nothing;
  const Result<void> held = bring_policy_up_to_date(**queue, session.location());
  if (!held && is_policy_fault(held.error())) run_time.fault = held.error();
  if (run_time.fault && run_time.fault->passes) run_time.fault->kind = ErrorKind::later;
  return run_time;
}

void add(std::vector<PolicyRow>& to, std::vector<HeldValue> values, std::string_view tenant,
         std::string_view pool) {
  for (HeldValue& value : values) to.push_back({std::string(tenant), std::string(pool), std::move(value)});
}

std::vector<PolicySection> sections_of_queue(const PolicyLayers& layers, const Settings* last_good) {
  std::vector<PolicySection> sections{{"", {}}, {"TENANT", {}}, {"POOL", {}}};
  add(sections[0].rows, layers.of_queue(last_good), "", "");
  for (const FileRule& rule : layers.file().tenants) {
    for (const FileValue& value : rule.values)
      sections[1].rows.push_back({"", "", {value.value, Layer::file, value.line, rule.name}});
  }
  for (const auto& [path, values] : layers.overrides()) {
    if (path.empty()) continue;
    for (const PolicyValue& value : values)
      sections[1].rows.push_back({path, "", {value, Layer::run_time, 0, {}}});
  }
  for (const FileRule& pool : layers.file().pools) {
    add(sections[2].rows, layers.of_pool(pool.name), "", pool.name);
  }
  return sections;
}

/// Of a node above a tenant only what somebody set, and what holds for all below it.
bool holds_below(const HeldValue& held) {
  constexpr std::array kKeys = {PolicyKey::concurrency,  PolicyKey::rate,      PolicyKey::burst,
                                PolicyKey::max_messages, PolicyKey::max_bytes, PolicyKey::pool,
                                PolicyKey::paused,       PolicyKey::draining,  PolicyKey::limited,
                                PolicyKey::weight};
  return held.layer != Layer::standard &&
         std::find(kKeys.begin(), kKeys.end(), held.value.key) != kKeys.end();
}

std::vector<PolicySection> sections_of_tenant(const PolicyLayers& layers, std::string_view tenant,
                                              const Settings* last_good) {
  std::vector<PolicySection> sections{{"TENANT", {}}, {"ABOVE", {}}, {"POOL", {}}};
  add(sections[0].rows, layers.of_tenant(tenant), tenant, "");
  if (last_good != nullptr) {  // only the file would tell what no one has set at run time
    std::erase_if(sections[0].rows, [](const PolicyRow& row) { return row.held.layer != Layer::run_time; });
  }
  for (const std::string_view above : nodes_above(tenant)) {
    add(sections[1].rows, layers.of_tenant(above), above, "");
  }
  add(sections[1].rows, layers.of_queue(last_good), "", "");
  std::erase_if(sections[1].rows, [](const PolicyRow& row) { return !holds_below(row.held); });
  for (const size_t from : {size_t{0}, size_t{1}}) {
    for (const PolicyRow& row : sections[from].rows) {
      if (row.held.value.key != PolicyKey::pool || row.held.value.text.empty()) continue;
      add(sections[2].rows, layers.of_pool(row.held.value.text), "", row.held.value.text);
    }
  }
  return sections;
}

Result<Exit> show(const Arguments& arguments, Session& session) {
  std::string tenant;
  if (const auto typed = arguments.value("tenant")) {
    FQ_TRY_SET(tenant, to_tenant("--tenant", *typed));
  }
  FQ_TRY_SET(RunTime run_time, ask_queue(session));
  Result<FilePolicy> file = read_policy_for(session.location());
  if (file && run_time.fault) file = *run_time.fault;
  const Settings* last_good = !file && run_time.has_last_good ? &run_time.settings : nullptr;
  const PolicyLayers layers(file ? *file : FilePolicy(), std::move(run_time.overrides));
  const std::vector<PolicySection> sections =
      tenant.empty() ? sections_of_queue(layers, last_good) : sections_of_tenant(layers, tenant, last_good);
  FQ_TRY(session.out().write(session.format() == Format::json ? policy_json(session.queue_name(), sections)
                                                              : policy_table(sections)));
  FQ_TRY(session.out().flush());
  if (!file) return std::move(file).error();
  return Exit::done;
}

bool has_directory(const Session& session) { return scheme_of(session.location().spool).empty(); }

/// "": it has one.
std::string_view without_effect_on_server(PolicyKey key) {
  switch (key) {
    case PolicyKey::sync:
      return "sync: has no effect on a server; its address says what accepted means (durability=)";
    case PolicyKey::lock_timeout:
      return "lock_timeout: has no effect on a server, where nobody waits for a lock";
    default:
      return "";
  }
}

/// In no way a fault, and nothing else would tell of it.
Result<void> say_what_has_no_effect(const Session& session) {
  const std::string path = policy_path(session.spool());
  FQ_TRY_SET(const PolicySource source, read_policy_source(session.spool()));
  FQ_TRY_SET(const std::vector<FileQueue> tables, read_policy_tables(source.text, path));
  std::map<uint32_t, std::string_view> lines;
  for (const FileQueue& table : tables) {
    for (const FileValue& each : table.queue.values) {
      const std::string_view what = without_effect_on_server(each.value.key);
      if (!what.empty()) lines[each.line] = what;
    }
  }
  for (const auto& [line, what] : lines) say(policy_fault(path, line, what).text);
  return {};
}

Result<Exit> check(const Arguments&, Session& session) {
  FQ_TRY(check_policy(session.location()));
  if (!has_directory(session)) FQ_TRY(say_what_has_no_effect(session));
  return Exit::done;
}

/// On a server fq.toml is a text that is kept there.
Result<void> find_file(const Session& session, std::string_view verb) {
  if (has_directory(session)) return {};
  return Error{
      ErrorKind::unusable,
      "config " + std::string(verb) + ": fq.toml is kept on the server; use fq config get and fq config load",
      0};
}

Result<Exit> path(const Arguments&, Session& session) {
  FQ_TRY(find_file(session, "path"));
  const std::string text = policy_path(session.spool());
  if (session.format() == Format::json) {
    std::string line;
    JsonWriter(line).begin_object().key("path").text(text).end_object();
    FQ_TRY(session.out().write(line + "\n"));
    FQ_TRY(session.out().flush());
    return Exit::done;
  }
  FQ_TRY(session.out().write((session.out().is_terminal() ? shown(text) : text) + "\n"));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

Result<Exit> edit(const Arguments&, Session& session) {
  FQ_TRY(find_file(session, "edit"));
  return edit_policy(session.location());
}

/// The text, and its version where it is kept without a file.
Result<Exit> get(const Arguments&, Session& session) {
  PolicyText kept;
  if (has_directory(session)) {
    FQ_TRY_SET(PolicySource source, read_policy_source(session.spool()));
    kept.text = std::move(source.text);
  } else {
    FQ_TRY_SET(kept, policy_text(session.spool()));
  }
  std::string line;
  if (session.format() == Format::json) {
    JsonWriter json(line);
    json.begin_object().key("version");
    has_directory(session) ? json.null() : json.text(kept.version);
    json.key("text").text(kept.text).end_object();
    line += "\n";
  }
  FQ_TRY(session.out().write(session.format() == Format::json ? line : kept.text));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

Result<std::string> read_new_policy(const std::string& path) {
  FQ_TRY_SET(Reader input, path == "-" ? Reader::standard_input() : Reader::file(path));
  Result<std::string> text = input.read_all(kPolicyFileBytesMax);
  if (!text && Reader::is_too_long(text.error())) return policy_too_long(input.name());
  return text;
}

/// What is kept now holds at once in all queues that are there. From here on nobody is told that nothing was
/// done: one that is away finds it by itself, and one that was changed meanwhile may not hold it any more.
Result<Exit> hold_everywhere(const std::string& spool) {
  const Result<std::vector<std::string>> queues = list_queues(spool);
  if (!queues) {
    say("fq.toml: is kept; each queue follows it with its next command: " + queues.error().text);
    return Exit::done;
  }
  Exit ended = Exit::done;
  for (const std::string& name : *queues) {
    const Location location{spool, name};
    const Result<std::unique_ptr<Queue>> queue = open_queue(location);
    if (!queue && queue.error().kind == ErrorKind::missing) continue;  // it went meanwhile
    const Result<void> held = queue ? bring_policy_up_to_date(**queue, location) : queue.error();
    if (queue) say_notices(**queue);
    if (held) continue;
    const bool is_refused = is_policy_fault(held.error()) && !held.error().passes;
    say("fq.toml: is kept; queue " + in_quotes(name) +
        (is_refused ? ": cannot hold it: " : ": follows it with its next command: ") + held.error().text);
    if (is_refused) ended = Exit::io;
  }
  return ended;
}

Result<Exit> load(const Arguments& arguments, Session& session) {
  if (has_directory(session)) {
    return usage_error("config load",
                       "the policy of a directory is the file fq.toml in it; use fq config edit");
  }
  FQ_TRY_SET(const std::string text, read_new_policy(arguments.operands()[1]));
  FQ_TRY(check_policy_text(text, session.location()));
  std::optional<std::string> if_version;
  if (const auto typed = arguments.value("if-version")) if_version = std::string(*typed);
  FQ_TRY(keep_policy_text(session.spool(), text, if_version));
  return hold_everywhere(session.spool());
}

struct Verb {
  std::string_view name;
  Result<Exit> (*run)(const Arguments&, Session&);
};
constexpr Verb kVerbs[] = {{"show", show}, {"edit", edit}, {"check", check},
                           {"path", path}, {"load", load}, {"get", get}};

Result<Exit> run_config(const Arguments& arguments, Session& session) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  const auto& operands = arguments.operands();
  if (operands.empty()) return missing_subcommand("config", names);
  for (const Verb& verb : kVerbs) {
    if (verb.name != operands[0]) continue;
    const std::string object = "config " + operands[0];
    const bool loads = verb.name == "load";
    if (loads && operands.size() != 2) return usage_error(object, "needs one FILE, or - for standard input");
    if (!loads && operands.size() > 1)
      return usage_error(object, "takes no operand; name a queue by -q, a tenant by -t");
    if (arguments.has("tenant") && verb.name != "show") return usage_error(object, "takes no --tenant");
    if (arguments.has("if-version") && !loads) return usage_error(object, "takes no --if-version");
    return verb.run(arguments, session);
  }
  if (operands[0] == "set" || operands[0] == "unset")
    return usage_error("config", "sets nothing; use fq queue set, fq tenant set, or fq config edit");
  return unknown_subcommand("config", operands[0], names);
}

}  // namespace

const Command config_command = {
    "config",
    "show the settings in effect and where they come from",
    "show [-t TENANT] | edit | check | path | load FILE | get",
    "Shows the settings in effect and their origin; edits, checks or finds fq.toml,\n"
    "or loads it on a server.",
    {kConfigOptions, &kQueueOption, "human|json"},
    "fq config show -q mail -t acme/reports",
    "0 done; 74 not known; 75 nothing was done; 78 fq.toml cannot be used",
    run_config,
};

}  // namespace fq::cli
