// recurring - a schedule, as people call it: its name, and the time at which it makes its next message.
//
// Its message and its rules stand in the journal, at `record`: see core/local/schedules.
#pragma once

// fq, this room.
#include "core/schedule/memory/layout.h"

namespace fq {

inline constexpr uint32_t kRecurringUsed = 1;
inline constexpr uint32_t kRecurringPaused = 2;
inline constexpr uint32_t kRecurringOfFile = 4;
inline constexpr uint32_t kRecurringDue = 8;       // in the list of those that are due
inline constexpr uint32_t kRecurringRefused = 16;  // in the list of those that found no room

/// In the order in which they became due.
struct RecurringList {
  Shared<uint32_t> head, tail;
};

struct Recurring {
  Shared<uint64_t> hash;         // of its name
  Shared<uint64_t> record;       // stream position of the record that tells what it is
  Shared<uint64_t> version;      // of what it is: differs after each change by hand
  Shared<int64_t> done_wall_ms;  // times up to here are accounted for
  Shared<int64_t> next_wall_ms;  // the first behind it; kNever: there is none any more
  Shared<int64_t> timer_ms;      // boot time: in the heap, when that will be
  Shared<int64_t> last_wall_ms;  // the last time that came; 0: none yet
  Shared<uint64_t> last_id;      // of the last message that it made; 0: none yet
  Shared<uint64_t> known_id;     // messages up to this one are accounted for
  Shared<uint32_t> name;         // text
  Shared<uint32_t> chain;        // next in its bucket, or next free
  Shared<uint32_t> heap_place;
  Shared<uint32_t> prev, next;    // in the list that it is in
  Shared<uint32_t> flags;         // kRecurring...
  Shared<uint32_t> record_bytes;  // that its record takes
  Shared<Occurrence> last;  // what became of the last time
};
static_assert(sizeof(Recurring) == 104);

}  // namespace fq
