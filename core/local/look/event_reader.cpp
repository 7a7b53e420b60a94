#include "core/local/look/event_reader.h"

// System.
#include <algorithm>
#include <array>
#include <charconv>
// fq, below us.
#include "core/api/receipt.h"
// fq, this room.
#include "core/local/shared/sleep.h"

namespace fq {

namespace {

constexpr uint32_t kRecordsPerPage = 65'536;  // arbitrary: looked at in one call, also when none is asked for
// Leases and lazy pushes are written without a sync, which is what wakes us: they are told so late at most.
constexpr int64_t kUnsyncedCapMs = 100;
constexpr size_t kEventsPerPlace = 4096;  // arbitrary: so many are counted twice, at most

struct NotedPlace {
  uint64_t position = 0;
  uint32_t item = 0;
  uint64_t events = 0;  // from there to the next place
};

bool parse_cursor(std::string_view text, uint64_t& position, uint32_t& item) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, position);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return false;
  const auto second = std::from_chars(first.ptr + 1, end, item);
  return second.ec == std::errc() && second.ptr == end;
}

/// Keeps its memory.
void clear(EventPage& page) {
  page.events.clear();
  page.texts.clear();
  page.settings.clear();
}

/// Of what a message comes after: those that have to be acked, or those that may end however. "3,17".
std::string ids_of(Bytes after, bool any) {
  std::string ids;
  for (size_t at = 0; at + 8 <= after.size(); at += 8) {
    const auto word = get_number<uint64_t>(after.data() + at);
    if ((word & kAfterClosed) != 0 || ((word & (kAfterAny | kAfterKey)) != 0) != any) continue;
    ids.append(ids.empty() ? "" : ",").append(std::to_string(word & kMessageIdMax));
  }
  return ids;
}

}  // namespace

Result<void> EventReader::begin(const EventRequest& request) {
  auto log = std::make_unique<EventLog>();
  log->tag = request.tag;
  const std::string& from = request.from.text;
  if (!from.empty() && !parse_cursor(from, log->from_position, log->from_item))
    return Error{ErrorKind::usage, "cursor: is none of this engine's", 0};
  events_.begin(std::move(log));
  if (from.empty() && request.last) return begin_near_end(request);
  // At the front of the file: if the cursor is one of another queue, no record may begin where it points.
  EventLog& begun = events_.log();
  FQ_TRY_SET(begun.position, past_.file_start(begun.from_position));
  begun.learnt_from = begun.position;
  return {};
}

/// Counts from the newest file backwards until there are enough, and puts the log where they begin.
Result<void> EventReader::begin_near_end(const EventRequest& request) {
  EventLog& log = events_.log();
  log.tenants.want(request.tenant);
  EventRequest counted = request;
  counted.n = kEventsPerPlace;
  EventPage page;
  NotedPlace begin;
  uint64_t events = 0;
  begin.position = log.end = header().committed_end.load(std::memory_order_acquire);
  log.counts = true;
  while (log.end != 0 && events < *request.last) {
    FQ_TRY_SET(const uint64_t start, past_.file_start(log.end - 1));
    if (start >= log.end) break;
    std::vector<NotedPlace> places;
    log.position = log.from_position = log.learnt_from = start;
    log.from_item = 0;
    do {
      places.push_back({log.from_position, log.from_item, 0});
      clear(page);
      FQ_TRY(read(counted, page));
      places.back().events = page.events.size();
    } while (!page.at_end);
    for (auto place = places.rbegin(); place != places.rend() && events < *request.last; ++place) {
      if (place->events == 0) continue;
      events += place->events;
      begin = *place;
    }
    log.end = start;
    // Not as many as were asked for: then what is lost before the first is a loss of what is told.
    if (events < *request.last) begin = {start, 0, 0};
  }
  log.position = log.from_position = begin.position;
  log.from_item = begin.item;
  log.end = UINT64_MAX;
  for (uint64_t left = events - std::min(events, *request.last); left > 0; left -= page.events.size()) {
    counted.n = left;
    clear(page);
    FQ_TRY(read(counted, page));
    if (page.at_end) break;  // some were damaged meanwhile
  }
  log.counts = log.begun = false;
  events_.notices().clear();  // they come again where they belong to what is told
  return {};
}

