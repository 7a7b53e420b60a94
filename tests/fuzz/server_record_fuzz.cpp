// server_record_fuzz - what lies on a server, where others may have written it: each form is refused or read,
// and what has a writer here is written as it was read.
//
// The first byte says which form.

// System.
#include <array>
// fq, below us.
#include "core/base/assert.h"
#include "core/redis/records/event_records.h"
#include "core/redis/records/lent_record.h"
#include "core/redis/records/records.h"
#include "core/redis/records/schedule_records.h"
#include "core/redis/signing/signature.h"

using namespace fq;

namespace {

void read_message(std::string_view bytes) {
  if (const auto record = read_record(bytes)) {
    FQ_ASSERT(record->payload.size() <= bytes.size());
    const NewMessage message = message_of(*record);
    // What the client alone reads comes back as it was written.
    const std::string rest = push_rest(message, record->signature);
    const auto again = read_rest_of(rest);
    FQ_ASSERT(again.has_value());
    FQ_ASSERT(again->payload == record->payload);
    FQ_ASSERT(again->signature == record->signature);
    FQ_ASSERT(again->tags.size() == record->tags.size());
    FQ_ASSERT(again->command.has_value() == record->command.has_value());
  }
  (void)read_rest_of(bytes);
  (void)rest_of_record(bytes);
  (void)read_job_block(bytes);
  (void)read_tags(bytes);
}

void read_events(std::string_view bytes) {
  Unpacker events(bytes);
  size_t left = events.rest().size() + 1;
  while (read_event(events)) {
    FQ_ASSERT(events.rest().size() < left);  // it comes to an end
    left = events.rest().size();
  }
}

void read_schedules(std::string_view bytes) {
  if (const auto schedule = read_schedule(bytes)) {
    const auto again = read_schedule(schedule_bytes(*schedule));
    FQ_ASSERT(again.has_value());
    // Numbers may have been none that a double says.
    FQ_ASSERT(again->spec == schedule->spec && again->zone == schedule->zone);
    FQ_ASSERT(again->message == schedule->message);
  }
  if (const auto scheduled = read_schedule_message(bytes)) {
    const auto again = read_schedule_message(schedule_message(scheduled->message, scheduled->signature));
    FQ_ASSERT(again.has_value());
    FQ_ASSERT(again->signature == scheduled->signature);
    FQ_ASSERT(again->message.payload.size() == scheduled->message.payload.size());
  }
}

void read_signatures(std::string_view bytes) {
  if (const auto signature = read_signature(bytes)) FQ_ASSERT(signature_bytes(*signature) == bytes);
}

void read_small_ones(std::string_view bytes) {
  (void)read_ties(bytes);
  uint64_t place = 0;
  (void)read_step(bytes, place);
  (void)read_failure(bytes);
  (void)read_outcome(bytes);
  (void)read_policy_bytes(bytes);
  for (const LentUnits& each : read_lent(bytes).limits) FQ_ASSERT(each.name.size() <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr std::array kForms = {read_message, read_events, read_schedules, read_signatures, read_small_ones};
  kForms.at(data[0] % kForms.size())(as_text(std::as_bytes(std::span(data + 1, size - 1))));
  return 0;
}
