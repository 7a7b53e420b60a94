#include "core/schedule/check/keys_check.h"

// fq, this room.
#include "core/schedule/order/unique_keys.h"

namespace fq {

void KeysCheck::check() {
  const ScheduleRoot& root = region_.root;
  uint64_t of_messages = 0;
  for (uint32_t i = 0; i < root.entry_supply.high_water; ++i) {
    const Entry& entry = region_.entry(i);
    if (state_of(entry) == SlotState::free || !has_extra(entry)) continue;
    const uint32_t place = region_.extra(entry.rank).key;
    if (place == kNoIndex) continue;
    ++of_messages;
    const UniqueKey& key = region_.key(place);
    expect(key.id == entry.id && key.until_ms == kNever, "E1: a message with another's key", i);
    const bool held = (key.flags & kKeyHeld) != 0;
    if (held) expect(state_of(entry) != SlotState::dead, "E1: a dead message holds a key", i);
    if ((key.flags & kKeyBehind) != 0) {
      const uint32_t holder = UniqueKeys(region_).find({{key.hash[0], key.hash[1]}});
      expect(!held && holder != kNoIndex && region_.key(holder).behind == place, "E2: a key behind none", i);
    }
    if (held)
      expect(UniqueKeys(region_).find({{key.hash[0], key.hash[1]}}) == place, "E2: a key held twice", i);
  }
  uint64_t held = 0, ended = 0;
  for (uint32_t b = 0; b < root.key_bucket_count; ++b) {
    StepLimit limit(kChainMax);
    for (uint32_t i = region_.arena.at(root.key_buckets, b).index; i != kNoIndex; i = region_.key(i).chain) {
      limit.step();
      const UniqueKey& key = region_.key(i);
      ++held;
      ended += key.until_ms != kNever ? 1u : 0u;
      expect((key.flags & kKeyHeld) != 0, "E2: a key in the index that is not held", i);
      expect((key.heap_place != kNoIndex) == (key.until_ms != kNever), "E1: a key whose timer is wrong", i);
      expect(LinearHash<KeyIndexKind>::bucket_of(key.hash[0], root.key_bucket_count) == b,
             "H1: a key in a wrong bucket", i);
    }
  }
  if (held != root.held_keys) fault("E2: held keys are counted wrongly");
  if (of_messages + ended != root.key_supply.used) fault("E1: used keys are counted wrongly");
  tally_.timers += ended;
}

}  // namespace fq
