// codec_event - the bodies of the records of events, and of moved messages: each with all that is known of
// it, copied forward so that its old file can go.
//
// Events are encoded under the state lock: that allocates nothing while the body's capacity suffices.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/limits.h"
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr size_t kEventItemBytes = 16;
constexpr uint16_t kHasExit = 1;
constexpr uint16_t kHasSignal = 2;

static_assert(kRecordHeaderBytes + kEventItemBytes == kClosingBytes);  // what an ack takes

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// At most three steps: longer runs are no UTF-8, and then any place is as good.
std::string_view cut_end(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  for (int step = 0; step < 3 && end > 0 && continues_character(text[end]); ++step) --end;
  if (continues_character(text[end])) end = bytes_max;
  return text.substr(0, end);
}

// A tail keeps its end: that is where the reason stands.
std::string_view cut_start(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t begin = text.size() - bytes_max;
  for (int step = 0; step < 3 && begin < text.size() && continues_character(text[begin]); ++step) ++begin;
  return text.substr(begin);
}

bool state_is_known(SlotState state) { return state >= SlotState::ready && state <= SlotState::held; }

/// Of what a message's past is made.
bool may_be_past(RecordType type) {
  const BodyKind kind = kind_of(type);
  return kind == BodyKind::pushed || kind == BodyKind::event || kind == BodyKind::moved ||
         kind == BodyKind::replaced || kind == BodyKind::edited;
}

}  // namespace

namespace codec {

template <class V>
void fields(V& v, Of<EventItem> auto& item) {
  v(item.id, item.previous_event);
}

/// Why something went wrong.
template <class V>
void outcome_fields(V& v, Of<EventDetail> auto& detail) {
  auto present = static_cast<uint16_t>((detail.exit ? kHasExit : 0) | (detail.signal ? kHasSignal : 0));
  int16_t exit = detail.exit.value_or(0);
  int16_t signal = detail.signal.value_or(0);
  std::string_view reason, tail;
  if constexpr (!V::kReads) {
    reason = cut_end(detail.reason, kReasonBytesMax);
    tail = cut_start(detail.stderr_tail, kStderrTailBytesMax);
  }
  uint16_t reason_bytes = v.size(reason.size());
  uint16_t tail_bytes = v.size(tail.size());
  v(present, exit, signal, reason_bytes, tail_bytes);
  v(Text{reason, reason_bytes}, Text{tail, tail_bytes});
  if constexpr (V::kReads) {
    const bool bad = (present & ~(kHasExit | kHasSignal)) != 0 || reason_bytes > kReasonBytesMax ||
                     tail_bytes > kStderrTailBytesMax;
    if (bad) v.fail();
    if ((present & kHasExit) != 0) detail.exit = exit;
    if ((present & kHasSignal) != 0) detail.signal = signal;
    detail.reason = reason;
    detail.stderr_tail = tail;
  }
}

/// What an event says of all its ids. No default: what a new type says has to be told here.
template <class V>
void detail_fields(V& v, RecordType type, Of<EventDetail> auto& detail) {
  switch (type) {
    case RecordType::leased:
      return v(detail.until_wall_ms, detail.first_serial, detail.pid_started, detail.pid, detail.attempts_max,
               Zeros<2>{});
    case RecordType::extended:
      return v(detail.until_wall_ms);
    case RecordType::retried:
    case RecordType::released:
    case RecordType::buried:
      v(detail.due_wall_ms);
      return outcome_fields(v, detail);
    case RecordType::left: {
      uint16_t queue_bytes = v.size(detail.queue.size());
      v(detail.id_there, queue_bytes);
      v(Text{detail.queue, queue_bytes});
      if constexpr (V::kReads)
        if (queue_bytes > kQueueNameBytesMax) v.fail();
      return;
    }
    case RecordType::acked:  // nothing more: it must fit the closing room
    case RecordType::cancelled:
    case RecordType::kicked:
    case RecordType::died:
    case RecordType::freed:
    case RecordType::reheld:
    case RecordType::unstepped:
      return;
    case RecordType::pushed:  // no events
    case RecordType::moved:
    case RecordType::low:
    case RecordType::limits:
    case RecordType::clock:
    case RecordType::opened:
    case RecordType::policy:
    case RecordType::replaced:
    case RecordType::keys:
    case RecordType::scheduled:
    case RecordType::skipped:
    case RecordType::unscheduled:
    case RecordType::edited:
    case RecordType::stepped:
    case RecordType::leaving:
    case RecordType::arrived:
      return;
  }
}

template <class V>
void fields(V& v, Of<PastEvent> auto& past) {
  v(past.type, Zeros<3>{}, past.pid, past.at_wall_ms, past.serial);
  if constexpr (V::kReads)
    if (!may_be_past(past.type)) v.fail();
}

template <class V>
void fields(V& v, Of<MovedRecord> auto& moved) {
  auto past_count = static_cast<uint8_t>(std::min(moved.past.size(), kPastEventsMax));
  v(moved.id, moved.pushed_wall_ms, moved.state_wall_ms, moved.serial, moved.pid_started, moved.error_wall_ms,
    moved.pid, moved.deliveries, moved.attempts, moved.attempts_max, moved.crashes, moved.state, past_count);
  if constexpr (V::kReads) {
    if (v.broken() || !state_is_known(moved.state) || past_count > kPastEventsMax) return v.fail();
    moved.past.resize(past_count);
  }
  for (auto& past : std::span(moved.past).last(past_count)) fields(v, past);
  outcome_fields(v, moved.error);
  v.item(moved.message);
}

template <class V>
void fields(V& v, Of<EditedRecord> auto& edited) {
  v(edited.previous_event);
  fields(v, edited.now);
}

}  // namespace codec