/// Whose a message is whose push was not read: the schedule knows, as long as it is there, else older files.
/// Of its tags only they know.
Result<uint32_t> EventReader::owner_of(MessageId id) {
  EventLog& log = events_.log();
  uint32_t owner = log.by_id.get(number(id));
  if (owner != 0) return owner;
  std::array<char, kTextBytesMax> text;
  std::string_view path;
  FQ_TRY(locked([&]() -> Result<void> {
    path = {};
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (slot)
      path =
          schedule().tenants().path_copy(TenantIndex{schedule().messages().entry(*slot).tenant.get()}, text);
    return {};
  }));
  if (!path.empty() && !log.tag) owner = log.tenants.number_of(path);
  // Not if a push of a smaller id was read: its own lies behind that one, and copies of it further on.
  while (owner == 0 && log.learnt_from != 0 && number(id) < log.least_pushed) {
    FQ_TRY(past_.learn_tenant_of(id));
    owner = log.by_id.get(number(id));
  }
  if (owner == 0) owner = EventLog::kNobody;
  log.by_id.set(number(id), owner);
  return owner;
}

/// False: the page is full.
Result<bool> EventReader::emit_pushed(const RecordHeader& header, Bytes body, const EventRequest& request,
                                      EventPage& page) {
  EventLog& log = events_.log();
  PushedReader reader(body, header.count);
  Event event;
  event.event = name_of_event(header.type);
  event.at_wall_ms = header.at_wall_ms;
  uint64_t id = number(reader.first_id());
  log.least_pushed = std::min(log.least_pushed, id);
  uint32_t item_index = 0;
  while (const MessageItem* item = reader.next()) {
    const uint32_t owner = log.owner_of(*item);
    log.by_id.set(id, owner);
    event.id = MessageId{id};
    // Below 0 it is how long after its release, of one that is held.
    event.due_wall_ms = std::max<int64_t>(0, item->due_wall_ms);
    event.expires_wall_ms = expiry_of(*item, header.at_wall_ms, item->due_wall_ms);
    event.bytes = item->payload_bytes;
    event.priority = item->priority;
    event.key = item->key;
    event.schedule = event.after = event.after_any = {};
    event.scheduled_wall_ms = 0;
    if (const auto terms = item->terms.empty() ? std::nullopt : decode_terms(item->terms)) {
      event.schedule = terms->schedule;
      event.scheduled_wall_ms = terms->scheduled_wall_ms;
      log.after = ids_of(terms->after, false);
      log.after_any = ids_of(terms->after, true);
      event.after = log.after;
      event.after_any = log.after_any;
    }
    if (!log.tell(request, page, item_index, owner, event)) return false;
    ++id;
    ++item_index;
  }
  return true;
}

/// False: the page is full.
Result<bool> EventReader::emit_events(const RecordHeader& header, Bytes body, const EventRequest& request,
                                      EventPage& page) {
  EventLog& log = events_.log();
  if (!decode_event(header.type, header.count, body, log.record)) return true;
  const EventDetail& detail = log.record.detail;
  std::string& receipt = log.receipt;
  Event event;
  event.event = name_of_event(header.type);
  event.at_wall_ms = header.at_wall_ms;
  event.pid = static_cast<int>(detail.pid);
  event.until_wall_ms = detail.until_wall_ms;
  event.due_wall_ms = detail.due_wall_ms;
  event.exit = detail.exit;
  event.signal = detail.signal;
  event.reason = detail.reason;
  event.stderr_tail = detail.stderr_tail;
  event.other_queue = detail.queue;
  event.other_id = detail.id_there;
  const bool ends = ends_message(header.type);
  for (uint32_t i = 0; i < log.record.items.size(); ++i) {
    if (log.position == log.from_position && i < log.from_item) continue;  // told with the page before
    event.id = log.record.items[i].id;
    uint32_t owner = 0;
    const bool asked = !log.counts || !request.tenant.empty() || log.tag;
    if (asked) {
      FQ_TRY_SET(owner, owner_of(event.id));
    }
    if (header.type == RecordType::leased) {
      write_receipt(receipt, number(event.id), number(detail.first_serial) + i, text_of(mark()));
      event.receipt = receipt;
    }
    if (!log.tell(request, page, i, owner, event)) return false;
    if (ends && !log.counts) log.by_id.forget(number(event.id));
  }
  return true;
}

