// push_batch - messages as the journal takes them: checked already, long payloads written aside.
//
// Owns the items and the texts that they point into, whose memory is used again.
#pragma once

// System.
#include <forward_list>
// fq, below us.
#include "core/engine/message_checks.h"
#include "core/api/queue.h"
// fq, this room.
#include "core/local/write/pushed_blobs.h"

namespace fq {

/// How a worker is to run it, as the journal keeps it; empty for most.
std::string job_bytes(const NewMessage& message);

class PushBatch {
 public:
  /// Adds to `need` what they need of the segment; long payloads are written to `blobs`. `next_wall_ms`: of
  /// messages that a schedule makes, when it is due again; 0: its times go on without them. `behind`: the
  /// message whose end each waits for because of its key, or none for all.
  Result<void> prepare(std::span<const NewMessage> messages, std::span<const MessageId> behind,
                       int64_t wall_ms, PushedBlobs& blobs, Need& need, int64_t next_wall_ms = 0);
  /// As if they had been prepared at that time. Nothing else changes, nor does what they take.
  void set_times(std::span<const NewMessage> messages, int64_t wall_ms);
  std::vector<MessageItem>& items() { return items_; }

 private:
  void describe(const NewMessage& message, MessageId behind, int64_t next_wall_ms, MessageItem& item);
  std::string_view keep(std::string text);

  std::vector<MessageItem> items_;
  std::forward_list<std::string> texts_;  // the items point into them
};

}  // namespace fq
