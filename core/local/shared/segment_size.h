// segment_size - how large a segment may be for what lives in it.
//
// Arrays only grow, so a segment keeps the size of the most that its queue ever held. It is made anew (see
// smaller_segment.cpp) once it has more than
//
//   16 MiB, of which a young segment and the 65,536 ends that are remembered take 8, and
//   4 times what the messages, tenants, keys and settings take that live,
//
// but also more than twice what its queue takes at least, which is what a replay of the journal had made of
// it: what was just made smaller is never made anew for the same reason. A journal of more than 256 MiB takes
// too long to be replayed while others wait at the door.
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
