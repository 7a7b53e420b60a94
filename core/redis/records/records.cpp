#include "core/redis/records/records.h"

// System.
#include <algorithm>
#include <iterator>
#include <limits>
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kHeadBytes = 105 + kNonceBytes;
constexpr uint16_t kDebounced = 4, kHoldsKey = 8, kSuspended = 256, kExpired = 1024, kWaitFailed = 2048;
constexpr char kOnlyBehind = 2;  // of a wait: not asked for, but for its key
constexpr State kStates[] = {State::ready, State::delayed, State::leased,   State::held,
                             State::dead,  State::acked,   State::cancelled};

constexpr uint8_t kHasTimeout = 1, kHasCommand = 2, kHasCall = 4, kHasSchedule = 8;

void put_texts(Packer& packer, const std::vector<std::string>& texts) {
  packer.number(static_cast<uint16_t>(texts.size()));
  for (const std::string& text : texts) packer.text(text);
}
std::vector<std::string> take_texts(Unpacker& bytes) {
  std::vector<std::string> texts;
  for (auto left = bytes.number<uint16_t>(); left > 0 && bytes.ok(); --left)
    texts.emplace_back(bytes.raw(bytes.number<uint16_t>()));
  return texts;
}

/// Tags and what is said of the job, in a block whose length is told: what a newer fq puts behind them is
/// skipped.
std::string job_block(const NewMessage& message, std::string_view signature) {
  Packer block;
  block.number(static_cast<uint16_t>(message.tags.size()));
  for (const Tag& tag : message.tags) {
    block.text(tag.name);
    block.text(tag.value);
  }
  const auto flags = (message.timeout_ms ? kHasTimeout : 0) | (message.command ? kHasCommand : 0) |
                     (message.call ? kHasCall : 0) | (message.schedule.empty() ? 0 : kHasSchedule);
  block.number(static_cast<uint8_t>(flags));
  if (message.timeout_ms) block.number(static_cast<double>(*message.timeout_ms));
  if (message.call) block.number(static_cast<double>(number(*message.call)));
  if (!message.schedule.empty()) {
    block.number(static_cast<double>(message.scheduled_at_wall_ms));
    block.text(message.schedule);
  }
  if (!message.command) return block.bytes();
  put_texts(block, message.command->argv);
  block.text(message.command->cwd);
  put_texts(block, message.command->env);
  if (!signature.empty()) block.text(signature);
  return block.bytes();
}

std::vector<Tag> take_tags(Unpacker& block) {
  std::vector<Tag> tags;
  for (auto left = block.number<uint16_t>(); left > 0 && block.ok(); --left) {
    const std::string_view name = block.raw(block.number<uint16_t>());
    const std::string_view value = block.raw(block.number<uint16_t>());
    tags.push_back({std::string(name), std::string(value)});
  }
  return tags;
}

bool read_block(Unpacker& block, MessageRecord& record) {
  record.tags = take_tags(block);
  const auto flags = block.number<uint8_t>();
  if ((flags & kHasTimeout) != 0) record.timeout_ms = block.whole();
  if ((flags & kHasCall) != 0) record.call = CallId{static_cast<uint64_t>(block.whole())};
  if ((flags & kHasSchedule) != 0) {
    record.scheduled_wall_ms = block.whole();
    record.schedule = block.raw(block.number<uint16_t>());
  }
  if ((flags & kHasCommand) != 0) {
    JobCommand& command = record.command.emplace();
    command.argv = take_texts(block);
    command.cwd = block.raw(block.number<uint16_t>());
    command.env = take_texts(block);
    // One that has ended has none any more.
    if (!block.rest().empty()) record.signature = block.raw(block.number<uint16_t>());
  }
  return block.ok();
}

bool read_rest(std::string_view bytes, MessageRecord& record) {
  Unpacker rest(bytes);
  Unpacker block(rest.raw(rest.number<uint32_t>()));
  record.payload = rest.rest();
  return rest.ok() && read_block(block, record);
}

/// A double says it as far as 2^53; what is unlimited comes back as 2^63.
int64_t amount_of(double number) { return number >= 0x1p63 ? kUnlimited : whole_of(number); }

struct Head {
  MessageRecord record;
  uint32_t payload_bytes = 0;
  std::string_view rest;
};

