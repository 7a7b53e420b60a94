// arena - arrays that grow by chunks inside one byte region.
//
// A region is one block of address space that is mapped once and never moves; its backing grows at the end. A
// ChunkedArray is a table of chunks in it: indexes instead of pointers, so every process may map the region
// anywhere. Growing has two halves: the backing is made larger outside any lock (by the owner of the region),
// then add_chunk publishes it in a transaction.
//
// Bytes in the region are not trusted for memory safety: each access is checked against the published
// capacity and the mapped size, and a breach throws RegionDamaged, which the owner answers by a rebuild.
//
// An object that stays learns where the chunks are, in tables of its own: access by these costs half as
// much. Chunks never move, so what was learned stays right. A table is filled only between transactions,
// since a chunk that one has added goes when it is taken back.
//
// Invariants
//  M1  known elements of an array lie in chunks that were published by a commit, and were checked then.
#pragma once

// System.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>
// fq, this room.
#include "core/base/step_count.h"
#include "core/base/memory/undo.h"

namespace fq {

/// Thrown where shared bytes contradict themselves. Caught in one place, by the holder of the lock.
struct RegionDamaged {
  const char* what;
};

/// Throws it; apart, so that the checks themselves stay small enough to be inlined.
[[noreturn, gnu::cold, gnu::noinline]] inline void region_damaged(const char* what) {
  throw RegionDamaged{what};
}

inline constexpr uint32_t kNoIndex = UINT32_MAX;

inline constexpr uint32_t kPageBytes = 4096;
inline constexpr uint32_t kSmallChunkBytes = 16 * 1024;  // so that an empty queue stays small
inline constexpr uint32_t kSmallChunks = 64;
inline constexpr uint32_t kLargeChunkBytes = 1024 * 1024;
inline constexpr uint32_t kLargeChunkElements = 64 * 1024;  // at most: those ahead of the need are not used

constexpr uint32_t whole_pages(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
}

/// So many elements take about kSmallChunkBytes, or up to four times that to fill their pages.
constexpr uint32_t small_chunk_elements(uint32_t element_bytes) {
  uint32_t count = std::bit_floor(kSmallChunkBytes / element_bytes);
  const auto is_wasteful = [&] {
    return whole_pages(count * element_bytes) > count * element_bytes / 16 * 17;
  };
  for (int doubled = 0; doubled < 2 && is_wasteful(); ++doubled) count *= 2;
  return count;
}

inline constexpr uint32_t kArraysMax = 21;  // in one region
// Chosen: a process that does one thing asks some fifty times, and is not to pay for pages of tables.
inline constexpr uint32_t kUnknownMax = 256;

/// An array of T in a region, the kNumber-th; T is a struct of Shared fields. Its first chunks are small,
/// later ones large.
template <class T, uint32_t kLargeChunks, uint32_t kNumber>
struct ChunkedArray {
  static_assert(kNumber < kArraysMax);
  using Element = T;
  static constexpr uint32_t kTable = kNumber;
  // Powers of two, so that an index is split by shifts: it is done several times in each operation.
  static constexpr uint32_t kPerSmall = small_chunk_elements(sizeof(T));
  static constexpr uint32_t kPerLarge =
      std::min(kLargeChunkElements, std::bit_floor(uint32_t{kLargeChunkBytes / sizeof(T)}));
  static constexpr uint32_t kSmallBytes = whole_pages(kPerSmall * sizeof(T));
  static constexpr uint32_t kLargeBytes = whole_pages(kPerLarge * sizeof(T));
  static constexpr uint32_t kPiecesOfLarge = kPerLarge / kPerSmall;  // exact: powers of two
  static_assert(kPiecesOfLarge > 0);
  static constexpr uint32_t kInSmall = kPerSmall * kSmallChunks;
  static constexpr uint32_t kChunksMax = kSmallChunks + kLargeChunks;

  Shared<uint32_t> chunk_count;
  Shared<uint32_t> capacity;  // elements that chunk_count chunks hold
  Shared<uint32_t> chunk_page[kChunksMax];
};

/// The chunks of a region: they lie from `first` on, behind what is not theirs (a header, an undo log).
class Arena {
 public:
  Arena(std::byte* base, uint64_t first, uint64_t bytes) : base_(base), first_(first), bytes_(bytes) {}

  std::byte* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }

  /// The element `index`; throws RegionDamaged when it lies outside of [first, bytes).
  template <class Array>
  [[gnu::always_inline]] typename Array::Element& at(const Array& array, uint32_t index) const {
    using T = typename Array::Element;
    FQ_STEPS(1);
    const Table& table = tables_[Array::kTable];
    if (__builtin_expect(index >= table.known, 0)) return look_up(array, index);
    return *reinterpret_cast<T*>(table.pieces[index / Array::kPerSmall] +
                                 uint64_t{index % Array::kPerSmall} * sizeof(T));
  }

