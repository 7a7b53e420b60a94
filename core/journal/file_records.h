// file_records - the records of one journal file: the one at a place, or the next one behind it.
//
// Reads forward through one window of memory that all files of a scan share. An I/O error makes every
// further look come back empty and is kept in failure(): the loops ask once, where they stop. Pages that the
// disk does not give back (EIO) are no such error where the caller takes them for damage: they read as zeros.
#pragma once

// System.
#include <optional>
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"
// fq, this room.
#include "core/journal/codec.h"
#include "core/journal/holes.h"

namespace fq {

/// A stretch of a file in memory; moves forward, or anywhere at the price of a read.
class FileWindow {
 public:
  explicit FileWindow(Holes holes = Holes::refused) : takes_holes_(holes == Holes::taken) {}

  /// Begins to read `file` anew, up to `end`.
  void reset(File& file, uint64_t end);
  /// The bytes from `offset` on, at least `want` of them unless the end comes first (or a read failed).
  Bytes at(uint64_t offset, size_t want) {
    if (offset >= begin_ && offset - begin_ <= filled_ && filled_ - (offset - begin_) >= want)
      return Bytes(buffer_).subspan(static_cast<size_t>(offset - begin_),
                                    filled_ - static_cast<size_t>(offset - begin_));
    return load(offset, want);
  }
  const std::optional<Error>& failure() const { return failure_; }
  /// Those met since reset().
  const HolePages& holes() const { return holes_; }

 private:
  Bytes load(uint64_t offset, size_t want);

  std::vector<std::byte> buffer_;
  File* file_ = nullptr;
  uint64_t begin_ = 0;
  size_t filled_ = 0;
  uint64_t end_ = 0;
  bool takes_holes_;
  HolePages holes_;
  std::optional<Error> failure_;
};

struct PlacedRecord : FoundRecord {
  uint64_t offset = 0;  // in the file

  uint64_t end_offset() const { return offset + padded(header.bytes); }
};

class FileRecords {
 public:
  /// Needs: `window` was reset to the file, and to no more than `end`.
  FileRecords(FileWindow& window, const FileKey& key, uint64_t start_position, uint64_t end)
      : window_(window), seed_(file_seed(key)), start_position_(start_position), end_(end) {}

  /// The record that begins at `offset`, with whole body and at its own place; none when there is none.
  std::optional<PlacedRecord> at(uint64_t offset);
  /// The first such record at or behind `offset` whose seq is in [seq_min, seq_end).
  std::optional<PlacedRecord> find_from(uint64_t offset, uint64_t seq_min, uint64_t seq_end);
  /// Any header of this file at or behind `offset` and before `end`, in its place or not.
  std::optional<PlacedRecord> find_header(uint64_t offset, uint64_t end);

  /// Where the hole ends that has a part of the record at `offset`, or of its header; 0: there is none.
  uint64_t hole_end(uint64_t offset);

  /// Whether a look met a header of this file that is no record, since they were last forgotten.
  bool saw_loose_header() const { return saw_loose_header_; }
  void forget_loose_headers() { saw_loose_header_ = false; }
  uint64_t position_of(uint64_t offset) const { return start_position_ + (offset - kFirstRecordOffset); }
  uint64_t end() const { return end_; }

 private:
  /// The next place at or behind `offset` that starts like a header; `end` when there is none.
  uint64_t next_magic(uint64_t offset, uint64_t end);

  FileWindow& window_;
  uint32_t seed_;
  uint64_t start_position_;
  uint64_t end_;
  bool saw_loose_header_ = false;
};

}  // namespace fq
