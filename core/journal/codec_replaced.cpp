// codec_replaced - a waiting message that got another payload.
//
//   offset size field
//        0    8 id
//        8    8 position of the record before this one about it
//       16    8 due_wall_ms (0: when it was due before)
//       24      the message item, as it is from now on

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

void encode_replaced(Body& into, const ReplacedRecord& replaced) {
  into.type = RecordType::replaced;
  into.flags = 0;
  into.count = 1;
  into.bytes.resize(kReplacedItemOffset + codec::item_bytes(replaced.message));
  FQ_ASSERT(into.bytes.size() <= kRecordBytesMax);
  codec::ByteWriter to(MutableBytes(into.bytes).first(kReplacedItemOffset));
  to.put(number(replaced.event.id));
  to.put(replaced.event.previous_event);
  to.put(replaced.due_wall_ms);
  FQ_ASSERT(to.full());
  codec::encode_item(MutableBytes(into.bytes).subspan(kReplacedItemOffset), replaced.message);
  into.crc = crc32c(0, into.bytes);
}

std::optional<ReplacedRecord> decode_replaced(Bytes body) {
  codec::ByteReader from(body);
  ReplacedRecord replaced;
  replaced.event.id = MessageId{from.get<uint64_t>()};
  replaced.event.previous_event = from.get<uint64_t>();
  replaced.due_wall_ms = from.get<int64_t>();
  if (from.broken()) return std::nullopt;
  const std::optional<MessageItem> item = decode_item(body.last(from.left()));
  if (!item) return std::nullopt;
  replaced.message = *item;
  return replaced;
}

}  // namespace fq
