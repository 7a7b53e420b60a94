#include "core/redis/records/schedule_records.h"

// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

constexpr double kNeverOnServer = 0x1p62;  // beyond all times

void put_name(Packer& packer, std::string_view text) {
  packer.number(static_cast<uint16_t>(text.size())).raw(text);
}

}  // namespace

std::string schedule_bytes(const ScheduleRecord& record) {
  Packer packer;
  packer.number(static_cast<double>(record.version));
  for (const uint8_t each : {static_cast<uint8_t>(record.missed), static_cast<uint8_t>(record.overlap),
                             static_cast<uint8_t>(record.paused), static_cast<uint8_t>(record.of_file),
                             static_cast<uint8_t>(record.refused), static_cast<uint8_t>(record.last)})
    packer.number(each);
  packer.number(static_cast<double>(record.last_wall_ms)).number(static_cast<double>(record.last_id));
  packer.number(record.next_wall_ms == kNever ? kNeverOnServer : static_cast<double>(record.next_wall_ms));
  packer.number(static_cast<double>(record.done_wall_ms)).number(static_cast<double>(record.begun_wall_ms));
  put_name(packer, record.spec);
  put_name(packer, record.zone);
  packer.raw(record.message);
  return packer.bytes();
}

std::optional<ScheduleRecord> read_schedule(std::string_view bytes) {
  Unpacker packed(bytes);
  ScheduleRecord record;
  record.version = static_cast<uint64_t>(packed.whole());
  const auto missed = packed.number<uint8_t>(), overlap = packed.number<uint8_t>();
  record.paused = packed.number<uint8_t>() != 0;
  record.of_file = packed.number<uint8_t>() != 0;
  record.refused = packed.number<uint8_t>() != 0;
  const auto last = packed.number<uint8_t>();
  record.last_wall_ms = packed.whole();
  record.last_id = static_cast<uint64_t>(packed.whole());
  const auto next = packed.number<double>();
  record.next_wall_ms = next >= kNeverOnServer ? kNever : whole_of(next);
  record.done_wall_ms = packed.whole();
  record.begun_wall_ms = packed.whole();
  record.spec = packed.raw(packed.number<uint16_t>());
  record.zone = packed.raw(packed.number<uint16_t>());
  record.message = packed.rest();
  const bool known = missed <= static_cast<uint8_t>(kLastMissedRule) &&
                     overlap <= static_cast<uint8_t>(kLastOverlapRule) &&
                     last <= static_cast<uint8_t>(kLastOccurrence);
  if (!packed.ok() || !known) return std::nullopt;
  record.missed = static_cast<MissedRule>(missed);
  record.overlap = static_cast<OverlapRule>(overlap);
  record.last = static_cast<Occurrence>(last);
  return record;
}

std::string schedule_message(const NewMessage& message, std::string_view signature) {
  Packer packer;
  put_name(packer, message.tenant);
  put_name(packer, message.key);
  packer.number(message.priority)
      .number(static_cast<uint16_t>(message.attempts_max.value_or(0)))
      .number(static_cast<double>(message.ttl_ms.value_or(0)))
      .number(static_cast<double>(message.keep_ms.value_or(-1)));
  packer.raw(push_rest(message, signature));
  return packer.bytes();
}

std::optional<ScheduledMessage> read_schedule_message(std::string_view bytes) {
  Unpacker packed(bytes);
  ScheduledMessage made;
  NewMessage& message = made.message;
  message.tenant = packed.raw(packed.number<uint16_t>());
  message.key = packed.raw(packed.number<uint16_t>());
  message.priority = packed.number<int32_t>();
  if (const auto attempts = packed.number<uint16_t>(); attempts != 0) message.attempts_max = attempts;
  if (const int64_t ttl_ms = packed.whole(); ttl_ms > 0) message.ttl_ms = ttl_ms;
  if (const int64_t keep_ms = packed.whole(); keep_ms >= 0) message.keep_ms = keep_ms;
  if (!packed.ok()) return std::nullopt;
  std::optional<MessageRecord> rest = read_rest_of(packed.rest());
  if (!rest) return std::nullopt;
  message.tags = std::move(rest->tags);
  message.command = std::move(rest->command);
  message.timeout_ms = rest->timeout_ms;
  made.payload = rest->payload;
  made.signature = rest->signature;
  return made;
}

}  // namespace fq
