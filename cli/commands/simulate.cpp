// simulate - the past of a queue, or an invented load, played to the scheduler under another policy.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/escape.h"
#include "core/policy/policy.h"
#include "core/simulate/simulation.h"
// fq, this room.
#include "cli/policy/policy_layers.h"
#include "cli/requests/load_spec.h"
#include "cli/requests/recorded_events.h"
#include "cli/session/session.h"
#include "cli/terminal/input.h"
#include "cli/terminal/signals.h"
#include "cli/views/simulate_view.h"
#include "cli/words/command.h"
#include "cli/words/local_time.h"
#include "cli/words/since.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kSimulateOptions[] = {
    {"What", 0, "policy", Takes::value, "FILE", "under this fq.toml (default: the spool's own)"},
    {"What", 'j', "jobs", Takes::value, "N", "N slots (default: as many as ran at once; --load: 1)"},
    {"Which", 0, "since", Takes::value, "TIME|DUR", "since then, or for this long (default: all)"},
    {"Which", 0, "load", Takes::value, "SPEC", "an invented load: TENANT:RATE,run=DUR[,weight=W]"},
    {"Which", 0, "for", Takes::value, "DUR", "how long the load lasts (default: 1h)"},
};

constexpr uint64_t kSlotsMost = 1'000'000;  // arbitrary
constexpr int64_t kLoadMs = 3'600'000;

struct SimulateRequest {
  std::string policy;  // a path; "": the queue's own
  std::optional<uint32_t> slots;
  std::optional<int64_t> since_wall_ms;
  std::vector<LoadSpec> load;
  int64_t for_ms = kLoadMs;
  std::string file;  // "": the queue's own events
};

Result<SimulateRequest> simulate_request(const Arguments& arguments) {
  SimulateRequest request;
  const auto& operands = arguments.operands();
  if (operands.size() > 1) return usage_error("simulate", "takes one FILE of events, or -");
  if (!operands.empty() && operands[0].empty()) return usage_error("FILE", "is empty; name a file");
  if (!operands.empty()) request.file = operands[0];
  if (const auto typed = arguments.value("policy")) {
    if (typed->empty()) return usage_error("--policy", "is empty; name a file");
    request.policy = std::string(*typed);
  }
  if (const auto typed = arguments.value("jobs")) {
    FQ_TRY_SET(const uint64_t slots, to_count("-j", *typed, kSlotsMost));
    request.slots = static_cast<uint32_t>(slots);
  }
  if (const auto typed = arguments.value("since")) {
    FQ_TRY_SET(request.since_wall_ms, to_since("--since", *typed, system_clock().wall_ms()));
  }
  for (const std::string_view typed : arguments.values("load")) {
    FQ_TRY_SET(LoadSpec spec, to_load_spec("--load", typed));
    request.load.push_back(std::move(spec));
  }
  if (const auto typed = arguments.value("for")) {
    if (request.load.empty()) return usage_error("--for", "goes with --load only");
    FQ_TRY_SET(request.for_ms, to_positive_duration("--for", *typed));
  }
  if (!request.load.empty() && !request.file.empty())
    return usage_error("--load", "is a load of its own; leave FILE out");
  if (!request.load.empty() && request.since_wall_ms)
    return usage_error("--load", "is invented, so it has no past; leave --since out");
  return request;
}

/// Of another file than the spool's. Whatever is wrong with it is a bad policy.
Result<Policy> policy_of(const std::string& path, const std::string& queue) {
  const auto read = [&]() -> Result<Policy> {
    FQ_TRY_SET(Reader file, Reader::file(path));
    FQ_TRY_SET(const std::string text, file.read_all(kPolicyFileBytesMax));
    FQ_TRY_SET(const PolicyFile parsed, PolicyFile::parse(text, path));
    FQ_TRY_SET(const FilePolicy policy, parsed.for_queue(queue));
    return without_lines(policy);
  };
  Result<Policy> policy = read();
  if (policy || policy.error().kind == ErrorKind::denied) return policy;
  Error error = std::move(policy).error();
  error.kind = ErrorKind::config;
  return error;
}

Result<Policy> own_policy(const Session& session) {
  if (session.spool().empty()) return Policy();
  FQ_TRY_SET(const FilePolicy policy, read_policy_for(session.location()));
  return without_lines(policy);
}

void say_outcome(const Report& after) {
  if (after.refused > 0)
    say("simulate: " + counted(after.refused, "push", "pushes") +
        " would be refused (max_messages or max_bytes), and nobody tries again");
  if (after.left > 0) say("simulate: " + counted(after.left, "message") + " would never start");
}

