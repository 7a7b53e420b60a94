#include "core/simulate/ground.h"

namespace fq {

namespace {

constexpr uint64_t kFirstBytes = uint64_t{4} << 20;  // arbitrary: it doubles

}  // namespace

Ground::Ground()
    : words_(kFirstBytes / sizeof(uint64_t)), next_page_(whole_pages(sizeof(Header)) / kPageBytes) {
  look_anew();
  change([&](Schedule&, Txn& txn) {
    // No names come from a stranger who would look for those that collide.
    txn.set(header().root.hash_key[0], 1);
    txn.set(header().root.hash_key[1], 2);
  });
  for (const ArrayName array : kFirstArrays) grow(array);
  change([](Schedule& schedule, Txn& txn) { schedule.growth().initialise(txn); });
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
  if (uint64_t{next_page_} * kPageBytes + more > bytes()) {
    words_.resize(words_.size() * 2);
    look_anew();
  }
  change([&](Schedule& schedule, Txn& txn) { schedule.growth().grow(txn, array, next_page_); });
  next_page_ += more / kPageBytes;
  learn();
}

}  // namespace fq
