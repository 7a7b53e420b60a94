// occurrence - the rules of schedules for their times, and the fate of a time: words that the journal, the
// door and people share.
#pragma once

// System.
#include <cstdint>

namespace fq {

/// For times that passed while no process was there. On disk.
enum class MissedRule : uint8_t { one = 0, all = 1, skip = 2 };
/// For a time that comes while the message of the one before is unfinished. On disk.
enum class OverlapRule : uint8_t { skip = 0, queue = 1, cancel = 2 };
/// The fate of a time. On disk.
enum class Occurrence : uint8_t {
  none = 0,     // there was none yet
  made = 1,     // a message
  overlap = 2,  // skipped: the one before was unfinished
  missed = 3,   // skipped: it had passed
};

inline constexpr MissedRule kLastMissedRule = MissedRule::skip;
inline constexpr OverlapRule kLastOverlapRule = OverlapRule::cancel;
inline constexpr Occurrence kLastOccurrence = Occurrence::missed;

}  // namespace fq
