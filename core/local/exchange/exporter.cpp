#include "core/local/exchange/exporter.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/engine/exported_state.h"
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/read/item_view.h"

namespace fq {

namespace {

constexpr int kTellTries = 64;  // against compaction, and others who change it

/// What it came after but for its key, and behind whom it waits because of that.
void tell_waits(Bytes after, ExportedMessage& message) {
  for (size_t at = 0; at + 8 <= after.size(); at += 8) {
    const auto word = get_number<uint64_t>(after.data() + at);
    const MessageId id{word & kMessageIdMax};
    if ((word & kAfterKey) != 0 && (word & kAfterClosed) == 0) message.behind = id;
    if ((word & kAfterKey) != 0 && (word & kAfterAny) != 0) continue;
    message.after.push_back({id, (word & kAfterAny) != 0, (word & kAfterClosed) != 0});
  }
}

void tell_terms(const MessageTerms& terms, ExportedMessage& message) {
  message.ttl_ms = terms.ttl_ms;
  message.expired = terms.expired;
  message.wait_failed = terms.wait_failed;
  // A debounced one that is not delayed any more is replaced by nothing.
  // Another has its key by now: there too it would be in the way of that one. A dead one may get it back.
  const bool has_key = !terms.debounced && (!terms.key_lost || message.state == State::dead);
  if (has_key) message.unique = terms.key;
  if (has_key) message.unique_for_ms = terms.key_for_ms;
  if (terms.debounced && message.state == State::delayed) message.debounce = terms.key;
  message.schedule = terms.schedule;
  message.scheduled_at_wall_ms = terms.scheduled_wall_ms;
  tell_waits(terms.after, message);
}

void tell_error(const MovedRecord& record, ExportedMessage& message) {
  if (record.error_wall_ms == 0) return;
  LastError& error = message.last_error.emplace();
  if (record.error.exit) error.exit = *record.error.exit;
  if (record.error.signal) error.signal = *record.error.signal;
  error.reason = record.error.reason;
  error.stderr_tail = record.error.stderr_tail;
  error.at_wall_ms = record.error_wall_ms;
}

void tell_due(const MessageItem& item, ExportedMessage& message) {
  message.due_wall_ms = std::max<int64_t>(item.due_wall_ms, 0);
  message.delay_ms = std::max<int64_t>(-item.due_wall_ms, 0);
}

/// What runs is as if it had not been taken, or as its job left it where that sleeps.
void tell_state(const Snapshot& snapshot, const MessageItem& item, int64_t now_wall_ms,
                ExportedMessage& message) {
  message.state = snapshot.state;
  message.since_wall_ms = snapshot.at_wall_ms;
  if (message.state == State::held) tell_due(item, message);
  if (message.state != State::leased) return;
  message.state = State::ready;
  message.since_wall_ms = now_wall_ms;
  if (!snapshot.suspended) return;
  if (item.due_wall_ms > now_wall_ms)
    message.state = State::delayed, message.since_wall_ms = item.due_wall_ms;
  message.due_wall_ms = item.due_wall_ms;
}

}  // namespace

Result<std::optional<ExportedMessage>> Exporter::tell(MessageId id) {
  for (int attempt = 0; attempt < kTellTries; ++attempt) {
    Carried carried;
    bool there = false;
    FQ_TRY(locked([&]() -> Result<void> {
      gate().fire_timers(gate().now());
      const std::optional<SlotIndex> slot = schedule().messages().find(id);
      there = slot && !schedule().views().is_in_transit(*slot);
      if (there) carried.look(link_, *slot);
      return {};
    }));
    if (!there) return std::optional<ExportedMessage>();
    FQ_TRY_SET(const bool found, carried.read(link_));
    if (!found) {
      reader().forget();  // it may have been copied forward just then
      continue;
    }
    const MovedRecord& record = carried.record();
    ExportedMessage message;
    message.id = id;
    copy_values(record.message, message);
    const int64_t now_wall_ms = clock().wall_ms();
    tell_state(carried.snapshot(), record.message, now_wall_ms, message);
    tell_terms(decode_terms(record.message.terms).value_or(MessageTerms{}), message);
    // A kick holds it again for what it came after.
    if (message.state == State::dead && !message.after.empty()) tell_due(record.message, message);
    // Its job waits, and has not come to its end yet.
    if (carried.snapshot().suspended && waits(message)) message.state = State::held;
    settle_state(now_wall_ms, message);
    if (message.state != State::held) message.behind = MessageId{};  // a kick looks for itself
    message.attempts_in_force = record.deliveries == 0 ? 0 : record.attempts_max;
    message.attempts = record.attempts;
    message.deliveries = record.deliveries;
    message.crashes = record.crashes;
    message.pushed_at_wall_ms = record.pushed_wall_ms;
    tell_error(record, message);
    FQ_TRY(emit_payload(record.message, message));
    FQ_TRY_SET(const bool steps_told, emit_steps(id, message));
    if (steps_told) return std::optional(std::move(message));
  }
  ExportedMessage message;
  message.id = id;
  message.lost = "its record cannot be read";
  return std::optional(std::move(message));
}

Result<void> Exporter::emit_payload(const MessageItem& item, ExportedMessage& message) {
  if (!item.blob) {
    message.payload = as_text(item.payload);
    return {};
  }
  Result<std::string> payload = read_whole_blob(disk(), item);
  if (!payload.ok() && !is_lost(payload.error())) return std::move(payload).error();
  if (!payload.ok()) message.lost = lost_payload_text(payload.error());
  if (payload.ok()) message.payload = std::move(payload).value();
  return {};
}

/// False: a record of one lies elsewhere by now.
Result<bool> Exporter::emit_steps(MessageId id, ExportedMessage& message) {
  std::vector<StepSnapshot> seen;
  FQ_TRY_SET(const bool there, steps_.see_all(id, seen));
  if (!there) return false;
  std::reverse(seen.begin(), seen.end());
  for (const StepSnapshot& each : seen) {
    StoredStep stored;
    FQ_TRY_SET(const bool readable, steps_.read(each, stored));
    if (!readable) reader().forget();
    if (!readable) return false;
    FQ_TRY(emit_step(stored, message));
  }
  return true;
}

Result<void> Exporter::emit_step(const StoredStep& stored, ExportedMessage& message) {
  const SteppedRecord& record = stored.record;
  ExportedStep step;
  step.name = record.name;
  step.kind = record.kind;
  step.at_wall_ms = record.at_wall_ms;
  step.child = record.child;
  step.open = record.open;
  step.failed = record.failed;
  for (size_t at = 0; at + 8 <= record.after.size(); at += 8)
    step.ids.push_back(MessageId{get_number<uint64_t>(record.after.data() + at) & kMessageIdMax});
  if (step.kind == StepKind::run) {
    Result<std::string> output = steps_.output_of(stored);
    if (!output.ok() && output.error().kind == ErrorKind::bad_data) {
      message.lost = output.error().text;
      return {};
    }
    if (!output.ok()) return std::move(output).error();
    step.output = std::move(output).value();
  }
  FQ_TRY(emit_children(message.wait_failed, step));
  message.steps.push_back(std::move(step));
  return {};
}

/// Those of a wait that have ended are no more than how they did. Of one that nobody remembers it was noted
/// when it ended, with the message that waits.
Result<void> Exporter::emit_children(bool wait_failed, ExportedStep& step) {
  return locked([&]() -> Result<void> {
    std::erase_if(step.ids, [&](MessageId id) {
      if (schedule().messages().find(id)) return false;
      const auto outcome = schedule().past().outcome(id);
      const bool failed = outcome ? outcome->verdict != RecordType::acked : step.open && wait_failed;
      step.failed = step.failed || failed;
      return true;
    });
    return {};
  });
}

}  // namespace fq
