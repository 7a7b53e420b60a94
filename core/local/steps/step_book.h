// step_book - the steps of messages that are at work: begun under their receipts, written down, and written
// down again before the file of an old record goes.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/push/push_writer.h"
#include "core/local/read/step_reader.h"
#include "core/local/write/event_writer.h"
#include "core/local/write/pushed_blobs.h"
#include "core/local/write/writer.h"

namespace fq {

class StepBook : private Linked {
 public:
  StepBook(Link& link, Writer& writer, EventWriter& events, Upkeep& upkeep, PushWriter& pushes)
      : Linked(link), writer_(writer), events_(events), upkeep_(upkeep), pushes_(pushes), reader_(link) {}

  Result<StepBegin> begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt);
  Result<SettleStatus> keep(const Receipt& receipt, std::string_view name, Bytes output);
  Result<StepPush> push(const Receipt& receipt, std::string_view name, const NewMessage& message);

  /// One step under a receipt, as the lock shows it.
  struct Look {
    SettleStatus receipt = SettleStatus::unknown;
    std::optional<StepSnapshot> seen;  // it has come to something
    uint32_t count = 0;            // steps of the message
    bool wait_failed = false;      // of what a step of it has waited for last not all were acked
    uint64_t end = 0;              // where the stream ended
  };
  Result<Look> look(const Receipt& receipt, std::string_view name);
  /// Reads what `look` has seen, durable before it is told; looks again where it lies elsewhere by now.
  /// False: there is none.
  Result<bool> read(const Receipt& receipt, std::string_view name, StepKind kind, Look& look,
                    StoredStep& stored);
  Result<void> check_count(const Receipt& receipt, std::string_view name, const Look& look);
  /// Appends it, and waits until that can no longer be lost.
  Result<SettleStatus> put(const Receipt& receipt, const SteppedRecord& step);

  /// Those that only old files tell of are written down anew, so that these can go.
  Result<void> carry();

 private:
  Result<std::optional<MessageId>> append_push(const Receipt& receipt, std::string_view name,
                                               const NewMessage& message);
  SettleStatus judge(const Receipt& receipt, const Now& now, std::optional<SlotIndex>& slot);
  std::optional<Error> over_limits(const Entry& entry, const SteppedRecord& step);
  Result<void> carry_one(StepSnapshot& seen);
  std::string step_object(std::string_view name, uint64_t id) {
    return "step '" + std::string(name) + "' of message " + std::to_string(id);
  }

  Writer& writer_;
  EventWriter& events_;
  Upkeep& upkeep_;
  PushWriter& pushes_;
  StepReader reader_;
  Body body_;
  Body carried_body_;  // carrying may be what makes room for a step
};

}  // namespace fq
