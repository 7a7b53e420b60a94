// codec_body - the bodies of pushed, low, limits and clock records.
//
//   pushed   8 bytes for the first id, then items one behind the other; the body's CRC is that of their
//            frames alone, since an item's content has its own
//   low      u32 file number, u32 zero, the nine counts in their order, id limit, serial limit
//   limits   id limit, serial limit
//   clock    16 bytes of boot id, wall minus boot in ms
// Bodies are read to their last byte: what is too long is as wrong as what is too short.

// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/step_count.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr size_t kFirstIdBytes = kFirstItemOffset;
constexpr uint64_t Counts::*kCounts[] = {&Counts::pushed,  &Counts::popped,    &Counts::acked,
                                         &Counts::retried, &Counts::released,  &Counts::buried,
                                         &Counts::expired, &Counts::cancelled, &Counts::recoveries};
constexpr size_t kLimitsBytes = 16;
constexpr size_t kLowBytes = 8 + 8 * std::size(kCounts) + kLimitsBytes;
constexpr size_t kClockBytes = sizeof(ClockRecord::boot_id) + 8;

void start(Body& into, RecordType type, size_t bytes) {
  into.type = type;
  into.flags = 0;
  into.count = 0;
  into.bytes.resize(bytes);
}

void finish(Body& into) { into.crc = crc32c(0, into.bytes); }

}  // namespace

void encode_pushed(Body& into, std::span<const MessageItem> items, bool lazy) {
  FQ_ASSERT(!items.empty());
  FQ_ASSERT(items.size() <= UINT16_MAX);
  size_t bytes = kFirstIdBytes;
  for (const MessageItem& item : items) bytes += codec::item_bytes(item);
  FQ_ASSERT(bytes <= kRecordBytesMax);

  start(into, RecordType::pushed, bytes);
  into.flags = lazy ? kFlagLazy : uint8_t{0};
  into.count = static_cast<uint16_t>(items.size());
  const MutableBytes all(into.bytes);
  put_number(all.data(), uint64_t{0});
  into.crc = 0;
  size_t offset = kFirstIdBytes;
  for (const MessageItem& item : items) {
    const size_t item_bytes = codec::item_bytes(item);
    codec::encode_item(all.subspan(offset, item_bytes), item);
    into.crc = crc32c(into.crc, all.subspan(offset, codec::kItemFrameBytes));
    offset += item_bytes;
  }
}

size_t pushed_item_bytes(const MessageItem& item) { return codec::item_bytes(item); }

PushedReader::PushedReader(Bytes body, uint16_t count) : body_(body), left_(count) {
  if (body.size() < kFirstIdBytes || body.size() > UINT32_MAX || count == 0) broken_ = true;
}

MessageId PushedReader::first_id() const {
  return body_.size() < kFirstIdBytes ? MessageId{0} : MessageId{get_number<uint64_t>(body_.data())};
}

const MessageItem* PushedReader::next() {
  FQ_STEPS(1);
  if (broken_) return nullptr;
  const Bytes rest = body_.subspan(next_offset_);
  if (left_ == 0) {
    broken_ = !rest.empty();
    return nullptr;
  }
  broken_ = true;  // unless all below is well
  if (rest.size() < codec::kItemFrameBytes) return nullptr;
  const auto content_bytes = get_number<uint32_t>(rest.data());
  if (content_bytes > rest.size() - codec::kItemFrameBytes) return nullptr;
  // Its CRC is not looked at again: it was when the record was found whole.
  if (!codec::decode_item_content(rest.subspan(codec::kItemFrameBytes, content_bytes), item_)) return nullptr;
  item_offset_ = next_offset_;
  item_bytes_ = codec::kItemFrameBytes + content_bytes;
  next_offset_ += item_bytes_;
  --left_;
  broken_ = false;
  return &item_;
}

void encode_low(Body& into, const LowRecord& low) {
  start(into, RecordType::low, kLowBytes);
  codec::ByteWriter to(into.bytes);
  to.put(low.file_number);
  to.put(uint32_t{0});
  for (const auto count : kCounts) to.put(low.counts.*count);
  to.put(low.id_limit);
  to.put(low.serial_limit);
  finish(into);
}

std::optional<LowRecord> decode_low(Bytes body) {
  codec::ByteReader from(body);
  LowRecord low;
  low.file_number = from.get<uint32_t>();
  from.expect_zero(4);
  for (const auto count : kCounts) low.counts.*count = from.get<uint64_t>();
  low.id_limit = from.get<uint64_t>();
  low.serial_limit = from.get<uint64_t>();
  if (!from.ended_well()) return std::nullopt;
  return low;
}

void encode_limits(Body& into, const LimitsRecord& limits) {
  start(into, RecordType::limits, kLimitsBytes);
  codec::ByteWriter to(into.bytes);
  to.put(limits.id_limit);
  to.put(limits.serial_limit);
  finish(into);
}

std::optional<LimitsRecord> decode_limits(Bytes body) {
  codec::ByteReader from(body);
  LimitsRecord limits;
  limits.id_limit = from.get<uint64_t>();
  limits.serial_limit = from.get<uint64_t>();
  if (!from.ended_well()) return std::nullopt;
  return limits;
}

void encode_clock(Body& into, const ClockRecord& clock) {
  start(into, RecordType::clock, kClockBytes);
  codec::ByteWriter to(into.bytes);
  to.put_bytes(std::as_bytes(std::span(clock.boot_id)));
  to.put(clock.wall_minus_boot_ms);
  finish(into);
}

std::optional<ClockRecord> decode_clock(Bytes body) {
  codec::ByteReader from(body);
  ClockRecord clock;
  const Bytes boot_id = from.take(sizeof clock.boot_id);
  if (!boot_id.empty()) std::memcpy(clock.boot_id, boot_id.data(), boot_id.size());
  clock.wall_minus_boot_ms = from.get<int64_t>();
  if (!from.ended_well()) return std::nullopt;
  return clock;
}

}  // namespace fq
