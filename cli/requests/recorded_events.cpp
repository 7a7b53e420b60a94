#include "cli/requests/recorded_events.h"

// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/requests/event_line.h"
#include "cli/requests/numbered_lines.h"
#include "cli/terminal/input.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr size_t kLineBytesMax = 1024 * 1024;  // arbitrary; a line of the log takes some KiB at most

/// Those before `since_wall_ms` tell what was set by then.
void add(const Event& event, std::optional<int64_t> since_wall_ms, Recording& into) {
  if (since_wall_ms && event.at_wall_ms < *since_wall_ms)
    into.add_before(event);
  else
    into.add(event);
}

}  // namespace

Result<void> record_queue(Session& session, std::optional<int64_t> since_wall_ms, Recording& into) {
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  const int64_t now_wall_ms = system_clock().wall_ms();
  EventRequest request;
  EventPage page;
  do {
    FQ_TRY(queue->events(request, page));
    request.from = page.next;
    for (const std::string& notice : page.notices) say(notice);
    for (const Event& event : page.events)
      if (event.at_wall_ms <= now_wall_ms) add(event, since_wall_ms, into);
    const LetSignalsThrough now;  // many events are read without a wait in which a signal would come through
  } while (!page.at_end && (page.events.empty() || page.events.back().at_wall_ms <= now_wall_ms));
  return {};
}

Result<void> record_file(Session& session, const std::string& file, std::optional<int64_t> since_wall_ms,
                         Recording& into) {
  Result<Reader> reader = file == "-" ? Reader::standard_input() : Reader::file(file);
  if (!reader) return std::move(reader).error();
  NumberedLines lines(std::move(reader).value(), kLineBytesMax, "an event");
  EventLine line;
  const bool chosen = session.queue_named();
  std::string_view text;
  for (bool first = true;;) {
    FQ_TRY_SET(const bool more, lines.next(text));
    if (!more) return {};
    const Result<void> read = line.read(text);
    if (!read) return lines.fault(read.error());
    if (first && !chosen && !line.queue().empty()) session.name_queue(line.queue());
    first = false;
    if (line.queue() != session.queue_name()) {
      if (chosen) continue;
      return lines.fault(Error{ErrorKind::bad_data,
                               "is of queue " + in_quotes(line.queue()) + ", the first of " +
                                   in_quotes(session.queue_name()) + "; choose one by -q",
                               0});
    }
    add(line.event(), since_wall_ms, into);
  }
}

}  // namespace fq::cli
