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
  gate().apply_pending();
  const uint32_t from = shared.kept_keys.walk_next;
  uint32_t at = from;
  for (; at < end && at - from < kKeysPerLook && record_.keys.size() < kKeysPerRecord; ++at) {
    const UniqueKey& key = region.key(at);
    if ((key.flags & kKeyHeld) == 0 || key.until_ms == kNever) continue;
    // A push that takes it comes before this record, and its file may go before this one does: a replay would
    // give the key back to whom it was taken from.
    if (shared.may_be_pending({key.hash[0], key.hash[1]})) break;
    record_.keys.push_back(
        {{key.hash[0], key.hash[1]}, MessageId{key.id.get()}, store().wall_of(key.until_ms)});
  }
  if (at == from && at < end) return Obstacle::pending;
  if (!record_.keys.empty()) {
    encode_keys(body_, record_);
    const Obstacle obstacle = writer_.room_for(Purpose::care, record_bytes(body_));
    if (obstacle != Obstacle::none) return obstacle;
  }
  Change change(link_);
  if (!record_.keys.empty()) note_pin(change.txn(), shared.kept_keys, change.append(Purpose::care, body_));
  note_walked(change.txn(), shared.kept_keys, at, at >= end);
  FQ_POINT("keys.carried");
  change.commit();
  return Obstacle::none;
}

}  // namespace fq
