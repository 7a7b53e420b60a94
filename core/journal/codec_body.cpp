// codec_body - the bodies of the records that have fields alone: low, limits, clock, policy, replaced, keys,
// schedules, steps.

// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint8_t kUnset = 1;
constexpr uint8_t kPaused = 1;
constexpr uint8_t kOfFile = 2;
constexpr uint8_t kCarried = 4;
constexpr uint8_t kStepCarried = 1;
constexpr uint8_t kStepGivesBack = 2;
constexpr uint8_t kStepOpen = 4;
constexpr uint8_t kStepFailed = 8;

bool key_is_known(PolicyKey key) { return key >= PolicyKey::order && key <= kLastPolicyKey; }

}  // namespace

namespace codec {

template <class V>
void fields(V& v, Of<LowRecord> auto& low) {
  auto& counts = low.counts;
  v(low.file_number, Zeros<4>{}, counts.pushed, counts.popped, counts.acked, counts.retried, counts.released,
    counts.buried, counts.expired, counts.cancelled, counts.recoveries, low.id_limit, low.serial_limit);
}

template <class V>
void fields(V& v, Of<LimitsRecord> auto& limits) {
  v(limits.id_limit, limits.serial_limit);
}

template <class V>
void fields(V& v, Of<ClockRecord> auto& clock) {
  v(clock.boot_id, clock.wall_minus_boot_ms);
}

template <class V>
void fields(V& v, Of<PolicyValue> auto& value, uint8_t& flags) {
  uint16_t text_bytes = v.size(value.text.size());
  v(value.key, flags, text_bytes, Zeros<4>{}, value.number, value.second);
  v(Text{value.text, text_bytes});
}

/// Values, then keys that are taken back. A key that this build does not know is refused: what it asks for
/// would not be done.
template <class V>
void fields(V& v, Of<PolicyRecord> auto& policy) {
  auto& patch = policy.patch;
  uint16_t path_bytes = v.size(policy.path.size());
  uint16_t count = v.size(patch.set.size() + patch.unset.size());
  v(path_bytes, count, Zeros<4>{});
  v(Text{policy.path, path_bytes});
  uint8_t flags = 0;
  if constexpr (V::kReads) {
    for (; count > 0 && !v.broken(); --count) {
      PolicyValue value;
      fields(v, value, flags);
      if (!key_is_known(value.key) || flags > kUnset) v.fail();
      if (flags == kUnset) patch.unset.push_back(value.key);
      if (flags == 0) patch.set.push_back(std::move(value));
    }
  } else {
    for (const PolicyValue& value : patch.set) fields(v, value, flags);
    flags = kUnset;
    for (const PolicyKey key : patch.unset) {
      const PolicyValue taken_back{key, 0, 0, {}};
      fields(v, taken_back, flags);
    }
  }
}

/// kReplacedItemOffset says where the item begins.
template <class V>
void fields(V& v, Of<ReplacedRecord> auto& replaced) {
  v(replaced.event.id, replaced.event.previous_event, replaced.due_wall_ms);
  v.item(replaced.message);
}

template <class V>
void fields(V& v, Of<KeptKey> auto& key) {
  v(key.hash, key.id, key.until_wall_ms);
}

/// As many as the header counts.
template <class V>
void fields(V& v, Of<KeysRecord> auto& keys) {
  for (auto& key : keys.keys) fields(v, key);
}

template <class V>
void fields(V& v, Of<ScheduledRecord> auto& schedule) {
  auto flags = static_cast<uint8_t>((schedule.paused ? kPaused : 0) | (schedule.of_file ? kOfFile : 0) |
                                    (schedule.carried ? kCarried : 0));
  uint16_t name_bytes = v.size(schedule.name.size());
  uint16_t spec_bytes = v.size(schedule.spec.size());
  uint16_t zone_bytes = v.size(schedule.zone.size());
  v(name_bytes, spec_bytes, zone_bytes, flags, schedule.missed, schedule.overlap, schedule.last, Zeros<6>{},
    schedule.begun_wall_ms, schedule.done_wall_ms, schedule.next_wall_ms, schedule.last_wall_ms,
    schedule.last_id, schedule.known_id);
  v(Text{schedule.name, name_bytes}, Text{schedule.spec, spec_bytes}, Text{schedule.zone, zone_bytes});
  v.item(schedule.message);
  if constexpr (V::kReads) {
    schedule.paused = (flags & kPaused) != 0;
    schedule.of_file = (flags & kOfFile) != 0;
    schedule.carried = (flags & kCarried) != 0;
    const bool bad = (flags & ~(kPaused | kOfFile | kCarried)) != 0 || schedule.missed > kLastMissedRule ||
                     schedule.overlap > kLastOverlapRule || schedule.last > kLastOccurrence ||
                     schedule.name.empty() || schedule.name.size() > kScheduleNameBytesMax;
    if (bad) v.fail();
  }
}

template <class V>
void fields(V& v, Of<SkippedRecord> auto& skipped) {
  uint16_t name_bytes = v.size(skipped.name.size());
  v(name_bytes, skipped.why, Zeros<5>{}, skipped.at_wall_ms, skipped.next_wall_ms);
  v(Text{skipped.name, name_bytes});
  if constexpr (V::kReads) {
    const bool bad =
        skipped.why > kLastOccurrence || skipped.name.empty() || skipped.name.size() > kScheduleNameBytesMax;
    if (bad) v.fail();
  }
}

template <class V>
void fields(V& v, Of<SteppedRecord> auto& step) {
  auto flags =
      static_cast<uint8_t>((step.carried ? kStepCarried : 0) | (step.gives_back ? kStepGivesBack : 0) |
                           (step.open ? kStepOpen : 0) | (step.failed ? kStepFailed : 0));
  uint16_t name_bytes = v.size(step.name.size());
  uint16_t after_bytes = v.size(step.after.size());
  v(step.id, step.at_wall_ms, step.until_wall_ms, step.child, name_bytes, after_bytes, step.kind, flags,
    Zeros<2>{});
  v(Text{step.name, name_bytes});
  std::string_view after = as_text(step.after);
  v(Text{after, after_bytes});
  v.item(step.output);
  if constexpr (V::kReads) {
    step.after = as_bytes(after);
    step.carried = (flags & kStepCarried) != 0;
    step.gives_back = (flags & kStepGivesBack) != 0;
    step.open = (flags & kStepOpen) != 0;
    step.failed = (flags & kStepFailed) != 0;
    const bool bad = (flags & ~(kStepCarried | kStepGivesBack | kStepOpen | kStepFailed)) != 0 ||
                     step.kind < StepKind::run || step.kind > kLastStepKind || step.name.empty() ||
                     step.name.size() > kStepNameBytesMax || after_bytes % 8 != 0 ||
                     after_bytes > 8 * kStepsPerMessageMax;
    if (bad) v.fail();
  }
}

}  // namespace codec