  /// The tables would pay: so often was something asked for that they do not know.
  bool is_behind() const { return unknown_ >= kUnknownMax; }
  /// Room for a table as large as the array's, for learn(). The one call that allocates: not under a lock.
  template <class Array>
  void make_room(const Array& array) {
    const uint32_t count = std::min(array.chunk_count.peek(), Array::kChunksMax);
    const uint32_t pieces =
        std::min(count, kSmallChunks) + (count - std::min(count, kSmallChunks)) * Array::kPiecesOfLarge;
    std::vector<std::byte*>& known = tables_[Array::kTable].pieces;
    if (pieces > known.capacity()) known.reserve(std::bit_ceil(pieces));
  }
  /// Needs: the lock that guards the region, and no open Txn (M1).
  template <class Array>
  void learn(const Array& array) {
    using T = typename Array::Element;
    Table& table = tables_[Array::kTable];
    for (const uint32_t end = std::min<uint32_t>(array.chunk_count, Array::kChunksMax); table.chunks < end;) {
      const bool is_small = table.chunks < kSmallChunks;
      const uint32_t pieces = is_small ? 1 : Array::kPiecesOfLarge;
      if (table.pieces.capacity() - table.pieces.size() < pieces) return;
      const uint64_t offset = uint64_t{array.chunk_page[table.chunks]} * kPageBytes;
      const uint64_t chunk_bytes = is_small ? Array::kSmallBytes : Array::kLargeBytes;
      if (offset < first_ || offset > bytes_ || bytes_ - offset < chunk_bytes) return;  // look_up() tells
      for (uint32_t piece = 0; piece < pieces; ++piece)
        table.pieces.push_back(base_ + offset + uint64_t{piece} * Array::kPerSmall * sizeof(T));
      ++table.chunks;
      table.known += is_small ? Array::kPerSmall : Array::kPerLarge;
    }
  }
  void note_learned() { unknown_ = 0; }

  /// Bytes that the array's next chunk takes; 0 when it can grow no more.
  template <class Array>
  static uint32_t next_chunk_bytes(const Array& array) {
    if (array.chunk_count >= Array::kChunksMax) return 0;
    return array.chunk_count < kSmallChunks ? Array::kSmallBytes : Array::kLargeBytes;
  }

  /// Publishes the zeroed bytes at `page` as the array's next chunk.
  template <class Array>
  static void add_chunk(Txn& txn, Array& array, uint32_t page) {
    const uint32_t chunk = array.chunk_count;
    FQ_ASSERT(chunk < Array::kChunksMax);
    txn.set(array.chunk_page[chunk], page);
    txn.set(array.capacity, array.capacity + (chunk < kSmallChunks ? Array::kPerSmall : Array::kPerLarge));
    txn.set(array.chunk_count, chunk + 1);
  }

 private:
  /// Where the chunks of one array lie, as far as this process knows them: large ones in pieces of a small
  /// one, so that an index is split in one way.
  struct Table {
    uint32_t known = 0;  // elements
    uint32_t chunks = 0;
    std::vector<std::byte*> pieces;
  };
  struct Place {
    uint32_t chunk, within;
  };
  template <class Array>
  [[gnu::always_inline]] static Place place_of(uint32_t index) {
    if (index < Array::kInSmall) return {index / Array::kPerSmall, index % Array::kPerSmall};
    const uint32_t behind = index - Array::kInSmall;
    return {kSmallChunks + behind / Array::kPerLarge, behind % Array::kPerLarge};
  }

  /// By the region's own table, which may be damaged.
  template <class Array>
  [[gnu::noinline]] typename Array::Element& look_up(const Array& array, uint32_t index) const {
    using T = typename Array::Element;
    if (index >= array.capacity) region_damaged("an index is out of range");
    const Place place = place_of<Array>(index);
    if (place.chunk >= Array::kChunksMax) region_damaged("a chunk is out of range");
    const uint64_t offset =
        uint64_t{array.chunk_page[place.chunk]} * kPageBytes + uint64_t{place.within} * sizeof(T);
    if (offset - first_ > bytes_ - first_ - sizeof(T)) region_damaged("a chunk lies outside");
    ++unknown_;
    return *reinterpret_cast<T*>(base_ + offset);
  }

 private:
  std::byte* base_;
  uint64_t first_;
  uint64_t bytes_;
  Table tables_[kArraysMax];
  mutable uint32_t unknown_ = 0;  // asked for since the tables were filled
};

}  // namespace fq
