// region - the bytes of one schedule, and checked access to their contents.
//
// Every index comes from shared bytes and is checked on the way (Arena::at throws RegionDamaged). Loops
// over links count their steps with a StepLimit, so damaged links end in RegionDamaged and never in a hang.
#pragma once

// fq, this room.
#include "core/schedule/memory/root.h"
#include "core/schedule/memory/tenant_hints.h"

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
  mutable TenantHints hints = {};  // makes no visible difference

  // Inline: each operation asks for some thirty of these.
  [[gnu::always_inline]] Entry& entry(uint32_t i) const { return arena.at(root.entries, i); }
  [[gnu::always_inline]] Tenant& tenant(uint32_t i) const { return arena.at(root.tenants, i); }
  [[gnu::always_inline]] Message message(uint32_t slot) const {
    Entry& found = entry(slot);
    return {slot, found, tenant(found.tenant)};
  }
  /// Of a message or a leaf that is to be changed, or a seat.
  [[gnu::always_inline]] static Opened<Entry> open(Txn& txn, Entry& entry) {
    return txn.open<kOpensEntry>(entry);
  }
  [[gnu::always_inline]] static Opened<Tenant> open(Txn& txn, Tenant& tenant) {
    return txn.open<kOpensTenant>(tenant);
  }
  /// Of the node above it.
  [[gnu::always_inline]] static Opened<Tenant> open_ring(Txn& txn, Tenant& parent) {
    return txn.open<kOpensRing>(parent);
  }
  TextCell& text(uint32_t i) const { return arena.at(root.text, i); }
  UniqueKey& key(uint32_t i) const { return arena.at(root.keys, i); }
  Dependency& dependency(uint32_t i) const { return arena.at(root.dependencies, i); }
  Wait& wait(uint32_t i) const { return arena.at(root.waits, i); }
  Place& place(uint32_t i) const { return arena.at(root.places, i); }
  Pool& pool(uint32_t i) const { return arena.at(root.pools, i); }
  Recurring& recurring(uint32_t i) const { return arena.at(root.recurring, i); }
  Step& step(uint32_t i) const { return arena.at(root.steps, i); }
  Extra& extra(uint32_t i) const { return arena.at(root.extras, i); }
};

/// Counts the steps of a loop over links; more than the structure can have is damage.
class StepLimit {
 public:
  explicit StepLimit(uint32_t steps) : left_(steps) {}
  void step() {
    if (left_-- == 0) region_damaged("a chain of links does not end");
  }

 private:
  uint32_t left_;
};

/// Stores only what differs: a store costs an undo entry, a look at a line that is in the cache nothing.
template <class T, uint32_t kOpens>
[[gnu::always_inline]] inline void put(Txn& txn, Shared<T, kOpens>& field, std::type_identity_t<T> value) {
  if (field.get() != value) txn.set(field, value);
}

template <class T, uint32_t kOpens>
[[gnu::always_inline]] inline void add_to(Txn& txn, Shared<T, kOpens>& field, std::type_identity_t<T> more) {
  txn.set(field, static_cast<T>(field.get() + more));
}

/// Sums of damaged regions must not wrap below zero and look like billions.
template <class T, uint32_t kOpens>
[[gnu::always_inline]] inline void take_from(Txn& txn, Shared<T, kOpens>& field,
                                             std::type_identity_t<T> less) {
  if (field.get() < less) region_damaged("a sum is too small");
  txn.set(field, static_cast<T>(field.get() - less));
}

/// The same in what was opened.
template <class Struct, class T, uint32_t kOpens, class In>
[[gnu::always_inline]] inline void add_to(const Opened<Struct>& opened, Shared<T, kOpens> In::*field,
                                          std::type_identity_t<T> more) {
  opened.set(field, static_cast<T>((*opened.*field).get() + more));
}
template <class Struct, class T, uint32_t kOpens, class In>
[[gnu::always_inline]] inline void take_from(const Opened<Struct>& opened, Shared<T, kOpens> In::*field,
                                             std::type_identity_t<T> less) {
  if ((*opened.*field).get() < less) region_damaged("a sum is too small");
  opened.set(field, static_cast<T>((*opened.*field).get() - less));
}
template <class T, uint32_t kOpens>
[[gnu::always_inline]] inline void add_to(const OpenedFields<kOpens>& opened, Shared<T, kOpens>& field,
                                          std::type_identity_t<T> more) {
  opened.set(field, static_cast<T>(field.get() + more));
}
template <class T, uint32_t kOpens>
[[gnu::always_inline]] inline void take_from(const OpenedFields<kOpens>& opened, Shared<T, kOpens>& field,
                                             std::type_identity_t<T> less) {
  if (field.get() < less) region_damaged("a sum is too small");
  opened.set(field, static_cast<T>(field.get() - less));
}

/// Times in shared bytes may be anything: those that are beyond all times wrap.
constexpr int64_t time_after(int64_t at_ms, int64_t by_ms) {
  return static_cast<int64_t>(static_cast<uint64_t>(at_ms) + static_cast<uint64_t>(by_ms));
}
constexpr int64_t time_between(int64_t from_ms, int64_t to_ms) {
  return static_cast<int64_t>(static_cast<uint64_t>(to_ms) - static_cast<uint64_t>(from_ms));
}

/// An element with its index.
template <class T>
struct Element {
  uint32_t index;
  T& at;
};

/// Fetches the element that is needed next while this one is worked on: it was last touched long ago.
template <class T>
inline void fetch_ahead(const T& element) {
  constexpr size_t kLine = 64;
  const auto* bytes = reinterpret_cast<const char*>(&element);
  for (size_t at = 0; at < sizeof(T); at += kLine) __builtin_prefetch(bytes + at, 1);
}

/// Takes a free element of `array`, whose free ones are linked through their `chain`. Its fields hold what
/// they held when it was freed. Inline, as Txn::set is: each push takes one.
template <class Array, uint32_t kOpens, class T = typename Array::Element>
[[gnu::always_inline]] inline Element<T> take_element(Txn& txn, const Arena& arena, Array& array,
                                                      SupplyOf<kOpens>& supply) {
  const uint32_t freed = supply.free_head;
  add_to(txn, supply.used, 1);
  if (freed != kNoIndex) {
    T& element = arena.at(array, freed);
    const uint32_t next = element.chain;
    if (next < array.capacity) fetch_ahead(arena.at(array, next));
    txn.set(supply.free_head, next);
    return {freed, element};
  }
  const uint32_t unused = supply.high_water;
  if (unused >= array.capacity) region_damaged("no room was made before a change");
  txn.set(supply.high_water, unused + 1);
  return {unused, arena.at(array, unused)};
}

/// In line too: each end of a message frees one.
template <uint32_t kOpens, class T>
[[gnu::always_inline]] inline void free_element(Txn& txn, SupplyOf<kOpens>& supply, T& element, uint32_t index) {
  txn.set(element.chain, supply.free_head.get());
  txn.set(supply.free_head, index);
  take_from(txn, supply.used, 1);
  txn.note_freed();
}

}  // namespace fq
