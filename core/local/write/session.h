// session - everything that belongs to one attached segment, made anew when the segment was replaced.
#pragma once

// fq, this room.
#include "core/local/recover/attachment.h"
#include "core/local/flush/flush.h"
#include "core/local/flush/item_reader.h"

namespace fq {

struct Session {
  Session(Attachment& attachment, Clock& clock)
      : gate(attachment.store(), clock, attachment.object()),
        files(attachment.disk()),
        flusher(gate, files, attachment.lock_file()),
        reader(gate.stream(), files) {}

  Gate gate;
  OpenFiles files;
  Flusher flusher;
  ItemReader reader;
};

}  // namespace fq
