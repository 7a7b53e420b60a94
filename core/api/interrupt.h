// interrupt - the end of a waiting call before its time.
#pragma once

// System.
#include <atomic>
#include <cstdint>

namespace fq {

/// Ends a waiting call from a signal handler or another thread.
class Interrupt {
 public:
  void raise();
  /// By the caller that waits, before it looks for the reason why it was raised.
  void lower() { raised_.store(0, std::memory_order_seq_cst); }
  bool raised() const { return raised_.load(std::memory_order_relaxed) != 0; }
  /// For an engine that sleeps on words: 0 until raised.
  const void* word() const { return &raised_; }

 private:
  std::atomic<uint32_t> raised_{0};
};

}  // namespace fq
