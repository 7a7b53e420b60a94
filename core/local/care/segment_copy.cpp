#include "core/local/care/segment_copy.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/step_count.h"

namespace fq {

namespace {

constexpr uint64_t kCopiedPerHold = 256 * 1024;  // under one hold: some 30 us
constexpr int kCopyStartsMax = 5;         // against a segment that is replaced, or grows beyond all marks
constexpr int kCopyHoldsMax = 1'000'000;  // against changes that are faster than we are

}  // namespace

Result<Now> SegmentCopy::make() {
  Result<Step> made = Step::lost;
  for (int start = 0; start < kCopyStartsMax && made.ok() && *made != Step::done; ++start) made = make_once();
  if (!made.ok()) return std::move(made).error();
  if (*made == Step::done) return now_;
  return Error{ErrorKind::later, object() + ": changes too fast to be looked at", 0};
}

Result<SegmentCopy::Step> SegmentCopy::make_once() {
  FQ_TRY_SET(const bool begun, begin());
  Step step = begun ? Step::memory : Step::lost;
  for (int holds = 0; holds < kCopyHoldsMax && (step == Step::more || step == Step::memory); ++holds) {
    if (step == Step::memory) populate(header().segment_bytes.peek());
    FQ_TRY(locked([&]() -> Result<void> {
      step = copy_some();
      return {};
    }));
    FQ_POINT("check.copying");
  }
  return step;
}

/// From now on it is marked what changes. False: the segment was replaced meanwhile.
Result<bool> SegmentCopy::begin() {
  next_ = kFirstChunkOffset;
  populated_ = 0;
  // Somebody may have died at it.
  FQ_TRY(locked([&]() -> Result<void> {
    header().changed.end();
    generation_ = header().identity.generation;
    return {};
  }));
  header().changed.clear();
  bool begun = false;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    begun = shared.identity.generation == generation_;
    if (begun) shared.changed.begin(2 * shared.segment_bytes);
    return {};
  }));
  return begun;
}

/// Needs: the lock.
SegmentCopy::Step SegmentCopy::copy_some() {
  SegmentHeader& shared = header();
  const uint64_t bytes = shared.segment_bytes;
  if (shared.identity.generation != generation_ || !shared.changed.is_watched()) return Step::lost;
  if (bytes > shared.changed.reach()) return Step::lost;
  shared.changed.go_on();
  if (bytes > populated_) return Step::memory;
  if (next_ < bytes) {
    const uint64_t piece = std::min(kCopiedPerHold, bytes - next_);
    copy_bytes(next_, piece);
    next_ += piece;
    return Step::more;
  }
  if (!copy_changed(bytes)) return Step::more;
  now_ = gate().now();
  copy_bytes(0, offsetof(SegmentHeader, undo));
  copy_bytes(kRingOffset, kRingBytes);
  shared.changed.end();
  return Step::done;
}

/// What was marked, as much of it as one hold takes. True: that is all.
bool SegmentCopy::copy_changed(uint64_t bytes) {
  ChangedBlocks& changed = header().changed;
  uint32_t hint = 0;
  for (uint64_t copied = 0; copied < kCopiedPerHold;) {
    const uint32_t block = changed.take(hint);
    if (block == ChangedBlocks::kBlocks) return true;
    // The header is copied at the end.
    const uint64_t from = std::max(kFirstChunkOffset, block * changed.block_bytes());
    const uint64_t end = std::min(bytes, (block + 1) * changed.block_bytes());
    FQ_STEPS(1);
    if (from >= end) continue;
    copy_bytes(from, end - from);
    copied += end - from;
  }
  return false;
}

void SegmentCopy::copy_bytes(uint64_t from, uint64_t bytes) {
  std::memcpy(copy_.memory().base() + from, store().memory().base() + from, bytes);
  FQ_STEPS(bytes / sizeof(Entry));
}

void SegmentCopy::populate(uint64_t bytes) {
  store().memory().populate(bytes, false);
  copy_.memory().populate(bytes, true);
  populated_ = bytes;
}

}  // namespace fq
