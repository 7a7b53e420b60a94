// unique_keys - the keys of --unique and of --debounce, and the message that holds each.
//
// A key is known by 128 bits of a keyed hash of its tenant, its kind and itself. Its element lives as long as
// its message, and where that was acked, for a time after it (until_ms, with a timer in the delay heap). It
// is in the index while it is held: a dead message keeps its element but holds nothing, so that a kick can
// give the key back if no other message has taken it meanwhile. A debounced message holds its key only until
// it is due.
//
// Invariants
//  E1  A used element belongs to a message (Extra::key), or its message has ended and it has a timer.
//  E2  A hash is in the index once at most; the element of an ended message is in the index; an element that
//      is behind is known by the one that holds the key, and has it next.
#pragma once

// System.
#include <string_view>
// fq, this room.
#include "core/schedule/memory/linear_hash.h"

namespace fq {

inline constexpr uint32_t kKeyHeld = 1;  // in the index
inline constexpr uint32_t kKeyDebounced = 2;
inline constexpr uint32_t kKeyBehind = 4;  // of a message that is held behind the one that holds the key

struct KeyHash {
  uint64_t half[2] = {};
  bool operator==(const KeyHash&) const = default;
};

/// `secret`: two random words of the queue, so that no person can choose keys that collide.
KeyHash hash_key(const uint64_t (&secret)[2], std::string_view tenant, std::string_view key, bool debounced);

struct NewKey {
  KeyHash hash;
  uint64_t id = 0;
  int64_t since_ms = 0;  // boot time of its push
  int64_t for_ms = 0;    // held so long after the ack
  bool debounced = false;
  bool held = true;     // restored only: else its message holds it no more
  uint64_t behind = 0;  // it waits behind this message; 0: behind none
};

struct KeyIndexKind
    : IndexKind<&ScheduleRoot::key_buckets, &ScheduleRoot::key_bucket_count, &ScheduleRoot::keys, 2> {
  static uint64_t hash_of(const UniqueKey& key) { return key.hash[0]; }
};

class UniqueKeys {
 public:
  explicit UniqueKeys(const Region& region) : region_(region), index_(KeyIndexKind{&region}) {}

  /// The element that holds it, or kNoIndex.
  uint32_t find(const KeyHash& hash) const;
  /// A new element for a message; the message that held the key holds it no more. Two steps. Needs: room for
  /// it.
  uint32_t take(Txn& txn, const NewKey& key) const;
  /// Its message is dead: others may take the key.
  void give_up(Txn& txn, uint32_t key) const;
  /// Its message is back from the dead: it holds the key again, unless another does.
  void regain(Txn& txn, uint32_t key) const;
  /// The same, where it is told that none did, whatever a rebuild knows.
  void take_back(Txn& txn, uint32_t key) const;
  /// Its message does without, and another one holds the key.
  bool is_anothers(uint32_t key) const;
  /// Its message has ended: the element goes, or stays for a while. Two steps.
  void end(Txn& txn, uint32_t key, bool acked, int64_t now_ms) const;
  void remove(Txn& txn, uint32_t key) const;
  /// Remembers a key whose message was acked, as a record carried it forward. Needs: room for it.
  void remember(Txn& txn, const KeyHash& hash, uint64_t id, int64_t until_ms) const;

 private:
  uint32_t make(Txn& txn, const NewKey& key) const;
  void hold(Txn& txn, uint32_t i, UniqueKey& key) const;
  void evict(Txn& txn, const KeyHash& hash) const;

  const Region& region_;
  LinearHash<KeyIndexKind> index_;
};

}  // namespace fq
