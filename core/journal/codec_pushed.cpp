// codec_pushed - the bodies of pushed records: 8 bytes for the first id, then items one behind the other.
//
// The body's CRC is that of the items' frames alone, since an item's content has its own.

// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/step_count.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

bool encode_pushed(Body& into, std::span<const MessageItem> items, bool lazy) {
  FQ_ASSERT(!items.empty());
  size_t bytes = kFirstItemOffset;
  for (const MessageItem& item : items) bytes += codec::item_bytes(item);
  if (bytes > kRecordBytesMax - kRecordHeaderBytes) return false;

  into.type = RecordType::pushed;
  into.flags = lazy ? kFlagLazy : uint8_t{0};
  into.count = codec::size16(items.size());
  into.bytes.resize(bytes);
  const MutableBytes all(into.bytes);
  put_number(all.data(), uint64_t{0});
  into.crc = 0;
  size_t offset = kFirstItemOffset;
  for (const MessageItem& item : items) {
    const size_t item_bytes = codec::encode_item(all.subspan(offset), item);
    into.crc = crc32c(into.crc, all.subspan(offset, kItemFrameBytes));
    offset += item_bytes;
  }
  return true;
}

size_t pushed_item_bytes(const MessageItem& item) { return codec::item_bytes(item); }

PushedReader::PushedReader(Bytes body, uint16_t count) : body_(body), left_(count) {
  if (body.size() < kFirstItemOffset || body.size() > UINT32_MAX || count == 0) broken_ = true;
}

MessageId PushedReader::first_id() const {
  return body_.size() < kFirstItemOffset ? MessageId{0} : MessageId{get_number<uint64_t>(body_.data())};
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
  if (rest.size() < kItemFrameBytes) return nullptr;
  const auto content_bytes = get_number<uint32_t>(rest.data());
  if (content_bytes > rest.size() - kItemFrameBytes) return nullptr;
  // Its CRC is not looked at again: it was when the record was found whole.
  if (!codec::decode_item_content(rest.subspan(kItemFrameBytes, content_bytes), item_)) return nullptr;
  item_offset_ = next_offset_;
  item_bytes_ = kItemFrameBytes + content_bytes;
  next_offset_ += item_bytes_;
  --left_;
  broken_ = false;
  return &item_;
}

}  // namespace fq
