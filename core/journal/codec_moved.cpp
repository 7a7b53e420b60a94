// codec_moved - a message with all that is known of it, copied forward so that its old file can go.
//
//   offset size field
//        0    8 id
//        8    8 pushed_wall_ms
//       16    8 state_wall_ms
//       24    8 serial
//       32    8 pid_started
//       40    8 error_wall_ms
//       48    4 pid
//       52    4 deliveries
//       56    2 attempts
//       58    2 attempts_max
//       60    2 crashes
//       62    1 state
//       63    1 number of past events
//       64      past events {u8 type, 3 zero, u32 pid, i64 at_wall_ms, u64 serial}, the outcome of the
//               last error, then up to the end the message item

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr size_t kMovedBytes = 64;
constexpr size_t kPastBytes = 24;

bool state_is_known(uint8_t state) {
  return state >= static_cast<uint8_t>(SlotState::ready) && state <= static_cast<uint8_t>(SlotState::held);
}

void encode_past(codec::ByteWriter& to, const PastEvent& past) {
  to.put(static_cast<uint8_t>(past.type));
  to.put_zeros(3);
  to.put(past.pid);
  to.put(past.at_wall_ms);
  to.put(past.serial);
}

PastEvent decode_past(codec::ByteReader& from) {
  PastEvent past;
  past.type = static_cast<RecordType>(from.get<uint8_t>());
  from.expect_zero(3);
  past.pid = from.get<uint32_t>();
  past.at_wall_ms = from.get<int64_t>();
  past.serial = from.get<uint64_t>();
  const bool known = past.type >= RecordType::pushed && past.type <= RecordType::moved;
  const bool event = codec::is_event(past.type) || past.type == RecordType::replaced;
  if (!known && !event) from.fail();
  return past;
}

}  // namespace

void encode_moved(Body& into, const MovedRecord& moved) {
  const size_t past_first = moved.past.size() <= kPastEventsMax ? 0 : moved.past.size() - kPastEventsMax;
  const auto past = std::span(moved.past).subspan(past_first);
  const size_t item_bytes = codec::item_bytes(moved.message);
  const size_t item_offset = kMovedBytes + past.size() * kPastBytes + codec::outcome_bytes(moved.error);

  into.type = RecordType::moved;
  into.flags = 0;
  into.count = 1;
  into.bytes.resize(item_offset + item_bytes);
  FQ_ASSERT(into.bytes.size() <= kRecordBytesMax);
  codec::ByteWriter to(MutableBytes(into.bytes).first(item_offset));
  to.put(number(moved.id));
  to.put(moved.pushed_wall_ms);
  to.put(moved.state_wall_ms);
  to.put(number(moved.serial));
  to.put(moved.pid_started);
  to.put(moved.error_wall_ms);
  to.put(moved.pid);
  to.put(moved.deliveries);
  to.put(moved.attempts);
  to.put(moved.attempts_max);
  to.put(moved.crashes);
  to.put(static_cast<uint8_t>(moved.state));
  to.put(static_cast<uint8_t>(past.size()));
  for (const PastEvent& event : past) encode_past(to, event);
  codec::encode_outcome(to, moved.error);
  FQ_ASSERT(to.full());
  codec::encode_item(MutableBytes(into.bytes).subspan(item_offset), moved.message);
  into.crc = crc32c(0, into.bytes);
}

std::optional<MovedRecord> decode_moved(Bytes body, uint32_t* item_offset, uint32_t* item_bytes) {
  codec::ByteReader from(body);
  MovedRecord moved;
  moved.id = MessageId{from.get<uint64_t>()};
  moved.pushed_wall_ms = from.get<int64_t>();
  moved.state_wall_ms = from.get<int64_t>();
  moved.serial = Serial{from.get<uint64_t>()};
  moved.pid_started = from.get<uint64_t>();
  moved.error_wall_ms = from.get<int64_t>();
  moved.pid = from.get<uint32_t>();
  moved.deliveries = from.get<uint32_t>();
  moved.attempts = from.get<uint16_t>();
  moved.attempts_max = from.get<uint16_t>();
  moved.crashes = from.get<uint16_t>();
  const auto state = from.get<uint8_t>();
  const auto past_count = from.get<uint8_t>();
  if (from.broken() || !state_is_known(state) || past_count > kPastEventsMax) return std::nullopt;
  moved.state = static_cast<SlotState>(state);
  moved.past.reserve(past_count);
  for (uint8_t i = 0; i < past_count; ++i) moved.past.push_back(decode_past(from));
  codec::decode_outcome(from, moved.error);
  if (from.broken()) return std::nullopt;

  const auto item = decode_item(body.last(from.left()));
  if (!item) return std::nullopt;
  if (item_offset != nullptr) *item_offset = static_cast<uint32_t>(body.size() - from.left());
  if (item_bytes != nullptr) *item_bytes = static_cast<uint32_t>(from.left());
  moved.message = *item;
  return moved;
}

}  // namespace fq
