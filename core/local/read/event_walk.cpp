#include "core/local/read/event_walk.h"

namespace fq {

namespace {

LastError error_of(RecordType type, int64_t at_wall_ms, const EventDetail& detail) {
  LastError error;
  error.at_wall_ms = at_wall_ms;
  if (detail.exit) error.exit = *detail.exit;
  if (detail.signal) error.signal = *detail.signal;
  error.reason = detail.reason;
  if (type == RecordType::died && error.reason.empty()) error.reason = "its holder died";
  error.stderr_tail = detail.stderr_tail;
  return error;
}

/// Between a run and the look at it, and told without a verdict on it.
bool says_nothing_of_runs(RecordType type) {
  return type == RecordType::edited || type == RecordType::leaving || type == RecordType::arrived ||
         type == RecordType::freed;
}

/// What a record carries of its last failure. False: the visitor has enough.
bool visit_error(const MovedRecord& moved, const EventVisitor& visit) {
  return moved.error_wall_ms == 0 ||
         visit(RecordType::retried, moved.error_wall_ms, moved.error, 0, EventSource::carried_error);
}

/// What a record carries of events whose own records may be gone; its last failure, which may be older than
/// all of them, when its turn comes, and before the event of it, which does not say why.
void visit_carried(const MovedRecord& moved, const EventVisitor& visit) {
  bool error_told = false;
  for (auto past = moved.past.rbegin(); past != moved.past.rend(); ++past) {
    if (!error_told && (is_failure(past->type) || past->at_wall_ms <= moved.error_wall_ms)) {
      error_told = true;
      if (!visit_error(moved, visit)) return;
    }
    EventDetail detail;
    detail.pid = past->pid;
    if (!visit(past->type, past->at_wall_ms, detail, past->serial, EventSource::carried)) return;
  }
  if (!error_told) visit_error(moved, visit);
}

/// At an edit: whether the records before it are told, and not what it carries of them.
using EditVisitor = std::function<Result<bool>(const EditedRecord& edited)>;

Result<void> walk(Link& link, uint64_t id, uint64_t position, const EventVisitor& visit,
                  const EditVisitor& goes_behind) {
  std::vector<std::byte> record;
  EventRecord event;
  while (position != 0) {
    std::optional<FilePlace> place;
    uint64_t written_end = 0;
    FQ_TRY(link.locked([&]() -> Result<void> {
      place = link.stream().table().place(position);
      written_end = link.header().ring_start.load(std::memory_order_relaxed);
      return {};
    }));
    if (!place) return {};
    FQ_TRY_SET(const bool found, link.reader().read_record(*place, position, written_end, record));
    if (!found) return {};
    const RecordHeader header = *decode_header(place->key, record);
    const Bytes body = Bytes(record).subspan(kRecordHeaderBytes, header.bytes - kRecordHeaderBytes);
    if (kind_of(header.type) == BodyKind::moved) {
      const std::optional<MovedRecord> moved = decode_moved(body);
      if (!moved) return {};
      const bool goes_on =
          header.type == RecordType::moved ||
          visit(header.type, header.at_wall_ms, way_of(moved->message), 0, EventSource::record);
      if (goes_on) visit_carried(*moved, visit);
      return {};
    }
    if (kind_of(header.type) == BodyKind::edited) {
      const std::optional<EditedRecord> edited = decode_edited(body);
      if (!edited ||
          !visit(header.type, header.at_wall_ms, way_of(edited->now.message), 0, EventSource::record))
        return {};
      if (edited->previous_event >= position) return {};
      FQ_TRY_SET(const bool is_there, goes_behind(*edited));
      if (!is_there) return visit_carried(edited->now, visit), Result<void>();
      // The records behind it may not reach that far.
      if (!visit_error(edited->now, visit)) return {};
      position = edited->previous_event;
      continue;
    }
    if (header.type == RecordType::replaced) {
      const std::optional<ReplacedRecord> replaced = decode_replaced(body);
      if (!replaced) return {};
      if (!visit(header.type, header.at_wall_ms, EventDetail{}, 0, EventSource::record)) return {};
      if (replaced->event.previous_event >= position) return {};
      position = replaced->event.previous_event;
      continue;
    }
    if (!decode_event(header.type, header.count, body, event)) return {};
    uint64_t previous = 0;
    for (size_t i = 0; i < event.items.size(); ++i) {
      if (number(event.items[i].id) != id) continue;
      previous = event.items[i].previous_event;
      const uint64_t serial = number(event.detail.first_serial) + i;
      if (!visit(header.type, header.at_wall_ms, event.detail, serial, EventSource::record)) return {};
    }
    // Events only ever point backwards: anything else is damage, and would never end.
    if (previous >= position) return {};
    position = previous;
  }
  return {};
}

/// Whether the records before an edit tell at least what it carries of them: then they tell it better. Looks
/// at as many as it carries: an older edit on the way either carries what is missing, or the records before
/// that have to have it.
Result<bool> knows_as_much(Link& link, uint64_t id, const EditedRecord& edited) {
  const size_t carried = edited.now.past.size();
  if (carried == 0) return true;
  size_t told = 0;
  const EventVisitor count = [&](RecordType, int64_t, const EventDetail&, uint64_t, EventSource source) {
    if (source != EventSource::carried_error) ++told;
    return told < carried;
  };
  FQ_TRY(walk(link, id, edited.previous_event, count, [&](const EditedRecord& older) -> Result<bool> {
    return told + older.now.past.size() < carried;
  }));
  return told == carried;
}

}  // namespace

std::string_view name_of_event(RecordType type) {
  switch (type) {
    case RecordType::pushed:
      return "pushed";
    case RecordType::leased:
      return "leased";
    case RecordType::acked:
      return "acked";
    case RecordType::retried:
      return "retried";
    case RecordType::released:
      return "released";
    case RecordType::buried:
      return "buried";
    case RecordType::kicked:
      return "kicked";
    case RecordType::extended:
      return "extended";
    case RecordType::cancelled:
      return "cancelled";
    case RecordType::died:
      return "died";
    case RecordType::replaced:
      return "replaced";
    case RecordType::freed:
      return "freed";
    case RecordType::reheld:
      return "kicked";
    case RecordType::scheduled:
      return "scheduled";
    case RecordType::skipped:
      return "skipped";
    case RecordType::unscheduled:
      return "unscheduled";
    case RecordType::edited:
      return "edited";
    case RecordType::policy:
      return "set";
    case RecordType::stepped:
      return "stepped";
    case RecordType::unstepped:
      return "unstepped";
    case RecordType::leaving:
      return "leaving";
    case RecordType::left:
      return "left";
    case RecordType::arrived:
      return "arrived";
    case RecordType::moved:  // told of by no name: they are no events of a message
    case RecordType::low:
    case RecordType::limits:
    case RecordType::clock:
    case RecordType::opened:
    case RecordType::keys:
      break;
  }
  return "unknown";
}

EventDetail way_of(const MessageItem& item) {
  EventDetail detail;
  const std::optional<MessageTerms> terms = item.terms.empty() ? std::nullopt : decode_terms(item.terms);
  if (!terms || !terms->transit) return detail;
  detail.queue = terms->transit->queue;
  if (!terms->transit->leaving) detail.id_there = MessageId{terms->transit->id};
  return detail;
}

Result<void> walk_events(Link& link, uint64_t id, uint64_t position, const EventVisitor& visit) {
  return walk(link, id, position, visit,
              [&](const EditedRecord& edited) { return knows_as_much(link, id, edited); });
}

LastFailure::LastFailure(const Snapshot& snapshot)
    : is_leased_(snapshot.state == State::leased),
      is_known_(snapshot.attempts == 0 && snapshot.crashes == 0 && snapshot.state != State::dead) {}

void LastFailure::look_at(RecordType type, int64_t at_wall_ms, const EventDetail& detail) {
  if (is_known_ || says_nothing_of_runs(type)) return;
  // A lease that ran out is no record of its own: it shows as a lease without an end.
  const bool ran_out = first_ && type == RecordType::leased && !is_leased_;
  first_ = false;
  if (!is_failure(type) && !ran_out) return;
  is_known_ = true;
  error_ = error_of(type, at_wall_ms, detail);
  if (ran_out) error_->reason = "its lease ran out";
  if (ran_out && detail.until_wall_ms != 0) error_->at_wall_ms = detail.until_wall_ms;
}

Result<std::optional<LastError>> last_error_of(Link& link, const Snapshot& snapshot) {
  std::optional<LastError> error;
  if (snapshot.expired) {
    error.emplace();
    error->reason = "expired";
    error->at_wall_ms = snapshot.at_wall_ms;
    return error;
  }
  LastFailure failure(snapshot);
  if (failure.is_known()) return error;
  FQ_TRY(
      walk_events(link, snapshot.id, snapshot.event_position,
                  [&](RecordType type, int64_t at_wall_ms, const EventDetail& detail, uint64_t, EventSource) {
                    failure.look_at(type, at_wall_ms, detail);
                    return !failure.is_known();
                  }));
  return std::move(failure.error());
}

}  // namespace fq
