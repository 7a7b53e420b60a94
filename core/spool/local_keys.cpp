// local_keys - the secret of unique keys, and what the journal must go on to say of those that are held
// although their messages have ended.
#include "core/spool/local_queue.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/spool/key_secret.h"

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
    FQ_TRY(attach_anew());
  }
  return {};
}

Result<void> LocalQueue::find_secret() {
  SegmentHeader& shared = header();
  // One at a time, or two of them would hash with two secrets.
  const Taken taken = shared.compaction.take(kSecretTimeoutMs);
  if (taken == Taken::owner_died) shared.compaction.consistent();
  if (taken != Taken::clean && taken != Taken::owner_died)
    return Error{ErrorKind::later, attachment_->object() + ": its secret is being made by another", 0};
  Result<KeySecret> secret = read_secret(attachment_->disk());
  if (secret.ok() && secret->half[0] == 0) secret = make_secret(attachment_->disk());
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

/// Some keys whose messages were acked, from `cursor` on, into one record. The last look leaves `cursor` at
/// kNoIndex.
Obstacle LocalQueue::carry_some_keys(KeysRecord& record, uint32_t& cursor) {
  const Region& region = schedule().region();
  const uint32_t end = region.root.key_supply.high_water;
  record.keys.clear();
  uint32_t at = cursor;
  for (uint32_t walked = 0; at < end && walked < kKeysPerLook && record.keys.size() < kKeysPerRecord;
       ++walked, ++at) {
    const UniqueKey& key = region.key(at);
    if ((key.flags & kKeyHeld) == 0 || key.until_ms == kNever) continue;
    record.keys.push_back(
        {{key.hash[0], key.hash[1]}, MessageId{key.id.get()}, store().wall_of(key.until_ms)});
  }
  const uint32_t next = at < end ? at : kNoIndex;
  if (record.keys.empty()) return cursor = next, Obstacle::none;
  encode_keys(body_, record);
  const Obstacle obstacle = push_obstacle(record_bytes(body_), Need{}, 0, false);
  if (obstacle != Obstacle::none) return obstacle;
  Txn txn = store().begin();
  const Now now = gate().in_order(txn, gate().now());
  stream().append(txn, body_, MessageId{0}, now.wall_ms);
  FQ_POINT("keys.carried");
  txn.commit();
  stream().publish();
  cursor = next;
  return Obstacle::none;
}

Result<void> LocalQueue::carry_keys() {
  uint64_t from = 0;
  uint64_t walk = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    const JournalSlot& oldest = stream().table().slot(shared.oldest_file);
    const bool needed = shared.keys_record != 0 && shared.keys_record < oldest.end;
    from = needed ? shared.tail.get() : 0;
    if (!needed) return {};
    walk = shared.keys_walk + 1;
    Txn txn = store().begin();
    txn.set(shared.keys_walk, walk);
    txn.set(shared.keys_since, UINT64_MAX);
    txn.commit();
    return {};
  }));
  if (from == 0) return {};
  KeysRecord record;
  record.keys.reserve(kKeysPerRecord);  // nothing is allocated under the lock
  body_.bytes.reserve(64 * 1024);
  for (uint32_t cursor = 0; cursor != kNoIndex;) {
    Obstacle obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      obstacle = carry_some_keys(record, cursor);
      return {};
    }));
    // Another time: the file stays until then.
    if (obstacle != Obstacle::none) return overcome(obstacle, Need{});
  }
  return locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    // Somebody else began later and knows better what was acked meanwhile.
    if (shared.keys_walk != walk) return {};
    Txn txn = store().begin();
    txn.set(shared.keys_record, std::min<uint64_t>(from, shared.keys_since));
    txn.commit();
    return {};
  });
}

}  // namespace fq
