#include "core/local/shared/journal_size.h"

// System.
#include <algorithm>

namespace fq {

namespace {

constexpr uint64_t kCareBytes = kRecordBytesMax;
constexpr uint64_t kBurialsKept = 16384;  // chosen: room for all of them would double what a queue keeps free
constexpr uint64_t kKeyBytes = 40;        // of a key in a KEYS record, and its share of the record

constexpr uint64_t kSparseBytes = 2 * 1024 * 1024;
constexpr uint64_t kSparseFactor = 2;
constexpr uint64_t kOversizedBytes = 6 * 1024 * 1024;
constexpr uint64_t kOversizedFactor = 3;
// Three files that are half as large again and what may be written come to less than the bound.
constexpr uint64_t kFileBytesOfNothing = 1280 * 1024;
constexpr uint64_t kFreeParts = 16;  // arbitrary: of what is free one file takes a part of this size at most

uint64_t carried_bytes(const ScheduleRoot& root) {
  return uint64_t{root.key_supply.used} * kKeyBytes + root.setting_bytes + root.recurring_bytes;
}
constexpr uint64_t kBytesForCheck = 32 * 1024 * 1024;  // chosen: half of what may be more at work

uint64_t most_written_bytes(uint64_t live_bytes) { return kSparseBytes + kSparseFactor * live_bytes; }

uint64_t most_bytes(uint64_t live_bytes) { return kOversizedBytes + kOversizedFactor * live_bytes; }

uint64_t wanted_bytes(uint64_t live_bytes) { return kFileBytesOfNothing + live_bytes / 8 * 3; }

uint64_t most_file_bytes(uint64_t live_bytes) { return wanted_bytes(live_bytes) / 2 * 3; }

}  // namespace

uint64_t JournalSize::live_bytes() const {
  const ScheduleRoot& root = header_.schedule;
  return root.journal_bytes + carried_bytes(root);
}

uint64_t JournalSize::kept_room(Purpose purpose, uint64_t more_messages) const {
  const ScheduleRoot& root = header_.schedule;
  const CountsNow counts(root.counts);
  const uint64_t live = uint64_t{counts.ready} + counts.delayed + counts.leased + counts.held +
                        header_.pending_messages + more_messages;
  const uint64_t ends = (live + counts.dead) * kClosingBytes;
  const uint64_t burials = std::min(live, kBurialsKept) * kBurialBytes;
  switch (purpose) {
    case Purpose::accept:
    case Purpose::event:
      return ends + burials + carried_bytes(root) + kCareBytes;
    case Purpose::care:
      return ends + burials;
    case Purpose::bury:
      return ends;
    case Purpose::end:
      return 0;
  }
  return 0;
}

bool JournalSize::leaves_room(Purpose purpose, uint64_t bytes, uint64_t more_messages) const {
  if (purpose == Purpose::end) return true;
  // Whoever pushes leaves a file to go on in.
  if (purpose == Purpose::accept && !table_.has_ready()) return false;
  return table_.has_room(bytes, kept_room(purpose, more_messages));
}

bool JournalSize::can_spare(uint64_t bytes) const {
  return table_.has_room(0, bytes + kept_room(Purpose::event, 0));
}

uint32_t JournalSize::dead_files() const {
  const uint64_t durable_end = header_.durable_end.load(std::memory_order_relaxed);
  const uint64_t known_end = std::min<uint64_t>(durable_end, header_.applied_end);
  uint32_t number = header_.oldest_file;
  while (number < header_.current_file && table_.slot(number).live == 0 &&
         table_.slot(number).end <= known_end) {
    ++number;
  }
  return number - header_.oldest_file;
}

bool JournalSize::pins(const Pin& pin, uint32_t number) const {
  return pin.record != 0 && pin.record < table_.slot(number).end;
}

bool JournalSize::is_pinned(uint32_t number) const {
  return pins(header_.run_time_settings, number) || pins(header_.kept_keys, number) ||
         pins(header_.replaced, number) || pins(header_.schedules, number) || pins(header_.steps, number);
}

/// With what sealed files have left unused, since they take it.
uint64_t JournalSize::written_bytes() const {
  return header_.sealed_bytes + header_.tail - table_.slot(header_.current_file).start;
}

bool JournalSize::is_in_order() const {
  if (header_.oldest_file != header_.current_file && table_.slot(header_.oldest_file).live == 0) return false;
  const uint64_t live = header_.schedule.journal_bytes;
  return written_bytes() <= most_written_bytes(live) && table_.journal_bytes() <= most_bytes(live);
}

bool JournalSize::is_sparse() const {
  return header_.oldest_file != header_.current_file && written_bytes() > most_written_bytes(live_bytes());
}

bool JournalSize::stays_for_check() const {
  return header_.checking.holder() != 0 &&
         table_.journal_bytes() <= most_bytes(live_bytes()) + kBytesForCheck;
}

bool JournalSize::may_keep(uint32_t number) const {
  return !is_too_large(number) && !is_too_small(number) && table_.journal_bytes() <= most_bytes(live_bytes());
}

/// Each change of file costs the same: a queue that has grown does not go on with files of its youth.
bool JournalSize::is_too_small(uint32_t number) const {
  return table_.slot(number).bytes < wanted_file_bytes() / 2;
}

bool JournalSize::is_too_large(uint32_t number) const {
  return table_.slot(number).bytes > most_file_bytes(live_bytes());
}

bool JournalSize::is_oversized() const {
  if (table_.journal_bytes() <= most_bytes(live_bytes())) return false;
  if (ready_files() > kReadyFilesKept) return true;
  for (uint32_t n = header_.current_file; n <= header_.newest_file; ++n) {
    if (is_too_large(n)) return true;
  }
  return false;
}

bool JournalSize::may_replace_current() const {
  return is_too_large(header_.current_file) && ready_files() <= kReadyFilesKept;
}

uint64_t JournalSize::wanted_file_bytes() const {
  return std::min(table_.journal_bytes() / 2, wanted_bytes(live_bytes()));
}

uint64_t next_file_bytes(uint64_t wanted_bytes, uint64_t free_bytes) {
  const uint64_t bytes = std::min(wanted_bytes, free_bytes / kFreeParts);
  return std::clamp(bytes, kYoungFileBytes, kFileBytesMax) / kPageBytes * kPageBytes;
}

}  // namespace fq
