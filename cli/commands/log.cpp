// log - the journal as events, oldest first, and on as they happen.

// System.
#include <algorithm>
#include <deque>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/views/event_view.h"
#include "cli/session/ending.h"
#include "cli/session/filter.h"
#include "cli/session/patience.h"
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/words/since.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kLogOptions[] = {
    kTenantFilter,
    kTagFilter,
    {"Which", 0, "since", Takes::value, "TIME|DUR", "since then, or for this long (default: all)"},
    {"Which", 'n', "count", Takes::value, "N", "the last N (default: unlimited; with -f 10)"},
    {"How", 'f', "follow", Takes::nothing, "", "then print events as they happen"},
};

constexpr uint64_t kLastWhenFollowing = 10;
constexpr int64_t kReaderCheckMs = 1'000;  // a reader that left is noticed so late, when nothing happens

struct LogRequest {
  EventRequest events;
  std::optional<uint64_t> last;  // only so many, of what there is now
  bool follow = false;
};

Result<LogRequest> log_request(const Arguments& arguments) {
  LogRequest request;
  const auto& operands = arguments.operands();
  if (operands.size() > 1) return usage_error("log", "takes one message id; write fq log 17");
  if (!operands.empty()) {
    FQ_TRY_SET(request.events.id, to_id("ID", operands[0]));
  }
  FQ_TRY_SET(const Filter filter, filter_of(arguments));
  request.events.tenant = filter.tenant;
  request.events.tag = filter.tag;
  if (const auto typed = arguments.value("since")) {
    FQ_TRY_SET(request.events.since_wall_ms, to_since("--since", *typed, system_clock().wall_ms()));
  }
  const auto count = arguments.value("count");
  if (count) {
    FQ_TRY_SET(request.last, to_count_or_unlimited("-n", *count));
  }
  request.follow = arguments.has("follow");
  if (request.follow && !count && !request.events.since_wall_ms) request.last = kLastWhenFollowing;
  return request;
}

/// The lines that may still be among the last N, a page of them together.
class LastLines {
 public:
  explicit LastLines(uint64_t most) : most_(most) {}

  std::string& page() { return pages_.emplace_back().text; }
  /// So many lines were put into the page that was given last.
  void added(uint64_t lines) {
    pages_.back().lines = lines;
    lines_ += lines;
    for (; lines_ - pages_.front().lines >= most_; pages_.pop_front()) lines_ -= pages_.front().lines;
  }
  Result<void> write(Output& out) {
    // Of the oldest page only its end.
    for (; lines_ > most_; --lines_) {
      std::string& text = pages_.front().text;
      skipped_ = text.find('\n', skipped_) + 1;
    }
    for (const Page& page : pages_) {
      FQ_TRY(out.write(std::string_view(page.text).substr(skipped_)));
      skipped_ = 0;
    }
    pages_.clear();
    lines_ = 0;
    return {};
  }

 private:
  struct Page {
    std::string text;
    uint64_t lines = 0;
  };
  const uint64_t most_;
  std::deque<Page> pages_;
  uint64_t lines_ = 0;
  size_t skipped_ = 0;  // bytes of the first page
};

class Telling {
 public:
  Telling(Session& session, Queue& queue) : session_(session), queue_(queue), view_(session.queue_name()) {}

  Result<Exit> run(LogRequest request) {
    if (request.last) {
      FQ_TRY(tell_last(request.events, *request.last));
    } else {
      FQ_TRY(tell_all(request.events));
    }
    FQ_TRY(session_.out().flush());
    if (!told_ && request.events.id) {
      FQ_TRY_SET(const std::optional<MessageInfo> message, queue_.get(*request.events.id));
      if (!message) return say_unknown(session_, *request.events.id), Exit::nothing;
    }
    if (request.follow) FQ_TRY(follow(request.events));
    return told_ ? Exit::done : Exit::nothing;
  }

 private:
  Result<void> next_page(EventRequest& request) {
    const auto ask = [&] { return queue_.events(request, page_); };
    FQ_TRY(request.wait ? patience_.ask(ask) : ask());
    request.from = page_.next;
    for (const std::string& notice : page_.notices) say(notice);
    told_ = told_ || !page_.events.empty();
    // A long log is read without a wait in which a signal would come through.
    const LetSignalsThrough now;
    return {};
  }

  void append_page(std::string& to) {
    const bool json = session_.format() == Format::json;
    for (const Event& event : page_.events) {
      if (json) {
        view_.append_json(to, event);
        to.push_back('\n');
      } else {
        view_.append_line(to, event);
      }
    }
  }

  Result<void> write_page() {
    text_.clear();
    append_page(text_);
    return session_.out().write(text_);
  }

  Result<void> tell_all(EventRequest& request) {
    do {
      FQ_TRY(next_page(request));
      FQ_TRY(write_page());
    } while (!page_.at_end);
    return {};
  }

  Result<void> tell_last(EventRequest& request, uint64_t last) {
    LastLines lines(last);
    request.last = last;
    do {
      FQ_TRY(next_page(request));
      if (page_.events.empty()) continue;
      append_page(lines.page());
      lines.added(page_.events.size());
    } while (!page_.at_end);
    return lines.write(session_.out());
  }

  Result<void> follow(EventRequest& request) {
    request.wait = true;
    request.wait_ms = kReaderCheckMs;
    for (;;) {
      FQ_TRY(next_page(request));
      FQ_TRY(write_page());
      FQ_TRY(session_.out().flush());
      FQ_TRY(session_.out().check_reader());
    }
  }

  Session& session_;
  Queue& queue_;
  EventView view_;
  EventPage page_;
  Patience patience_{std::nullopt};
  std::string text_;
  bool told_ = false;
};

Result<Exit> run_log(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(LogRequest request, log_request(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY(refuse_pattern(*queue, request.events.tenant));
  return Telling(session, *queue).run(std::move(request));
}

}  // namespace

const Command log_command = {
    "log",
    "print what happened to messages",
    "[-f] [--since TIME|DUR] [-t TENANT] [--tag K=V] [-n N] [ID]",
    "Prints what happened to messages, oldest first; -f follows.",
    {kLogOptions, &kQueueOption, "human|json"},
    "fq log --since 1h -t acme",
    "0 printed; 1 no events",
    run_log,
};

}  // namespace fq::cli
