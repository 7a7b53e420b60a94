// linear_hash - an index that grows by one bucket at a time, so that no push ever pays for a big rehash.
//
// Linear hashing: with n buckets a hash goes to its low bits below the power of two at or above n, or, where
// that bucket does not exist yet, to those with one bit less. One insert splits at most one bucket. It never
// shrinks. Buckets beyond n are never read. Elements are chained through a field of their own.
//
// A Kind says what is indexed: cell(b) the head of a bucket, bucket_count() and capacity() of cells, at(i)
// the element (its link is its `chain`), hash_of(element), hash_has(element, bit) where one bit of the hash
// costs less than all of it, and kLoad, the elements a bucket above which one is split. A caller that has the
// element at hand passes it: to look it up again would cost as much as the change.
//
// Invariants
//  H1  An element is in the chain of the bucket of its hash, once.
//  H2  A chain is never longer than kChainMax: a longer one is damage.
#pragma once

// System.
#include <bit>
#include <span>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline constexpr uint32_t kChainMax = 10'000;
// A longer chain (which honest hashes do not give) is not split: its stores would not fit a step.
inline constexpr uint32_t kSplitMax = 64;

/// The elements of one array that have a hash, and their buckets.
template <auto kCells, auto kCount, auto kElements, uint32_t kLoadMax>
struct IndexKind {
  static constexpr uint32_t kLoad = kLoadMax;  // elements a bucket
  const Region* region;
  Shared<uint32_t>& cell(uint32_t b) const { return region->arena.at(region->root.*kCells, b).index; }
  Shared<uint32_t>& bucket_count() const { return region->root.*kCount; }
  uint32_t capacity() const { return (region->root.*kCells).capacity; }
  [[gnu::always_inline]] auto& at(uint32_t i) const { return region->arena.at(region->root.*kElements, i); }
};

template <class Kind>
class LinearHash {
 public:
  explicit LinearHash(Kind kind) : kind_(kind) {}

  /// The first element with this hash for which `matches`, or kNoIndex.
  template <class Matches>
  uint32_t find(uint64_t hash, Matches matches) const {
    StepLimit limit(kChainMax);
    uint32_t i = kind_.cell(bucket_of(hash, kind_.bucket_count()));
    while (i != kNoIndex) {
      auto& element = kind_.at(i);
      if (matches(element)) break;
      limit.step();
      i = element.chain;
    }
    return i;
  }

  /// Puts in i, which is `element`. `count` is how many elements there are with this one. One step.
  template <class Element>
  void insert(Txn& txn, uint32_t i, Element& element, uint32_t count) const {
    const uint32_t buckets = kind_.bucket_count();
    link(txn, i, element, buckets);
    if (is_full(count, buckets)) split(txn, buckets);
  }
  /// The same of one that was opened.
  template <class Element>
  void insert(Txn& txn, uint32_t i, const Opened<Element>& element, uint32_t count) const {
    const uint32_t buckets = kind_.bucket_count();
    Shared<uint32_t>& head = kind_.cell(bucket_of(Kind::hash_of(*element), buckets));
    element.set(&Element::chain, head.get());
    txn.set(head, i);
    if (is_full(count, buckets)) split(txn, buckets);
  }

  /// Of a hash that is in it, and that will be looked for soon: its chain begins with what came last, which
  /// may not have been touched for long.
  void fetch_chain_ahead(uint64_t hash) const {
    fetch_ahead(kind_.at(kind_.cell(bucket_of(hash, kind_.bucket_count()))));
  }

  template <class Element>
  void remove(Txn& txn, uint32_t i, const Element& element) const {
    StepLimit limit(kChainMax);
    Shared<uint32_t>* link = &kind_.cell(bucket_of(Kind::hash_of(element), kind_.bucket_count()));
    for (uint32_t at = *link; at != i; at = *link) {
      if (at == kNoIndex) region_damaged("an element is missing in its index");
      limit.step();
      link = &kind_.at(at).chain;
    }
    txn.set(*link, element.chain.get());
  }

  /// Puts `with` into the place of i, which has the same hash.
  void replace(Txn& txn, uint32_t i, uint32_t with) const {
    remove(txn, i, kind_.at(i));
    link(txn, with, kind_.at(with), kind_.bucket_count());
  }

  static uint32_t bucket_of(uint64_t hash, uint32_t buckets) {
    constexpr uint32_t kBucketsMax = uint32_t{1} << 31;
    if (buckets == 0 || buckets > kBucketsMax) region_damaged("an index has no such number of buckets");
    const uint32_t mask = std::bit_ceil(buckets) - 1;
    const uint32_t bucket = static_cast<uint32_t>(hash) & mask;
    return bucket < buckets ? bucket : bucket & mask >> 1;
  }

 private:
  bool is_full(uint32_t count, uint32_t buckets) const {
    return count / Kind::kLoad > buckets && buckets < kind_.capacity();
  }

  template <class Element>
  static bool hash_has(const Element& element, uint32_t bit) {
    if constexpr (requires { Kind::hash_has(element, bit); }) return Kind::hash_has(element, bit);
    return (Kind::hash_of(element) & bit) != 0;
  }

  template <class Element>
  void link(Txn& txn, uint32_t i, Element& element, uint32_t buckets) const {
    Shared<uint32_t>& head = kind_.cell(bucket_of(Kind::hash_of(element), buckets));
    txn.set(element.chain, head.get());
    txn.set(head, i);
  }

  void split(Txn& txn, uint32_t buckets) const {
    // Of those in the bucket that was too full, the ones whose hash has this bit go to the new one.
    const uint32_t bit = std::bit_floor(buckets);
    Shared<uint32_t>* stay = &kind_.cell(buckets - bit);
    struct Chained {
      uint32_t i;
      Shared<uint32_t>* chain;
      bool moves;
    } members[kSplitMax];
    uint32_t length = 0;
    for (uint32_t i = *stay; i != kNoIndex;) {
      if (length == kSplitMax) return;
      auto& element = kind_.at(i);
      members[length++] = {i, &element.chain, hash_has(element, bit)};
      i = element.chain;
    }
    Shared<uint32_t>* move = &kind_.cell(buckets);
    txn.set(kind_.bucket_count(), buckets + 1);
    for (const Chained& member : std::span(members, length)) {
      Shared<uint32_t>*& end = member.moves ? move : stay;
      put(txn, *end, member.i);
      end = member.chain;
    }
    put(txn, *stay, kNoIndex);
    put(txn, *move, kNoIndex);
  }

  Kind kind_;
};

}  // namespace fq
