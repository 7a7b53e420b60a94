#include "core/local/steps/step_pauses.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/limits.h"
#include "core/api/receipt.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/local/consume/lease_receipt.h"

namespace fq {

namespace {

std::vector<uint64_t> ids_of_wait(Bytes after) {
  std::vector<uint64_t> ids;
  for (size_t at = 0; at + 8 <= after.size(); at += 8)
    ids.push_back(get_number<uint64_t>(after.data() + at) & kMessageIdMax);
  return ids;
}

}  // namespace

Result<StepPause> StepPauses::sleep(const Receipt& receipt, std::string_view name,
                                    std::optional<int64_t> delay_ms, int64_t until_wall_ms) {
  FQ_TRY(check_step_name(name));
  StoredStep stored;
  FQ_TRY_SET(StepBook::Look look, book_.look(receipt, name));
  FQ_TRY_SET(const bool slept, book_.read(receipt, name, StepKind::sleep, look, stored));
  if (look.receipt != SettleStatus::ok || slept) return StepPause{look.receipt, true, true};
  FQ_TRY(book_.check_count(receipt, name, look));
  SteppedRecord step;
  step.id = MessageId{message_under(receipt)};
  step.name = name;
  step.kind = StepKind::sleep;
  step.at_wall_ms = gate().now().wall_ms;
  step.until_wall_ms = delay_ms ? later(step.at_wall_ms, *delay_ms) : std::min(until_wall_ms, kLatestMs);
  step.gives_back = step.until_wall_ms > step.at_wall_ms;
  FQ_TRY_SET(const SettleStatus status, book_.put(receipt, step));
  return StepPause{status, !step.gives_back, true};
}

/// None twice. Those that are given, or what the steps have pushed.
Result<std::vector<uint64_t>> StepPauses::wanted(const Receipt& receipt, std::string_view name,
                                                 std::optional<std::span<const MessageId>> ids) {
  const uint64_t own = message_under(receipt);
  std::vector<uint64_t> all;
  const auto add = [&](MessageId id) {
    if (std::find(all.begin(), all.end(), number(id)) == all.end()) all.push_back(number(id));
  };
  if (ids) {
    for (const MessageId id : *ids) add(id);
  } else {
    FQ_TRY_SET(const std::optional<std::vector<StepInfo>> steps, reader_.list(MessageId{own}));
    for (const StepInfo& step : steps.value_or(std::vector<StepInfo>{}))
      if (step.kind == StepKind::push) add(step.child);
  }
  const std::string object = "step '" + std::string(name) + "' of message " + std::to_string(own);
  if (std::find(all.begin(), all.end(), own) != all.end())
    return Error{ErrorKind::usage, object + ": would wait for its own message", 0};
  if (all.size() > kStepsPerMessageMax)
    return Error{ErrorKind::bad_data,
                 object + ": would wait for " + std::to_string(all.size()) + " messages, the limit is " +
                     std::to_string(kStepsPerMessageMax),
                 0};
  return all;
}

/// Of the ids those that are waited for now keep no mark; `step` is told whether any are, and of the others
/// whether one has ended otherwise than by an ack. How one ended that nobody remembers any more, or that is in
/// another queue or on its way there, was noted when it did, with the message that waited.
Result<void> StepPauses::look_at(std::vector<uint64_t>& ids, const Memory& memory, SteppedRecord& step) {
  uint64_t unknown = 0;
  bool open = false, failed = false;
  std::vector<uint64_t> words(ids.size());
  FQ_TRY(locked([&]() -> Result<void> {
    gate().fire_timers(gate().now());
    gate().apply_pending();
    unknown = 0;
    open = failed = false;
    size_t waits = 0;
    for (size_t i = ids.size(); i-- > 0;) {  // what was pushed last ends last, mostly
      const MessageId id{ids[i]};
      const std::optional<SlotIndex> slot = schedule().messages().find(id);
      const bool dead = slot && state_of(schedule().messages().entry(*slot)) == SlotState::dead;
      const auto outcome = slot ? std::nullopt : schedule().past().outcome(id);
      const bool in_transit = slot && schedule().views().is_in_transit(*slot);
      const bool elsewhere = in_transit || (outcome && outcome->verdict == RecordType::left);
      const bool forgotten = elsewhere || (!slot && !outcome);
      if (forgotten && memory.all) unknown = ids[i];
      const bool unfinished = slot && !dead && !elsewhere;
      failed = failed || dead || (forgotten && memory.failed) ||
               (outcome && !elsewhere && outcome->verdict != RecordType::acked);
      open = open || unfinished;
      const bool waited = unfinished && waits < kAfterMax;
      if (waited) ++waits;
      words[i] = ids[i] | kAfterAny | (waited ? 0 : kAfterClosed);
    }
    return {};
  }));
  if (unknown != 0)
    return Error{ErrorKind::missing, message_object(unknown) + ": is not known, or no more", 0};
  ids = std::move(words);
  step.open = step.gives_back = open;
  step.failed = step.failed || failed;
  return {};
}

Result<StepPause> StepPauses::wait_on(const Receipt& receipt, std::vector<uint64_t> ids, const Memory& memory,
                                      SteppedRecord step) {
  FQ_TRY(look_at(ids, memory, step));
  std::vector<std::byte> after(8 * ids.size());
  for (size_t i = 0; i < ids.size(); ++i) put_number(after.data() + 8 * i, ids[i]);
  step.after = after;
  FQ_TRY_SET(const SettleStatus status, book_.put(receipt, step));
  return StepPause{status, !step.open, !step.failed};
}

Result<StepPause> StepPauses::wait(const Receipt& receipt, std::string_view name,
                                   std::optional<std::span<const MessageId>> ids) {
  FQ_TRY(check_step_name(name));
  StoredStep stored;
  FQ_TRY_SET(StepBook::Look look, book_.look(receipt, name));
  FQ_TRY_SET(const bool began, book_.read(receipt, name, StepKind::wait, look, stored));
  if (look.receipt != SettleStatus::ok) return StepPause{look.receipt, false, false};
  SteppedRecord step;
  step.id = MessageId{message_under(receipt)};
  step.name = name;
  step.kind = StepKind::wait;
  step.at_wall_ms = clock().wall_ms();
  if (!began) {
    FQ_TRY(book_.check_count(receipt, name, look));
    FQ_TRY_SET(std::vector<uint64_t> all, wanted(receipt, name, ids));
    return wait_on(receipt, std::move(all), {.all = true}, step);
  }
  if (!stored.record.open) return StepPause{SettleStatus::ok, true, !stored.record.failed};
  step.at_wall_ms = stored.record.at_wall_ms;
  step.failed = stored.record.failed;
  return wait_on(receipt, ids_of_wait(stored.record.after), {.failed = look.wait_failed}, step);
}

}  // namespace fq
