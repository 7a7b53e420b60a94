// editor - a message that does not run gets other values, in one record.
//
// The new message is put together without the lock, from all that is known of the old one and the patch; it
// is written if that still is what it was, else put together again.
#pragma once

// fq, below us.
#include "core/api/message_patch.h"
// fq, this room.
#include "core/local/push/admission.h"
#include "core/local/push/push_batch.h"
#include "core/local/read/carried.h"
#include "core/local/write/writer.h"

namespace fq {

/// Owns the record that is written.
class Editor : private Linked {
 public:
  Editor(Link& link, Writer& writer, Upkeep& upkeep, Admission& admission)
      : Linked(link), writer_(writer), upkeep_(upkeep), admission_(admission) {}

  /// As Queue::edit, once what time does is done.
  Result<SettleStatus> edit(MessageId id, const MessagePatch& patch);

 private:
  /// The message as it was, and as it is to be.
  struct Draft {
    Draft(Link& link, Upkeep& upkeep) : blobs(link, upkeep), doomed(link) {}
    Carried before;
    PushBatch batch;
    PushedBlobs blobs;
    DoomedBlobs doomed;  // the old payload, where it lies there
    std::string terms;
    EditedRecord record;
  };
  enum class Written { yes, changed };

  Result<SettleStatus> look(MessageId id, Draft& draft);
  Result<void> fill(const MessagePatch& patch, Draft& draft);
  void set_time(const MessagePatch& patch, int64_t now_wall_ms, Draft& draft);
  void set_terms(const MessagePatch& patch, Draft& draft);
  Result<Written> write(Draft& draft);
  void append(const Draft& draft, SlotIndex slot);

  Writer& writer_;
  Upkeep& upkeep_;
  Admission& admission_;
  Body body_;
  uint64_t end_ = 0;  // of what was written
};

}  // namespace fq
