// message_patch - the changes to a message that waits or is dead.
//
// A field that is none stays as it is. Where a value may be taken back, the inner one is none: the message
// has it no more, and the value of all messages holds for it. The views must live until edit returns.
#pragma once

// fq, this room.
#include "core/api/message.h"

namespace fq {

struct TagPatch {
  std::string name;
  std::optional<std::string> value;  // none: without that tag
  bool operator==(const TagPatch&) const = default;
};

struct MessagePatch {
  std::optional<Bytes> payload;
  std::optional<int32_t> priority;
  std::optional<std::string_view> key;  // SortKey bytes; empty: none
  // When it is due, one of them; a dead message takes neither.
  std::optional<int64_t> delay_ms;    // from now; of a held one from its release; 0: at once
  std::optional<int64_t> at_wall_ms;  // at this time; the past is now
  std::optional<std::optional<uint32_t>> attempts_max;
  std::optional<std::optional<int64_t>> timeout_ms;
  std::optional<std::optional<int64_t>> keep_ms;
  std::optional<std::optional<int64_t>> ttl_ms;
  std::vector<TagPatch> tags;
  std::optional<std::optional<JobCommand>> command;  // none: its payload is all that it is
};

/// Whether it changes nothing.
inline bool is_empty(const MessagePatch& patch) {
  return !patch.payload && !patch.priority && !patch.key && !patch.delay_ms && !patch.at_wall_ms &&
         !patch.attempts_max && !patch.timeout_ms && !patch.keep_ms && !patch.ttl_ms && patch.tags.empty() &&
         !patch.command;
}

}  // namespace fq
