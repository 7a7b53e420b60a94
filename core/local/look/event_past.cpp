#include "core/local/look/event_past.h"

// System.
#include <algorithm>

namespace fq {

Result<uint64_t> EventPast::file_start(uint64_t position) {
  uint64_t start = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    const JournalTable& table = stream().table();
    start = table.slot(table.find(position).value_or(header().oldest_file)).start;
    return {};
  }));
  return start;
}

/// The id of the first push between these positions; UINT64_MAX: there is none.
Result<uint64_t> EventPast::first_pushed(uint64_t from, uint64_t to) {
  uint64_t first = UINT64_MAX;
  FQ_TRY(events_.read_aside(from, to, [&](const RecordHeader& header, Bytes body) {
    if (header.type != RecordType::pushed) return true;
    first = number(PushedReader(body, header.count).first_id());
    return false;
  }));
  return first;
}

void EventPast::learn_tenants(const RecordHeader& header, Bytes body, EventLog& into) {
  if (header.type == RecordType::pushed) {
    PushedReader reader(body, header.count);
    uint64_t id = number(reader.first_id());
    while (const MessageItem* item = reader.next()) into.by_id.set(id++, into.owner_of(*item));
  } else if (kind_of(header.type) == BodyKind::moved) {
    if (const auto moved = decode_moved(body))
      into.by_id.set(number(moved->id), into.owner_of(moved->message));
  } else if (kind_of(header.type) == BodyKind::edited) {
    if (const auto edited = decode_edited(body))
      into.by_id.set(number(edited->now.id), into.owner_of(edited->now.message));
  }
}

/// Between which positions this message was pushed, in one file and before `high`: ids grow along the stream,
/// so the file is found by halves. None: it is gone.
Result<std::optional<EventPast::Stretch>> EventPast::find_push(MessageId id, uint64_t high) {
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

Result<void> EventPast::learn_tenant_of(MessageId id) {
  EventLog& log = events_.log();
  FQ_TRY_SET(const std::optional<Stretch> where, find_push(id, log.learnt_from));
  if (!where) return learn_older();  // only a copy can tell
  FQ_TRY(events_.read_aside(where->from, where->to, [&](const RecordHeader& header, Bytes body) {
    learn_tenants(header, body, log);
    return true;
  }));
  if (log.by_id.get(number(id)) != 0) return {};
  return learn_older();
}

Result<std::optional<EventPast::Push>> EventPast::push_of(MessageId id) {
  std::optional<Push> found;
  FQ_TRY_SET(const std::optional<Stretch> where,
             find_push(id, header().committed_end.load(std::memory_order_acquire)));
  if (!where) return found;
  FQ_TRY(events_.read_aside(where->from, where->to, [&](const RecordHeader& header, Bytes body) {
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
Result<void> EventPast::learn_older() {
  EventLog& log = events_.log();
  FQ_TRY_SET(const uint64_t start, file_start(log.learnt_from - 1));
  const uint64_t end = std::exchange(log.learnt_from, start < log.learnt_from ? start : 0);
  if (log.learnt_from == 0 && start >= end) return {};
  return events_.read_aside(start, end, [&](const RecordHeader& header, Bytes body) {
    if (header.type == RecordType::pushed)
      log.least_pushed = std::min(log.least_pushed, number(PushedReader(body, header.count).first_id()));
    learn_tenants(header, body, log);
    return true;
  });
}

}  // namespace fq
