// segment_size - the limit on the size of a segment, from its live data.
//
// Arrays only grow, so a segment keeps the size of the most that its queue ever held. It is made anew (see
// smaller_segment.cpp) once it has more than
//
//   16 MiB, of which a young segment and the 65,536 ends that are remembered take 8, and
//   4 times the size of the live messages, tenants, keys and settings,
//
// but also more than twice the least that its queue takes, which is the size that a replay of the journal
// gave it: a segment that was just made smaller is never made anew for the same reason. A journal of more
// than 256 MiB takes too long to be replayed while others wait at the door.
#pragma once

// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

inline constexpr uint64_t kSegmentAllowance = 16 * 1024 * 1024;
inline constexpr uint64_t kSegmentFactor = 4;
inline constexpr uint64_t kQuicklyReplayedBytes = 256 * 1024 * 1024;

/// A look without the lock.
bool segment_is_too_large(const SegmentHeader& header);

}  // namespace fq
