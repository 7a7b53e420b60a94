// local_keys - the secret of unique keys, and what the journal must go on to say of those that are held
// although their messages have ended.
#include "core/local/local_queue.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/key_secret.h"

namespace fq {

namespace {

constexpr int64_t kSecretTimeoutMs = 5'000;
constexpr uint32_t kKeysPerLook = 8192;  // walked under one hold of the lock

}  // namespace

/// Without a secret somebody could choose keys that meet those of others. Made with the first key.
Result<void> LocalQueue::ensure_secret() {
  for (int attempt = 0; header().key_secret[0].peek() == 0; ++attempt) {
    Result<void> made = find_secret();
    if (made.ok() || gate().trouble() == SegmentTrouble::none || attempt == kSegmentTries) return made;
    FQ_TRY(link_.attach_anew());
  }
  return {};
}

Result<void> LocalQueue::find_secret() {
  SegmentHeader& shared = header();
  // One at a time, or two of them would hash with two secrets.
  const Taken taken = shared.compaction.take(kSecretTimeoutMs);
  if (taken == Taken::owner_died) shared.compaction.consistent();
  if (taken != Taken::clean && taken != Taken::owner_died)
    return Error{ErrorKind::later, object() + ": its secret is being made by another", 0};
  Result<KeySecret> secret = read_secret(disk());
  if (secret.ok() && secret->half[0] == 0) secret = make_secret(disk());
  Result<void> done = secret.ok() ? Result<void>() : Result<void>(secret.error());
  FQ_POINT("secret.made");
  if (done.ok()) {
    done = gate().locked([&]() -> Result<void> {
      Txn txn = store().begin();
      for (size_t i = 0; i < 2; ++i) txn.set(shared.key_secret[i], secret->half[i]);
      txn.commit();
      return {};
    });
  }
  shared.compaction.unlock();
  return done;
}

/// Some keys whose messages were acked, from where the walk is. Needs: the lock.
Obstacle LocalQueue::carry_some_keys(KeysRecord& record) {
  SegmentHeader& shared = header();
  const Region& region = schedule().region();
  const uint32_t end = region.root.key_supply.high_water;
  record.keys.clear();
  uint32_t at = shared.kept_keys.walk_next;
  for (uint32_t walked = 0; at < end && walked < kKeysPerLook && record.keys.size() < kKeysPerRecord;
       ++walked, ++at) {
    const UniqueKey& key = region.key(at);
    if ((key.flags & kKeyHeld) == 0 || key.until_ms == kNever) continue;
    record.keys.push_back(
        {{key.hash[0], key.hash[1]}, MessageId{key.id.get()}, store().wall_of(key.until_ms)});
  }
  if (!record.keys.empty()) {
    encode_keys(house_body_, record);
    const Obstacle obstacle = writer_.room_for(Purpose::care, record_bytes(house_body_));
    if (obstacle != Obstacle::none) return obstacle;
  }
  Change change(link_, gate().now());
  if (!record.keys.empty()) change.append(house_body_);
  note_walked(change.txn(), shared.kept_keys, at, at >= end);
  FQ_POINT("keys.carried");
  change.commit();
  return Obstacle::none;
}

}  // namespace fq
