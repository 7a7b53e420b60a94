#include "core/local/steps/step_book.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/limits.h"
#include "core/base/text/size.h"
#include "core/engine/message_checks.h"
#include "core/api/receipt.h"
// fq, this room.
#include "core/local/consume/lease_receipt.h"
#include "core/local/files/jobs/step_lock.h"
#include "core/local/write/pin_walk.h"
#include "core/local/write/read_seen.h"

namespace fq {

namespace {

constexpr int kRecordTries = 64;      // against compaction, which moves records
constexpr size_t kStepsPerHold = 64;  // of the state lock
constexpr uint32_t kStepsPassedPerHold = 4096;

}  // namespace

/// As for any verdict; but a job that sleeps does no steps, whoever holds its message.
SettleStatus StepBook::judge(const Receipt& receipt, const Now& now, std::optional<SlotIndex>& slot) {
  const SettleStatus status = judge_receipt(link_, receipt, now, slot);
  if (!slot || !schedule().messages().is_suspended(schedule().messages().entry(*slot))) return status;
  slot.reset();
  return SettleStatus::stale;
}

Result<StepBook::Look> StepBook::look(const Receipt& receipt, std::string_view name) {
  Look look;
  FQ_TRY(locked([&]() -> Result<void> {
    look = {};
    const Now now = gate().now();
    gate().fire_timers(now);
    std::optional<SlotIndex> slot;
    look.receipt = judge(receipt, now, slot);
    look.end = header().tail;
    if (!slot) return {};
    const Entry& entry = schedule().messages().entry(*slot);
    const uint32_t step = schedule().steps().find(entry, name);
    if (step != kNoIndex) look.seen = reader_.see(step);
    look.count = schedule().steps().count(entry);
    look.wait_failed = schedule().messages().has_failed_wait(entry);
    return {};
  }));
  // What is refused rests on durable state too: the verdict that came first must not be lost.
  if (look.receipt != SettleStatus::ok && !syncs_lazily()) FQ_TRY(flusher().wait_durable(look.end));
  return look;
}

Result<bool> StepBook::read(const Receipt& receipt, std::string_view name, StepKind kind, Look& look,
                            StoredStep& stored) {
  for (int attempt = 0; look.seen; ++attempt) {
    if (look.seen->kind != kind) {
      return Error{ErrorKind::usage,
                   step_object(name, look.seen->id) + ": is a " + std::string(name_of(look.seen->kind)) +
                       ", not a " + std::string(name_of(kind)) + "; give this step another name",
                   0};
    }
    if (!syncs_lazily()) FQ_TRY(flusher().wait_durable(look.seen->record + look.seen->record_bytes));
    FQ_TRY_SET(const bool readable, reader_.read(*look.seen, stored));
    if (readable) return true;
    if (attempt == kRecordTries)
      return Error{ErrorKind::bad_data, step_object(name, look.seen->id) + ": its record cannot be read", 0};
    reader().forget();
    FQ_TRY_SET(look, this->look(receipt, name));
  }
  return false;
}

Result<void> StepBook::check_count(const Receipt& receipt, std::string_view name, const Look& look) {
  if (look.count < kStepsPerMessageMax) return {};
  return Error{ErrorKind::bad_data,
               step_object(name, message_under(receipt)) + ": the message has " + std::to_string(look.count) +
                   " steps, which is the limit",
               0};
}

Result<StepBegin> StepBook::begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) {
  FQ_TRY(check_step_name(name));
  StepBegin begun;
  StoredStep stored;
  // Once more when it is our turn: another process has perhaps run it meanwhile.
  for (bool ours = false;; ours = true) {
    FQ_TRY_SET(Look look, this->look(receipt, name));
    FQ_TRY_SET(const bool kept, read(receipt, name, StepKind::run, look, stored));
    begun.receipt = look.receipt;
    if (kept) {
      FQ_TRY_SET(begun.output, reader_.output_of(stored));
    }
    if (kept || begun.receipt != SettleStatus::ok) {
      begun.turn.reset();
      return begun;
    }
    FQ_TRY(check_count(receipt, name, look));
    if (ours) return begun;
    FQ_TRY_SET(begun.turn, StepLock::take(disk(), message_under(receipt), name, interrupt));
    FQ_POINT("step.begun");
  }
}

