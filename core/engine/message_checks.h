// message_checks - what a message must be to be taken at all.
#pragma once

// fq, below us.
#include "core/api/queue.h"

namespace fq {

inline bool is_keyed(const NewMessage& message) {
  return !message.unique.empty() || !message.debounce.empty();
}
inline bool comes_after(const NewMessage& message) {
  return !message.after.empty() || !message.after_any.empty();
}
/// A key, or messages that it comes after.
inline bool has_terms(const NewMessage& message) { return is_keyed(message) || comes_after(message); }

Result<void> check_message(const NewMessage& message, uint64_t payload_bytes_max);

}  // namespace fq
