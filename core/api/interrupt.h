// interrupt - the end of a waiting call before its time.
#pragma once

// System.
#include <atomic>
#include <cstdint>

namespace fq {

/// Ends a waiting call from a signal handler or another thread.
class Interrupt {
 public:
  Interrupt() = default;
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  void raise();
  /// By the caller that waits, before it looks for the reason why it was raised.
  void lower() { raised_.store(0, std::memory_order_seq_cst); }
  bool raised() const { return raised_.load(std::memory_order_seq_cst) != 0; }
  /// For an engine that sleeps on words: 0 until raised.
  const void* word() const { return &raised_; }
  /// For one that sleeps on descriptors: can be read once it is raised. Asked for anew before each sleep, and
  /// then raised() is looked at: what is left in it of a raise that was lowered would end every sleep at
  /// once. Made by the first who asks; -1: there is none to be had.
  int descriptor();

 private:
  std::atomic<uint32_t> raised_{0};
  std::atomic<int> descriptor_{-1};
};

}  // namespace fq
