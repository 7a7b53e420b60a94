// worker - runs a command for every message, or the command that a command message carries.

// System.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
// fq, below us.
#include "core/api/command_check.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/views/message_view.h"
#include "core/policy/policy.h"
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/words/values.h"
#include "cli/words/worker_options.h"

namespace fq::cli {

namespace {

/// The spool as jobs in other directories find it.
Result<std::string> absolute(const std::string& path) {
  if (!scheme_of(path).empty()) return path;
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return sys_error("realpath", path, errno);
  std::string text(resolved);
  std::free(resolved);
  return text;
}

/// A leased message as JSON, one line.
Result<std::string> delivery_line(const std::string& queue, const Delivery& delivery) {
  FQ_TRY_SET(const MessageInfo info, info_of(delivery));
  return message_line(queue, info);
}

Result<std::vector<std::string>> names_of_queues(const Session& session, const Arguments& arguments) {
  std::vector<std::string> names;
  for (const std::string_view typed : arguments.values("queue")) {
    FQ_TRY_SET(std::string name, to_queue("--queue", typed));
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!known) names.push_back(std::move(name));
  }
  if (names.empty()) names.push_back(session.queue_name());
  return names;
}

Result<std::vector<worker::Source>> open_sources(Session& session, const std::vector<std::string>& names,
                                                 Session::Missing missing) {
  std::vector<worker::Source> sources;
  for (const std::string& name : names) {
    worker::Source source;
    source.name = name;
    FQ_TRY_SET(source.queue, session.open({session.spool(), name}, Session::Policy::last_good, missing));
    sources.push_back(std::move(source));
  }
  return sources;
}

/// A person who watches sees what it says as it says it.
bool is_looked_on() { return ::isatty(STDERR_FILENO) == 1 && ::tcgetpgrp(STDERR_FILENO) == ::getpgrp(); }

/// As many spaces as a line has, then back to its start. Where the cursor was at the start of a line, a
/// terminal waits with the step to the next one until something follows the last space, and nothing is seen.
std::string line_start() {
  struct winsize size {};
  const bool shows = ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (!shows || size.ws_col == 0) return "";
  return std::string(size.ws_col, ' ') + "\r";
}

using Run = std::vector<std::pair<std::string, MessageId>>;

/// Of what was run here, and not acked here: whether others have done it.
Result<Exit> exit_of_run(Session& session, const Run& not_acked) {
  for (const auto& [name, id] : not_acked) {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue,
               session.open({session.spool(), name}, Session::Policy::last_good));
    FQ_TRY_SET(const std::optional<MessageInfo> message, queue->get(id));
    if (!message || message->state != State::acked) return Exit::nothing;
  }
  return Exit::done;
}

Exit exit_of_end(worker::End end) {
  switch (end) {
    case worker::End::nothing:
      return Exit::nothing;
    case worker::End::away:
      return Exit::later;
    case worker::End::unusable:
      return Exit::config;
    case worker::End::done:
    case worker::End::killed:
      break;
  }
  return Exit::done;
}

Result<Exit> run_worker(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(worker::Options options, worker_options_of(arguments));
  // What cannot be done makes no queue.
  FQ_TRY_SET(const std::vector<std::string> names, names_of_queues(session, arguments));
  if (options.stream && names.size() > 1) return usage_error("--stream", "takes one queue");
  // One that leaves by itself does not make what it would wait for.
  const bool leaves = options.stay != worker::Stay::forever;
  const Session::Missing missing = leaves ? Session::Missing::is_refused : Session::Missing::is_made_and_said;
  if (!leaves && options.command.empty()) FQ_TRY(check_takes_commands(session.spool(), "worker"));
  FQ_TRY_SET(std::vector<worker::Source> sources, open_sources(session, names, missing));
  FQ_TRY_SET(options.spool, absolute(session.spool()));
  for (char** each = environ; *each != nullptr; ++each) options.environment.emplace_back(*each);
  options.umask = umask_at_start();
  options.notify_socket = environment("NOTIFY_SOCKET").value_or("");
  options.watchdog_us = environment("WATCHDOG_USEC").value_or("");
  options.watchdog_pid = environment("WATCHDOG_PID").value_or("");
  worker::Voice voice;
  voice.spoken = spoken;
  voice.line = delivery_line;
  // What was wrong at the start has been said.
  voice.refresh_policy = [spool = session.spool(), said = session.policy_fault()](
                             const std::string& name, Queue& queue) -> Result<void> {
    Result<void> loaded = bring_policy_up_to_date(queue, {spool, name});
    if (loaded || !is_policy_fault(loaded.error())) return loaded;
    Error error = std::move(loaded).error();
    error.text += "; the last good one holds";
    if (error.text == said) return {};
    return error;
  };
  Run not_acked;
  voice.not_acked = [&](const std::string& name, MessageId id) { not_acked.emplace_back(name, id); };
  voice.line_start = line_start;
  options.looked_on = is_looked_on();
  outlive_readers();
  FQ_TRY_SET(const worker::End end, worker::work(std::move(sources), options, voice));
  if (end == worker::End::done && options.strict) return exit_of_run(session, not_acked);
  return exit_of_end(end);
}

}  // namespace

const Command worker_command = {
    "worker",
    "run a command for every message",
    "[-q QUEUE]... [-j N] [OPTIONS] [-- CMD ARG...]",
    "Runs CMD once per message, its payload on stdin; without CMD, the messages'\n"
    "own commands.",
    kWorkerOptions,
    "fq worker -j4 -- ./resize.sh",
    "0 done, told to stop; 1 --once: no message; --strict: not all acked;\n"
    "74 stopped, and a queue could not be told how a job ended;\n"
    "75 --once: no message, and a server of the queue is away;\n"
    "78 CMD cannot start",
    run_worker,
};

}  // namespace fq::cli