void encode_low(Body& into, const LowRecord& low) { codec::encode_body(into, RecordType::low, 0, low); }
std::optional<LowRecord> decode_low(Bytes body) { return codec::decode_body<LowRecord>(body); }

void encode_limits(Body& into, const LimitsRecord& limits) {
  codec::encode_body(into, RecordType::limits, 0, limits);
}
std::optional<LimitsRecord> decode_limits(Bytes body) { return codec::decode_body<LimitsRecord>(body); }

void encode_clock(Body& into, const ClockRecord& clock) {
  codec::encode_body(into, RecordType::clock, 0, clock);
}
std::optional<ClockRecord> decode_clock(Bytes body) { return codec::decode_body<ClockRecord>(body); }

void encode_policy(Body& into, const PolicyRecord& policy) {
  codec::encode_body(into, RecordType::policy, 0, policy);
}
std::optional<PolicyRecord> decode_policy(Bytes body) { return codec::decode_body<PolicyRecord>(body); }

void encode_replaced(Body& into, const ReplacedRecord& replaced) {
  codec::encode_body(into, RecordType::replaced, 1, replaced);
}
std::optional<ReplacedRecord> decode_replaced(Bytes body) { return codec::decode_body<ReplacedRecord>(body); }

void encode_keys(Body& into, const KeysRecord& keys) {
  FQ_ASSERT(!keys.keys.empty());
  FQ_ASSERT(keys.keys.size() <= kKeysPerRecord);
  codec::encode_body(into, RecordType::keys, static_cast<uint16_t>(keys.keys.size()), keys);
}
void encode_scheduled(Body& into, const ScheduledRecord& schedule) {
  codec::encode_body(into, RecordType::scheduled, 1, schedule);
}
std::optional<ScheduledRecord> decode_scheduled(Bytes body) {
  return codec::decode_body<ScheduledRecord>(body);
}

void encode_skipped(Body& into, RecordType type, const SkippedRecord& skipped) {
  codec::encode_body(into, type, 1, skipped);
}
std::optional<SkippedRecord> decode_skipped(Bytes body) { return codec::decode_body<SkippedRecord>(body); }

void encode_stepped(Body& into, const SteppedRecord& step) {
  codec::encode_body(into, RecordType::stepped, 1, step);
}
std::optional<SteppedRecord> decode_stepped(Bytes body) { return codec::decode_body<SteppedRecord>(body); }

bool decode_keys(uint16_t count, Bytes body, KeysRecord& keys) {
  keys.keys.clear();
  if (count == 0 || count > kKeysPerRecord) return false;
  keys.keys.resize(count);
  return codec::decode(body, keys);
}

}  // namespace fq
