// jobs - the jobs that run, the messages that wait in the order of service, and those that have ended, newest
// first.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/session/ending.h"
#include "cli/session/filter.h"
#include "cli/session/patience.h"
#include "cli/session/selection.h"
#include "cli/terminal/signals.h"
#include "cli/views/job_table.h"
#include "cli/views/message_view.h"
#include "cli/views/top/watch.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kJobsOptions[] = {
    kTenantFilter,
    kTagFilter,
    {"Which", 0, "state", Takes::value, "STATE",
     "only those: running or leased, ready, delayed, held,\ndead, acked, cancelled, failed or all (default: "
     "all)"},
    {"Which", 'n', "count", Takes::value, "N",
     "at most N that wait and N that have ended\n(default: 200 and 20)"},
    {"How", 0, "watch", Takes::attached, "DUR", "again every DUR (default: once; 2s without DUR)"},
};

constexpr uint64_t kWaitingShown = 200;  // a few screens; what comes next is told without a look at the rest
constexpr uint64_t kEndedShown = 20;
constexpr size_t kRowsPage = 50;

struct JobsRequest {
  std::vector<MessageId> ids;
  Filter filter;
  std::vector<State> waiting{State::ready, State::delayed, State::held};
  bool running = true;
  bool ended = true;         // filter.state then says which
  bool only_failed = false;  // of those that have ended
  uint64_t waiting_most = kWaitingShown;
  uint64_t ended_most = kEndedShown;
};

/// `word` is no "all".
Result<void> take_state(JobsRequest& request, std::string_view word) {
  constexpr State kStates[] = {State::ready, State::delayed, State::leased,   State::held,
                               State::dead,  State::acked,   State::cancelled};
  request.running = request.ended = false;
  request.waiting.clear();
  if (word == "failed") {
    request.ended = request.only_failed = true;
    return {};
  }
  if (word == name_of(State::moved))
    return usage_error("--state",
                       "what was moved is in another queue, and listed there; fq jobs ID says where one is, "
                       "and fq log which have left");
  if (word == kRunning) word = name_of(State::leased);
  const auto found = std::find_if(std::begin(kStates), std::end(kStates),
                                  [&](State state) { return name_of(state) == word; });
  if (found == std::end(kStates)) {
    constexpr std::string_view kWords[] = {kRunning, "leased", "ready",     "delayed", "held",
                                           "dead",   "acked",  "cancelled", "failed",  "all"};
    return not_among("--state", word, "a state", kWords);
  }
  if (*found == State::leased) {
    request.running = true;
  } else if (*found == State::dead || *found == State::acked || *found == State::cancelled) {
    request.ended = true;
    request.filter.state = *found;
  } else {
    request.waiting = {*found};
  }
  return {};
}

Result<JobsRequest> jobs_request(const Arguments& arguments) {
  JobsRequest request;
  const auto state = arguments.value("state");
  const bool filtered = arguments.has("tenant") || arguments.has("tag") || state || arguments.has("count");
  if (!arguments.operands().empty() && filtered)
    return usage_error("ID", "does not go with -t, --tag, --state or -n; give one of them");
  FQ_TRY_SET(request.ids, ids_of(arguments));
  FQ_TRY_SET(request.filter, filter_of(arguments));
  if (state && *state != "all") FQ_TRY(take_state(request, *state));
  if (const auto typed = arguments.value("count")) {
    FQ_TRY_SET(const std::optional<uint64_t> count, to_count_or_unlimited("-n", *typed));
    request.waiting_most = count.value_or(UINT64_MAX);
    request.ended_most = request.waiting_most;
  }
  return request;
}

/// It expired or was given up, or its last run did not leave with 0.
bool has_failed(const MessageInfo& message) {
  return message.state == State::dead || message.signal || message.exit.value_or(0) != 0;
}

/// One list of all that was asked for.
class JobList {
 public:
  JobList(Session& session, Queue& queue, const JobsRequest& request)
      : session_(session), queue_(queue), request_(request), table_(system_clock().wall_ms()) {}

  Result<void> run(bool by_id) {
    if (by_id) return tell_named();
    if (request_.running) FQ_TRY(tell_state(State::leased, nullptr));
    uint64_t left = request_.waiting_most;
    for (const State state : request_.waiting) FQ_TRY(tell_state(state, &left));
    if (request_.ended) FQ_TRY(tell_ended());
    return {};
  }
  /// What a person sees; empty where nothing is there.
  std::string text(const Screen& screen) const { return table_.empty() ? "" : table_.text(screen); }
  uint64_t told() const { return told_; }
  bool missed() const { return missed_; }   // an id is not known
  bool more_wait() const { return more_; }  // than were told

