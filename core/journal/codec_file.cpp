// codec_file - what stands before the records of a file: its header and its OPENED record. And tags.
//
//   offset size field                     (file header; twice, at 0 and at 2048, else zero)
//        0    8 magic "fqjournl"
//        8    4 format
//       12    4 file number
//       16    8 salt
//       24    8 made_wall_ms
//       32    4 CRC32C of bytes 0..32       (this much is the same in every format)
//
//   offset size field                     (OPENED; twice, at 0 and at 64 of its 128 bytes, else zero)
//        0    4 magic "fqo1"
//        4    4 previous file number
//        8    8 start position
//       16    8 first seq
//       24    8 at_wall_ms
//       32   16 boot_id
//       48    8 wall clock - boot clock, ms
//       56    4 CRC32C of bytes 0..56, seeded with the file's salt and number
// Both stand twice because the whole file hangs on them: without the salt no record of it can be read.
//
// Tags: {u16 bytes of the name, u16 bytes of the value, name, value}, one behind the other.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint64_t kFileMagic = 0x6c6e72756f6a7166;  // "fqjournl"
constexpr uint32_t kOpenedMagic = 0x316f7166;        // "fqo1"
constexpr size_t kSealedBytes = kFileHeaderCopyBytes - sizeof(uint32_t);
constexpr size_t kOpenedSealedBytes = 56;
constexpr size_t kFileHeaderCopies[] = {0, kFileHeaderBytes / 2};
constexpr size_t kOpenedCopies[] = {0, kOpenedBytes / 2};

FileHeaderFault decode_copy(Bytes copy, FileHeader& header, uint32_t& format) {
  codec::ByteReader from(copy);
  if (from.get<uint64_t>() != kFileMagic) return FileHeaderFault::not_ours;
  const auto format_here = from.get<uint32_t>();
  FileHeader here;
  here.key.number = from.get<uint32_t>();
  here.key.salt = from.get<uint64_t>();
  here.made_wall_ms = from.get<int64_t>();
  const auto crc = from.get<uint32_t>();
  if (from.broken() || crc != crc32c(0, copy.first(kSealedBytes))) return FileHeaderFault::damaged;
  format = format_here;
  if (format != kJournalFormat) return FileHeaderFault::other_format;
  header = here;
  return FileHeaderFault::none;
}

std::optional<OpenedRecord> decode_opened_copy(const FileKey& key, Bytes copy) {
  codec::ByteReader from(copy);
  OpenedRecord opened;
  const auto magic = from.get<uint32_t>();
  opened.previous_number = from.get<uint32_t>();
  opened.start_position = from.get<uint64_t>();
  opened.first_seq = from.get<uint64_t>();
  from.get<int64_t>();  // when: for people who read the bytes
  const Bytes boot_id = from.take(sizeof opened.clock.boot_id);
  std::copy(boot_id.begin(), boot_id.end(), std::as_writable_bytes(std::span(opened.clock.boot_id)).begin());
  opened.clock.wall_minus_boot_ms = from.get<int64_t>();
  const auto crc = from.get<uint32_t>();
  if (from.broken() || magic != kOpenedMagic) return std::nullopt;
  if (crc != crc32c(file_seed(key), copy.first(kOpenedSealedBytes))) return std::nullopt;
  return opened;
}

}  // namespace

std::vector<std::byte> encode_file_header(const FileHeader& header) {
  std::vector<std::byte> bytes(kFileHeaderBytes);
  for (const size_t offset : kFileHeaderCopies) {
    const MutableBytes copy = MutableBytes(bytes).subspan(offset);
    codec::ByteWriter to(copy);
    to.put(kFileMagic);
    to.put(kJournalFormat);
    to.put(header.key.number);
    to.put(header.key.salt);
    to.put(header.made_wall_ms);
    to.put(crc32c(0, copy.first(kSealedBytes)));
  }
  return bytes;
}

FileHeaderFault decode_file_header(Bytes bytes, FileHeader& header, uint32_t& format) {
  auto worst = FileHeaderFault::not_ours;
  for (const size_t offset : kFileHeaderCopies) {
    if (bytes.size() <= offset) break;
    const FileHeaderFault fault = decode_copy(bytes.subspan(offset), header, format);
    if (fault == FileHeaderFault::none || fault == FileHeaderFault::other_format) return fault;
    if (fault == FileHeaderFault::damaged) worst = fault;
  }
  return worst;
}

