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
constexpr size_t kFixedBytes = 32;
constexpr size_t kBlobBytes = sizeof(BlobName::random) + 8 + 4;
constexpr size_t kTextBytesMax = UINT16_MAX;
constexpr size_t kTermsLengthBytes = 2;

}  // namespace

size_t codec::item_bytes(const MessageItem& item) {
  return kItemFrameBytes + kFixedBytes + item.tenant.size() + item.key.size() + item.tags.size() +
         item.job.size() + (item.terms.empty() ? 0 : kTermsLengthBytes + item.terms.size()) +
         (item.blob ? kBlobBytes : item.payload.size());
}

void codec::encode_item(MutableBytes to, const MessageItem& item) {
  FQ_ASSERT(item.tenant.size() <= kTextBytesMax);
  FQ_ASSERT(item.key.size() <= kTextBytesMax);
  FQ_ASSERT(item.tags.size() <= kTextBytesMax);
  FQ_ASSERT(item.job.size() <= kTextBytesMax);
  FQ_ASSERT(item.terms.size() <= kTextBytesMax);
  FQ_ASSERT(to.size() <= kRecordBytesMax);
  const MutableBytes content = to.subspan(kItemFrameBytes);
  ByteWriter writer(content);
  std::byte* fixed = writer.room(kFixedBytes);
  const int flags = (item.blob ? kFlagBlob : 0) | (item.terms.empty() ? 0 : kFlagTerms);
  put_number(fixed, static_cast<uint16_t>(flags));
  put_number(fixed + 2, item.attempts_max);
  put_number(fixed + 4, item.priority);
  put_number(fixed + 8, item.due_wall_ms);
  put_number(fixed + 16, item.pushed_wall_ms);
  put_number(fixed + 24, static_cast<uint16_t>(item.tenant.size()));
  put_number(fixed + 26, static_cast<uint16_t>(item.key.size()));
  put_number(fixed + 28, static_cast<uint16_t>(item.tags.size()));
  put_number(fixed + 30, static_cast<uint16_t>(item.job.size()));
  if (!item.terms.empty()) {
    writer.put(static_cast<uint16_t>(item.terms.size()));
    writer.put_text(item.terms);
  }
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

bool codec::decode_item_content(Bytes content, MessageItem& item) {
  if (content.size() < kFixedBytes) return false;
  const std::byte* fixed = content.data();
  const auto flags = get_number<uint16_t>(fixed);
  item.attempts_max = get_number<uint16_t>(fixed + 2);
  item.priority = get_number<int32_t>(fixed + 4);
  item.due_wall_ms = get_number<int64_t>(fixed + 8);
  item.pushed_wall_ms = get_number<int64_t>(fixed + 16);
  const size_t tenant_bytes = get_number<uint16_t>(fixed + 24);
  const size_t key_bytes = get_number<uint16_t>(fixed + 26);
  const size_t tags_bytes = get_number<uint16_t>(fixed + 28);
  const size_t job_bytes = get_number<uint16_t>(fixed + 30);
  if ((flags & ~(kFlagBlob | kFlagTerms)) != 0) return false;
  Bytes rest = content.subspan(kFixedBytes);
  item.terms = {};
  if ((flags & kFlagTerms) != 0) {
    if (rest.size() < kTermsLengthBytes) return false;
    const size_t terms_bytes = get_number<uint16_t>(rest.data());
    if (terms_bytes == 0 || terms_bytes > rest.size() - kTermsLengthBytes) return false;
    item.terms = as_text(rest.subspan(kTermsLengthBytes, terms_bytes));
    if (!decode_terms(item.terms)) return false;
    rest = rest.subspan(kTermsLengthBytes + terms_bytes);
  }
  const size_t text_bytes = tenant_bytes + key_bytes + tags_bytes + job_bytes;
  if (text_bytes > rest.size()) return false;
  const std::string_view texts = as_text(rest.first(text_bytes));
  item.tenant = texts.substr(0, tenant_bytes);
  item.key = texts.substr(tenant_bytes, key_bytes);
  item.tags = texts.substr(tenant_bytes + key_bytes, tags_bytes);
  item.job = texts.substr(tenant_bytes + key_bytes + tags_bytes);
  item.payload = rest.subspan(text_bytes);
  item.payload_bytes = item.payload.size();
  item.blob.reset();
  item.blob_crc = 0;
  if ((flags & kFlagBlob) == 0) return true;
  ByteReader from(item.payload);
  const Bytes name = from.take(sizeof(BlobName::random));
  item.blob.emplace();
  if (!name.empty()) std::memcpy(item.blob->random, name.data(), name.size());
  item.payload_bytes = from.get<uint64_t>();
  item.blob_crc = from.get<uint32_t>();
  item.payload = {};
  return from.ended_well();
}

bool decode_item(Bytes bytes, MessageItem& item) {
  if (bytes.size() < codec::kItemFrameBytes) return false;
  const Bytes content = bytes.subspan(codec::kItemFrameBytes);
  if (get_number<uint32_t>(bytes.data()) != content.size()) return false;
  if (get_number<uint32_t>(bytes.data() + 4) != crc32c(0, content)) return false;
  return codec::decode_item_content(content, item);
}

std::optional<MessageItem> decode_item(Bytes bytes) {
  std::optional<MessageItem> item;
  if (!decode_item(bytes, item.emplace())) item.reset();
  return item;
}

}  // namespace fq