std::optional<Head> read_head(std::string_view bytes) {
  Unpacker head(bytes);
  Head read;
  MessageRecord& record = read.record;
  const auto version = head.number<uint8_t>();
  const auto state = head.number<uint8_t>();
  const auto flags = head.number<uint16_t>();
  record.debounced = (flags & kDebounced) != 0;
  record.holds_key = (flags & kHoldsKey) != 0;
  record.suspended = (flags & kSuspended) != 0;
  record.expired = (flags & kExpired) != 0;
  record.wait_failed = (flags & kWaitFailed) != 0;
  const auto key_bytes = head.number<uint8_t>();
  const auto tenant_bytes = head.number<uint16_t>();
  record.attempts_max = head.number<uint16_t>();
  record.attempts = head.number<uint16_t>();
  record.attempts_in_force = head.number<uint16_t>();
  record.crashes = head.number<uint16_t>();
  record.deliveries = head.number<uint32_t>();
  record.priority = head.number<int32_t>();
  read.payload_bytes = head.number<uint32_t>();
  record.pid = head.number<uint32_t>();
  record.pushed_ms = head.whole();
  record.timer_ms = head.whole();
  record.since_ms = head.whole();
  record.ttl_ms = head.whole();
  record.serial = static_cast<uint64_t>(head.whole());
  record.began_ms = head.whole();
  if (const int64_t keep_ms = head.whole(); keep_ms >= 0) record.keep_ms = keep_ms;
  record.nonce = head.raw(kNonceBytes);
  head.raw(sizeof(double) + sizeof(uint16_t) + sizeof(double));  // what its turn has cost, whom; its steps
  record.tenant = head.raw(tenant_bytes);
  record.key = head.raw(key_bytes);
  if (!head.ok() || version != kVersion || state >= std::size(kStates)) return std::nullopt;
  record.state = kStates[state];
  read.rest = head.rest();
  return read;
}

}  // namespace

std::optional<MessageRecord> read_record(std::string_view bytes) {
  std::optional<Head> head = read_head(bytes);
  if (!head || !read_rest(head->rest, head->record)) return std::nullopt;
  const bool is_whole = head->record.payload.size() == head->payload_bytes || has_ended(head->record.state);
  return is_whole ? std::optional(std::move(head->record)) : std::nullopt;
}

std::optional<MessageRecord> read_head_of(std::string_view bytes) {
  std::optional<Head> head = read_head(bytes);
  return head ? std::optional(std::move(head->record)) : std::nullopt;
}

NewMessage message_of(const MessageRecord& record) {
  NewMessage message;
  message.tenant = record.tenant;
  message.payload = as_bytes(record.payload);
  message.priority = record.priority;
  message.key = record.key;
  if (record.attempts_max != 0) message.attempts_max = record.attempts_max;
  message.tags = record.tags;
  message.command = record.command;
  message.timeout_ms = record.timeout_ms;
  message.keep_ms = record.keep_ms;
  message.call = record.call;
  message.schedule = record.schedule;
  message.scheduled_at_wall_ms = record.scheduled_wall_ms;
  if (record.ttl_ms > 0) message.ttl_ms = record.ttl_ms;
  return message;
}

std::optional<MessageRecord> read_rest_of(std::string_view bytes) {
  MessageRecord record;
  if (!read_rest(bytes, record)) return std::nullopt;
  return record;
}

MessageRecord read_job_block(std::string_view block) {
  MessageRecord record;
  Unpacker bytes(block);
  read_block(bytes, record);
  return record;
}

std::vector<Tag> read_tags(std::string_view block) {
  Unpacker bytes(block);
  return take_tags(bytes);
}

std::optional<TiesRecord> read_ties(std::string_view bytes) {
  Unpacker ties(bytes);
  TiesRecord record;
  record.due_ms = ties.whole();
  record.delay_ms = ties.whole();
  record.unique_for_ms = ties.whole();
  record.behind = static_cast<uint64_t>(ties.whole());
  ties.whole();  // what is held behind it
  record.unique = ties.raw(ties.number<uint16_t>());
  bool is_next = false;  // that one has ended; it is held for others still
  while (!ties.rest().empty() && ties.ok()) {
    const auto id = static_cast<uint64_t>(ties.whole());
    const auto flags = ties.raw(2);
    ties.whole();  // since when
    if (!ties.ok()) break;
    if (id == record.behind && flags[1] != 0) is_next = true;
    const bool is_any = flags[0] != 0, is_behind = is_any && id == record.behind;
    if (!is_behind || flags[0] != kOnlyBehind)
      (is_any ? record.after_any : record.after).push_back(MessageId{id});
    // Whoever is behind it waits for just that anyhow.
    if (!is_behind) record.waits.push_back({MessageId{id}, is_any, flags[1] != 0});
  }
  if (!ties.ok()) return std::nullopt;
  if (is_next) record.behind = 0;
  return record;
}

