#include "core/redis/guard/guard_words.h"

// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

constexpr uint8_t kWorker = 'w', kJob = 'j', kEnd = 'e';
constexpr int64_t kNoLimit = -1;

void add_text(Packer& packet, std::string_view text) {
  packet.number(static_cast<uint32_t>(text.size())).raw(text);
}

std::string text_in(Unpacker& packet) { return std::string(packet.raw(packet.number<uint32_t>())); }

}  // namespace

std::string packet_of(const GuardedWorker& worker) {
  Packer packet;
  packet.number(kWorker).number(static_cast<int32_t>(worker.pid));
  for (const std::string* const text : {&worker.spool, &worker.password, &worker.nonce})
    add_text(packet, *text);
  for (const std::string& tag : worker.tags) add_text(packet, tag);
  return packet.bytes();
}

std::string packet_of(std::span<const MessageId> ids, std::optional<int64_t> limit_ms) {
  Packer packet;
  packet.number(kJob).number(limit_ms.value_or(kNoLimit));
  for (const MessageId id : ids) packet.number(number(id));
  return packet.bytes();
}

std::string packet_of_end() { return Packer().number(kEnd).bytes(); }

GuardWord word_of(std::string_view packet) {
  switch (Unpacker(packet).number<uint8_t>()) {
    case kWorker:
      return GuardWord::worker;
    case kJob:
      return GuardWord::job;
    case kEnd:
      return GuardWord::end;
    default:
      return GuardWord::unknown;
  }
}

std::optional<GuardedWorker> worker_in(std::string_view packet) {
  Unpacker from(packet.substr(1));
  GuardedWorker worker;
  worker.pid = from.number<int32_t>();
  for (std::string* const text : {&worker.spool, &worker.password, &worker.nonce}) *text = text_in(from);
  while (from.ok() && !from.rest().empty()) worker.tags.push_back(text_in(from));
  return from.ok() ? std::optional(std::move(worker)) : std::nullopt;
}

std::optional<GuardedJob> job_in(std::string_view packet) {
  Unpacker from(packet.substr(1));
  GuardedJob job;
  const auto limit_ms = from.number<int64_t>();
  if (limit_ms != kNoLimit) job.limit_ms = limit_ms;
  while (from.ok() && !from.rest().empty()) job.ids.push_back(MessageId{from.number<uint64_t>()});
  return from.ok() ? std::optional(std::move(job)) : std::nullopt;
}

}  // namespace fq
