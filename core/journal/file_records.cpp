// file_records - see the header. Thanks to the search for the next record a hole in the middle costs only the
// records in it: 8-byte steps, the magic compared first, everything else only where that fits.
#include "core/journal/file_records.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/step_count.h"

namespace fq {

namespace {

constexpr size_t kBlockBytes = 1024 * 1024;  // chosen: larger reads gain nothing from a warm cache
constexpr size_t kLeastBytes = kRecordHeaderBytes + 8;

}  // namespace

void FileWindow::reset(File& file, uint64_t end) {
  file_ = &file;
  begin_ = 0;
  filled_ = 0;
  end_ = end;
  holes_.clear();
}

Bytes FileWindow::load(uint64_t offset, size_t want) {
  if (failure_ || offset >= end_) return {};
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(std::max(want, kBlockBytes), end_ - offset));
  if (buffer_.size() < bytes) buffer_.resize(bytes);
  // What is still held is moved to the front, not read twice.
  size_t kept = 0;
  if (offset >= begin_ && offset - begin_ < filled_) {
    const auto skipped = static_cast<size_t>(offset - begin_);
    kept = std::min(filled_ - skipped, bytes);
    std::memmove(buffer_.data(), buffer_.data() + skipped, kept);
  }
  begin_ = offset;
  filled_ = kept;
  if (kept == bytes) return Bytes(buffer_).first(kept);
  const MutableBytes to = MutableBytes(buffer_).subspan(kept, bytes - kept);
  const Result<size_t> got =
      takes_holes_ ? read_around_holes(*file_, offset + kept, to, holes_) : file_->read_at(offset + kept, to);
  if (!got.ok()) {
    failure_ = takes_holes_ ? got.error() : of_hole(got.error());
    filled_ = 0;
    return {};
  }
  filled_ += got.value();
  return Bytes(buffer_).first(filled_);
}

std::optional<PlacedRecord> FileRecords::at(uint64_t offset) {
  FQ_STEPS(1);
  if (offset >= end_ || end_ - offset < kLeastBytes) return std::nullopt;
  const Bytes bytes = window_.at(offset, kLeastBytes);
  if (bytes.size() < kLeastBytes) return std::nullopt;
  const auto header = decode_header(seed_, bytes);
  if (!header) return std::nullopt;
  if (header->position == position_of(offset) && header->bytes <= end_ - offset) {
    const auto body = whole_body(*header, window_.at(offset, header->bytes));
    if (body) return PlacedRecord{{*header, *body}, offset};
  }
  saw_loose_header_ = true;
  return std::nullopt;
}

uint64_t FileRecords::hole_end(uint64_t offset) {
  const Bytes bytes = window_.at(offset, kLeastBytes);
  const auto header = bytes.size() < kLeastBytes ? std::nullopt : decode_header(seed_, bytes);
  uint64_t size = kLeastBytes;
  if (header && header->position == position_of(offset))
    size = std::min<uint64_t>(header->bytes, end_ - offset);
  // Of a header alone nobody has read the body.
  static_cast<void>(window_.at(offset, static_cast<size_t>(size)));
  return window_.holes().end_of_first(offset, size);
}

std::optional<PlacedRecord> FileRecords::find_from(uint64_t offset, uint64_t seq_min, uint64_t seq_end) {
  for (uint64_t place = next_magic(offset, end_); place < end_;
       place = next_magic(place + kRecordAlign, end_)) {
    const auto record = at(place);
    if (!record) continue;
    if (record->header.seq >= seq_min && record->header.seq < seq_end) return record;
    saw_loose_header_ = true;
  }
  return std::nullopt;
}

std::optional<PlacedRecord> FileRecords::find_header(uint64_t offset, uint64_t end) {
  for (uint64_t place = next_magic(offset, end); place < end; place = next_magic(place + kRecordAlign, end)) {
    const auto header = decode_header(seed_, window_.at(place, kLeastBytes));
    if (header) return PlacedRecord{{*header, {}}, place};
  }
  return std::nullopt;
}

uint64_t FileRecords::next_magic(uint64_t offset, uint64_t end) {
  while (offset < end && end - offset >= kLeastBytes) {
    const Bytes bytes = window_.at(offset, kLeastBytes);
    if (bytes.size() < kLeastBytes) return end;
    const auto here = static_cast<size_t>(std::min<uint64_t>(bytes.size(), end - offset));
    for (size_t step = 0; step + header_field::magic.end() <= here; step += kRecordAlign)
      if (header_field::magic.of(bytes.subspan(step)) == kRecordMagic) return offset + step;
    offset += here / kRecordAlign * kRecordAlign;
  }
  return end;
}

}  // namespace fq