/// Of one that is kept as `step` says. Needs: the lock.
std::optional<Error> StepBook::over_limits(const Entry& entry, const SteppedRecord& step) {
  const KeptSteps steps = schedule().steps();
  const uint32_t there = steps.find(entry, step.name);
  if (there != kNoIndex && steps.at(there).kind != step.kind) {
    return Error{ErrorKind::usage,
                 step_object(step.name, number(step.id)) + ": is a " +
                     std::string(name_of(steps.at(there).kind)) + " by now",
                 0};
  }
  const uint32_t before = there == kNoIndex ? 0 : steps.at(there).bytes.get();
  const uint64_t bytes = steps.bytes(entry) - before + step.output.payload_bytes;
  const bool too_many = there == kNoIndex && steps.count(entry) >= kStepsPerMessageMax;
  if (!too_many && bytes <= kStepsBytesMax) return std::nullopt;
  return Error{
      ErrorKind::bad_data,
      step_object(step.name, number(step.id)) + ": the message would have " +
          (too_many ? std::to_string(kStepsPerMessageMax + 1) + " steps, the limit is " +
                          std::to_string(kStepsPerMessageMax)
                    : format_size(bytes) + " of outputs, the limit is " + format_size(kStepsBytesMax)),
      0};
}

Result<SettleStatus> StepBook::put(const Receipt& receipt, const SteppedRecord& step) {
  encode_stepped(body_, step);
  const uint64_t bytes = record_bytes(body_) + event_record_bytes(RecordType::released, 1);
  const Need need = need_of(step);
  SettleStatus status = SettleStatus::unknown;
  uint64_t end = 0;
  bool done = false;
  FQ_TRY(writer_.write(
      [&]() -> Result<Obstacle> {
        // Repeated in another segment after damage was met: what was appended has been carried over.
        if (done) return Obstacle::none;
        const Now now = gate().now();
        gate().fire_timers(now);
        std::optional<SlotIndex> slot;
        status = judge(receipt, now, slot);
        end = header().tail;
        if (!slot) return Obstacle::none;
        if (std::optional<Error> refused = over_limits(schedule().messages().entry(*slot), step))
          return std::move(*refused);
        const Obstacle obstacle = writer_.room_for_push(bytes, need, 0, true);
        if (obstacle != Obstacle::none) return obstacle;
        Change change(link_);
        const uint64_t position = change.append(Purpose::accept, body_);
        gate().apply().stepped(change.txn(), step, *slot, position, body_.bytes.size());
        // A lease that a process holds ends with its job; of another one nobody would know.
        const bool by_time = HolderIndex{schedule().messages().entry(*slot).holder.get()} == kHeldByTime;
        if (step.gives_back && by_time) {
          EventDetail detail;
          detail.due_wall_ms = step.until_wall_ms;
          events_.add(change, RecordType::released, {&*slot, 1}, detail);
        }
        FQ_POINT("step.appended");
        change.commit();
        FQ_POINT("step.committed");
        if (step.gives_back) gate().mark_servable();
        if (step.gives_back) gate().mark_ended();
        end = header().tail;
        upkeep_.look(header());
        done = true;
        return Obstacle::none;
      },
      need));
  if (!syncs_lazily()) FQ_TRY(flusher().wait_durable(end));
  FQ_POINT("step.durable");
  upkeep_.keep_if_due();
  return status;
}

Result<SettleStatus> StepBook::keep(const Receipt& receipt, std::string_view name, Bytes output) {
  FQ_TRY(check_step_name(name));
  if (output.size() > kStepBytesMax) {
    return Error{ErrorKind::bad_data,
                 step_object(name, message_under(receipt)) + ": put out " + format_size(output.size()) +
                     ", the limit is " + format_size(kStepBytesMax),
                 0};
  }
  SteppedRecord step;
  step.id = MessageId{message_under(receipt)};
  step.name = name;
  step.kind = StepKind::run;
  step.at_wall_ms = clock().wall_ms();
  step.output.payload_bytes = output.size();
  PushedBlobs blobs(link_, upkeep_);
  if (output.size() > kInlinePayloadBytesMax) {
    NewMessage of_output;
    of_output.payload = output;
    FQ_TRY(blobs.begin({&of_output, 1}));
    FQ_TRY(blobs.write(output, step.output));
  } else {
    step.output.payload = output;
  }
  Result<SettleStatus> put = this->put(receipt, step);
  // Where it is not known whether it was written, its record may name the blob.
  if (put.ok() ? *put == SettleStatus::ok : put.error().kind == ErrorKind::io) blobs.keep();
  return put;
}

