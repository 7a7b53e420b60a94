#include "core/local/flush/item_reader.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/step_count.h"
#include "core/journal/codec.h"
#include "core/journal/holes.h"

namespace fq {

std::optional<ItemPlace> ItemReader::find_item(const Stream& stream, const SegmentHeader& header,
                                               const Entry& entry) {
  const std::optional<FilePlace> file = stream.table().place(entry.item_position);
  if (!file) return std::nullopt;
  ItemPlace place;
  place.position = entry.item_position;
  place.file = *file;
  place.written_end = header.ring_start.load(std::memory_order_relaxed);
  place.blob = (entry.flags & kEntryBlob) != 0;
  return place;
}

Result<bool> ItemReader::read(const ItemPlace& place, StoredItem& stored, bool lasting) {
  FQ_STEPS(1);
  const bool was_in_ring = place.position >= place.written_end;
  bool found = was_in_ring && read_ring(place.position, stored.bytes);
  // The ring has moved on, perhaps to another file than was thought of: an item does not tell whose it is.
  if (!found && was_in_ring && !stream_.table().holds(place.file.key.number, place.position)) return false;
  if (!found && !lasting && read_block(place, stored.item)) return true;
  if (!found) {
    FQ_TRY_SET(found, read_file(place, stored.bytes));
  }
  if (!found) return false;
  return decode_item(stored.bytes, stored.item);
}

bool ItemReader::read_ring(uint64_t position, std::vector<std::byte>& bytes) {
  std::array<std::byte, kItemFrameBytes> frame;
  if (!stream_.copy_out(position, frame)) return false;
  const size_t item_bytes = kItemFrameBytes + get_number<uint32_t>(frame.data());
  if (item_bytes > kRecordBytesMax) return false;
  bytes.resize(item_bytes);
  return stream_.copy_out(position, bytes);
}

bool ItemReader::read_block(const ItemPlace& place, MessageItem& item) {
  const Block& block = block_of(place.file);
  const size_t within = place.file.offset % kBlockBytes;
  if (!block.is_of(place.file) || !block.holds(within, kItemFrameBytes)) return false;
  const size_t item_bytes = kItemFrameBytes + get_number<uint32_t>(block.bytes.get() + within);
  if (block.end - within < item_bytes) return false;
  return decode_item(Bytes(block.bytes.get() + within, item_bytes), item);
}

Result<bool> ItemReader::read_file(const ItemPlace& place, std::vector<std::byte>& bytes) {
  // Bytes behind written_end are not in the file yet, or only partly: never kept in the cache.
  const uint64_t behind = place.position < place.written_end ? place.written_end - place.position : 0;
  std::array<std::byte, kItemFrameBytes> frame;
  const uint64_t readable = place.file.offset + std::max<uint64_t>(behind, kItemFrameBytes);
  FQ_TRY_SET(const bool has_frame, read_cached(place.file, readable, frame));
  if (!has_frame) return false;
  const size_t item_bytes = kItemFrameBytes + get_number<uint32_t>(frame.data());
  if (item_bytes > kRecordBytesMax) return false;
  bytes.resize(item_bytes);
  return read_cached(place.file, place.file.offset + std::max<uint64_t>(behind, item_bytes), bytes);
}

Result<bool> ItemReader::fill(Block& block, const FilePlace& at, size_t part, uint64_t readable) {
  Result<File*> file = files_.get(at.key);
  // Recycled or removed since it was looked up: the caller looks again.
  if (!file.ok() && file.error().sys == ENOENT) return false;
  // Damaged from its front on: what it held is lost, like a record that is damaged.
  if (!file.ok() && file.error().kind == ErrorKind::bad_data) return false;
  if (!file.ok()) return std::move(file).error();
  const uint64_t number = at.offset / kBlockBytes;
  const bool in_a_row = number == last_filled_ + 1;
  const size_t within = at.offset % kBlockBytes;
  const uint32_t pieces = block.is_of(at) ? block.pieces : 0;
  const bool goes_on = pieces > 0 && block.begin < within && within <= block.end;
  const bool whole = in_a_row || goes_on || pieces >= kPieces;
  const size_t from = whole ? 0 : within;
  const size_t to = whole ? kBlockBytes : std::min(kBlockBytes, within + std::max(part, kPieceBytes));
  if (!block.bytes) block.bytes = std::make_unique_for_overwrite<std::byte[]>(kBlockBytes);
  block.salt = at.key.salt;
  block.number = number;
  block.pieces = pieces + 1;
  block.begin = block.end = from;
  const uint64_t start = number * kBlockBytes;
  HolePages holes;  // what lies in one is no valid item, and what lies beside it is
  FQ_TRY_SET(const size_t got, read_around_holes(**file, start + from,
                                                 MutableBytes(block.bytes.get() + from, to - from), holes));
  // Given back while it was read, perhaps for other records: an item does not tell that it is another's.
  if (stream_.table().is_given_back(at.key.number)) return false;
  const uint64_t known = readable > start ? readable - start : 0;
  block.end = std::max<uint64_t>(from, std::min<uint64_t>(from + got, known));
  if (to == kBlockBytes) last_filled_ = number;
  return true;
}

Result<bool> ItemReader::read_cached(const FilePlace& place, uint64_t readable, MutableBytes to) {
  FilePlace at = place;
  while (!to.empty()) {
    Block& block = block_of(at);
    const size_t within = at.offset % kBlockBytes;
    const size_t part = std::min(to.size(), kBlockBytes - within);
    if (!block.is_of(at) || !block.holds(within, part)) {
      FQ_TRY_SET(const bool there, fill(block, at, part, readable));
      if (!there || !block.holds(within, part)) return false;
    }
    std::memcpy(to.data(), block.bytes.get() + within, part);
    to = to.subspan(part);
    at.offset += part;
  }
  return true;
}

Result<bool> ItemReader::read_record(const FilePlace& place, uint64_t position, uint64_t written_end,
                                     std::vector<std::byte>& record) {
  FQ_STEPS(1);
  bool in_ring = true;
  const auto copy = [&](MutableBytes to) -> Result<bool> {
    if (position >= written_end && stream_.copy_out(position, to)) return true;
    in_ring = false;
    // What the ring has left, also since it was looked up, is in the file.
    written_end = std::max(written_end, stream_.ring_start());
    return read_cached(place, place.offset + (written_end - position), to);
  };
  std::array<std::byte, kRecordHeaderBytes + 8> start{};
  FQ_TRY_SET(const bool has_start, copy(start));
  if (!has_start) return false;
  const size_t bytes = header_field::bytes.of(start);
  if (bytes < kRecordHeaderBytes || bytes > kRecordBytesMax) return false;
  // decode_header reads eight bytes of body, also of a record that has none.
  record.assign(std::max<size_t>(bytes, start.size()), std::byte{0});
  FQ_TRY_SET(const bool is_whole, copy(MutableBytes(record).first(bytes)));
  if (!is_whole) return false;
  // Until what a failed file was to hold is in another one, it has the seal of the failed one there.
  if (in_ring) reseal_record(place.key, record);
  return record_at(file_seed(place.key), record, position).has_value();
}

}  // namespace fq
