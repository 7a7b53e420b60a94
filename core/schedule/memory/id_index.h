// id_index - messages by their id, those that ended and are remembered among them.
//
// Ids come in order, so 64 neighbours lie in a block of 64 buckets: ids that are put in, found or split one
// after the other lie together, and so do the messages in the buckets. Blocks are dealt out by the golden
// ratio: however many blocks in a row there are, their places are even, so chains are short where most
// messages are. Each 65,536 blocks begin elsewhere, so that the survivors of a pattern (every thousandth
// message kept) that suits the golden ratio do not pile up.
#pragma once

// System.
#include <bit>
// fq, this room.
#include "core/schedule/memory/extras.h"
#include "core/schedule/memory/linear_hash.h"

namespace fq {

constexpr uint32_t reversed_bits(uint32_t bits) {
  bits = (bits >> 1 & 0x5555'5555) | (bits & 0x5555'5555) << 1;
  bits = (bits >> 2 & 0x3333'3333) | (bits & 0x3333'3333) << 2;
  bits = (bits >> 4 & 0x0f0f'0f0f) | (bits & 0x0f0f'0f0f) << 4;
  return __builtin_bswap32(bits);
}

inline constexpr uint64_t kIdMixer = 0xd6e8'feb8'6659'fd93;  // odd, its bits without order
inline constexpr int kIdBlockBits = 6;

constexpr uint64_t place_of_block(uint64_t block) {
  constexpr uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;  // of 2^64
  return block * kGolden + (block >> 16) * kIdMixer;
}

/// What the hashes of a block's ids have in common.
struct IdBlock {
  uint64_t number = UINT64_MAX;  // no id lies in it
  uint64_t hash = 0, mix = 0;
};
/// The high bits of the multiples of the golden ratio are the even ones, and an index goes by the low bits.
/// Which bucket of its block is whose is mixed once more: blocks that share a place are regular, and so would
/// be the ids that a pattern leaves of them.
constexpr IdBlock id_block(uint64_t number) {
  const uint64_t place = place_of_block(number);
  const uint64_t mixed = (place ^ place >> 32) * kIdMixer;
  return {number, uint64_t{reversed_bits(static_cast<uint32_t>(place >> 32))} << kIdBlockBits, mixed >> 58};
}
inline uint64_t hash_id(uint64_t id) {
  // Messages come, and end, nearly in the order of their ids: mostly it is the block of the one before.
  static constinit thread_local IdBlock last;
  if (id >> kIdBlockBits != last.number) last = id_block(id >> kIdBlockBits);
  return last.hash | ((id ^ last.mix) & 63);
}
/// Whether its hash has this bit: without the rest of it, since each split asks for it several times.
inline bool hash_id_has(uint64_t id, uint32_t bit) {
  const int at = std::countr_zero(bit) - kIdBlockBits;
  return at < 0 ? (hash_id(id) & bit) != 0 : (place_of_block(id >> kIdBlockBits) >> (63 - at) & 1) != 0;
}

struct EntryIndexKind
    : IndexKind<&ScheduleRoot::id_buckets, &ScheduleRoot::id_bucket_count, &ScheduleRoot::entries, 2> {
  static uint64_t hash_of(const Entry& entry) { return hash_id(entry.id); }
  static bool hash_has(const Entry& entry, uint32_t bit) { return hash_id_has(entry.id, bit); }
};
using EntryIndex = LinearHash<EntryIndexKind>;

/// The slot of the message with this id, or kNoIndex.
inline uint32_t entry_find(const Region& region, uint64_t id) {
  return EntryIndex(EntryIndexKind{&region}).find(hash_id(id), [&](const Entry& entry) {
    return entry.id == id && state_of(entry) != SlotState::free;
  });
}

}  // namespace fq
