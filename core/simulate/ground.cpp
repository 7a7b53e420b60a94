#include "core/simulate/ground.h"

// System.
#include <sys/mman.h>

#include <utility>

namespace fq {

namespace {

constexpr uint64_t kFirstBytes = uint64_t{4} << 20;  // arbitrary: it doubles
constexpr uint64_t kLargePageBytes = uint64_t{2} << 20;

}  // namespace

Ground::Ground() : next_page_(whole_pages(sizeof(Header)) / kPageBytes) {
  enlarge(kFirstBytes);
  change([&](Schedule&, Txn& txn) {
    // No names come from a stranger who would look for those that collide.
    txn.set(header().root.hash_key[0], 1);
    txn.set(header().root.hash_key[1], 2);
  });
  for (const ArrayName array : kFirstArrays) grow(array);
  change([](Schedule& schedule, Txn& txn) { schedule.growth().initialise(txn); });
}

/// In large pages, where the kernel has them: a backlog of half a million messages is touched here and there,
/// and with small ones each touch looks for its page first (a sixth of the time that a message takes).
void Ground::enlarge(uint64_t bytes) {
  std::vector<uint64_t> larger;
  larger.reserve(bytes / sizeof(uint64_t));
  const auto begin = reinterpret_cast<uintptr_t>(larger.data());
  const uintptr_t first = (begin + kLargePageBytes - 1) / kLargePageBytes * kLargePageBytes;
  const uintptr_t end = (begin + bytes) / kLargePageBytes * kLargePageBytes;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (first < end) static_cast<void>(::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
  larger.assign(words_.begin(), words_.end());
  larger.resize(bytes / sizeof(uint64_t));
  words_ = std::move(larger);
  look_anew();
}

void Ground::look_anew() {
  schedule_.emplace(Arena(base(), whole_pages(sizeof(Header)), bytes()), header().root);
}

void Ground::learn() {
  schedule_->make_room();
  schedule_->learn();
}

void Ground::make_room(const Need& need) {
  while (const auto array = schedule_->growth().array_for(need)) grow(*array);
}

void Ground::grow(ArrayName array) {
  const uint32_t more = schedule_->growth().bytes_of(array);
  if (more == 0) throw std::bad_alloc();  // no schedule can hold as much
  if (uint64_t{next_page_} * kPageBytes + more > bytes()) enlarge(2 * bytes());
  change([&](Schedule& schedule, Txn& txn) { schedule.growth().grow(txn, array, next_page_); });
  next_page_ += more / kPageBytes;
  learn();
}

}  // namespace fq
