// schedule_reader - a schedule in full: looked up under the lock, read in the journal without it.
#pragma once

// fq, this room.
#include "core/local/write/link.h"

namespace fq {

/// A schedule as the lock showed it.
struct ScheduleSnapshot {
  uint32_t index = 0;
  std::array<char, kTextBytesMax> text;
  std::string_view name() const { return {text.data(), name_bytes}; }
  size_t name_bytes = 0;
  uint64_t record = 0;
  uint64_t version = 0;
  uint64_t known_id = 0;
  uint64_t last_id = 0;
  uint32_t flags = 0;
  Occurrence last{};
  int64_t done_wall_ms = 0;
  int64_t next_wall_ms = 0;
  int64_t last_wall_ms = 0;
  std::optional<FilePlace> place;
  uint64_t written_end = 0;
};

/// The record of a schedule, with the bytes that it points into: as it was when that was written, and not as
/// it has become since.
struct StoredSchedule {
  std::vector<std::byte> bytes;
  ScheduledRecord record;
};

class ScheduleReader : private Linked {
 public:
  explicit ScheduleReader(Link& link) : Linked(link) {}

  /// Needs: the lock, and that the index is one that is used.
  ScheduleSnapshot see(uint32_t index);
  /// None of this name: false.
  Result<bool> find(std::string_view name, ScheduleSnapshot& seen);
  /// Nothing was done to it since. Needs: the lock.
  bool is_unchanged(const ScheduleSnapshot& seen);
  /// False: its record lies there no more, or cannot be read.
  Result<bool> read(const ScheduleSnapshot& seen, StoredSchedule& stored);
};

/// The record brought up to date with what the lock showed.
ScheduledRecord record_now(const StoredSchedule& stored, const ScheduleSnapshot& seen);

}  // namespace fq
