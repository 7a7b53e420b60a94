#include "core/local/care/key_carrier.h"

// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/write/pin_walk.h"

namespace fq {

namespace {

constexpr uint32_t kKeysPerLook = 8192;  // walked under one hold of the lock
constexpr size_t kBytesAhead = 64 * 1024;

}  // namespace

void KeyCarrier::make_room() {
  record_.keys.reserve(kKeysPerRecord);
  body_.bytes.reserve(kBytesAhead);
}

Obstacle KeyCarrier::carry_some() {
  SegmentHeader& shared = header();
  const Region& region = schedule().region();
  const uint32_t end = region.root.key_supply.high_water;
  record_.keys.clear();
  uint32_t at = shared.kept_keys.walk_next;
  for (uint32_t walked = 0; at < end && walked < kKeysPerLook && record_.keys.size() < kKeysPerRecord;
       ++walked, ++at) {
    const UniqueKey& key = region.key(at);
    if ((key.flags & kKeyHeld) == 0 || key.until_ms == kNever) continue;
    record_.keys.push_back(
        {{key.hash[0], key.hash[1]}, MessageId{key.id.get()}, store().wall_of(key.until_ms)});
  }
  if (!record_.keys.empty()) {
    encode_keys(body_, record_);
    const Obstacle obstacle = writer_.room_for(Purpose::care, record_bytes(body_));
    if (obstacle != Obstacle::none) return obstacle;
  }
  Change change(link_, gate().now());
  if (!record_.keys.empty()) change.append(body_);
  note_walked(change.txn(), shared.kept_keys, at, at >= end);
  FQ_POINT("keys.carried");
  change.commit();
  return Obstacle::none;
}

}  // namespace fq
