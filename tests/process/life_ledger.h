// life_ledger - what all processes of a life share: of each message's number, what was told of it.
//
// Set before it is asked for, or after it was answered: so who is killed leaves the weaker one. At a quiet
// moment what nobody was told of is known too: what is there then was accepted, what is not is gone.
#pragma once

// System.
#include <sys/mman.h>

#include <atomic>
// Tests.
#include "tests/process/life_pace.h"

namespace fq::test {

inline constexpr uint64_t kLifeKeys = 20'000;

enum class Told : uint8_t { nothing, accepted, may_be_gone, gone };

struct Ledger {
  struct Number {
    std::atomic<Told> told;
    std::atomic<bool> loose;        // another payload may take its place, and nobody is told
    std::atomic<uint8_t> seen;      // at this quiet moment
    std::atomic<uint32_t> gone_at;  // by `moments`
  };

  std::atomic<uint64_t> operations;
  std::atomic<uint64_t> numbers;
  std::atomic<uint64_t> ended;
  std::atomic<uint64_t> refused;  // pushes and settings, for want of room or by a limit
  std::atomic<uint64_t> doubled;
  std::atomic<uint64_t> failed;           // anything else that was refused: each is told
  std::atomic<uint64_t> alarms;           // of checks beside the work
  std::atomic<uint64_t> keys;             // that were ever held
  std::atomic<uint64_t> there;            // messages at this quiet moment
  std::atomic<uint64_t> live_bytes;       // of them, in the journal
  std::atomic<uint64_t> live_blob_bytes;  // of them, in blobs
  Pace pace;                              // that was measured last
  std::atomic<uint32_t> moments;
  std::atomic<bool> key_held[kLifeKeys];
  Number each[1];

  static size_t bytes(uint64_t numbers) { return sizeof(Ledger) + numbers * sizeof(Number); }

  /// What was not gone before.
  void may_go(uint64_t number) {
    Told was = each[number].told;
    while (was != Told::gone && !each[number].told.compare_exchange_weak(was, Told::may_be_gone)) continue;
  }
  void is_gone(uint64_t number) {
    each[number].gone_at = ++moments;
    each[number].told = Told::gone;
    ++ended;
  }
  void is_accepted(uint64_t number) {
    Told was = Told::nothing;
    if (!each[number].loose) each[number].told.compare_exchange_strong(was, Told::accepted);
  }
  void holds_key(uint64_t key) {
    if (!key_held[key].exchange(true)) ++keys;
  }
};

/// The memory of a ledger, shared with all that are forked.
class SharedLedger {
 public:
  explicit SharedLedger(uint64_t numbers) : bytes_(Ledger::bytes(numbers)) {
    void* shared =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    ledger_ = static_cast<Ledger*>(shared);
  }
  ~SharedLedger() { ::munmap(ledger_, bytes_); }
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;

  Ledger* operator->() const { return ledger_; }
  Ledger& operator*() const { return *ledger_; }

 private:
  size_t bytes_;
  Ledger* ledger_ = nullptr;
};

}  // namespace fq::test
