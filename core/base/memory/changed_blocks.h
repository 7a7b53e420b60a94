// changed_blocks - the blocks of a region that were changed since a process began to watch.
//
// Lies beside the region's undo log. A process that copies the region in pieces begins a watch; from then on
// each transaction marks the blocks that it changes before it commits, and the process that copies takes the
// marked ones again, until none is marked: then the copy is of one moment. The watch ends by itself after so
// many transactions, so that no process pays for long for one that died at it.
//
// Needs: the lock that guards the region, apart from clear().
#pragma once

// System.
#include <bit>
#include <cstddef>
#include <cstdint>

namespace fq {

class ChangedBlocks {
 public:
  static constexpr uint32_t kBlocks = 1 << 20;           // chosen: blocks of 128 bytes for a million messages
  static constexpr uint32_t kBlockShiftMin = 7;          // chosen: about an element
  static constexpr uint32_t kTransactionsMax = 100'000;  // chosen: a second of work

  bool is_watched() const { return left_ != 0; }
  void end() { left_ = 0; }
  /// Before a watch begins. Needs: none is under way; not the lock.
  void clear() {
    for (uint64_t& word : words_) word = 0;
    for (uint64_t& word : summary_) word = 0;
  }
  void begin(uint64_t bytes) {
    shift_ = kBlockShiftMin;
    while (bytes > reach()) ++shift_;
    left_ = kTransactionsMax;
  }
  void go_on() { left_ = kTransactionsMax; }
  /// Changes before it are known.
  uint64_t reach() const { return uint64_t{kBlocks} << (shift_ & kShiftMask); }
  uint64_t block_bytes() const { return uint64_t{1} << (shift_ & kShiftMask); }

  void note_transaction() { --left_; }
  void mark(uint64_t offset) {
    const uint64_t block = offset >> (shift_ & kShiftMask);
    if (block >= kBlocks) return;
    words_[block / 64] |= uint64_t{1} << block % 64;
    summary_[block / 64 / 64] |= uint64_t{1} << block / 64 % 64;
  }
  /// The next that is marked, whose mark goes; kBlocks: none is. `hint`: 0 at first.
  uint32_t take(uint32_t& hint) {
    for (; hint < kSummary; ++hint) {
      for (; summary_[hint] != 0; summary_[hint] &= summary_[hint] - 1) {
        const auto word = hint * 64 + static_cast<uint32_t>(std::countr_zero(summary_[hint]));
        if (words_[word] == 0) continue;
        const auto bit = static_cast<uint32_t>(std::countr_zero(words_[word]));
        words_[word] &= words_[word] - 1;
        return word * 64 + bit;
      }
    }
    return kBlocks;
  }

 private:
  static constexpr uint32_t kWords = kBlocks / 64;
  static constexpr uint32_t kSummary = kWords / 64;
  static constexpr uint32_t kShiftMask = 31;

  uint32_t left_;  // transactions that still mark their changes; 0: no process watches
  uint32_t shift_;
  uint64_t summary_[kSummary];  // bit n: of the word n something may be marked
  uint64_t words_[kWords];
};

}  // namespace fq
