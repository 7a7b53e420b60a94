// arena - arrays that grow by chunks inside one byte region.
//
// A region is one block of address space that is mapped once and never moves; its backing grows at the
// end. A ChunkedArray is a table of chunks in it: indexes instead of pointers, so every process may map
// the region anywhere. Growing has two halves: the backing is made larger outside any lock (by whoever
// owns the region), then add_chunk publishes it in a transaction.
//
// What lies in the region is not trusted for memory safety: each access is checked against the published
// capacity and the mapped size, and a breach throws RegionDamaged, which the owner answers by a rebuild.
#pragma once

// System.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
// fq, this room.
#include "core/base/step_count.h"
#include "core/base/memory/undo.h"

namespace fq {

/// Thrown where shared bytes contradict themselves. Caught in one place, by whoever holds the lock.
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
inline constexpr uint32_t kLargeChunkElements = 64 * 1024;  // at most: what is ahead of the need is not used

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

/// An array of T in a region; T is a struct of Shared fields. Its first chunks are small, later ones large.
template <class T, uint32_t kLargeChunks>
struct ChunkedArray {
  // Powers of two, so that an index is split by shifts: it is done several times in each operation.
  static constexpr uint32_t kPerSmall = small_chunk_elements(sizeof(T));
  static constexpr uint32_t kPerLarge =
      std::min(kLargeChunkElements, std::bit_floor(uint32_t{kLargeChunkBytes / sizeof(T)}));
  static constexpr uint32_t kSmallBytes = whole_pages(kPerSmall * sizeof(T));
  static constexpr uint32_t kLargeBytes = whole_pages(kPerLarge * sizeof(T));
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
  template <class T, uint32_t n>
  [[gnu::always_inline]] T& at(const ChunkedArray<T, n>& array, uint32_t index) const {
    using Array = ChunkedArray<T, n>;
    FQ_STEPS(1);
    if (__builtin_expect(index >= array.capacity, 0)) region_damaged("an index is out of range");
    uint32_t chunk;
    uint32_t within;
    if (index < Array::kInSmall) {
      chunk = index / Array::kPerSmall;
      within = index % Array::kPerSmall;
    } else {
      chunk = kSmallChunks + (index - Array::kInSmall) / Array::kPerLarge;
      within = (index - Array::kInSmall) % Array::kPerLarge;
    }
    if (__builtin_expect(chunk >= Array::kChunksMax, 0)) region_damaged("a chunk is out of range");
    const uint64_t offset = uint64_t{array.chunk_page[chunk]} * kPageBytes + uint64_t{within} * sizeof(T);
    if (__builtin_expect(offset - first_ > bytes_ - first_ - sizeof(T), 0)) {
      region_damaged("a chunk lies outside");
    }
    return *reinterpret_cast<T*>(base_ + offset);
  }

  /// Bytes that the array's next chunk takes; 0 when it can grow no more.
  template <class T, uint32_t n>
  static uint32_t next_chunk_bytes(const ChunkedArray<T, n>& array) {
    if (array.chunk_count >= ChunkedArray<T, n>::kChunksMax) return 0;
    using Array = ChunkedArray<T, n>;
    return array.chunk_count < kSmallChunks ? Array::kSmallBytes : Array::kLargeBytes;
  }

  /// Publishes the zeroed bytes at `page` as the array's next chunk.
  template <class T, uint32_t n>
  static void add_chunk(Txn& txn, ChunkedArray<T, n>& array, uint32_t page) {
    using Array = ChunkedArray<T, n>;
    const uint32_t chunk = array.chunk_count;
    FQ_ASSERT(chunk < Array::kChunksMax);
    txn.set(array.chunk_page[chunk], page);
    txn.set(array.capacity, array.capacity + (chunk < kSmallChunks ? Array::kPerSmall : Array::kPerLarge));
    txn.set(array.chunk_count, chunk + 1);
  }

 private:
  std::byte* base_;
  uint64_t first_;
  uint64_t bytes_;
};

}  // namespace fq
