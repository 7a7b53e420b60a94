// unique_keys - see unique_keys.h.
#include "core/schedule/order/unique_keys.h"

// fq, this room.
#include "core/schedule/order/delay_heap.h"
#include "core/base/name_hash.h"

namespace fq {

KeyHash hash_key(const uint64_t (&secret)[2], std::string_view tenant, std::string_view key, bool debounced) {
  // The tenant's hash goes into the key's as its secret: lengths cannot be confused, nothing is copied.
  const uint64_t kind = debounced ? 0x64656275 : 0x756e6971;
  KeyHash hash;
  for (uint64_t half = 0; half < 2; ++half) {
    const uint64_t of_tenant = hash_name(secret[0] ^ kind ^ half << 63, secret[1], tenant);
    hash.half[half] = hash_name(of_tenant ^ secret[1], secret[0] + half, key);
  }
  return hash;
}

uint32_t UniqueKeys::find(const KeyHash& hash) const {
  return index_.find(hash.half[0], [&](const UniqueKey& key) {
    return key.hash[0] == hash.half[0] && key.hash[1] == hash.half[1];
  });
}

void UniqueKeys::hold(Txn& txn, uint32_t i, UniqueKey& key) const {
  add_to(txn, region_.root.held_keys, 1);
  index_.insert(txn, i, key, region_.root.held_keys);
  put(txn, key.flags, key.flags | kKeyHeld);
}

void UniqueKeys::give_up(Txn& txn, uint32_t i) const {
  UniqueKey& key = region_.key(i);
  if ((key.flags & kKeyBehind) != 0) {
    const uint32_t holder = find({{key.hash[0], key.hash[1]}});
    if (holder != kNoIndex && region_.key(holder).behind == i) txn.set(region_.key(holder).behind, kNoIndex);
    put(txn, key.flags, key.flags & ~kKeyBehind);
  }
  if ((key.flags & kKeyHeld) == 0) return;
  index_.remove(txn, i, key);
  take_from(txn, region_.root.held_keys, 1);
  put(txn, key.flags, key.flags & ~kKeyHeld);
  if (key.behind == kNoIndex) return;
  const uint32_t next = key.behind;
  put(txn, key.behind, kNoIndex);
  put(txn, region_.key(next).flags, region_.key(next).flags & ~kKeyBehind);
  hold(txn, next, region_.key(next));
}

// The element that holds this key gives it up: its message has ended, or lives and does without.
void UniqueKeys::evict(Txn& txn, const KeyHash& hash) const {
  const uint32_t holder = find(hash);
  if (holder == kNoIndex) return;
  if (region_.key(holder).until_ms != kNever) return remove(txn, holder);
  give_up(txn, holder);
}

uint32_t UniqueKeys::make(Txn& txn, const NewKey& from) const {
  const auto [i, key] = take_element(txn, region_.arena, region_.root.keys, region_.root.key_supply);
  txn.fresh(key.hash[0], from.hash.half[0]);
  txn.fresh(key.hash[1], from.hash.half[1]);
  txn.fresh(key.id, from.id);
  txn.fresh(key.since_ms, from.since_ms);
  txn.fresh(key.for_ms, from.for_ms);
  txn.fresh(key.until_ms, kNever);
  txn.fresh(key.heap_place, kNoIndex);
  txn.fresh(key.flags, from.debounced ? kKeyDebounced : 0);
  txn.fresh(key.behind, kNoIndex);
  return i;
}

uint32_t UniqueKeys::take(Txn& txn, const NewKey& from) const {
  if (!from.held) return make(txn, from);
  const uint32_t holder = find(from.hash);
  const bool lives = holder != kNoIndex && region_.key(holder).until_ms == kNever;
  if (lives && from.behind != 0 && region_.key(holder).id == from.behind) {
    const uint32_t last = region_.key(holder).behind;
    if (last != kNoIndex) give_up(txn, last);
    const uint32_t i = make(txn, from);
    put(txn, region_.key(i).flags, region_.key(i).flags | kKeyBehind);
    txn.set(region_.key(holder).behind, i);
    return i;
  }
  // A rebuild may meet who is held behind before the older one that holds the key.
  const bool is_older = lives && !from.debounced && from.id < region_.key(holder).id;
  evict(txn, from.hash);
  const uint32_t i = make(txn, from);
  hold(txn, i, region_.key(i));
  if (!is_older) return i;
  put(txn, region_.key(holder).flags, region_.key(holder).flags | kKeyBehind);
  txn.set(region_.key(i).behind, holder);
  return i;
}

bool UniqueKeys::is_anothers(uint32_t i) const {
  const UniqueKey& key = region_.key(i);
  return (key.flags & (kKeyHeld | kKeyBehind)) == 0 && find({{key.hash[0], key.hash[1]}}) != kNoIndex;
}

void UniqueKeys::regain(Txn& txn, uint32_t i) const {
  UniqueKey& key = region_.key(i);
  if ((key.flags & (kKeyHeld | kKeyBehind)) != 0 || is_anothers(i)) return;
  hold(txn, i, key);
}

void UniqueKeys::take_back(Txn& txn, uint32_t i) const {
  UniqueKey& key = region_.key(i);
  if ((key.flags & (kKeyHeld | kKeyBehind)) != 0) return;
  const KeyHash hash{{key.hash[0], key.hash[1]}};
  while (find(hash) != kNoIndex) evict(txn, hash);
  hold(txn, i, key);
}

void UniqueKeys::end(Txn& txn, uint32_t i, bool acked, int64_t now_ms) const {
  UniqueKey& key = region_.key(i);
  const bool stays = acked && (key.flags & kKeyHeld) != 0 && key.behind == kNoIndex && key.for_ms > 0;
  if (!stays) return remove(txn, i);
  txn.set(key.until_ms, time_after(now_ms, key.for_ms));
  DelayHeap(region_).insert(txn, i | kTimerOfKey);
}

void UniqueKeys::remove(Txn& txn, uint32_t i) const {
  UniqueKey& key = region_.key(i);
  give_up(txn, i);
  DelayHeap(region_).remove(txn, i | kTimerOfKey);
  free_element(txn, region_.root.key_supply, key, i);
}

void UniqueKeys::remember(Txn& txn, const KeyHash& hash, uint64_t id, int64_t until_ms) const {
  // Written of what was known then: who holds it now knows better.
  if (find(hash) != kNoIndex) return;
  const uint32_t i = take(txn, {.hash = hash, .id = id});
  txn.set(region_.key(i).until_ms, until_ms);
  DelayHeap(region_).insert(txn, i | kTimerOfKey);
}

}  // namespace fq