std::string push_fields(const NewMessage& message, int64_t at_ms) {
  enum class Key : uint8_t { none, unique, debounce };
  const std::string_view key = message.debounce.empty() ? message.unique : message.debounce;
  Key kind = key.empty() ? Key::none : Key::unique;
  if (!message.debounce.empty()) kind = Key::debounce;
  Packer fields;
  fields.number(message.priority)
      .number(static_cast<uint16_t>(message.attempts_max.value_or(0)))
      .number(static_cast<uint32_t>(message.payload.size()))
      .number(static_cast<double>(message.ttl_ms.value_or(0)))
      .number(static_cast<double>(message.delay_ms.value_or(0)))
      .number(static_cast<double>(at_ms))
      .number(static_cast<uint8_t>(kind))
      .number(static_cast<uint8_t>(message.unique_mode))
      .number(static_cast<double>(message.unique_for_ms))
      .number(static_cast<double>(message.quiet_ms))
      .number(static_cast<double>(message.max_wait_ms.value_or(-1)))
      .number(static_cast<uint8_t>(message.command.has_value()))
      .number(static_cast<double>(message.keep_ms.value_or(-1)));
  fields.text(key);
  const auto put_waits = [&](const std::vector<MessageId>& ids, bool any) {
    for (const MessageId id : ids)
      fields.number(static_cast<double>(std::min(number(id), kMessageIdMax)))
          .number(static_cast<uint8_t>(any));
  };
  put_waits(message.after, false);
  put_waits(message.after_any, true);
  return fields.bytes();
}

std::string push_rest(const NewMessage& message, std::string_view signature) {
  const std::string block = job_block(message, signature);
  Packer rest;
  rest.number(static_cast<uint32_t>(block.size())).raw(block).raw(as_text(message.payload));
  return rest.bytes();
}

std::string edit_fields(const MessagePatch& patch, const NewMessage& message, int64_t at_ms, bool is_signed) {
  const bool has_rest =
      is_signed || patch.payload || patch.timeout_ms || !patch.tags.empty() || patch.command;
  const bool changes[] = {patch.priority.has_value(),     patch.key.has_value(),
                          patch.attempts_max.has_value(), patch.keep_ms.has_value(),
                          patch.ttl_ms.has_value(),       patch.delay_ms.has_value(),
                          patch.at_wall_ms.has_value(),   has_rest};
  uint16_t what = 0;
  for (size_t i = 0; i < std::size(changes); ++i) what |= static_cast<uint16_t>(changes[i] ? 1U << i : 0U);
  Packer fields;
  fields.number(what)
      .number(message.priority)
      .number(static_cast<uint16_t>(message.attempts_max.value_or(0)))
      .number(static_cast<double>(message.keep_ms.value_or(-1)))
      .number(static_cast<double>(message.ttl_ms.value_or(0)))
      .number(static_cast<double>(patch.delay_ms.value_or(0)))
      .number(static_cast<double>(at_ms))
      .number(static_cast<uint32_t>(message.payload.size()))
      .number(static_cast<uint8_t>(message.command.has_value()));
  return fields.bytes();
}

std::string_view rest_of_record(std::string_view bytes) {
  const std::optional<MessageRecord> record = read_record(bytes);
  return record ? bytes.substr(kHeadBytes + record->tenant.size() + record->key.size()) : std::string_view();
}

std::string past_bytes(const ExportedMessage& message, const PastRecord& past) {
  const auto state = std::find(std::begin(kStates), std::end(kStates), past.state) - std::begin(kStates);
  Packer packer;
  packer.number(static_cast<uint8_t>(state))
      .number(static_cast<uint8_t>(message.expired))
      .number(static_cast<uint16_t>(message.attempts))
      .number(static_cast<uint16_t>(message.attempts_in_force))
      .number(static_cast<uint16_t>(message.crashes))
      .number(static_cast<uint32_t>(message.deliveries));
  for (const int64_t each : {past.pushed_ms, past.since_ms, past.due_ms, message.delay_ms})
    packer.number(static_cast<double>(each));
  packer.number(static_cast<double>(number(message.behind)));
  for (const ExportedWait& wait : message.after)
    packer.number(static_cast<double>(number(wait.id)))
        .number(static_cast<uint8_t>(wait.any))
        .number(static_cast<uint8_t>(wait.closed));
  return packer.bytes();
}

