// peek - shows the messages that would be served next, or those that wait in another state, and changes
// nothing.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/views/message_view.h"
#include "cli/session/filter.h"
#include "cli/session/selection.h"
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kPeekOptions[] = {
    kTenantFilter,
    kTagFilter,
    {"Which", 'n', "count", Takes::value, "N", "at most N (default: 10)"},
    {"Which", 0, "state", Takes::value, "STATE",
     "ready, delayed, leased or running, held, dead or all\n(default: ready)"},
};

constexpr size_t kPage = 100;
constexpr size_t kPreviewColumns = 40, kTextLeast = 8;

struct PeekRequest {
  Filter filter;
  std::vector<State> states{State::ready};
  uint64_t count = 10;
};

Result<PeekRequest> peek_request(const Arguments& arguments) {
  PeekRequest request;
  if (!arguments.operands().empty()) {
    return usage_error(
        "peek", "takes no operand " + in_quotes(arguments.operands()[0]) + "; one message is fq show ID");
  }
  FQ_TRY_SET(request.filter, filter_of(arguments));
  if (const auto typed = arguments.value("count")) {
    FQ_TRY_SET(const std::optional<uint64_t> count, to_count_or_unlimited("-n", *typed));
    request.count = count.value_or(UINT64_MAX);
  }
  if (const auto typed = arguments.value("state")) {
    FQ_TRY_SET(const std::optional<State> state, to_state("--state", *typed));
    request.states = state ? std::vector<State>{*state} : all_states();
  }
  return request;
}

/// When it matters: a lease's end, a due time, a death, else when it was pushed.
std::string when_of(const MessageInfo& message, int64_t now_ms) {
  if (message.state == State::leased && message.lease_until_wall_ms)
    return relative_time(*message.lease_until_wall_ms, now_ms);
  if (message.state == State::delayed && message.due_at_wall_ms)
    return relative_time(*message.due_at_wall_ms, now_ms);
  if (message.state == State::dead && message.ended_at_wall_ms)
    return relative_time(*message.ended_at_wall_ms, now_ms);
  if (message.pushed_at_wall_ms) return relative_time(*message.pushed_at_wall_ms, now_ms);
  return "-";
}

bool has_dead(const PeekRequest& request) {
  return std::find(request.states.begin(), request.states.end(), State::dead) != request.states.end();
}

class Peeking {
 public:
  Peeking(Session& session, Queue& queue, const PeekRequest& request)
      : session_(session), queue_(queue), request_(request), tells_reasons_(has_dead(request)) {}

  Result<Exit> run() {
    uint64_t left = request_.count;
    Filter filter = request_.filter;
    for (const State state : request_.states) {
      filter.state = state;
      Cursor from;
      do {
        if (left == 0) break;
        FQ_TRY_SET(MessagePage page,
                   queue_.peek(filter, from, static_cast<size_t>(std::min<uint64_t>(left, kPage))));
        for (const MessageInfo& message : page.messages) FQ_TRY(write(message));
        left -= std::min<uint64_t>(left, page.messages.size());
        from = std::move(page.next);
      } while (goes_on(from));
    }
    FQ_TRY(session_.out().write(table_.text(screen_of(session_.out()))));
    FQ_TRY(session_.out().flush());
    return left == request_.count ? Exit::nothing : Exit::done;
  }

 private:
  Result<void> write(const MessageInfo& message) {
    const bool lost = !message.lost.empty();
    // JSON has it in a key of its own.
    if (lost && session_.format() != Format::json) {
      say("message " + std::to_string(number(message.id)) + " of queue '" + session_.queue_name() +
          "': " + shown(message.lost) + "; see fq check");
    }
    switch (session_.format()) {
      case Format::json:
        return session_.out().write(message_line(session_.queue_name(), message));
      case Format::raw:
        return session_.out().write(message.payload.value_or(""));
      default:
        break;
    }
    if (table_.empty()) begin_table();
    table_.row({std::to_string(number(message.id)), std::string(name_of(message.state)),
                shown(message.tenant), when_of(message, now_ms_),
                shown_short(message.last_error ? message.last_error->reason : "", kPreviewColumns),
                content_text(message, kPreviewColumns)});
    return {};
  }

  void begin_table() {
    table_.spare({3, 1});
    table_.shorten({2}, kTextLeast);
    if (!tells_reasons_) table_.hide({4});
    table_.crop({4, 5});
    table_.row({"ID", "STATE", "TENANT", "WHEN", "REASON", "PAYLOAD"});
  }

  Session& session_;
  Queue& queue_;
  const PeekRequest& request_;
  const bool tells_reasons_;
  Table table_{{1, 2, 3, 4, 5}};
  const int64_t now_ms_ = system_clock().wall_ms();
};

Result<Exit> run_peek(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const PeekRequest request, peek_request(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY(refuse_pattern(*queue, request.filter.tenant));
  return Peeking(session, *queue, request).run();
}

}  // namespace

const Command peek_command = {
    "peek",
    "look at messages",
    "[-t TENANT] [--tag K=V] [-n N] [--state STATE]",
    "Shows ready messages in the order of service, others by time.",
    {kPeekOptions, &kQueueOption, "human|json|raw"},
    "fq peek --state dead --json | jq .last_error.reason",
    "0 shown; 1 none",
    run_peek,
};

}  // namespace fq::cli