namespace {

size_t detail_bytes(RecordType type, const EventDetail& detail) {
  codec::ByteCounter counter;
  codec::detail_fields(counter, type, detail);
  return counter.bytes();
}

}  // namespace

uint64_t event_record_bytes(RecordType type, size_t items, const EventDetail& detail) {
  return padded(kRecordHeaderBytes + items * kEventItemBytes + detail_bytes(type, detail));
}

uint64_t event_record_bytes(RecordType type, size_t items) {
  static constexpr EventDetail kNothing{};
  return event_record_bytes(type, items, kNothing);
}

void encode_event(Body& into, RecordType type, std::span<const EventItem> items, const EventDetail& detail) {
  FQ_ASSERT(kind_of(type) == BodyKind::event);
  FQ_ASSERT(!items.empty());
  into.type = type;
  into.flags = !detail.has_key ? uint8_t{0} : *detail.has_key ? kFlagHasKey : kFlagKeyless;
  into.count = codec::size16(items.size());
  into.bytes.resize(items.size() * kEventItemBytes + detail_bytes(type, detail));
  FQ_ASSERT(into.bytes.size() <= kRecordBytesMax);
  codec::ByteWriter to(into.bytes);
  for (const EventItem& item : items) codec::fields(to, item);
  codec::detail_fields(to, type, detail);
  FQ_ASSERT(to.full());
  into.crc = crc32c(0, into.bytes);
}

bool decode_event(RecordType type, uint16_t count, Bytes body, EventRecord& event) {
  event.items.clear();
  event.detail = EventDetail{};
  if (kind_of(type) != BodyKind::event || count == 0) return false;
  if (body.size() / kEventItemBytes < count) return false;  // before room is made for them
  codec::ByteReader from(body);
  event.items.resize(count);
  for (EventItem& item : event.items) codec::fields(from, item);
  codec::detail_fields(from, type, event.detail);
  return from.ended_well();
}

void encode_moved(Body& into, const MovedRecord& moved, RecordType type) {
  FQ_ASSERT(kind_of(type) == BodyKind::moved);
  codec::encode_body(into, type, 1, moved);
}

std::optional<MovedRecord> decode_moved(Bytes body) { return codec::decode_body<MovedRecord>(body); }

void encode_edited(Body& into, const EditedRecord& edited, RecordType type) {
  FQ_ASSERT(kind_of(type) == BodyKind::edited);
  codec::encode_body(into, type, 1, edited);
}

std::optional<EditedRecord> decode_edited(Bytes body) { return codec::decode_body<EditedRecord>(body); }

// The item is the last of the body, and its fields have one form only.
uint32_t moved_item_offset(Bytes body, const MovedRecord& moved) {
  return static_cast<uint32_t>(body.size() - codec::item_bytes(moved.message));
}

}  // namespace fq