std::string step_bytes(const ExportedStep& step, int64_t at_ms) {
  Packer packer;
  packer.number(static_cast<uint8_t>(step.kind));
  packer.number(static_cast<double>(at_ms)).number(0.0).number(0.0);
  packer.number(static_cast<double>(number(step.child)));
  packer.number(static_cast<uint8_t>(!step.open)).number(static_cast<uint8_t>(!step.failed));
  for (const MessageId id : step.ids) packer.number(static_cast<double>(number(id)));
  return packer.bytes();
}

std::optional<ExportedStep> read_step(std::string_view bytes, uint64_t& place) {
  Unpacker packed(bytes);
  ExportedStep step;
  const auto kind = packed.number<uint8_t>();
  step.at_wall_ms = packed.whole();
  place = static_cast<uint64_t>(packed.whole());
  packed.whole();  // bytes of its output
  step.child = MessageId{static_cast<uint64_t>(packed.whole())};
  step.open = packed.number<uint8_t>() == 0;
  step.failed = packed.number<uint8_t>() == 0;
  while (packed.ok() && !packed.rest().empty())
    step.ids.push_back(MessageId{static_cast<uint64_t>(packed.whole())});
  if (!packed.ok() || kind < 1 || kind > static_cast<uint8_t>(kLastStepKind)) return std::nullopt;
  step.kind = static_cast<StepKind>(kind);
  return step;
}

std::string failure_bytes(const Settle& settle) {
  const std::string_view reason = settle.reason.substr(0, kReasonBytesMax);
  std::string_view tail = settle.stderr_tail;
  if (tail.size() > kStderrTailBytesMax) tail.remove_prefix(tail.size() - kStderrTailBytesMax);
  Packer failure;
  for (const std::optional<int>& each : {settle.exit, settle.signal})
    failure.number(static_cast<uint8_t>(each.has_value())).number(int32_t{each.value_or(0)});
  for (const std::string_view text : {reason, tail})
    failure.number(static_cast<uint32_t>(text.size())).raw(text);
  return failure.bytes();
}

std::optional<LastError> read_failure(std::string_view bytes) {
  Unpacker failure(bytes);
  LastError error;
  error.at_wall_ms = failure.whole();
  for (std::optional<int>* const each : {&error.exit, &error.signal}) {
    const bool is_there = failure.number<uint8_t>() != 0;
    const auto number = failure.number<int32_t>();
    if (is_there) *each = number;
  }
  error.reason = failure.raw(failure.number<uint32_t>());
  error.stderr_tail = failure.raw(failure.number<uint32_t>());
  if (!failure.ok()) return std::nullopt;
  return error;
}

std::optional<OutcomeRecord> read_outcome(std::string_view bytes) {
  constexpr uint8_t kAcked = 1, kMoved = 3;
  Unpacker outcome(bytes);
  OutcomeRecord record;
  const auto kind = outcome.number<uint8_t>();
  record.state = kind == kAcked ? State::acked : kind == kMoved ? State::moved : State::cancelled;
  record.at_ms = outcome.whole();
  if (kind == kMoved) record.id_there = static_cast<uint64_t>(outcome.whole());
  if (kind == kMoved) record.queue_there = outcome.raw(outcome.number<uint16_t>());
  const std::string_view rest = outcome.rest();
  const size_t end = std::min(rest.find('\0'), rest.size());
  record.tenant = rest.substr(0, end);
  if (end < rest.size()) record.attempts = Unpacker(rest.substr(end + 1)).number<uint16_t>();
  return outcome.ok() ? std::optional(record) : std::nullopt;
}

std::string policy_bytes(const PolicyValues& values) {
  Packer packer;
  for (const PolicyValue& value : values) {
    packer.number(static_cast<uint8_t>(value.key))
        .number(static_cast<double>(value.number))
        .number(static_cast<double>(value.second));
    packer.text(value.text);
  }
  return packer.bytes();
}

PolicyValues read_policy_bytes(std::string_view bytes) {
  PolicyValues values;
  Unpacker unpacker(bytes);
  while (!unpacker.rest().empty() && unpacker.ok()) {
    PolicyValue value;
    value.key = static_cast<PolicyKey>(unpacker.number<uint8_t>());
    value.number = amount_of(unpacker.number<double>());
    value.second = amount_of(unpacker.number<double>());
    value.text = unpacker.raw(unpacker.number<uint16_t>());
    if (unpacker.ok()) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace fq
