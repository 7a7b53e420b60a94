// region - the bytes of one schedule, and checked access to what lies in them.
//
// Every index comes from shared bytes and is checked on the way (Arena::at throws RegionDamaged). Loops
// over links count their steps with a StepLimit, so damaged links end in RegionDamaged and never in a hang.
#pragma once

// fq, this room.
#include "core/schedule/root.h"

namespace fq {

/// A message with its tenant: looked up once for all that is done to it.
struct Message {
  uint32_t slot;
  Entry& entry;
  Tenant& tenant;
};

struct Region {
  Arena arena;
  ScheduleRoot& root;

  Entry& entry(uint32_t i) const { return arena.at(root.entries, i); }
  Tenant& tenant(uint32_t i) const { return arena.at(root.tenants, i); }
  Message message(uint32_t slot) const {
    Entry& found = entry(slot);
    return {slot, found, tenant(found.tenant)};
  }
  TextCell& text(uint32_t i) const { return arena.at(root.text, i); }
};

/// Counts the steps of a loop over links; more than the structure can have is damage.
class StepLimit {
 public:
  explicit StepLimit(uint32_t steps) : left_(steps) {}
  void step() {
    if (left_-- == 0) throw RegionDamaged{"a chain of links does not end"};
  }

 private:
  uint32_t left_;
};

/// Stores only what differs: a store costs an undo entry, a look at a line that is in the cache nothing.
template <class T>
void put(Txn& txn, Shared<T>& field, std::type_identity_t<T> value) {
  if (field.get() != value) txn.set(field, value);
}

template <class T>
void add_to(Txn& txn, Shared<T>& field, std::type_identity_t<T> more) {
  txn.set(field, static_cast<T>(field.get() + more));
}

/// Sums of damaged regions must not wrap below zero and look like billions.
template <class T>
void take_from(Txn& txn, Shared<T>& field, std::type_identity_t<T> less) {
  if (field.get() < less) throw RegionDamaged{"a sum is too small"};
  txn.set(field, static_cast<T>(field.get() - less));
}

/// Takes a free element of `array`, whose free ones are linked through `link`. Its fields hold what they
/// held when it was freed.
template <class Array, class Link>
uint32_t take_element(Txn& txn, const Arena& arena, Array& array, Supply& supply, Link link) {
  uint32_t index = supply.free_head;
  if (index != kNoIndex) {
    txn.set(supply.free_head, link(arena.at(array, index)).get());
  } else {
    index = supply.high_water;
    if (index >= array.capacity) throw RegionDamaged{"no room was made before a change"};
    txn.set(supply.high_water, index + 1);
  }
  add_to(txn, supply.used, 1);
  return index;
}

template <class Array, class Link>
void free_element(Txn& txn, const Arena& arena, Array& array, Supply& supply, Link link, uint32_t index) {
  txn.set(link(arena.at(array, index)), supply.free_head.get());
  txn.set(supply.free_head, index);
  take_from(txn, supply.used, 1);
  txn.note_freed();
}

}  // namespace fq
