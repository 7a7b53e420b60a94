// queue_mark - the four characters by which a queue's receipts tell it from the others of its spool.
//
// Made from the nonce in `lock`, so a queue keeps them when it is renamed, and gets others when it is made
// anew or is a copy. A nonce is drawn so that no other queue of the spool has its mark; only two queues that
// are made in the same moment may miss each other, one time in a million.
#pragma once

// System.
#include <array>
#include <cstring>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/receipt.h"
#include "core/base/result.h"

namespace fq {

inline constexpr size_t kMarkBytes = kOwnMarkBytes;
using QueueMark = std::array<char, kMarkBytes>;

QueueMark mark_of(const uint8_t (&nonce)[16]);
inline std::string_view text_of(const QueueMark& mark) { return {mark.data(), mark.size()}; }

inline bool is_text_of(const QueueMark& mark, std::string_view text) {
  return text.size() == mark.size() && std::memcmp(text.data(), mark.data(), kMarkBytes) == 0;
}

/// The queue of this spool that has it; "": none. A queue that cannot be read has none.
Result<std::string> find_queue_marked(const std::string& spool, std::string_view mark);
/// Draws a nonce whose mark no queue of this spool has.
Result<void> draw_nonce(const std::string& spool, uint8_t (&nonce)[16]);

}  // namespace fq
