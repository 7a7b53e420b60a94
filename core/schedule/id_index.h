// id_index - messages by their id, those that ended and are remembered among them.
//
// Ids come in order, so 64 neighbours lie in a block of 64 buckets: what is put in, found or split one after
// the other lies together, the messages in the buckets too. Where a block is and which of its buckets is
// whose is chosen by a hash, so that the survivors of a pattern (every thousandth message kept) do not pile
// up in one chain.
#pragma once

// fq, this room.
#include "core/schedule/extras.h"
#include "core/schedule/linear_hash.h"

namespace fq {

/// One multiplication would not do: the numbers of blocks are in a row, and what lies in the middle of their
/// products is so regular that at some lengths of a queue most blocks share a few places.
constexpr uint64_t hash_id(uint64_t id) {
  uint64_t mixed = (id >> 6) * 0x9e37'79b9'7f4a'7c15;
  mixed = (mixed ^ mixed >> 32) * 0xd6e8'feb8'6659'fd93;
  mixed ^= mixed >> 32;
  return mixed << 6 | ((id ^ mixed >> 26) & 63);
}

struct EntryIndexKind {
  static constexpr uint32_t kLoad = 2;
  const Region* region;
  Shared<uint32_t>& cell(uint32_t b) const { return region->arena.at(region->root.id_buckets, b).index; }
  Shared<uint32_t>& bucket_count() const { return region->root.id_bucket_count; }
  uint32_t capacity() const { return region->root.id_buckets.capacity; }
  Entry& at(uint32_t i) const { return region->entry(i); }
  static uint64_t hash_of(const Entry& entry) { return hash_id(entry.id); }
};
using EntryIndex = LinearHash<EntryIndexKind>;

/// The slot of the message with this id, or kNoIndex.
inline uint32_t entry_find(const Region& region, uint64_t id) {
  return EntryIndex(EntryIndexKind{&region}).find(hash_id(id), [&](const Entry& entry) {
    return entry.id == id && state_of(entry) != SlotState::free;
  });
}

}  // namespace fq
