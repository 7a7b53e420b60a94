// codec_event - the bodies of the records that say what became of messages.
//
//   items    {u64 id, u64 position of the record before this one about it}, one each
//   leased             i64 until, u64 first serial, u64 pid started, u32 pid, u16 attempts_max, u16 zero
//   extended           i64 until
//   retried, released, buried   i64 due, then the outcome
//   acked, cancelled, kicked, died, freed, reheld   nothing more: acked must fit the closing room
//   outcome  u16 present (1 exit, 2 signal), i16 exit, i16 signal, u16 bytes of the reason, u16 bytes of
//            the stderr tail, the two texts
// Encoded under the state lock: allocates nothing while the body's capacity suffices.

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr size_t kEventItemBytes = 16;
constexpr size_t kLeasedBytes = 32;
constexpr size_t kExtendedBytes = 8;
constexpr size_t kDueBytes = 8;
constexpr size_t kOutcomeBytes = 10;
constexpr uint16_t kHasExit = 1;
constexpr uint16_t kHasSignal = 2;

static_assert(kRecordHeaderBytes + kEventItemBytes == kClosingBytes);

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

std::string_view kept_reason(const EventDetail& detail) {
  return cut_end(detail.reason, codec::kReasonBytesMax);
}
std::string_view kept_tail(const EventDetail& detail) {
  return cut_start(detail.stderr_tail, codec::kStderrTailBytesMax);
}

size_t detail_bytes(RecordType type, const EventDetail& detail) {
  switch (type) {
    case RecordType::leased:
      return kLeasedBytes;
    case RecordType::extended:
      return kExtendedBytes;
    case RecordType::retried:
    case RecordType::released:
    case RecordType::buried:
      return kDueBytes + codec::outcome_bytes(detail);
    default:
      return 0;
  }
}

void encode_detail(codec::ByteWriter& to, RecordType type, const EventDetail& detail) {
  switch (type) {
    case RecordType::leased:
      to.put(detail.until_wall_ms);
      to.put(number(detail.first_serial));
      to.put(detail.pid_started);
      to.put(detail.pid);
      to.put(detail.attempts_max);
      to.put(uint16_t{0});
      break;
    case RecordType::extended:
      to.put(detail.until_wall_ms);
      break;
    case RecordType::retried:
    case RecordType::released:
    case RecordType::buried:
      to.put(detail.due_wall_ms);
      codec::encode_outcome(to, detail);
      break;
    default:
      break;
  }
}

void decode_detail(codec::ByteReader& from, RecordType type, EventDetail& detail) {
  switch (type) {
    case RecordType::leased:
      detail.until_wall_ms = from.get<int64_t>();
      detail.first_serial = Serial{from.get<uint64_t>()};
      detail.pid_started = from.get<uint64_t>();
      detail.pid = from.get<uint32_t>();
      detail.attempts_max = from.get<uint16_t>();
      from.expect_zero(2);
      break;
    case RecordType::extended:
      detail.until_wall_ms = from.get<int64_t>();
      break;
    case RecordType::retried:
    case RecordType::released:
    case RecordType::buried:
      detail.due_wall_ms = from.get<int64_t>();
      codec::decode_outcome(from, detail);
      break;
    default:
      break;
  }
}

}  // namespace

bool codec::is_event(RecordType type) {
  if (type == RecordType::freed || type == RecordType::reheld) return true;
  return type >= RecordType::leased && type <= RecordType::died;
}

size_t codec::outcome_bytes(const EventDetail& detail) {
  return kOutcomeBytes + kept_reason(detail).size() + kept_tail(detail).size();
}

void codec::encode_outcome(ByteWriter& to, const EventDetail& detail) {
  const std::string_view reason = kept_reason(detail);
  const std::string_view tail = kept_tail(detail);
  const int present = (detail.exit ? kHasExit : 0) | (detail.signal ? kHasSignal : 0);
  to.put(static_cast<uint16_t>(present));
  to.put(detail.exit.value_or(0));
  to.put(detail.signal.value_or(0));
  to.put(static_cast<uint16_t>(reason.size()));
  to.put(static_cast<uint16_t>(tail.size()));
  to.put_text(reason);
  to.put_text(tail);
}

void codec::decode_outcome(ByteReader& from, EventDetail& detail) {
  const auto present = from.get<uint16_t>();
  const auto exit = from.get<int16_t>();
  const auto signal = from.get<int16_t>();
  const auto reason_bytes = from.get<uint16_t>();
  const auto tail_bytes = from.get<uint16_t>();
  if ((present & ~(kHasExit | kHasSignal)) != 0) from.fail();
  if (reason_bytes > kReasonBytesMax) from.fail();
  if (tail_bytes > kStderrTailBytesMax) from.fail();
  if ((present & kHasExit) != 0) detail.exit = exit;
  if ((present & kHasSignal) != 0) detail.signal = signal;
  detail.reason = from.take_text(reason_bytes);
  detail.stderr_tail = from.take_text(tail_bytes);
}

uint64_t event_record_bytes(RecordType type, size_t items, const EventDetail& detail) {
  return padded(kRecordHeaderBytes + items * kEventItemBytes + detail_bytes(type, detail));
}

void encode_event(Body& into, RecordType type, std::span<const EventItem> items, const EventDetail& detail) {
  FQ_ASSERT(codec::is_event(type));
  FQ_ASSERT(!items.empty());
  FQ_ASSERT(items.size() <= UINT16_MAX);
  into.type = type;
  into.flags = 0;
  into.count = static_cast<uint16_t>(items.size());
  into.bytes.resize(items.size() * kEventItemBytes + detail_bytes(type, detail));
  FQ_ASSERT(into.bytes.size() <= kRecordBytesMax);
  codec::ByteWriter to(into.bytes);
  for (const EventItem& item : items) {
    to.put(number(item.id));
    to.put(item.previous_event);
  }
  encode_detail(to, type, detail);
  FQ_ASSERT(to.full());
  into.crc = crc32c(0, into.bytes);
}

bool decode_event(RecordType type, uint16_t count, Bytes body, EventRecord& event) {
  event.items.clear();
  event.detail = EventDetail{};
  if (!codec::is_event(type) || count == 0) return false;
  if (body.size() / kEventItemBytes < count) return false;  // before room is made for them
  codec::ByteReader from(body);
  event.items.resize(count);
  for (EventItem& item : event.items) {
    item.id = MessageId{from.get<uint64_t>()};
    item.previous_event = from.get<uint64_t>();
  }
  decode_detail(from, type, event.detail);
  return from.ended_well();
}

}  // namespace fq
