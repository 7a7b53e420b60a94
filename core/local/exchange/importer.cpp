#include "core/local/exchange/importer.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/engine/exported_state.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/local/push/push_batch.h"

namespace fq {

namespace {

// The end of the year 9999, which is still a time that people write.
constexpr int64_t kNotYetWallMs = 253'402'300'799'000;

/// Whether it might start before all of it is here, and so is delayed until then.
bool has_to_wait(const ExportedMessage& message) {
  const bool would_start = message.state == State::ready || message.state == State::delayed;
  return has_ended(message.state) || (would_start && !message.steps.empty());
}

/// When it is due after all.
MessagePatch due_of(const ExportedMessage& message) {
  MessagePatch patch;
  const bool held = message.state == State::held;
  const int64_t at_wall_ms = held ? message.due_wall_ms : message.since_wall_ms;
  if (message.state == State::ready || (held && (at_wall_ms == 0 || message.delay_ms != 0)))
    patch.delay_ms = held ? message.delay_ms : 0;
  else
    patch.at_wall_ms = at_wall_ms;
  return patch;
}

SlotState slot_state_of(State state) {
  if (state == State::delayed) return SlotState::delayed;
  if (state == State::dead) return SlotState::dead;
  return state == State::held ? SlotState::held : SlotState::ready;
}

std::vector<std::byte> after_of(const ExportedMessage& message) {
  std::vector<uint64_t> words;
  bool behind_is_named = false;
  for (const ExportedWait& wait : message.after) {
    const bool is_behind = wait.id == message.behind;
    // Behind one that it also came after, however that ends, it is because of its key alone.
    if (is_behind && wait.any) continue;
    behind_is_named = behind_is_named || is_behind;
    words.push_back(number(wait.id) | (wait.any ? kAfterAny : 0) | (wait.closed ? kAfterClosed : 0) |
                    (is_behind ? kAfterKey : 0));
  }
  if (number(message.behind) != 0 && !behind_is_named)
    words.push_back(number(message.behind) | kAfterAny | kAfterKey);
  std::vector<std::byte> bytes(8 * words.size());
  for (size_t i = 0; i < words.size(); ++i) put_number(bytes.data() + 8 * i, words[i]);
  return bytes;
}

std::string tags_of(const ExportedMessage& message) {
  if (message.tags.empty()) return {};
  std::vector<TagView> views;
  for (const Tag& tag : message.tags) views.push_back({tag.name, tag.value});
  return encode_tags(views);
}

std::string terms_of(const ExportedMessage& message, const ImportToken& token) {
  const std::vector<std::byte> after = after_of(message);
  MessageTerms terms;
  terms.ttl_ms = message.ttl_ms;
  terms.expired = message.expired;
  terms.debounced = !message.debounce.empty();
  terms.key = terms.debounced ? message.debounce : message.unique;
  terms.key_for_ms = terms.debounced ? 0 : message.unique_for_ms;
  terms.wait_failed = message.wait_failed;
  terms.after = after;
  terms.schedule = message.schedule;
  terms.scheduled_wall_ms = message.scheduled_at_wall_ms;
  terms.imported = token;
  return encode_terms(terms);
}

void set_error(const LastError& error, MovedRecord& record) {
  record.error_wall_ms = error.at_wall_ms;
  if (error.exit) record.error.exit = static_cast<int16_t>(*error.exit);
  if (error.signal) record.error.signal = static_cast<int16_t>(*error.signal);
  record.error.reason = std::string_view(error.reason).substr(0, kReasonBytesMax);
  record.error.stderr_tail = std::string_view(error.stderr_tail).substr(0, kStderrTailBytesMax);
}

}  // namespace

Result<ImportReply> Importer::take(std::span<const ExportedMessage> messages, std::string_view origin) {
  ImportReply reply;
  for (const ExportedMessage& told : messages) {
    const std::optional<ExportedMessage> message = settled(clock().wall_ms(), told);
    Result<ImportResult> taken = take_one(message ? *message : told, origin);
    if (!taken.ok() && taken.error().kind == ErrorKind::later) {
      reply.error = std::move(taken).error();
      break;
    }
    if (!taken.ok()) return std::move(taken).error();
    reply.items.push_back(std::move(taken).value());
  }
  FQ_TRY(link_.wait_all_durable());
  FQ_POINT("import.durable");
  upkeep_.keep_if_due();
  return reply;
}

Result<ImportResult> Importer::take_one(const ExportedMessage& message, std::string_view origin) {
  FQ_TRY_SET(const ImportToken token,
             receiver_.token_of(origin, message.id, clock().wall_ms() + kImportRememberedMs));
  FQ_TRY_SET(const std::optional<MessageId> before, receiver_.find_imported(token));
  ImportResult result{ImportResult::What::known, before.value_or(MessageId{}), {}};
  if (!before) {
    result.why = import_fault(message, header().settings.payload_bytes_max.peek());
    Receiver::Received received;
    if (result.why.empty()) {
      FQ_TRY_SET(received, receive(message, token));
    }
    if (result.why.empty()) result.why = std::move(received.why);
    result.what = ImportResult::What::refused;
    if (!result.why.empty()) return result;
    result.what = received.known ? ImportResult::What::known : ImportResult::What::imported;
    result.id = received.id;
  }
  FQ_POINT("import.arrived");
  FQ_TRY(finish(message, result.id));
  return result;
}

Result<Receiver::Received> Importer::receive(const ExportedMessage& message, const ImportToken& token) {
  const std::string terms = terms_of(message, token), job = job_bytes(values_of(message)),
                    tags = tags_of(message);
  const bool waits = has_to_wait(message);
  MovedRecord record;
  record.pushed_wall_ms = message.pushed_at_wall_ms;
  record.state = waits ? SlotState::delayed : slot_state_of(message.state);
  record.state_wall_ms = waits ? kNotYetWallMs : message.since_wall_ms;
  record.deliveries = message.deliveries;
  record.attempts = static_cast<uint16_t>(message.attempts);
  // Its own, or those of its last lease, or the queue's.
  record.attempts_max = static_cast<uint16_t>(message.attempts_max.value_or(
      message.attempts_in_force != 0 ? message.attempts_in_force
                                     : attempts_of(header().settings, message.command.has_value())));
  record.crashes = static_cast<uint16_t>(message.crashes);
  if (message.last_error) set_error(*message.last_error, record);
  MessageItem& item = record.message;
  item.tenant = has_ended(message.state) ? kDefaultTenant : std::string_view(message.tenant);
  item.key = message.key;
  item.tags = tags;
  item.job = job;
  item.terms = terms;
  item.priority = message.priority;
  item.attempts_max = static_cast<uint16_t>(message.attempts_max.value_or(0));
  if (message.state == State::held || message.state == State::dead)
    item.due_wall_ms = message.delay_ms != 0 ? -message.delay_ms : message.due_wall_ms;
  // One that is let go before its steps are here is delayed then.
  if (message.state == State::held && !message.steps.empty()) item.due_wall_ms = kNotYetWallMs;
  if (record.state == SlotState::delayed) item.due_wall_ms = record.state_wall_ms;
  item.pushed_wall_ms = message.pushed_at_wall_ms;
  item.payload_bytes = message.payload.size();
  if (std::string why = receiver_.objection_to(item); !why.empty()) return Receiver::Received{{}, false, why};
  PushedBlobs blobs(link_, upkeep_);
  NewMessage payload;
  payload.payload = as_bytes(message.payload);
  if (message.payload.size() > kInlinePayloadBytesMax) {
    FQ_TRY(blobs.begin({&payload, 1}));
    FQ_TRY(blobs.write(payload.payload, item));
  } else {
    item.payload = payload.payload;
  }
  const bool uncounted = record.state == SlotState::dead || has_ended(message.state);
  FQ_TRY_SET(Receiver::Received received, receiver_.receive(record, uncounted));
  if (received.why.empty() && !received.known) blobs.keep();
  return received;
}

Result<Importer::Progress> Importer::progress_of(MessageId id) {
  Progress progress = Progress::done;
  FQ_TRY(locked([&]() -> Result<void> {
    progress = Progress::done;
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (!slot) return {};
    const Entry& entry = schedule().messages().entry(*slot);
    const SlotState state = state_of(entry);
    const int64_t due_ms =
        state == SlotState::held ? schedule().region().extra(entry.rank).due_ms.get() : entry.at_ms.get();
    const bool is_due_some_time = state == SlotState::delayed || state == SlotState::held;
    if (is_due_some_time && store().wall_of(due_ms) > kNotYetWallMs - 86'400'000) progress = Progress::waits;
    if (state == SlotState::dead) progress = Progress::dead;
    return {};
  }));
  return progress;
}

/// Its steps, or its end, and then it may start; what of that was done before is not done again. One that has
/// died here since it came, while it had not where it comes from, has all that it had.
Result<void> Importer::finish(const ExportedMessage& message, MessageId id) {
  if (message.steps.empty() && !has_ended(message.state)) return {};
  FQ_TRY_SET(const Progress progress, progress_of(id));
  const bool is_dead_in_both = progress == Progress::dead && message.state == State::dead;
  if (progress != Progress::waits && !is_dead_in_both) return {};
  if (has_ended(message.state)) return end(id, message.state);
  for (const ExportedStep& step : message.steps) {
    FQ_TRY(add_step(id, step));
    FQ_POINT("import.step_added");
  }
  FQ_POINT("import.stepped");
  return progress == Progress::waits ? let_go(message, id) : Result<void>();
}

Result<void> Importer::let_go(const ExportedMessage& message, MessageId id) {
  const Result<SettleStatus> edited = editor_.edit(id, due_of(message));
  if (edited.ok()) return {};
  // It may have died meanwhile: then it is due at no time.
  FQ_TRY_SET(const Progress progress, progress_of(id));
  return progress == Progress::waits ? Result<void>(edited.error()) : Result<void>();
}

Result<void> Importer::add_step(MessageId id, const ExportedStep& step) {
  SteppedRecord record;
  record.id = id;
  record.name = step.name;
  record.kind = step.kind;
  record.carried = true;
  record.open = step.open;
  record.failed = step.failed;
  record.at_wall_ms = step.at_wall_ms;
  record.child = step.child;
  std::vector<std::byte> after(8 * step.ids.size());
  for (size_t i = 0; i < step.ids.size(); ++i)
    put_number(after.data() + 8 * i, number(step.ids[i]) | kAfterAny);
  record.after = after;
  record.output.payload_bytes = step.output.size();
  PushedBlobs blobs(link_, upkeep_);
  NewMessage output;
  output.payload = as_bytes(step.output);
  if (step.output.size() > kInlinePayloadBytesMax) {
    FQ_TRY(blobs.begin({&output, 1}));
    FQ_TRY(blobs.write(output.payload, record.output));
  } else {
    record.output.payload = output.payload;
  }
  encode_stepped(body_, record);
  bool done = false;
  FQ_TRY(writer_.write(
      [&]() -> Result<Obstacle> {
        const std::optional<SlotIndex> slot = schedule().messages().find(id);
        const bool is_there =
            !slot || schedule().steps().find(schedule().messages().entry(*slot), step.name) != kNoIndex;
        if (done || is_there) return Obstacle::none;
        const Obstacle obstacle = writer_.room_for_push(record_bytes(body_), need_of(record), 0, true);
        if (obstacle != Obstacle::none) return obstacle;
        Change change(link_);
        const uint64_t position = change.append(Purpose::accept, body_);
        gate().apply().stepped(change.txn(), record, *slot, position, body_.bytes.size());
        change.commit();
        upkeep_.look(header());
        done = true;
        return Obstacle::none;
      },
      need_of(record)));
  if (done) blobs.keep();
  return {};
}

Result<void> Importer::end(MessageId id, State state) {
  const RecordType type = state == State::acked ? RecordType::acked : RecordType::cancelled;
  bool done = false;
  return writer_.write_event([&]() -> Result<Obstacle> {
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (done || !slot) return Obstacle::none;
    const Obstacle obstacle = writer_.room_for_event(type, event_record_bytes(type, 1));
    if (obstacle != Obstacle::none) return obstacle;
    events_.append(type, *slot);
    done = true;
    return Obstacle::none;
  });
}

}  // namespace fq
