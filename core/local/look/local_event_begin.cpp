// local_event_begin - where a reading of the journal begins, and what it has to know of what lies before.
//
// Who wants the last few events need not read them all: the newest file is read and counted, and only when it
// holds too few the one before it. Records cannot be read backwards, so places on the way are noted, and what
// is too much behind the last one that has enough is counted off.
#include "core/local/look/event_log.h"

// System.
#include <algorithm>
#include <charconv>

namespace fq {

namespace {

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

}  // namespace

/// Of the file that holds this position of the stream, where it begins; of the oldest one if that was given
/// back.
Result<uint64_t> LocalQueue::EventPast::file_start(uint64_t position) {
  uint64_t start = 0;
  FQ_TRY(queue_.locked([&]() -> Result<void> {
    const JournalTable& table = queue_.stream().table();
    start = table.slot(table.find(position).value_or(queue_.header().oldest_file)).start;
    return {};
  }));
  return start;
}

Result<void> LocalQueue::EventPast::begin(const EventRequest& request) {
  auto log = std::make_unique<EventLog>();
  const std::string& from = request.from.text;
  if (!from.empty() && !parse_cursor(from, log->from_position, log->from_item))
    return Error{ErrorKind::usage, "cursor: is none of this engine's", 0};
  queue_.event_log_ = std::move(log);
  if (from.empty() && request.last) return begin_near_end(request);
  // At the front of the file: if the cursor is one of another queue, no record may begin where it points.
  EventLog& begun = *queue_.event_log_;
  FQ_TRY_SET(begun.position, file_start(begun.from_position));
  begun.learnt_from = begun.position;
  return {};
}

/// Counts from the newest file backwards until there are enough, and puts the log where they begin.
Result<void> LocalQueue::EventPast::begin_near_end(const EventRequest& request) {
  EventLog& log = *queue_.event_log_;
  log.tenants.want(request.tenant);
  EventRequest counted = request;
  counted.n = kEventsPerPlace;
  EventPage page;
  NotedPlace begin;
  uint64_t events = 0;
  begin.position = log.end = queue_.header().committed_end.load(std::memory_order_acquire);
  log.counts = true;
  while (log.end != 0 && events < *request.last) {
    FQ_TRY_SET(const uint64_t start, file_start(log.end - 1));
    if (start >= log.end) break;
    std::vector<NotedPlace> places;
    log.position = log.from_position = log.learnt_from = start;
    log.from_item = 0;
    do {
      places.push_back({log.from_position, log.from_item, 0});
      page.events.clear();
      page.texts.clear();
      FQ_TRY(queue_.read_events(counted, page));
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
    page.events.clear();
    page.texts.clear();
    FQ_TRY(queue_.read_events(counted, page));
    if (page.at_end) break;  // some were damaged meanwhile
  }
  log.counts = log.begun = false;
  queue_.event_notices_.clear();  // they come again where they belong to what is told
  return {};
}

template <class Visit>
Result<void> LocalQueue::EventPast::read(uint64_t from, uint64_t to, Visit&& visit) {
  auto past = std::make_unique<EventLog>();
  past->position = from;
  past->end = to;
  // What the log holds in its hands stays as it is: another one reads, and what it cannot read is no loss of
  // what is told.
  std::swap(queue_.event_log_, past);
  std::vector<std::string> notices = std::exchange(queue_.event_notices_, {});
  Result<void> read = [&]() -> Result<void> {
    RecordHeader header;
    Bytes body;
    for (bool more = true; more; queue_.event_log_->position += padded(header.bytes)) {
      FQ_TRY_SET(more, queue_.next_event_record(header, body));
      if (!more || !visit(header, body)) return {};
    }
    return {};
  }();
  std::swap(queue_.event_log_, past);
  queue_.event_notices_ = std::move(notices);
  return read;
}

/// The id of the first push between these positions; UINT64_MAX: there is none.
Result<uint64_t> LocalQueue::EventPast::first_pushed(uint64_t from, uint64_t to) {
  uint64_t first = UINT64_MAX;
  FQ_TRY(read(from, to, [&](const RecordHeader& header, Bytes body) {
    if (header.type != RecordType::pushed) return true;
    first = number(PushedReader(body, header.count).first_id());
    return false;
  }));
  return first;
}

void LocalQueue::EventPast::learn_tenants(const RecordHeader& header, Bytes body, EventLog& into) {
  if (header.type == RecordType::pushed) {
    PushedReader reader(body, header.count);
    uint64_t id = number(reader.first_id());
    while (const MessageItem* item = reader.next())
      into.by_id.set(id++, into.tenants.number_of(item->tenant));
  } else if (header.type == RecordType::moved) {
    if (const auto moved = decode_moved(body))
      into.by_id.set(number(moved->id), into.tenants.number_of(moved->message.tenant));
  }
}

/// Between which positions this message was pushed, in one file and before `high`: ids grow along the stream,
/// so the file is found by halves. None: it is gone.
Result<std::optional<LocalQueue::EventPast::Stretch>> LocalQueue::EventPast::find_push(MessageId id,
                                                                                       uint64_t high) {
  FQ_TRY_SET(uint64_t low, file_start(0));
  FQ_TRY_SET(const uint64_t oldest, first_pushed(low, high));
  if (low >= high || oldest > number(id)) return std::optional<Stretch>();
  for (;;) {
    FQ_TRY_SET(uint64_t start, file_start(low + (high - low) / 2));
    if (start <= low) {
      FQ_TRY_SET(start, file_start(high - 1));
    }
    // No file begins between them, or those that did were given back meanwhile.
    if (start <= low || start >= high) return std::optional(Stretch{low, high});
    FQ_TRY_SET(const uint64_t first, first_pushed(start, high));
    (first <= number(id) ? low : high) = start;
  }
}

Result<void> LocalQueue::EventPast::learn_tenant_of(MessageId id) {
  EventLog& log = *queue_.event_log_;
  FQ_TRY_SET(const std::optional<Stretch> where, find_push(id, log.learnt_from));
  if (!where) return learn_older();  // only a copy can tell
  FQ_TRY(read(where->from, where->to, [&](const RecordHeader& header, Bytes body) {
    learn_tenants(header, body, log);
    return true;
  }));
  if (log.by_id.get(number(id)) != 0) return {};
  return learn_older();
}

Result<std::optional<LocalQueue::EventPast::Push>> LocalQueue::EventPast::push_of(MessageId id) {
  std::optional<Push> found;
  FQ_TRY_SET(const std::optional<Stretch> where,
             find_push(id, queue_.header().committed_end.load(std::memory_order_acquire)));
  if (!where) return found;
  FQ_TRY(read(where->from, where->to, [&](const RecordHeader& header, Bytes body) {
    if (header.type != RecordType::pushed) return true;
    PushedReader reader(body, header.count);
    const uint64_t first = number(reader.first_id());
    if (number(id) < first) return false;
    if (number(id) - first >= header.count) return true;
    const MessageItem* item = nullptr;
    for (uint64_t next = first; next <= number(id); ++next) item = reader.next();
    if (item != nullptr) found = Push{std::string(item->tenant), header.at_wall_ms};
    return false;
  }));
  return found;
}

/// Whose the messages are that were pushed or copied in the file before what is known.
Result<void> LocalQueue::EventPast::learn_older() {
  EventLog& log = *queue_.event_log_;
  FQ_TRY_SET(const uint64_t start, file_start(log.learnt_from - 1));
  const uint64_t end = std::exchange(log.learnt_from, start < log.learnt_from ? start : 0);
  if (log.learnt_from == 0 && start >= end) return {};
  return read(start, end, [&](const RecordHeader& header, Bytes body) {
    if (header.type == RecordType::pushed)
      log.least_pushed = std::min(log.least_pushed, number(PushedReader(body, header.count).first_id()));
    learn_tenants(header, body, log);
    return true;
  });
}

}  // namespace fq
