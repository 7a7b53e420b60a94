// codec_item - one message as bytes, in a pushed or a moved body.
//
//   offset size field                     (the content; 32 bytes and what they tell the length of)
//        0    2 flags (1: the payload lies in a blob)
//        2    2 attempts_max
//        4    4 priority
//        8    8 due_wall_ms
//       16    8 pushed_wall_ms
//       24    2 bytes of the tenant
//       26    2 bytes of the key
//       28    2 bytes of the tags
//       30    2 bytes of the job's terms
//       32      tenant, key, tags, job, then up to the end the payload, or of a blob: 16 bytes of name, 8 of
//               payload bytes, 4 of CRC
// The content has its own CRC, so a pop reads its message alone out of a batch of a thousand.

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint16_t kFlagBlob = 1;
constexpr size_t kFixedBytes = 32;
constexpr size_t kBlobBytes = sizeof(BlobName::random) + 8 + 4;
constexpr size_t kTextBytesMax = UINT16_MAX;

}  // namespace

size_t codec::item_bytes(const MessageItem& item) {
  return kItemFrameBytes + kFixedBytes + item.tenant.size() + item.key.size() + item.tags.size() +
         item.job.size() + (item.blob ? kBlobBytes : item.payload.size());
}

void codec::encode_item(MutableBytes to, const MessageItem& item) {
  FQ_ASSERT(item.tenant.size() <= kTextBytesMax);
  FQ_ASSERT(item.key.size() <= kTextBytesMax);
  FQ_ASSERT(item.tags.size() <= kTextBytesMax);
  FQ_ASSERT(item.job.size() <= kTextBytesMax);
  FQ_ASSERT(to.size() <= kRecordBytesMax);
  const MutableBytes content = to.subspan(kItemFrameBytes);
  ByteWriter writer(content);
  writer.put(item.blob ? kFlagBlob : uint16_t{0});
  writer.put(item.attempts_max);
  writer.put(item.priority);
  writer.put(item.due_wall_ms);
  writer.put(item.pushed_wall_ms);
  writer.put(static_cast<uint16_t>(item.tenant.size()));
  writer.put(static_cast<uint16_t>(item.key.size()));
  writer.put(static_cast<uint16_t>(item.tags.size()));
  writer.put(static_cast<uint16_t>(item.job.size()));
  writer.put_text(item.tenant);
  writer.put_text(item.key);
  writer.put_text(item.tags);
  writer.put_text(item.job);
  if (item.blob) {
    writer.put_bytes(std::as_bytes(std::span(item.blob->random)));
    writer.put(item.payload_bytes);
    writer.put(item.blob_crc);
  } else {
    writer.put_bytes(item.payload);
  }
  FQ_ASSERT(writer.full());
  put_number(to.data(), static_cast<uint32_t>(content.size()));
  put_number(to.data() + 4, crc32c(0, content));
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

std::optional<MessageItem> codec::decode_item_content(Bytes content) {
  ByteReader from(content);
  MessageItem item;
  const auto flags = from.get<uint16_t>();
  item.attempts_max = from.get<uint16_t>();
  item.priority = from.get<int32_t>();
  item.due_wall_ms = from.get<int64_t>();
  item.pushed_wall_ms = from.get<int64_t>();
  const auto tenant_bytes = from.get<uint16_t>();
  const auto key_bytes = from.get<uint16_t>();
  const auto tags_bytes = from.get<uint16_t>();
  const auto job_bytes = from.get<uint16_t>();
  if ((flags & ~kFlagBlob) != 0) return std::nullopt;
  item.tenant = from.take_text(tenant_bytes);
  item.key = from.take_text(key_bytes);
  item.tags = from.take_text(tags_bytes);
  item.job = from.take_text(job_bytes);
  if ((flags & kFlagBlob) != 0) {
    const Bytes name = from.take(sizeof(BlobName::random));
    item.blob.emplace();
    if (!name.empty()) std::memcpy(item.blob->random, name.data(), name.size());
    item.payload_bytes = from.get<uint64_t>();
    item.blob_crc = from.get<uint32_t>();
  } else {
    item.payload = from.take(from.left());
    item.payload_bytes = item.payload.size();
  }
  if (!from.ended_well()) return std::nullopt;
  return item;
}

std::optional<MessageItem> decode_item(Bytes item) {
  if (item.size() < codec::kItemFrameBytes) return std::nullopt;
  const Bytes content = item.subspan(codec::kItemFrameBytes);
  if (get_number<uint32_t>(item.data()) != content.size()) return std::nullopt;
  if (get_number<uint32_t>(item.data() + 4) != crc32c(0, content)) return std::nullopt;
  return codec::decode_item_content(content);
}

}  // namespace fq