/// The message and, right before it, the step that has pushed it. None: something has changed since the look.
Result<std::optional<MessageId>> StepBook::append_push(const Receipt& receipt, std::string_view name,
                                                       const NewMessage& message) {
  SteppedRecord step;
  step.id = MessageId{message_under(receipt)};
  step.name = name;
  step.kind = StepKind::push;
  step.at_wall_ms = clock().wall_ms();
  encode_stepped(body_, step);
  Companion companion{record_bytes(body_), KeptSteps::need(), {}};
  companion.append = [&](Change& change, MessageId first_id) {
    step.child = first_id;
    encode_stepped(body_, step);  // as long as before: nothing is allocated
    const uint64_t position = change.append(Purpose::accept, body_);
    gate().apply().stepped(change.txn(), step, *schedule().messages().find(step.id), position,
                           body_.bytes.size());
    FQ_POINT("step.pushing");
  };
  const bool lazy = syncs_lazily();
  FQ_TRY_SET(const Appended appended, pushes_.append(
                                          {&message, 1}, {}, lazy,
                                          [&](const Now& now) {
                                            std::optional<SlotIndex> slot;
                                            judge(receipt, now, slot);
                                            if (!slot) return false;
                                            const Entry& entry = schedule().messages().entry(*slot);
                                            return schedule().steps().find(entry, name) == kNoIndex;
                                          },
                                          0, &companion));
  if (appended.refused) return std::optional<MessageId>();
  if (!lazy) FQ_TRY(flusher().wait_durable(appended.end));
  FQ_POINT("step.pushed");
  return std::optional(appended.first_id);
}

Result<StepPush> StepBook::push(const Receipt& receipt, std::string_view name, const NewMessage& message) {
  FQ_TRY(check_step_name(name));
  if (has_terms(message))
    return Error{ErrorKind::usage,
                 "step '" + std::string(name) + "': its push takes no unique, debounce or after", 0};
  FQ_TRY(check_message(message, header().settings.payload_bytes_max.peek()));
  StoredStep stored;
  for (;;) {
    FQ_TRY_SET(Look look, this->look(receipt, name));
    FQ_TRY_SET(const bool kept, read(receipt, name, StepKind::push, look, stored));
    if (kept) return StepPush{SettleStatus::ok, stored.record.child};
    if (look.receipt != SettleStatus::ok) return StepPush{look.receipt, MessageId{}};
    FQ_TRY(check_count(receipt, name, look));
    FQ_TRY_SET(const std::optional<MessageId> child, append_push(receipt, name, message));
    if (child) return StepPush{SettleStatus::ok, *child};
  }
}

Result<void> StepBook::carry_one(StepSnapshot& seen) {
  StoredStep stored;
  FQ_TRY_SET(const bool readable, read_seen(link_, reader_, seen, stored));
  stored.record.carried = true;
  if (readable) encode_stepped(carried_body_, stored.record);
  bool gone = false;
  FQ_TRY(writer_.write([&]() -> Result<Obstacle> {
    if (!reader_.is_unchanged(seen)) return Obstacle::none;
    if (!readable) {
      // Damage costs what it has damaged: its file must not stay for ever.
      Txn txn = store().begin();
      schedule().steps().remove(txn, seen.index);
      txn.commit();
      gone = true;
      return Obstacle::none;
    }
    const Obstacle obstacle = writer_.room_for(Purpose::care, record_bytes(carried_body_));
    if (obstacle != Obstacle::none) return obstacle;
    Change change(link_);
    schedule().steps().move(change.txn(), seen.index, change.append(Purpose::care, carried_body_));
    change.commit();
    return Obstacle::none;
  }));
  if (gone)
    notice(message_object(seen.id) + ": the record of one of its steps was damaged; that step is run again");
  return {};
}

Result<void> StepBook::carry() {
  for (bool more = true; more;) {
    std::vector<StepSnapshot> found;
    found.reserve(kStepsPerHold);  // nothing is allocated under the lock
    FQ_TRY(locked([&]() -> Result<void> {
      found.clear();
      Pin& pin = header().steps;
      more = begin_walk(link_, pin);
      if (!more) return {};
      const KeptSteps steps = schedule().steps();
      uint32_t at = pin.walk_next;
      for (uint32_t passed = 0;
           at < steps.end() && found.size() < kStepsPerHold && passed < kStepsPassedPerHold; ++at, ++passed) {
        if (steps.at(at).record < pin.walk_from && steps.is_behind(at)) found.push_back(reader_.see(at));
      }
      // Only what is done is passed: a death, or a change meanwhile, leaves it to the next look.
      if (!found.empty()) return {};
      Txn txn = store().begin();
      note_walked(txn, pin, at, at >= steps.end());
      txn.commit();
      return {};
    }));
    for (StepSnapshot& seen : found) FQ_TRY(carry_one(seen));
    FQ_POINT("steps.carried");
  }
  return {};
}

}  // namespace fq
