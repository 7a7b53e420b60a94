// steps - the steps of a message's job, each done once however often the job is run: the part of a queue that
// has them.
//
// A step has a name of its own in its message. Its result is kept with the message, durable before it is
// told, and ends with the message. Steps are done under the receipt of the lease that the job works on.
#pragma once

// System.
#include <memory>
#include <span>
// fq, below us.
#include "core/base/result.h"
#include "core/base/step_kind.h"
// fq, this room.
#include "core/api/message.h"

namespace fq {

class Interrupt;
struct NewMessage;

/// A step that has come to something, as people are told of it.
struct StepInfo {
  std::string name;
  StepKind kind = StepKind::run;
  int64_t at_wall_ms = 0;  // when that was kept
  uint64_t bytes = 0;      // of its output
  MessageId child{};       // push: the message
};

/// That a step is at work: another process that begins it waits until this object is gone, and every process
/// that has the descriptor open.
class StepTurn {
 public:
  virtual ~StepTurn() = default;
  /// For what the step runs to inherit; -1: the engine has nothing like it.
  virtual int descriptor() const = 0;
};

struct StepBegin {
  SettleStatus receipt = SettleStatus::unknown;  // anything but ok: nothing else is told
  std::optional<std::string> output;             // it has run before, and that is what it put out
  std::unique_ptr<StepTurn> turn;                // else it is the caller's to run, and then to keep()
};

/// A step that pushes a message: the message that it has pushed, now or before.
struct StepPush {
  SettleStatus receipt = SettleStatus::unknown;  // anything but ok: nothing was pushed
  MessageId child{};
};

/// A step that takes time. Not over: the message is returned until it is, and its job should end; the verdict
/// that this brings counts as none, and as no attempt.
struct StepPause {
  SettleStatus receipt = SettleStatus::unknown;  // anything but ok: nothing was done
  bool over = false;
  bool all_acked = true;  // wait, when it is over
};

class Steps {
 public:
  virtual ~Steps() = default;

  /// A step that runs a command. Waits while another process is at the same one. ErrorKind::usage: one of
  /// this name is of another kind. ErrorKind::bad_data: the message has as many steps as it may have.
  virtual Result<StepBegin> begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) = 0;
  /// Its output. ErrorKind::bad_data: it is too long. After an Error other than `io` nothing is kept.
  virtual Result<SettleStatus> keep(const Receipt& receipt, std::string_view name, Bytes output) = 0;
  /// Pushes a message, once as long as that of the receipt lives: the message and the step are one change. No
  /// key, nothing that it comes after, no batch: ErrorKind::usage. A reason why it cannot be pushed is told
  /// as Queue::push tells it, and nothing is kept.
  virtual Result<StepPush> push(const Receipt& receipt, std::string_view name, const NewMessage& message) = 0;
  /// Sleeps until a time, or with `delay_ms` so long from now. A run of the job that comes back to it has
  /// slept.
  virtual Result<StepPause> sleep(const Receipt& receipt, std::string_view name,
                                  std::optional<int64_t> delay_ms, int64_t until_wall_ms) = 0;
  /// Waits until all of these have ended; none: all that the steps of the message have pushed so far.
  /// ErrorKind::missing: one is not known. ErrorKind::usage: one is the message itself.
  virtual Result<StepPause> wait(const Receipt& receipt, std::string_view name,
                                 std::optional<std::span<const MessageId>> ids) = 0;
  /// Of a message that is there or still told of, the oldest first; none: there is no such message.
  virtual Result<std::optional<std::vector<StepInfo>>> list(MessageId id) = 0;
};

}  // namespace fq
