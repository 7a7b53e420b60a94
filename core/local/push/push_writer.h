// push_writer - one record of pushed messages: room found for it, appended, and as much as may be served at
// once.
#pragma once

// System.
#include <functional>
// fq, this room.
#include "core/local/push/admission.h"
#include "core/local/push/push_batch.h"
#include "core/local/write/writer.h"

namespace fq {

/// A pushed record, and where it ends.
struct Appended {
  MessageId first_id{};
  uint64_t end = 0;
  bool refused = false;  // true: the precondition failed, nothing was appended
};

/// Asked under the lock, right before a record is appended.
using Precondition = std::function<bool(const Now& now)>;

/// A record that is appended right before that of the messages, in the same transaction: both are there after
/// a crash, or it alone (see Replayer).
struct Companion {
  uint64_t bytes = 0;  // that it takes
  Need need;
  std::function<void(Change& change, MessageId first_id)> append;
};

/// Owns the batch that is pushed and its record.
class PushWriter : private Linked {
 public:
  PushWriter(Link& link, Writer& writer, Upkeep& upkeep, Admission& admission)
      : Linked(link), writer_(writer), upkeep_(upkeep), admission_(admission) {}

  /// One record of them; `precondition` may be none. `behind`, `next_wall_ms`: see PushBatch.
  Result<Appended> append(std::span<const NewMessage> messages, std::span<const MessageId> behind, bool lazy,
                          const Precondition& precondition, int64_t next_wall_ms = 0,
                          const Companion* companion = nullptr);
  /// Whether they would be accepted, should `instead` end before; an Error says why not. Appends nothing.
  Result<void> check_room(std::span<const NewMessage> messages, MessageId instead);

 private:
  template <class Work>
  Result<void> when_there_is_room(const Need& need, Work&& work);
  Result<void> encode(bool lazy);
  Result<void> forget_ends(const Need& need);
  PushedMessages append_pushed(const Need& need, bool lazy, const Companion* companion);

  Writer& writer_;
  Upkeep& upkeep_;
  Admission& admission_;
  PushBatch batch_;
  Body body_;
};

}  // namespace fq
