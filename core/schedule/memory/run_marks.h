// run_marks - how long a message has run, of which its entry knows the beginning modulo 2^32 ms.
//
// Serials of deliveries rise. So a mark, the serial of a delivery and its time, tells of every run on which
// side of that time it began. The first delivery after so many days sets one; what began before the oldest
// that is kept is told as begun then.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

/// 12 days: chosen, less than half of what 32 bits hold, so that what lies between two marks is told by them.
inline constexpr int64_t kRunMarkMs = int64_t{1} << 30;

/// Sets a mark at the delivery with this serial.
inline void run_mark_set(Txn& txn, ScheduleRoot& root, uint64_t serial, int64_t now_ms) {
  RunMark& mark = root.run_marks[root.run_marks_made % kRunMarks];
  put(txn, mark.serial, serial);
  put(txn, mark.at_ms, now_ms);
  put(txn, root.run_marks_made, root.run_marks_made + 1);
  put(txn, root.run_mark_serial, serial);
  put(txn, root.run_mark_due_ms, now_ms + kRunMarkMs);
}

/// When a run began that a mark tells of.
inline int64_t run_began_ms(const RunMark& mark, const Entry& entry) {
  const uint32_t since = entry.began_ms - static_cast<uint32_t>(mark.at_ms);
  return mark.at_ms + static_cast<int32_t>(since);
}

inline uint64_t long_run_ms(const ScheduleRoot& root, const Entry& entry, int64_t now_ms) {
  const uint32_t made = root.run_marks_made;
  if (made == 0) return static_cast<uint32_t>(now_ms) - entry.began_ms;
  const uint32_t kept = std::min(made, kRunMarks);
  int64_t began_ms = root.run_marks[(made - kept) % kRunMarks].at_ms;
  for (uint32_t n = 1; n <= kept; ++n) {
    const RunMark& mark = root.run_marks[(made - n) % kRunMarks];
    if (entry.serial < mark.serial) continue;
    began_ms = run_began_ms(mark, entry);
    break;
  }
  return static_cast<uint64_t>(std::max<int64_t>(0, now_ms - began_ms));
}

/// How long a leased message has run. At most as many steps as there are marks; of nearly all messages one.
[[gnu::always_inline]] inline uint64_t run_ms_of(const ScheduleRoot& root, const Entry& entry,
                                                 int64_t now_ms) {
  const bool is_of_newest = entry.serial >= root.run_mark_serial && now_ms < root.run_mark_due_ms;
  if (__builtin_expect(is_of_newest, 1)) return static_cast<uint32_t>(now_ms) - entry.began_ms;
  return long_run_ms(root, entry, now_ms);
}

}  // namespace fq
