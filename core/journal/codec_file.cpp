// codec_file - the bytes before the records of a file: its header and its OPENED record. And tags.
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

}  // namespace

namespace codec {

template <class V>
void fields(V& v, Of<FileHeader> auto& header, uint64_t& magic) {
  v(magic, header.format, header.key.number, header.key.salt, header.made_wall_ms);
}

/// `at_wall_ms`: for people who read the bytes.
template <class V>
void fields(V& v, Of<OpenedRecord> auto& opened, uint32_t& magic, int64_t& at_wall_ms) {
  v(magic, opened.previous_number, opened.start_position, opened.first_seq, at_wall_ms, opened.clock.boot_id,
    opened.clock.wall_minus_boot_ms);
}

template <class V>
void fields(V& v, Of<TagView> auto& tag) {
  uint16_t name_bytes = v.size(tag.name.size());
  uint16_t value_bytes = v.size(tag.value.size());
  v(name_bytes, value_bytes);
  v(Text{tag.name, name_bytes}, Text{tag.value, value_bytes});
}

template <class V>
void fields(V& v, Of<std::span<const TagView>> auto& tags) {
  for (const TagView& tag : tags) fields(v, tag);
}

}  // namespace codec

namespace {

FileHeaderFault decode_copy(Bytes copy, FileHeader& header) {
  codec::ByteReader from(copy);
  FileHeader here;
  uint64_t magic = 0;
  codec::fields(from, here, magic);
  const auto crc = from.get<uint32_t>();
  const bool ours = codec::ByteReader(copy).get<uint64_t>() == kFileMagic;  // also of one that is cut short
  if (!ours) return FileHeaderFault::not_ours;
  if (from.broken() || crc != crc32c(0, copy.first(kSealedBytes))) return FileHeaderFault::damaged;
  header = here;
  if (here.format < kOldestFormat || here.format > kJournalFormat) return FileHeaderFault::other_format;
  return FileHeaderFault::none;
}

std::optional<OpenedRecord> decode_opened_copy(const FileKey& key, Bytes copy) {
  codec::ByteReader from(copy);
  OpenedRecord opened;
  uint32_t magic = 0;
  int64_t at_wall_ms = 0;
  codec::fields(from, opened, magic, at_wall_ms);
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
    uint64_t magic = kFileMagic;
    codec::fields(to, header, magic);
    to.put(crc32c(0, copy.first(kSealedBytes)));
  }
  return bytes;
}

FileHeaderFault decode_file_header(Bytes bytes, FileHeader& header) {
  auto worst = FileHeaderFault::not_ours;
  for (const size_t offset : kFileHeaderCopies) {
    if (bytes.size() <= offset) break;
    const FileHeaderFault fault = decode_copy(bytes.subspan(offset), header);
    if (fault == FileHeaderFault::none || fault == FileHeaderFault::other_format) return fault;
    if (fault == FileHeaderFault::damaged) worst = fault;
  }
  return worst;
}

bool file_header_is_whole(Bytes bytes) {
  FileHeader header;
  if (bytes.size() != kFileHeaderBytes) return false;
  if (decode_file_header(bytes, header) != FileHeaderFault::none) return false;
  const std::vector<std::byte> whole = encode_file_header(header);
  return std::equal(bytes.begin(), bytes.end(), whole.begin());
}

std::vector<std::byte> encode_opened(const FileKey& key, const OpenedRecord& opened, int64_t at_wall_ms) {
  std::vector<std::byte> bytes(kOpenedBytes);
  for (const size_t offset : kOpenedCopies) {
    const MutableBytes copy = MutableBytes(bytes).subspan(offset);
    codec::ByteWriter to(copy);
    uint32_t magic = kOpenedMagic;
    codec::fields(to, opened, magic, at_wall_ms);
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

std::string encode_tags(std::span<const TagView> tags) { return codec::encode_text(tags); }

std::optional<std::vector<TagView>> decode_tags(std::string_view bytes) {
  codec::ByteReader from(as_bytes(bytes));
  std::vector<TagView> tags;
  while (from.left() > 0) codec::fields(from, tags.emplace_back());
  if (from.broken()) return std::nullopt;
  return tags;
}

}  // namespace fq
