// limits - the limits on all that a queue takes, each said once: for the door, the checks, the records, the
// segment.
#pragma once

// System.
#include <cstddef>
#include <cstdint>

namespace fq {

inline constexpr size_t kTenantBytesMax = 255;
inline constexpr size_t kTenantLevelsMax = 8;
inline constexpr size_t kQueueNameBytesMax = 64;
inline constexpr size_t kScheduleNameBytesMax = 64;
inline constexpr size_t kScheduleSpecBytesMax = 255;
inline constexpr size_t kStepNameBytesMax = 64;
inline constexpr uint32_t kStepsPerMessageMax = 1000;         // a look for one walks all of them
inline constexpr uint32_t kStepBytesMax = 1024 * 1024;        // of one output
inline constexpr uint32_t kStepsBytesMax = 16 * 1024 * 1024;  // of all of a message
inline constexpr uint32_t kSchedulesMax = 65'536;             // of one queue; arbitrary
inline constexpr size_t kSortKeyBytesMax = 64;                // in its encoded form
inline constexpr size_t kAfterMax = 64;                       // that a message comes after; a key may add one
inline constexpr size_t kUniqueKeyBytesMax = 255;             // arbitrary: a key is a name, not data
inline constexpr size_t kTagsMax = 64;                        // arbitrary: tags are labels, not data
inline constexpr size_t kTagBytesMax = 4096;                  // of all tags of a message, names and values
inline constexpr uint32_t kAttemptsMax = 65535;               // the most that the segment's counter holds
inline constexpr uint32_t kInlinePayloadBytesMax = 64 * 1024;  // a longer one lies beside its record
inline constexpr size_t kReasonBytesMax = 1024;                // longer reasons are cut
inline constexpr size_t kStderrTailBytesMax = 4096;
inline constexpr size_t kCommandBytesMax = 60 * 1024;  // of a command message's argv, cwd and variables
inline constexpr size_t kBatchMessagesMax = 1024;
inline constexpr size_t kBatchBytesMax = 256 * 1024 - 256;  // sum of batch_bytes(); the rest frames the batch

}  // namespace fq
