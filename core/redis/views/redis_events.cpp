#include "core/redis/views/redis_events.h"

// System.
#include <algorithm>
#include <set>
#include <utility>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/records/records.h"
#include "core/redis/records/tenant_path.h"

namespace fq {

namespace {

constexpr size_t kAskedMax = 256;  // in one call; each is a few reads

bool is_in(const EventRequest& request, const StreamEvent& record, int64_t at_wall_ms) {
  return is_at_or_below(record.tenant, request.tenant) && (!request.id || number(*request.id) == record.id) &&
         (!request.since_wall_ms || *request.since_wall_ms <= at_wall_ms);
}

}  // namespace

/// "MS-NUMBER.SKIPPED" as the stream names its entries, or "-.0".
Result<RedisEvents::Place> RedisEvents::place_of(const Cursor& cursor) {
  if (cursor.text.empty()) return Place{};
  const size_t dot = cursor.text.find('.');
  Place place;
  place.entry = cursor.text.substr(0, dot);
  std::string_view rest = place.entry;
  const bool is_entry = rest == "-" || (take_decimal(rest) && (rest.empty() || rest[0] == '-') &&
                                        (rest.empty() || parse_decimal(rest.substr(1))));
  const std::optional<uint64_t> skipped =
      dot == std::string::npos ? std::nullopt : parse_decimal(std::string_view(cursor.text).substr(dot + 1));
  if (!is_entry || !skipped) return Error{ErrorKind::usage, "cursor: is none of this queue", 0};
  place.skipped = *skipped;
  return place;
}

Cursor RedisEvents::cursor_of(const Place& place) {
  return {place.entry + "." + std::to_string(place.skipped)};
}

Result<bool> RedisEvents::walk(Place& place, const Visit& visit) {
  for (;;) {
    FQ_TRY_SET(const Reply reply, shard_.look({"events", place.entry}));
    now_ms_ = reply.at(0).at(0).number;
    page_ = reply.at(1);
    if (page_.items.empty()) return true;
    for (const Reply& entry : page_.items) {
      Unpacker bytes(entry.at(1).text);
      for (uint64_t at = 0; const std::optional<StreamEvent> record = read_event(bytes); ++at) {
        if (at < place.skipped) continue;
        if (!visit(*record)) return false;
        place.skipped = at + 1;
      }
      place = {entry.at(0).text, 0};
    }
  }
}

/// Of a message nothing happens behind that in this queue.
bool is_last(std::string_view event) { return event == "acked" || event == "cancelled" || event == "left"; }

void RedisEvents::note_tags(const StreamEvent& record) {
  if (!record.tags) return;
  const std::vector<Tag> tags = read_tags(*record.tags);
  tagged_[record.id] = std::find(tags.begin(), tags.end(), tag_) != tags.end();
}

/// Of what happened before a page: once, by whoever begins in the middle.
Result<void> RedisEvents::gather_tags(const Place& end) {
  if (std::exchange(is_gathered_, true)) return {};
  std::string_view entry = end.entry;
  const std::optional<uint64_t> end_ms = take_decimal(entry);
  if (!end_ms) return {};  // it begins where all does
  Place begin;
  FQ_TRY(walk(begin, [&](const StreamEvent& record) {
    if (record.at_ms > static_cast<int64_t>(*end_ms)) return false;
    note_tags(record);
    if (is_last(record.event)) tagged_.erase(record.id);
    return true;
  }));
  return {};
}

/// As its message has them by then. Of one whose push is told no more, as its record has them: asked for with
/// all others of the page, each once.
Result<bool> RedisEvents::has_tag(uint64_t id) {
  if (const auto known = tagged_.find(id); known != tagged_.end()) return known->second;
  std::set<uint64_t> unknown = {id};
  for (const Reply& entry : page_.items) {
    Unpacker bytes(entry.at(1).text);
    while (const std::optional<StreamEvent> record = read_event(bytes)) {
      if (record->id != 0 && unknown.size() < kAskedMax && !tagged_.contains(record->id))
        unknown.insert(record->id);
    }
  }
  std::vector<std::string> ids;
  for (const uint64_t each : unknown) ids.push_back(std::to_string(each));
  std::vector<std::string_view> words = {"tagged", tag_.name, tag_.value};
  words.insert(words.end(), ids.begin(), ids.end());
  FQ_TRY_SET(const Reply reply, shard_.look(words));
  for (const uint64_t each : unknown) tagged_[each] = false;
  for (const Reply& each : reply.at(1).items) {
    const std::optional<uint64_t> tagged = parse_decimal(each.text);
    if (tagged && unknown.contains(*tagged)) tagged_[*tagged] = true;
  }
  return tagged_[id];
}

Event RedisEvents::event_of(const StreamEvent& record) {
  const auto wall_of = [&](int64_t ms) { return ms == 0 ? 0 : shard_.wall_of(ms); };
  Event event;
  event.event = record.event;
  event.at_wall_ms = shard_.wall_of(record.at_ms);
  event.id = MessageId{record.id};
  event.tenant = keep(record.tenant);
  if (record.event == "leased")
    event.receipt = keep(leases_.receipt_of(record.id, record.serial, record.nonce).text());
  event.pid = static_cast<int>(record.pid);
  event.until_wall_ms = wall_of(record.until_ms);
  event.due_wall_ms = wall_of(record.due_ms);
  event.expires_wall_ms = wall_of(record.expires_ms);
  if (!record.schedule.empty()) {
    event.schedule = keep(record.schedule);
    event.scheduled_wall_ms = record.scheduled_wall_ms;
    const bool overlaps = record.skipped == static_cast<uint8_t>(Occurrence::overlap);
    if (record.event == "skipped") event.reason = overlaps ? "the one before was unfinished" : "missed";
  }
  if (record.set) {
    PolicyPatch& set = settings_.emplace_back(*record.set);
    for (PolicyValue& value : set.set) {
      if (value.key == PolicyKey::limited) value.number = wall_of(value.number);
    }
    event.set = &set;
  }
  if (!record.other_queue.empty()) {
    event.other_queue = keep(record.other_queue);
    event.other_id = MessageId{record.other_id};
  }
  if (record.event == "pushed" && record.tags) {
    const MessageRecord pushed = read_job_block(*record.tags);
    event.schedule = keep(pushed.schedule);
    event.scheduled_wall_ms = pushed.scheduled_wall_ms;
    event.bytes = record.pushed_bytes;
    event.priority = record.priority;
    event.key = keep(record.key);
    event.after = keep(record.after);
    event.after_any = keep(record.after_any);
  }
  if (record.step_kind != 0) {
    event.step = keep(record.step);
    event.kind = name_of(static_cast<StepKind>(record.step_kind));
    event.bytes = record.step_bytes;
  }
  if (record.failure.empty()) return event;
  const std::optional<LastError> why = read_failure(std::string(8, '\0') + std::string(record.failure));
  if (!why) return event;
  if (why->exit) event.exit = static_cast<int16_t>(*why->exit);
  if (why->signal) event.signal = static_cast<int16_t>(*why->signal);
  event.reason = keep(why->reason);
  event.stderr_tail = keep(why->stderr_tail);
  return event;
}

Result<bool> RedisEvents::read_page(const EventRequest& request, Place& place, EventPage& page,
                                    std::vector<Place>* ends) {
  std::optional<Error> fault;
  FQ_TRY_SET(const bool at_end, walk(place, [&](const StreamEvent& record) {
               if (page.events.size() == request.n) return false;
               bool is_asked_for = is_in(request, record, shard_.wall_of(record.at_ms));
               if (request.tag) note_tags(record);
               if (request.tag && is_asked_for) {
                 const Result<bool> tagged = has_tag(record.id);
                 if (!tagged) return fault = tagged.error(), false;
                 is_asked_for = *tagged;
               }
               if (is_last(record.event)) tagged_.erase(record.id);  // who follows follows for months
               if (!is_asked_for) return true;
               page.events.push_back(event_of(record));
               if (ends != nullptr) ends->push_back({place.entry, place.skipped + 1});
               return true;
             }));
  if (fault) return *fault;
  return at_end;
}

Awaited RedisEvents::awaited(const EventRequest& request) {
  if (request.id) return {.what = Awaited::What::event, .id = awaited_end(*request.id).id};
  return {.what = Awaited::What::event, .tenant = request.tenant};
}

void RedisEvents::begin(const EventRequest& request) {
  texts_.clear();
  settings_.clear();
  if (!request.tag || *request.tag == tag_) return;
  tagged_.clear();
  is_gathered_ = false;
  tag_ = *request.tag;
}

Result<bool> RedisEvents::read(const EventRequest& request, Place& place, EventPage& page,
                               std::vector<Place>& ends) {
  page.events.clear();
  ends.clear();
  begin(request);
  if (request.tag) FQ_TRY(gather_tags(place));
  return read_page(request, place, page, &ends);
}

Result<void> RedisEvents::events(const EventRequest& request, EventPage& page) {
  page.events.clear();
  page.notices.clear();
  begin(request);
  FQ_TRY_SET(Place place, place_of(request.from));
  if (request.tag) FQ_TRY(gather_tags(place));
  Waiting waiting(request.wait_ms, request.interrupt);
  for (;;) {
    FQ_TRY_SET(page.at_end, read_page(request, place, page));
    if (!request.wait || !page.events.empty()) break;
    if (awaiting_.next(waiting, shard_, awaited(request)) != Waiting::End::goes_on) break;
  }
  page.next = cursor_of(place);
  return {};
}

Result<HistoryPage> RedisEvents::history(MessageId id, const Cursor& from, size_t n) {
  EventRequest request;
  request.id = id;
  request.n = n;
  texts_.clear();
  FQ_TRY_SET(Place place, place_of(from));
  EventPage events;
  FQ_TRY_SET(const bool at_end, read_page(request, place, events));
  HistoryPage page;
  for (const Event& each : events.events) {
    if (each.event == "stepped") continue;  // they have a list of their own
    HistoryEvent& event = page.events.emplace_back();
    event.event = each.event;
    event.at_wall_ms = each.at_wall_ms;
    event.receipt = each.receipt;
    if (each.pid != 0) event.pid = each.pid;
    event.reason = each.reason;
    event.until_wall_ms = each.until_wall_ms;
    // What a push or a change has given is told of the message itself.
    if (each.event == "retried" || each.event == "released") event.due_wall_ms = each.due_wall_ms;
    event.exit = each.exit;
    event.signal = each.signal;
    event.stderr_tail = each.stderr_tail;
    if (!each.other_queue.empty()) event.elsewhere = Elsewhere{std::string(each.other_queue), each.other_id};
    page.tenant = each.tenant;
  }
  if (!at_end) page.next = cursor_of(place);
  return page;
}

}  // namespace fq
