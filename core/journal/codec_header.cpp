// codec_header - the 48 bytes before each body, sealed for one place of one file.
//
// Called under the state lock when a record is appended, so nothing here allocates. For `pushed` the
// header CRC goes on over the first 8 body bytes: the id that was not known when the body was encoded.

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint32_t kIdBytes = 8;
// The distance to the durable point that is too far to tell: it then says nothing.
constexpr uint32_t kFar = UINT32_MAX;

uint32_t header_crc(uint32_t seed, Bytes header, RecordType type, Bytes first_body_bytes) {
  const uint32_t crc = crc32c(seed, header.first(header_field::header_crc.offset));
  return type == RecordType::pushed ? crc32c(crc, first_body_bytes.first(kIdBytes)) : crc;
}

/// OPENED lies outside the stream and has no such header.
bool type_is_known(RecordType type) {
  return kind_of(type) != BodyKind::unknown && type != RecordType::opened;
}

bool flags_are_known(RecordType type, uint8_t flags) {
  if (flags == 0) return true;
  if (type == RecordType::pushed) return flags == kFlagLazy;
  const bool comes_back = type == RecordType::kicked || type == RecordType::reheld;
  return comes_back && (flags == kFlagHasKey || flags == kFlagKeyless);
}

}  // namespace

uint32_t file_seed(const FileKey& key) {
  std::byte bytes[12];
  put_number(bytes, key.salt);
  put_number(bytes + 8, key.number);
  return crc32c(0, bytes);
}

HeaderBytes encode_header(uint32_t seed, const RecordHeader& header, Body& body, MessageId first_id) {
  FQ_ASSERT(body.bytes.size() >= kIdBytes);
  FQ_ASSERT(body.bytes.size() <= kRecordBytesMax);
  FQ_ASSERT(header.durable_position <= header.position);
  if (body.type == RecordType::pushed) put_number(body.bytes.data(), number(first_id));

  const uint64_t distance = header.position - header.durable_position;
  HeaderBytes bytes;
  header_field::magic.put(bytes, kRecordMagic);
  header_field::bytes.put(bytes, static_cast<uint32_t>(kRecordHeaderBytes + body.bytes.size()));
  header_field::seq.put(bytes, header.seq);
  header_field::position.put(bytes, header.position);
  header_field::at_wall_ms.put(bytes, header.at_wall_ms);
  header_field::durable_distance.put(bytes, distance < kFar ? static_cast<uint32_t>(distance) : kFar);
  header_field::type.put(bytes, body.type);
  header_field::flags.put(bytes, body.flags);
  header_field::count.put(bytes, body.count);
  header_field::body_crc.put(bytes, body.crc);
  header_field::header_crc.put(bytes, header_crc(seed, bytes, body.type, body.bytes));
  return bytes;
}

void reseal_record(const FileKey& to, MutableBytes record) {
  FQ_ASSERT(record.size() >= kRecordHeaderBytes + kIdBytes);
  const uint32_t crc =
      header_crc(file_seed(to), record.first(kRecordHeaderBytes), header_field::type.of(record),
                 record.subspan(kRecordHeaderBytes, kIdBytes));
  header_field::header_crc.put(record, crc);
}

std::optional<RecordHeader> decode_header(const FileKey& key, Bytes bytes) {
  return decode_header(file_seed(key), bytes);
}

std::optional<RecordHeader> decode_header(uint32_t seed, Bytes bytes) {
  if (bytes.size() < kRecordHeaderBytes + kIdBytes) return std::nullopt;
  if (header_field::magic.of(bytes) != kRecordMagic) return std::nullopt;
  RecordHeader header;
  header.bytes = header_field::bytes.of(bytes);
  header.seq = header_field::seq.of(bytes);
  header.position = header_field::position.of(bytes);
  header.at_wall_ms = header_field::at_wall_ms.of(bytes);
  header.type = header_field::type.of(bytes);
  header.flags = header_field::flags.of(bytes);
  header.count = header_field::count.of(bytes);
  const uint32_t distance = header_field::durable_distance.of(bytes);
  if (!type_is_known(header.type)) return std::nullopt;
  if (!flags_are_known(header.type, header.flags)) return std::nullopt;
  if (header.bytes < kRecordHeaderBytes + kIdBytes) return std::nullopt;
  if (header.bytes > kRecordBytesMax + kRecordHeaderBytes) return std::nullopt;
  if (distance != kFar && distance > header.position) return std::nullopt;
  header.durable_position = distance == kFar ? 0 : header.position - distance;
  const uint32_t crc = header_crc(seed, bytes, header.type, bytes.subspan(kRecordHeaderBytes));
  if (crc != header_field::header_crc.of(bytes)) return std::nullopt;
  return header;
}

bool body_is_whole(Bytes header, Bytes body, RecordType type) {
  if (header.size() < kRecordHeaderBytes) return false;
  const uint32_t crc = header_field::body_crc.of(header);
  if (type != RecordType::pushed) return crc == crc32c(0, body);
  return body.size() >= kIdBytes && codec::items_are_whole(body.subspan(kIdBytes), crc);
}

std::optional<Bytes> whole_body(const RecordHeader& header, Bytes bytes) {
  if (header.bytes > bytes.size()) return std::nullopt;
  const Bytes body = bytes.subspan(kRecordHeaderBytes, header.bytes - kRecordHeaderBytes);
  return body_is_whole(bytes, body, header.type) ? std::optional(body) : std::nullopt;
}

std::optional<FoundRecord> record_at(uint32_t seed, Bytes bytes, uint64_t position) {
  const std::optional<RecordHeader> header = decode_header(seed, bytes);
  if (!header || header->position != position) return std::nullopt;
  const std::optional<Bytes> body = whole_body(*header, bytes);
  return body ? std::optional(FoundRecord{*header, *body}) : std::nullopt;
}

}  // namespace fq