/// False: the page is full.
Result<bool> EventReader::emit_scheduled(const RecordHeader& header, Bytes body, const EventRequest& request,
                                         EventPage& page) {
  EventLog& log = events_.log();
  Event event;
  event.event = name_of_event(header.type);
  event.at_wall_ms = header.at_wall_ms;
  uint32_t owner = EventLog::kNobody;
  if (header.type == RecordType::scheduled) {
    const auto schedule = decode_scheduled(body);
    if (!schedule) return true;
    // One that was only copied forward says nothing new.
    if (schedule->carried) return true;
    event.schedule = schedule->name;
    owner = log.owner_of(schedule->message);
    return log.tell(request, page, 0, owner, event);
  }
  const auto skipped = decode_skipped(body);
  if (!skipped) return true;
  event.schedule = skipped->name;
  event.scheduled_wall_ms = skipped->at_wall_ms;
  if (skipped->why == Occurrence::overlap) event.reason = "the one before was unfinished";
  if (skipped->why == Occurrence::missed) event.reason = "its time had passed";
  return log.tell(request, page, 0, owner, event);
}

/// What was set at run time. A copy that compaction makes of it is told too: it says what holds, when what
/// lies before is gone. False: the page is full.
Result<bool> EventReader::emit_set(const RecordHeader& header, Bytes body, const EventRequest& request,
                                   EventPage& page) {
  EventLog& log = events_.log();
  const std::optional<PolicyRecord> policy = decode_policy(body);
  if (!policy) return true;
  Event event;
  event.event = name_of_event(header.type);
  event.at_wall_ms = header.at_wall_ms;
  event.set = &policy->patch;
  const uint32_t owner = policy->path.empty() ? EventLog::kNobody : log.tenants.number_of(policy->path);
  return log.tell(request, page, 0, owner, event);
}

/// Of a record that tells all of a message. False: the page is full.
bool EventReader::emit_whole(const RecordHeader& header, const MovedRecord& now, const EventRequest& request,
                             EventPage& page) {
  EventLog& log = events_.log();
  Event event;
  event.event = name_of_event(header.type);
  event.at_wall_ms = header.at_wall_ms;
  event.id = now.id;
  if (now.state == SlotState::delayed) event.due_wall_ms = now.state_wall_ms;
  const EventDetail way = way_of(now.message);
  event.other_queue = way.queue;
  event.other_id = way.id_there;
  return log.tell(request, page, 0, log.owner_of(now.message), event);
}

/// False: the page is full.
Result<bool> EventReader::emit_stepped(const RecordHeader& header, Bytes body, const EventRequest& request,
                                       EventPage& page) {
  EventLog& log = events_.log();
  const std::optional<SteppedRecord> step = decode_stepped(body);
  // One that was only copied forward says nothing new.
  if (!step || step->carried) return true;
  Event event;
  event.event = name_of_event(header.type);
  event.at_wall_ms = header.at_wall_ms;
  event.id = step->id;
  event.step = step->name;
  event.kind = name_of(step->kind);
  event.bytes = step->output.payload_bytes;
  event.due_wall_ms = step->until_wall_ms;
  uint32_t owner = 0;
  if (!log.counts || !request.tenant.empty() || log.tag) {
    FQ_TRY_SET(owner, owner_of(event.id));
  }
  return log.tell(request, page, 0, owner, event);
}

