// exporter - a message with all that this queue knows of it, as another queue takes it in.
#pragma once

// fq, below us.
#include "core/api/exported.h"
// fq, this room.
#include "core/local/read/carried.h"
#include "core/local/read/step_reader.h"

namespace fq {

class Exporter : private Linked {
 public:
  explicit Exporter(Link& link) : Linked(link), steps_(link) {}

  /// None: there is no such message, or it is on its way to another queue, which has it then.
  Result<std::optional<ExportedMessage>> tell(MessageId id);

 private:
  Result<void> emit_payload(const MessageItem& item, ExportedMessage& message);
  Result<bool> emit_steps(MessageId id, ExportedMessage& message);
  Result<void> emit_step(const StoredStep& stored, ExportedMessage& message);
  Result<void> emit_children(bool wait_failed, ExportedStep& step);

  StepReader steps_;
};

}  // namespace fq
