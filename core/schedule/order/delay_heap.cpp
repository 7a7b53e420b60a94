// delay_heap - see delay_heap.h. Sifting moves a hole, so each level costs one cell and one place.
#include "core/schedule/order/delay_heap.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/memory/extras.h"

namespace fq {

int64_t DelayHeap::time_of(uint32_t cell) const {
  if ((cell & kTimerOfTenant) != 0) return region_.tenant(cell & ~kTimerOfTenant).timer_ms;
  if ((cell & kTimerOfKey) != 0) return region_.key(cell & ~kTimerOfKey).until_ms;
  if (is_of_pool(cell)) return region_.pool(cell & ~kTimerOfPool).timer_ms;
  if (is_of_recurring(cell)) return region_.recurring(cell & ~kTimerOfRecurring).timer_ms;
  return timer_ms(region_, region_.entry(cell));
}

Shared<uint32_t>& DelayHeap::place_of(uint32_t cell) const {
  if ((cell & kTimerOfTenant) != 0) return region_.tenant(cell & ~kTimerOfTenant).heap_place;
  if ((cell & kTimerOfKey) != 0) return region_.key(cell & ~kTimerOfKey).heap_place;
  if (is_of_pool(cell)) return region_.pool(cell & ~kTimerOfPool).heap_place;
  if (is_of_recurring(cell)) return region_.recurring(cell & ~kTimerOfRecurring).heap_place;
  return region_.entry(cell).heap_place;
}

bool DelayHeap::before(uint32_t a, uint32_t b) const {
  const int64_t x = time_of(a), y = time_of(b);
  return x != y ? x < y : a < b;
}

void DelayHeap::put_at(Txn& txn, uint32_t place, uint32_t moved) const {
  put(txn, cell(place), moved);
  put(txn, place_of(moved), place);
}

void DelayHeap::insert(Txn& txn, uint32_t added) const {
  const uint32_t count = region_.root.heap_count;
  if (place_of(added) != kNoIndex) throw RegionDamaged{"a timer is set twice"};
  if (count >= region_.root.heap.capacity) throw RegionDamaged{"the heap has no room"};
  txn.set(region_.root.heap_count, count + 1);
  sift_up(txn, count, added);
}

void DelayHeap::remove(Txn& txn, uint32_t removed) const {
  const uint32_t place = place_of(removed);
  if (place == kNoIndex) return;
  const uint32_t count = region_.root.heap_count;
  if (place >= count || cell(place) != removed) throw RegionDamaged{"a timer is not in its place"};
  txn.set(region_.root.heap_count, count - 1);
  txn.set(place_of(removed), kNoIndex);
  if (place == count - 1) return;
  const uint32_t last = cell(count - 1);
  if (place > 0 && before(last, cell((place - 1) / 4))) {
    sift_up(txn, place, last);
  } else {
    sift_down(txn, place, last);
  }
}

void DelayHeap::sift_up(Txn& txn, uint32_t place, uint32_t moved) const {
  while (place > 0) {
    const uint32_t above = (place - 1) / 4;
    if (!before(moved, cell(above))) break;
    put_at(txn, place, cell(above));
    place = above;
  }
  put_at(txn, place, moved);
}

void DelayHeap::sift_down(Txn& txn, uint32_t place, uint32_t moved) const {
  const uint64_t count = region_.root.heap_count;
  for (;;) {
    const uint64_t below = uint64_t{place} * 4 + 1;
    if (below >= count) break;
    auto least = static_cast<uint32_t>(below);
    const auto end = static_cast<uint32_t>(std::min(below + 4, count));
    for (uint32_t i = least + 1; i < end; ++i) {
      if (before(cell(i), cell(least))) least = i;
    }
    if (!before(cell(least), moved)) break;
    put_at(txn, place, cell(least));
    place = least;
  }
  put_at(txn, place, moved);
}

}  // namespace fq
