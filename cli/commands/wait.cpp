// wait - waits until messages have ended, and exits as the first that was not acked did.

// System.
#include <algorithm>
// fq, this room.
#include "cli/words/command.h"
#include "cli/session/ending.h"
#include "cli/session/filter.h"
#include "cli/session/selection.h"
#include "cli/terminal/signals.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kWaitOptions[] = {
    kTenantFilter,
    kTagFilter,
    {"Wait", 0, "for", Takes::value, "DUR", "at most this long (default: unlimited)"},
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

constexpr size_t kIdsPage = 4096;

/// What is unfinished now, by id.
Result<std::vector<MessageId>> unfinished(Queue& queue, Filter filter) {
  std::vector<MessageId> ids;
  for (const State state : {State::ready, State::delayed, State::leased, State::held}) {
    filter.state = state;
    Cursor from;
    do {
      FQ_TRY_SET(IdPage page, queue.select(filter, from, kIdsPage));
      ids.insert(ids.end(), page.ids.begin(), page.ids.end());
      from = std::move(page.next);
    } while (goes_on(from));
  }
  // One that changed its state meanwhile was found twice.
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// 0 if all were acked, else as the first that was not. How the others ended may be forgotten by now.
Result<Exit> exit_of_ends(const Session& session, Queue& queue, const EndRequest& request) {
  for (size_t i = 0; i < request.ids.size(); ++i) {
    if (request.ends[i] == State::acked) continue;
    if (request.ends[i] == State::cancelled) return Exit::nothing;
    FQ_TRY_SET(const Exit exit, exit_of_end(session, queue, request.ids[i]));
    if (exit != Exit::done) return exit;
  }
  return Exit::done;
}

Result<void> check_words(const Arguments& arguments) {
  const bool filtered = arguments.has("tenant") || arguments.has("tag");
  const bool by_id = !arguments.operands().empty();
  if (arguments.has("all") && by_id) return usage_error("ID", "does not go with --all; give one of them");
  if (filtered && by_id) return usage_error("ID", "does not go with -t or --tag; give one of them");
  if (filtered && arguments.has("all"))
    return usage_error("--all",
                       "does not go with -t or --tag, which select fewer messages; give one of them");
  if (!filtered && !by_id && !arguments.has("all"))
    return usage_error("wait", "for which? give ids, -t, --tag, or --all for the whole queue");
  return {};
}

Result<Exit> run_wait(const Arguments& arguments, Session& session) {
  FQ_TRY(check_words(arguments));
  FQ_TRY_SET(std::vector<MessageId> ids, ids_of(arguments));
  FQ_TRY_SET(const Filter filter, filter_of(arguments));
  const bool filtered = filter != Filter();
  EndRequest request;
  request.until_idle = arguments.has("all");
  if (const auto typed = arguments.value("for")) {
    FQ_TRY_SET(request.wait_ms, to_duration_or("unlimited", "--for", *typed));
  }
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY(refuse_pattern(*queue, filter.tenant));
  if (filtered) {
    FQ_TRY_SET(ids, unfinished(*queue, filter));
    if (ids.empty()) return Exit::nothing;
  }
  if (ids.empty() && !request.until_idle) return Exit::done;  // "-" without a line
  if (!filtered) {
    FQ_TRY_SET(const bool known, all_known(session, *queue, ids));
    if (!known) return Exit::nothing;
  }
  std::vector<std::optional<State>> ends(ids.size());
  request.ids = ids;
  request.ends = ends;
  FQ_TRY_SET(const EndStatus status, await_ends(*queue, request));
  if (status == EndStatus::timed_out) return Exit::later;
  return request.until_idle ? Exit::done : exit_of_ends(session, *queue, request);
}

}  // namespace

const Command wait_command = {
    "wait",
    "wait until messages have ended",
    "[--for DUR] ID... | - | -t TENANT | --tag K=V | --all",
    "Waits until messages have ended; exits with the status of the first failure.",
    {kWaitOptions, &kQueueOption, ""},
    "fq wait \"$id\" && echo done",
    "0 all acked (--all: idle); else the job status of the first that\n"
    "was not, 128+N for a signal; 1 ended otherwise, unknown or none;\n"
    "75 timed out",
    run_wait,
};

}  // namespace fq::cli
