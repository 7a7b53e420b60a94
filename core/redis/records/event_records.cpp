#include "core/redis/records/event_records.h"

// System.
#include <iterator>
// fq, this room.
#include "core/redis/records/records.h"

namespace fq {

namespace {

constexpr std::string_view kKinds[] = {
    "",          "pushed",      "leased",  "extended", "acked",    "retried", "released", "buried",
    "expired",   "cancelled",   "kicked",  "freed",    "replaced", "edited",  "stepped",  "unstepped",
    "scheduled", "unscheduled", "skipped", "left",     "arrived",  "died",    "leaving",  "set"};
constexpr uint8_t kFailure = 1, kTags = 2, kStep = 3, kSchedule = 4, kElsewhere = 5, kPushed = 6,
                  kSettings = 7;

/// False: it is none.
bool read_pushed(std::string_view tail, StreamEvent& record) {
  Unpacker pushed(tail);
  record.pushed_bytes = pushed.number<uint32_t>();
  const auto key_bytes = pushed.number<uint8_t>();
  record.priority = pushed.number<int32_t>();
  auto waits = pushed.number<uint16_t>();
  record.key = pushed.raw(key_bytes);
  for (; waits > 0 && pushed.ok(); --waits) {
    const auto id = static_cast<uint64_t>(pushed.whole());
    std::string& ids = pushed.number<uint8_t>() != 0 ? record.after_any : record.after;
    ids.append(ids.empty() ? "" : ",").append(std::to_string(id));
  }
  record.tags = pushed.rest();
  return pushed.ok();
}

PolicyPatch read_patch(std::string_view tail) {
  Unpacker bytes(tail);
  PolicyPatch patch;
  for (const char key : bytes.raw(bytes.number<uint16_t>()))
    patch.unset.push_back(static_cast<PolicyKey>(key));
  patch.set = read_policy_bytes(bytes.rest());
  return patch;
}

}  // namespace

std::optional<StreamEvent> read_event(Unpacker& bytes) {
  if (bytes.rest().empty()) return std::nullopt;
  StreamEvent record;
  const auto kind = bytes.number<uint8_t>();
  record.at_ms = bytes.whole();
  record.id = static_cast<uint64_t>(bytes.whole());
  record.serial = static_cast<uint64_t>(bytes.whole());
  record.until_ms = bytes.whole();
  record.due_ms = bytes.whole();
  record.expires_ms = bytes.whole();
  record.pid = bytes.number<uint32_t>();
  record.nonce = bytes.raw(kNonceBytes);
  const auto what = bytes.number<uint8_t>();
  record.tenant = bytes.raw(bytes.number<uint16_t>());
  const std::string_view tail = bytes.raw(bytes.number<uint32_t>());
  if (what == kFailure) record.failure = tail;
  if (what == kTags) record.tags = tail;
  if (what == kPushed && !read_pushed(tail, record)) return std::nullopt;
  if (what == kSchedule) {
    Unpacker schedule(tail);
    record.scheduled_wall_ms = schedule.whole();
    record.skipped = schedule.number<uint8_t>();
    record.schedule = schedule.raw(schedule.number<uint16_t>());
    if (!schedule.ok()) return std::nullopt;
  }
  if (what == kElsewhere) {
    Unpacker elsewhere(tail);
    record.other_id = static_cast<uint64_t>(elsewhere.whole());
    record.other_queue = elsewhere.raw(elsewhere.number<uint16_t>());
    if (!elsewhere.rest().empty()) record.tags = elsewhere.rest();
    if (!elsewhere.ok()) return std::nullopt;
  }
  if (what == kSettings) record.set = read_patch(tail);
  if (what == kStep) {
    Unpacker step(tail);
    record.step_kind = step.number<uint8_t>();
    record.step_bytes = static_cast<uint64_t>(step.whole());
    record.step = step.raw(step.number<uint16_t>());
    if (!step.ok() || record.step_kind == 0 || record.step_kind > static_cast<uint8_t>(kLastStepKind))
      return std::nullopt;
  }
  if (!bytes.ok() || kind == 0 || kind >= std::size(kKinds)) return std::nullopt;
  record.event = kKinds[kind];
  return record;
}

}  // namespace fq
