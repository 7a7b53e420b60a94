#include "cli/session/stopped_workers.h"

// System.
#include <algorithm>
#include <iterator>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"

namespace fq::cli {

namespace {

std::string text_of(const Attendee& worker, const std::vector<MessageId>& cancelled) {
  const bool alone = cancelled.size() == 1;
  std::string text = alone ? "message " + std::to_string(number(cancelled[0]))
                           : std::to_string(cancelled.size()) + " messages";
  text.append(alone ? ": cancelled; its job ends" : ": cancelled; their jobs end");
  return text.append(" once process ")
      .append(std::to_string(worker.pid))
      .append(", which is stopped, goes on");
}

}  // namespace

Result<std::vector<Attendee>> attendees_for_hint(Session& session, Queue& queue) {
  AwayList away = session.take_away();
  Result<std::vector<Attendee>> all = queue.attendees();
  session.put_away(std::move(away));
  return all;
}

std::vector<Attendee> stopped_workers(Session& session, Queue& queue) {
  // On a server each shard would be asked, and one that hangs waited for.
  if (!scheme_of(session.spool()).empty()) return {};
  Result<std::vector<Attendee>> all = attendees_for_hint(session, queue);
  if (!all) return {};
  std::erase_if(*all, [](const Attendee& each) { return !each.stopped; });
  for (Attendee& each : *all) std::sort(each.ids.begin(), each.ids.end());
  return std::move(*all);
}

void say_what_runs_on(Session& session, Queue& queue, const std::vector<Attendee>& before) {
  if (before.empty()) return;
  for (const Attendee& now : stopped_workers(session, queue)) {
    const auto same =
        std::find_if(before.begin(), before.end(), [&](const Attendee& each) { return each.pid == now.pid; });
    if (same == before.end()) continue;
    std::vector<MessageId> cancelled;
    std::set_difference(same->ids.begin(), same->ids.end(), now.ids.begin(), now.ids.end(),
                        std::back_inserter(cancelled));
    if (!cancelled.empty()) say(text_of(now, cancelled));
  }
}

}  // namespace fq::cli
