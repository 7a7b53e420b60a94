#include "core/policy/policy.h"

// fq, below us.
#include "core/api/policy_text.h"
#include "core/base/text/escape.h"

namespace fq {

Result<PolicyFile> read_policy_file(const std::string& spool) {
  FQ_TRY_SET(const PolicySource source, read_policy_source(spool));
  return PolicyFile::parse(source.text, policy_path(spool));
}

Result<FilePolicy> read_policy_for(const Location& location) {
  FQ_TRY_SET(const PolicyFile file, read_policy_file(location.spool));
  return file.for_queue(location.queue);
}

namespace {

/// Whoever loads a schedule vouches for its command.
Result<std::vector<ScheduleDefinition>> schedules_in(const PolicySource& source, const FilePolicy& policy,
                                                     const std::string& path) {
  std::vector<ScheduleDefinition> schedules = schedules_of(policy);
  for (const ScheduleDefinition& each : schedules) {
    if (source.may_command || !each.message.command) continue;
    return Error{ErrorKind::config,
                 path + ": schedule " + in_quotes(each.name) +
                     ": has a command, and the text was not kept with the key in FQ_REDIS_COMMAND_KEY_FILE; "
                     "keep it with that: fq config load FILE",
                 0};
  }
  return schedules;
}

/// Of a question, which has done nothing.
Error unanswered(Error error) {
  if (error.kind == ErrorKind::io) error.kind = ErrorKind::later;
  return error;
}

/// A queue of a directory holds whatever a file says; one on a server is asked. One that is broken has no
/// say: it serves nothing.
Result<void> check_queue(const PolicyFile& file, const PolicySource& source, const Location& location) {
  FQ_TRY_SET(const FilePolicy policy, file.for_queue(location.queue));
  if (scheme_of(location.spool).empty()) return {};
  FQ_TRY(schedules_in(source, policy, policy_path(location.spool)));
  const Result<std::unique_ptr<Queue>> queue = open_queue(location);
  const Result<void> can = queue ? (*queue)->policy_check(without_lines(policy)) : queue.error();
  if (can) return {};
  const Error error = unanswered(can.error());
  return is_policy_fault(error) || error.kind == ErrorKind::later ? Result<void>(error) : Result<void>();
}

/// For this queue, and for all that are there.
Result<void> check_queues(const PolicyFile& file, const PolicySource& source, const Location& location) {
  FQ_TRY(file.for_queue(location.queue));
  const Result<std::vector<std::string>> queues = list_queues(location.spool);
  if (!queues && scheme_of(location.spool).empty()) return {};
  if (!queues) return unanswered(queues.error());
  for (const std::string& queue : *queues) {
    const Result<void> checked = check_queue(file, source, {location.spool, queue});
    if (checked) continue;
    Error error = checked.error();
    error.text += " (in queue " + in_quotes(queue) + ")";
    return error;
  }
  return {};
}

}  // namespace

Result<void> check_policy(const Location& location) {
  FQ_TRY_SET(const PolicySource source, read_policy_source(location.spool));
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(source.text, policy_path(location.spool)));
  return check_queues(file, source, location);
}

Result<void> check_policy_alone(const Location& location) {
  FQ_TRY(read_policy_for(location));
  return {};
}

Result<void> check_policy_text(const std::string& text, const Location& location) {
  const std::string path = policy_path(location.spool);
  if (text.size() > kPolicyFileBytesMax) return policy_too_long(path);
  PolicySource source{text, true, {}};
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(text, path));
  if (!scheme_of(location.spool).empty()) {
    FQ_TRY_SET(const PolicyText kept, policy_text(location.spool));
    source.may_command = kept.may_vouch;
  }
  return check_queues(file, source, location);
}

namespace {

/// Of no file: what was kept is loaded, and the file is still to be read.
constexpr FileIdentity kKept{
    .device = 0, .inode = 0, .size = 0, .changed_ns = -1, .modified_ns = -1, .for_queue = 0};

/// What the queue holds of a file that cannot be used now. A segment that was made anew holds nothing of it:
/// then it is what was kept when it was good.
Result<void> hold_last_good(Queue& queue, const Location& location) {
  FQ_TRY_SET(const bool holds_nothing, queue.policy_is_current(FileIdentity{}));
  if (!holds_nothing) return {};
  FQ_TRY_SET(const std::string text, queue.policy_kept());
  if (text.empty()) return {};
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(text, "the last good fq.toml"));
  FQ_TRY_SET(const FilePolicy policy, file.for_queue(location.queue));
  return queue.policy_load(without_lines(policy), kKept);
}

/// A schedule that the engine does not take makes the file one that cannot be used: nobody is kept from what
/// has nothing to do with it.
Result<void> load_schedules(Schedules& schedules, const PolicySource& source, const FilePolicy& policy,
                            const std::string& path) {
  FQ_TRY_SET(const auto definitions, schedules_in(source, policy, path));
  Result<void> loaded = schedules.load(definitions);
  if (loaded) return loaded;
  const ErrorKind kind = loaded.error().kind;
  if (kind != ErrorKind::usage && kind != ErrorKind::bad_data) return loaded;
  return Error{ErrorKind::config, path + ": " + loaded.error().text, 0};
}

Result<void> load(Queue& queue, const Location& location) {
  const std::string path = policy_path(location.spool);
  FQ_TRY_SET(const PolicySource source, read_policy_source(location.spool));
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(source.text, path));
  FQ_TRY_SET(const FilePolicy policy, file.for_queue(location.queue));
  // Before the file is noted as loaded: what breaks off here is begun anew by the next command. So is what
  // finds no room, which keeps nobody from going on.
  if (Schedules* schedules = queue.schedules()) {
    Result<void> loaded = load_schedules(*schedules, source, policy, path);
    if (!loaded && loaded.error().kind == ErrorKind::later) return {};
    if (!loaded) return loaded;
  }
  return queue.policy_load(without_lines(policy), for_queue(source.state, location.queue), &source.text);
}

Result<void> load_if_other(Queue& queue, const Location& location) {
  FQ_TRY_SET(const FileIdentity state, policy_state(queue, location.spool));
  FQ_TRY_SET(const bool current, queue.policy_is_current(for_queue(state, location.queue)));
  return current ? Result<void>() : load(queue, location);
}

}  // namespace

Result<void> load_schedules(Queue& queue, const Location& location) {
  Schedules* schedules = queue.schedules();
  if (schedules == nullptr) return {};
  const std::string path = policy_path(location.spool);
  FQ_TRY_SET(const PolicySource source, read_policy_source(location.spool));
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(source.text, path));
  FQ_TRY_SET(const FilePolicy policy, file.for_queue(location.queue));
  return load_schedules(*schedules, source, policy, path);
}

Result<void> bring_policy_up_to_date(Queue& queue, const Location& location) {
  Result<void> loaded = load_if_other(queue, location);
  if (!loaded && is_policy_fault(loaded.error())) FQ_TRY(hold_last_good(queue, location));
  return loaded;
}

}  // namespace fq