 private:
  Result<void> tell(const MessageInfo& message) {
    ++told_;
    if (session_.format() == Format::json)
      return session_.out().write(message_line(session_.queue_name(), message));
    table_.add(message);
    return {};
  }

  Result<void> tell_named() {
    for (const MessageId id : request_.ids) {
      FQ_TRY_SET(const std::optional<MessageInfo> message, queue_.get(id));
      if (!message) say_unknown(session_, id);
      missed_ = missed_ || !message;
      if (message) FQ_TRY(tell(*message));
    }
    return {};
  }

  /// Null: without a limit.
  Result<void> tell_state(State state, uint64_t* left) {
    Filter filter = request_.filter;
    filter.state = state;
    Cursor from;
    do {
      const uint64_t room = left == nullptr ? kRowsPage : *left;
      // One more is looked for, to be able to say that there is more.
      const size_t n = static_cast<size_t>(std::min<uint64_t>(std::max<uint64_t>(room, 1), kRowsPage));
      FQ_TRY_SET(MessagePage page, queue_.peek(filter, from, n));
      if (room == 0) more_ = more_ || !page.messages.empty();
      if (room == 0) return {};
      for (const MessageInfo& message : page.messages) FQ_TRY(tell(message));
      if (left != nullptr) *left -= page.messages.size();
      from = std::move(page.next);
    } while (goes_on(from));
    return {};
  }

  Result<void> tell_ended() {
    uint64_t left = request_.ended_most;
    Cursor from;
    do {
      FQ_TRY_SET(MessagePage page, queue_.ended(request_.filter, from, kRowsPage));
      for (const MessageInfo& message : page.messages) {
        if (left == 0) return {};
        if (request_.only_failed && !has_failed(message)) continue;
        FQ_TRY(tell(message));
        --left;
      }
      from = std::move(page.next);
    } while (left > 0 && goes_on(from));
    return {};
  }

  Session& session_;
  Queue& queue_;
  const JobsRequest& request_;
  JobTable table_;
  uint64_t told_ = 0;
  bool missed_ = false;
  bool more_ = false;
};

Result<Exit> watch_jobs(Session& session, Queue& queue, const JobsRequest& request, bool by_id,
                        int64_t every_ms) {
  Watch watching(session.out());
  std::optional<JobList> list;
  const auto look = [&] { return list.emplace(session, queue, request).run(by_id); };
  for (bool first = true;; first = false) {
    FQ_TRY(first ? look() : ask_patiently(look));
    if (list->missed()) return Exit::nothing;
    const Screen screen = screen_of(session.out());
    if (session.format() == Format::human) FQ_TRY(watching.show(list->text(screen), screen));
    FQ_TRY(session.out().flush());
    FQ_TRY(watching.pause(every_ms));
  }
}

Result<Exit> run_jobs(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const int64_t every_ms, watched_every_ms(arguments));
  FQ_TRY_SET(const JobsRequest request, jobs_request(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY(refuse_pattern(*queue, request.filter.tenant));
  const bool by_id = !arguments.operands().empty();
  if (arguments.has("watch")) return watch_jobs(session, *queue, request, by_id, every_ms);
  JobList list(session, *queue, request);
  FQ_TRY(list.run(by_id));
  FQ_TRY(session.out().write(list.text(screen_of(session.out()))));
  FQ_TRY(session.out().flush());
  if (list.more_wait() && !arguments.has("count"))
    say("more messages wait than are shown; -n N shows N of them");
  if (list.missed()) return Exit::nothing;
  return list.told() > 0 || (by_id && request.ids.empty()) ? Exit::done : Exit::nothing;
}

}  // namespace

const Command jobs_command = {
    "jobs",
    "show what runs, what waits and what has ended",
    "[-t TENANT] [--tag K=V] [--state STATE] [-n N] [--watch[=DUR]]\n"
    "               [ID... | -]",
    "Shows what runs, what is next and what has ended.",
    {kJobsOptions, &kQueueOption, "human|json"},
    "fq jobs --state failed",
    "0 shown; 1 none, or an unknown id",
    run_jobs,
};

}  // namespace fq::cli
