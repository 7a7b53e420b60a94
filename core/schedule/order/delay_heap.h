// delay_heap - the timers of messages, tenants, unique keys, pools and schedules, the earliest first.
//
// A 4-ary min-heap of cells, ordered by time, then by cell. A cell names an entry or (with the top bit) a
// tenant or (with the second) a unique key or (with the third) a pool or (with the fourth) a schedule. Each
// element knows its place, so it leaves from the middle in O(log n). The array has a cell for each of them
// before it is added (A3 in root.h), so setting a timer never needs room.
//
// Invariants
//  D1  No cell is due before the one above it.
//  D2  heap_place of an element is the place of its cell, or kNoIndex when it has no timer.
#pragma once

// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline constexpr uint32_t kTimerOfTenant = 0x8000'0000;
inline constexpr uint32_t kTimerOfKey = 0x4000'0000;
inline constexpr uint32_t kTimerOfPool = 0x2000'0000;
inline constexpr uint32_t kTimerOfRecurring = 0x1000'0000;

inline bool is_of_message(uint32_t cell) { return cell < kTimerOfRecurring; }
inline bool is_of_pool(uint32_t cell) { return cell >> 29 == kTimerOfPool >> 29; }
inline bool is_of_recurring(uint32_t cell) { return cell >> 28 == kTimerOfRecurring >> 28; }

class DelayHeap {
 public:
  explicit DelayHeap(const Region& region) : region_(region) {}

  /// Sets the timer of an entry or tenant to the time that it holds (timer_ms() of extras.h, its own). One
  /// step.
  /// Needs: it has none.
  void insert(Txn& txn, uint32_t cell) const;
  /// Takes its timer away if it has one. One step.
  void remove(Txn& txn, uint32_t cell) const;
  /// The cell that is due first, or kNoIndex.
  uint32_t first() const { return region_.root.heap_count == 0 ? kNoIndex : cell(0).get(); }
  int64_t time_of(uint32_t cell) const;
  Shared<uint32_t>& place_of(uint32_t cell) const;

 private:
  Shared<uint32_t>& cell(uint32_t place) const { return region_.arena.at(region_.root.heap, place).index; }
  bool before(uint32_t a, uint32_t b) const;
  void put_at(Txn& txn, uint32_t place, uint32_t cell) const;
  void sift_up(Txn& txn, uint32_t place, uint32_t cell) const;
  void sift_down(Txn& txn, uint32_t place, uint32_t cell) const;

  const Region& region_;
};

}  // namespace fq
