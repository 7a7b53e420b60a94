// store - the structures of one segment in one hand, for apply and the engine to work on.
//
// It owns nothing but the mapping. A process that changes anything through it holds the state lock, or is the
// only one that knows the segment (a rebuild).
#pragma once

// System.
#include <memory>
// fq, below us.
#include "core/schedule/schedule.h"
#include "core/shm/segment.h"
// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

class Store {
 public:
  explicit Store(std::unique_ptr<SegmentMemory> memory)
      : memory_(std::move(memory)),
        header_(*reinterpret_cast<SegmentHeader*>(memory_->base())),
        schedule_(Arena(memory_->base(), kFirstChunkOffset, memory_->mapped_bytes()), header_.schedule) {}

  SegmentHeader& header() { return header_; }
  const SegmentHeader& header() const { return header_; }
  Schedule& schedule() { return schedule_; }
  const Schedule& schedule() const { return schedule_; }
  SegmentMemory& memory() { return *memory_; }
  std::byte* ring() { return memory_->base() + kRingOffset; }

  /// Needs: the state lock, or that the segment is private.
  Txn begin() {
    if (private_) return Txn(Txn::Private{}, memory_->base(), header().undo);
    return Txn(memory_->base(), memory_->mapped_bytes(), header().undo, &header().changed);
  }
  /// While no other process can know the segment, and none takes up what was left of it.
  void set_private(bool on) { private_ = on; }

  int64_t wall_of(int64_t boot_ms) const { return boot_ms + header().wall_minus_boot_ms; }
  int64_t boot_of(int64_t wall_ms) const { return wall_ms - header().wall_minus_boot_ms; }
  /// By which clock the times are told that lie there in the ring: it holds one step of it at most.
  int64_t wall_minus_boot_at(uint64_t position) const {
    const int64_t step_ms = position < header().clock_position ? header().clock_step_ms.get() : int64_t{0};
    return header().wall_minus_boot_ms - step_ms;
  }

 private:
  std::unique_ptr<SegmentMemory> memory_;
  SegmentHeader& header_;
  Schedule schedule_;
  bool private_ = false;
};

}  // namespace fq
