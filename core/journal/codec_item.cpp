// codec_item - one message as bytes, in a pushed or a moved body.
//
//   offset size field                     (the content; 32 bytes and what they tell the length of)
//        0    2 flags (1: the payload lies in a blob; 2: there are terms)
//        2    2 attempts_max
//        4    4 priority
//        8    8 due_wall_ms
//       16    8 pushed_wall_ms
//       24    2 bytes of the tenant
//       26    2 bytes of the key
//       28    2 bytes of the tags
//       30    2 bytes of the job's terms
//       32      of terms {u16 bytes, terms}, then tenant, key, tags, job, then up to the end the payload, or
//       of a blob: 16 bytes of name, 8 of
//               payload bytes, 4 of CRC
// The content has its own CRC, so a pop reads its message alone out of a batch of a thousand.

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint16_t kFlagBlob = 1;
constexpr uint16_t kFlagTerms = 2;

}  // namespace

namespace codec {

/// In line: a push encodes it and a lease decodes it, and out of line a reader lives in memory.
template <class V>
[[gnu::always_inline]] inline void fields(V& v, Of<MessageItem> auto& item) {
  auto flags = static_cast<uint16_t>((item.blob ? kFlagBlob : 0) | (item.terms.empty() ? 0 : kFlagTerms));
  uint16_t tenant_bytes = v.size(item.tenant.size());
  uint16_t key_bytes = v.size(item.key.size());
  uint16_t tags_bytes = v.size(item.tags.size());
  uint16_t job_bytes = v.size(item.job.size());
  v(flags, item.attempts_max, item.priority, item.due_wall_ms, item.pushed_wall_ms, tenant_bytes, key_bytes,
    tags_bytes, job_bytes);
  if constexpr (V::kReads) {
    if ((flags & ~(kFlagBlob | kFlagTerms)) != 0) return v.fail();
    item.terms = {};
    item.payload = {};
    item.blob.reset();
    if ((flags & kFlagBlob) != 0) item.blob.emplace();
  }
  if ((flags & kFlagTerms) != 0) {
    uint16_t terms_bytes = v.size(item.terms.size());
    v(terms_bytes);
    v(Text{item.terms, terms_bytes});
    if constexpr (V::kReads)
      if (item.terms.empty() || !decode_terms(item.terms)) return v.fail();
  }
  v(Text{item.tenant, tenant_bytes}, Text{item.key, key_bytes}, Text{item.tags, tags_bytes},
    Text{item.job, job_bytes});
  if (item.blob) return v(item.blob->random, item.payload_bytes, item.blob_crc);
  v.rest(item.payload);
  if constexpr (V::kReads) {
    item.payload_bytes = item.payload.size();
    item.blob_crc = 0;
  }
}

}  // namespace codec

size_t codec::item_bytes(const MessageItem& item) { return kItemFrameBytes + bytes_of(item); }

size_t codec::encode_item(MutableBytes to, const MessageItem& item) {
  FQ_ASSERT(to.size() <= kRecordBytesMax);
  const MutableBytes room = to.subspan(kItemFrameBytes);
  ByteWriter writer(room);
  fields(writer, item);
  const Bytes content = room.first(room.size() - writer.room_left());
  put_number(to.data(), static_cast<uint32_t>(content.size()));
  put_number(to.data() + 4, crc32c(0, content));
  return kItemFrameBytes + content.size();
}

bool codec::items_are_whole(Bytes items, uint32_t frames_crc) {
  uint32_t crc = 0;
  while (items.size() >= kItemFrameBytes) {
    const Bytes frame = items.first(kItemFrameBytes);
    items = items.subspan(kItemFrameBytes);
    const auto content_bytes = get_number<uint32_t>(frame.data());
    if (content_bytes > items.size()) return false;
    if (get_number<uint32_t>(frame.data() + 4) != crc32c(0, items.first(content_bytes))) return false;
    crc = crc32c(crc, frame);
    items = items.subspan(content_bytes);
  }
  return items.empty() && crc == frames_crc;
}

bool codec::decode_item_content(Bytes content, MessageItem& item) { return decode(content, item); }

bool decode_item(Bytes bytes, MessageItem& item) {
  if (bytes.size() < kItemFrameBytes) return false;
  const Bytes content = bytes.subspan(kItemFrameBytes);
  if (get_number<uint32_t>(bytes.data()) != content.size()) return false;
  if (get_number<uint32_t>(bytes.data() + 4) != crc32c(0, content)) return false;
  return codec::decode(content, item);
}

std::optional<MessageItem> decode_item(Bytes bytes) {
  std::optional<MessageItem> item;
  if (!decode_item(bytes, item.emplace())) item.reset();
  return item;
}

}  // namespace fq
