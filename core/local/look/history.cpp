#include "core/local/look/history.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/api/receipt.h"
// fq, this room.
#include "core/local/look/event_past.h"

namespace fq {

namespace {

constexpr size_t kEventsMax = 10'000;  // a longer history is cut at its old end

HistoryEvent event_of(RecordType type, int64_t at_wall_ms, uint64_t id, const EventDetail& detail,
                      uint64_t serial, const QueueMark& mark) {
  HistoryEvent event;
  event.event = name_of_event(type);
  event.at_wall_ms = at_wall_ms;
  if (type == RecordType::leased) {
    event.receipt = receipt_text(id, serial, text_of(mark));
    if (detail.pid != 0) event.pid = static_cast<int>(detail.pid);
  }
  event.reason = detail.reason;
  event.until_wall_ms = detail.until_wall_ms;
  event.due_wall_ms = detail.due_wall_ms;
  event.exit = detail.exit;
  event.signal = detail.signal;
  event.stderr_tail = detail.stderr_tail;
  if (!detail.queue.empty()) event.elsewhere = Elsewhere{std::string(detail.queue), detail.id_there};
  return event;
}

/// What happens to waiting messages and to dead ones alike, so that its time alone says on which side of an
/// end it is.
bool is_on_either_side(const HistoryEvent& each) {
  return each.event == "edited" || each.elsewhere || each.event == "freed";
}

/// In the same millisecond: nothing is done to a message while it runs, so it is behind the last attempt; a
/// change that leaves no time to live is before the end.
bool came_after(const HistoryEvent& each, const HistoryEvent& end) {
  if (!is_on_either_side(each)) return false;
  return end.event == "expired" ? each.at_wall_ms > end.at_wall_ms : each.at_wall_ms >= end.at_wall_ms;
}

/// The last attempt and the end of a TTL bury without a record of its own: what ended a dead one stands last,
/// but for what was done to it since.
void add_end(std::vector<HistoryEvent>& events, HistoryEvent end) {
  const auto last = std::find_if(events.rbegin(), events.rend(),
                                 [&](const HistoryEvent& each) { return !came_after(each, end); });
  if (last == events.rend()) return;
  const auto before = std::find_if_not(last, events.rend(), is_on_either_side);
  if (before != events.rend() && before->event != "buried") events.insert(last.base(), std::move(end));
}

/// What the journal does not tell any more, from the record of the end: files go from the oldest on, so it is
/// what lies before all that is told. `page` has the newest first. Where nothing was noted, nothing is known.
void add_noted(HistoryPage& page, Result<HistoryPage> noted, size_t most) {
  if (!noted.ok()) return;
  page.tenant = noted->tenant;
  const bool has_end = !page.events.empty();
  const bool has_run = std::any_of(page.events.begin(), page.events.end(),
                                   [](const HistoryEvent& each) { return each.event == "leased"; });
  for (auto each = noted->events.rbegin(); each != noted->events.rend(); ++each) {
    const bool is_told = each->event == "leased" ? has_run : each->event != "pushed" && has_end;
    if (!is_told && page.events.size() < most) page.events.push_back(std::move(*each));
  }
}

}  // namespace

Result<HistoryPage> History::of(MessageId id, size_t n) {
  uint64_t position = 0;
  bool ended = false;
  bool dead = false;
  bool expired = false;
  int64_t dead_wall_ms = 0;
  std::optional<ItemPlace> place;
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (slot) {
      position = schedule().messages().entry(*slot).event_position;
      dead = static_cast<SlotState>(schedule().messages().entry(*slot).state.get()) == SlotState::dead;
      expired = dead && schedule().views().has_expired(*slot);
      if (dead) dead_wall_ms = store().wall_of(schedule().messages().entry(*slot).at_ms);
      place = ItemReader::find_item(stream(), header(), schedule().messages().entry(*slot));
    } else if (const auto outcome = schedule().past().outcome(id)) {
      position = outcome->event_position;
      ended = true;
    }
    return {};
  }));
  if (!place && position == 0 && !ended) return ended_.history(id);
  HistoryPage page;
  const size_t most = std::min(n, kEventsMax);
  FQ_TRY(walk_events(link_, number(id), position,
                     [&](RecordType type, int64_t at_wall_ms, const EventDetail& detail, uint64_t serial,
                         EventSource source) {
                       if (source == EventSource::carried_error) return true;
                       page.events.push_back(event_of(type, at_wall_ms, number(id), detail, serial, mark()));
                       return page.events.size() < most;
                     }));
  if (place && page.events.size() < most) {
    FQ_TRY_SET(const bool found, messages_.read(*place));
    if (found) {
      page.events.push_back(event_of(RecordType::pushed, messages_.item().pushed_wall_ms, number(id),
                                     EventDetail{}, 0, mark()));
    }
  }
  // Nothing else is kept of one that has ended: its push is looked for.
  if (ended && page.events.size() < most) {
    EventStream events(link_);
    EventPast past(link_, events);
    FQ_TRY_SET(const std::optional<EventPast::Push> push, past.push_of(id));
    if (push)
      page.events.push_back(
          event_of(RecordType::pushed, push->at_wall_ms, number(id), EventDetail{}, 0, mark()));
    if (push) page.tenant = push->tenant;
    if (!push) add_noted(page, ended_.history(id), most);
  }
  std::reverse(page.events.begin(), page.events.end());
  if (dead && page.events.size() < most) {
    HistoryEvent end = event_of(RecordType::buried, dead_wall_ms, number(id), EventDetail{}, 0, mark());
    if (expired) end.event = "expired";
    add_end(page.events, std::move(end));
  }
  return page;
}

}  // namespace fq
