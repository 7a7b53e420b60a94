// session - everything that belongs to one attached segment, made anew when the segment was replaced.
#pragma once

// fq, this room.
#include "core/local/files/queue_mark.h"
#include "core/local/recover/attachment.h"
#include "core/local/flush/flush.h"
#include "core/local/flush/item_reader.h"

namespace fq {

struct Session {
  Session(Attachment& attachment, Clock& clock)
      : gate(attachment.store(), clock, attachment.object()),
        files(attachment.disk()),
        flusher(gate, files, attachment.lock_file()),
        reader(gate.stream(), files),
        mark(mark_of(attachment.store().header().identity.nonce)) {}

  Gate gate;
  OpenFiles files;
  Flusher flusher;
  ItemReader reader;
  const QueueMark mark;  // of this queue's receipts
};

}  // namespace fq
