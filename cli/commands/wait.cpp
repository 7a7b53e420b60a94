// wait - stays until messages have ended, and leaves as the last one named did.

// fq, this room.
#include "cli/words/command.h"
#include "cli/session/ending.h"
#include "cli/session/selection.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kWaitOptions[] = {
    {"Wait", 0, "for", Takes::value, "DUR", "at most so long (default: unlimited)"},
    {"Wait", 0, "all", Takes::nothing, "", "until the queue is idle"},
};

/// False, and said: one of them is not known.
Result<bool> all_known(const Session& session, Queue& queue, const std::vector<MessageId>& ids) {
  for (const MessageId id : ids) {
    FQ_TRY_SET(const bool unfinished, is_unfinished(queue, id));
    if (unfinished) continue;
    FQ_TRY_SET(const std::optional<MessageInfo> message, queue.get(id));
    if (message) continue;
    say_unknown(session, id);
    return false;
  }
  return true;
}

Result<Exit> run_wait(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::vector<MessageId> ids, ids_of(arguments));
  EndRequest request;
  request.ids = ids;
  request.until_idle = arguments.has("all");
  if (request.until_idle && !arguments.operands().empty())
    return usage_error("ID", "does not go with --all; give one of them");
  if (!request.until_idle && arguments.operands().empty())
    return usage_error("wait", "for which? give ids, or --all for the whole queue");
  if (const auto typed = arguments.value("for")) {
    FQ_TRY_SET(request.wait_ms, to_duration("--for", *typed));
  }
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  if (ids.empty() && !request.until_idle) return Exit::done;  // "-" without a line
  FQ_TRY_SET(const bool known, all_known(session, *queue, ids));
  if (!known) return Exit::nothing;
  FQ_TRY_SET(const EndStatus status, await_ends(*queue, request));
  if (status == EndStatus::timed_out) return Exit::later;
  return request.until_idle ? Exit::done : exit_of_end(session, *queue, ids.back());
}

}  // namespace

const Command wait_command = {
    "wait",
    "[--for DUR] ID... | - | --all",
    "Stays until messages have ended; leaves as the last one named did.",
    {kWaitOptions, &kQueueOption, ""},
    "fq wait \"$id\" && echo done",
    "0 acked (--all: idle); its job's status, 128+N for a signal;\n"
    "          1 ended otherwise, or not known; 75 DUR is over",
    run_wait,
};

}  // namespace fq::cli