/// What it says of what it was told, and of what it cannot know.
void say_assumptions(const Recording& recording, uint32_t slots, bool slots_given) {
  const Recording::Assumed& assumed = recording.assumed();
  say("simulate: events from " + local_time_text(recording.begin_ms()) + " to " +
      local_time_text(recording.end_ms()));
  if (assumed.pushed_before > 0)
    say("simulate: the push of " + counted(assumed.pushed_before, "message") +
        " lies before that: taken as ready from then on, and their waits are not counted");
  if (assumed.arrived > 0)
    say("simulate: " + counted(assumed.arrived, "message") +
        " came from another queue: taken as ready from then on, and their waits are not counted");
  if (assumed.nameless > 0)
    say("simulate: " + counted(assumed.nameless, "run") +
        " left out: nothing tells any more whose message it was");
  if (assumed.without_run > 0)
    say("simulate: " + counted(assumed.without_run, "message") +
        " had not started by then: taken to run as long as the others of their tenant do; their waits count "
        "up "
        "to then");
  if (assumed.cut_off > 0)
    say("simulate: " + counted(assumed.cut_off, "run") + " had not ended by then: assumed to end there");
  say("simulate: assumed: " + counted(slots, "slot") + (slots_given ? "" : " (as many as ran at once)") +
      " from the first start on, and that a run takes as long as it did, however many run at once");
}

/// As long as it takes: signals come through, for it holds nothing but memory of its own.
Report played(Load& load, const Policy& policy, uint32_t slots, Simulation::Starts starts) {
  const LetSignalsThrough now;
  return Simulation(load, policy, slots, starts).run();
}

Result<Compared> replay(const SimulateRequest& request, Session& session, Recording& recording) {
  // Where there is another policy the own one is only what happened under, and need not be there.
  FQ_TRY_SET(const Policy own, own_policy(session));
  Policy changed = own;
  if (!request.policy.empty()) {
    FQ_TRY_SET(changed, policy_of(request.policy, session.queue_name()));
  }
  const uint32_t slots = request.slots.value_or(recording.most_at_once());
  say_assumptions(recording, slots, request.slots.has_value());
  Compared compared;
  compared.before = played(recording, own, slots, Simulation::Starts::as_recorded);
  compared.after = played(recording, changed, slots, Simulation::Starts::by_turn);
  return compared;
}

/// What is set now for a queue that is there.
Result<std::vector<Setting>> settings_now(Session& session) {
  std::vector<Setting> settings;
  if (session.spool().empty()) return settings;
  const auto queue = session.open(Session::Policy::unsaid);
  if (!queue && queue.error().kind == ErrorKind::missing) return settings;
  if (!queue) return queue.error();
  FQ_TRY_SET(std::vector<PolicyOverride> overrides, all_overrides(**queue));
  for (PolicyOverride& each : overrides)
    settings.push_back({std::move(each.path), {std::move(each.values), {}}});
  return settings;
}

Result<Compared> invent(const SimulateRequest& request, Session& session) {
  FQ_TRY_SET(const Policy policy,
             request.policy.empty() ? own_policy(session) : policy_of(request.policy, session.queue_name()));
  FQ_TRY_SET(std::vector<Setting> settings, settings_now(session));
  FQ_TRY_SET(InventedLoad load, InventedLoad::make(request.load, request.for_ms, std::move(settings)));
  const uint32_t slots = request.slots.value_or(1);
  say("simulate: assumed: " + counted(slots, "slot") +
      ", messages that come at any time, and that a run takes as long however many run at once");
  Compared compared;
  compared.after = played(load, policy, slots, Simulation::Starts::by_turn);
  return compared;
}

Result<Exit> run_simulate(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const SimulateRequest request, simulate_request(arguments));
  if (session.spool().empty() && request.load.empty() && request.file.empty()) return no_spool();
  Recording recording;
  if (request.load.empty()) {
    FQ_TRY(request.file.empty() ? record_queue(session, request.since_wall_ms, recording)
                                : record_file(session, request.file, request.since_wall_ms, recording));
    recording.finish();
    if (recording.empty()) {
      say("simulate: there are no events to replay");
      return Exit::nothing;
    }
  }
  FQ_TRY_SET(const Compared compared,
             request.load.empty() ? replay(request, session, recording) : invent(request, session));
  say_outcome(compared.after);
  const bool json = session.format() == Format::json;
  FQ_TRY(session.out().write(json ? simulate_json(compared)
                                  : simulate_table(compared, screen_of(session.out()))));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

}  // namespace

const Command simulate_command = {
    "simulate",
    "replay past events, or an invented load, under another policy",
    "[--policy FILE] [-j N] [--since TIME|DUR] [FILE]\n"
    "       fq simulate --load SPEC... [--for DUR] [--policy FILE] [-j N]",
    "Shows who would wait how long under another policy: plays past events, or an\n"
    "invented load, to the scheduler.",
    {.own = kSimulateOptions, .queue = &kQueueOption, .formats = "human|json", .needs_spool = false},
    "fq simulate --load acme:10/s,run=1s --load globex:1/s,run=1s -j 8",
    "0 printed; 1 no events; 65 a line that is not an event",
    run_simulate,
};

}  // namespace fq::cli