bool file_header_is_whole(Bytes bytes) {
  FileHeader header;
  uint32_t format = 0;
  if (bytes.size() != kFileHeaderBytes) return false;
  if (decode_file_header(bytes, header, format) != FileHeaderFault::none) return false;
  const std::vector<std::byte> whole = encode_file_header(header);
  return std::equal(bytes.begin(), bytes.end(), whole.begin());
}

std::vector<std::byte> encode_opened(const FileKey& key, const OpenedRecord& opened, int64_t at_wall_ms) {
  std::vector<std::byte> bytes(kOpenedBytes);
  for (const size_t offset : kOpenedCopies) {
    const MutableBytes copy = MutableBytes(bytes).subspan(offset);
    codec::ByteWriter to(copy);
    to.put(kOpenedMagic);
    to.put(opened.previous_number);
    to.put(opened.start_position);
    to.put(opened.first_seq);
    to.put(at_wall_ms);
    to.put_bytes(std::as_bytes(std::span(opened.clock.boot_id)));
    to.put(opened.clock.wall_minus_boot_ms);
    to.put(crc32c(file_seed(key), copy.first(kOpenedSealedBytes)));
  }
  return bytes;
}

std::optional<OpenedRecord> decode_opened(const FileKey& key, Bytes bytes) {
  for (const size_t offset : kOpenedCopies) {
    if (bytes.size() <= offset) break;
    if (const auto opened = decode_opened_copy(key, bytes.subspan(offset))) return opened;
  }
  return std::nullopt;
}

std::optional<FileKey> key_of_opened(uint32_t number, Bytes bytes, size_t copy) {
  FQ_ASSERT(copy < std::size(kOpenedCopies));
  if (bytes.size() < kOpenedCopies[copy] + kOpenedSealedBytes + sizeof(uint32_t)) return std::nullopt;
  const Bytes sealed = bytes.subspan(kOpenedCopies[copy], kOpenedSealedBytes);
  if (get_number<uint32_t>(sealed.data()) != kOpenedMagic) return std::nullopt;
  const auto crc = get_number<uint32_t>(sealed.data() + kOpenedSealedBytes);
  const uint32_t seed = crc32c_seed(crc, sealed);
  // file_seed, backwards: four bytes of the salt stay zero, the other four take it where it has to come to.
  std::byte tail[4];
  put_number(tail, number);
  const std::byte zeros[4] = {};
  const uint32_t wanted = crc32c_seed(crc32c_seed(seed, tail), zeros);
  const FileKey key{number, uint64_t{crc32c(0, zeros) ^ wanted} << 32};
  FQ_ASSERT(file_seed(key) == seed);
  return key;
}

std::string encode_tags(std::span<const TagView> tags) {
  size_t bytes = 0;
  for (const TagView& tag : tags) {
    FQ_ASSERT(tag.name.size() <= UINT16_MAX);
    FQ_ASSERT(tag.value.size() <= UINT16_MAX);
    bytes += 4 + tag.name.size() + tag.value.size();
  }
  std::string text(bytes, '\0');
  codec::ByteWriter to(std::as_writable_bytes(std::span(text)));
  for (const TagView& tag : tags) {
    to.put(static_cast<uint16_t>(tag.name.size()));
    to.put(static_cast<uint16_t>(tag.value.size()));
    to.put_text(tag.name);
    to.put_text(tag.value);
  }
  return text;
}

std::optional<std::vector<TagView>> decode_tags(std::string_view bytes) {
  codec::ByteReader from(as_bytes(bytes));
  std::vector<TagView> tags;
  while (from.left() > 0) {
    const auto name_bytes = from.get<uint16_t>();
    const auto value_bytes = from.get<uint16_t>();
    TagView tag;
    tag.name = from.take_text(name_bytes);
    tag.value = from.take_text(value_bytes);
    if (from.broken()) return std::nullopt;
    tags.push_back(tag);
  }
  if (from.broken()) return std::nullopt;
  return tags;
}

}  // namespace fq