/// False: the page is full.
Result<bool> EventReader::emit_record(const RecordHeader& header, Bytes body, const EventRequest& request,
                                      EventPage& page) {
  EventLog& log = events_.log();
  switch (kind_of(header.type)) {
    case BodyKind::pushed:
      return emit_pushed(header, body, request, page);
    case BodyKind::moved:
      EventPast::learn_tenants(header, body, log);
      if (header.type == RecordType::moved) return true;
      if (const auto arrived = decode_moved(body)) return emit_whole(header, *arrived, request, page);
      return true;
    case BodyKind::replaced:
      if (const auto replaced = decode_replaced(body)) {
        const uint32_t owner = log.owner_of(replaced->message);
        log.by_id.set(number(replaced->event.id), owner);
        Event event;
        event.event = name_of_event(header.type);
        event.at_wall_ms = header.at_wall_ms;
        event.id = replaced->event.id;
        event.due_wall_ms = replaced->due_wall_ms;
        return log.tell(request, page, 0, owner, event);
      }
      return true;
    case BodyKind::edited:
      if (const auto edited = decode_edited(body)) {
        log.by_id.set(number(edited->now.id), log.owner_of(edited->now.message));
        return emit_whole(header, edited->now, request, page);
      }
      return true;
    case BodyKind::stepped:
      return emit_stepped(header, body, request, page);
    case BodyKind::event:
      return emit_events(header, body, request, page);
    case BodyKind::scheduled:
    case BodyKind::skipped:
      return emit_scheduled(header, body, request, page);
    case BodyKind::policy:
      return emit_set(header, body, request, page);
    case BodyKind::low:
    case BodyKind::limits:
    case BodyKind::clock:
    case BodyKind::keys:
    case BodyKind::opened:
    case BodyKind::unknown:
      break;
  }
  return true;
}

/// Into an empty page: from where the log stands to a full one, the stream's end, or enough for one call.
Result<void> EventReader::read(const EventRequest& request, EventPage& page) {
  EventLog& log = events_.log();
  log.forget_names();
  for (uint32_t records = 0; records < kRecordsPerPage; ++records) {
    RecordHeader header;
    Bytes body;
    FQ_TRY_SET(const bool more, events_.next(header, body));
    page.at_end = !more;
    if (!more) break;
    FQ_TRY_SET(const bool told, emit_record(header, body, request, page));
    if (!told) return {};
    log.position += padded(header.bytes);
  }
  // What was only learnt from, on the way to where the request begins, is passed already.
  if (log.position < log.from_position) return {};
  if (log.position > log.from_position) log.from_item = 0;
  log.from_position = log.position;
  return {};
}

void EventReader::sleep_until_written(Interrupt* interrupt, uint32_t seen, int64_t wait_ms) {
  SegmentHeader& shared = header();
  const WaiterCounted counted(&shared.sync_waiters);
  std::array<WatchedWord, 2> words = {{{&shared.sync_event, seen}, {&shared.sync_event, seen}}};
  if (interrupt != nullptr) words[1] = {interrupt->word(), 0};
  const SignalsAllowed allowed(true);
  sleep_on(words, shared.sync_event, seen, std::min(wait_ms, kUnsyncedCapMs));
}

Result<void> EventReader::events(const EventRequest& request, EventPage& page) {
  clear(page);
  const bool goes_on =
      events_.begun() && request.tag == events_.log().tag && request.from.text == events_.log().cursor().text;
  if (!goes_on) FQ_TRY(begin(request));
  events_.log().tenants.want(request.tenant);
  const int64_t end_ms = clock().boot_ms() + std::min(request.wait_ms.value_or(kWaitMaxMs), kWaitMaxMs);
  for (;;) {
    // Before the look: what is written behind it changes the word.
    const uint32_t seen = header().sync_event.load(std::memory_order_seq_cst);
    FQ_TRY(read(request, page));
    const bool interrupted = request.interrupt != nullptr && request.interrupt->raised();
    const int64_t left_ms = end_ms - clock().boot_ms();
    const bool done = !page.events.empty() || !events_.notices().empty() || interrupted;
    if (done || !request.wait || !page.at_end || left_ms <= 0) break;
    FQ_TRY(link_.attachment().check_place());
    sleep_until_written(request.interrupt, seen, left_ms);
  }
  page.next = events_.log().cursor();
  page.notices = std::exchange(events_.notices(), {});
  return {};
}

}  // namespace fq
