// one_moment_test - who had to wait for the state lock decides, writes and does all by one time: what it did
// is what a rebuild makes of its record.

// System.
#include <linux/futex.h>

#include <thread>
// fq, below us.
#include "core/local/shared/gate.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kLookMs = 5;  // by which time goes on at each look at the clock

/// Another thread has the lock until somebody waits for it.
class BusyLock {
 public:
  explicit BusyLock(SpoolFixture& q) : queue_(q.open()) {
    spool_ = &q;
    is_held_ = false;
    Gate::before_unlock = wait_for_waiter;
    thread_ = std::thread([this] {
      is_holder_ = true;
      static_cast<void>(queue_->stats({}));
    });
    while (!is_held_) std::this_thread::yield();
  }
  ~BusyLock() { thread_.join(); }
  BusyLock(const BusyLock&) = delete;
  BusyLock& operator=(const BusyLock&) = delete;

 private:
  static inline thread_local bool is_holder_ = false;
  static inline const SpoolFixture* spool_ = nullptr;
  static inline std::atomic<bool> is_held_;

  static void wait_for_waiter() {
    if (!is_holder_ || is_held_.exchange(true)) return;
    while ((spool_->read_header<uint32_t>(offsetof(SegmentHeader, state)) & FUTEX_WAITERS) == 0)
      std::this_thread::yield();
  }

  std::unique_ptr<Queue> queue_;
  std::thread thread_;
};

SettleStatus settle_behind_another(SpoolFixture& q, const Settle& verdict) {
  SettleStatus status = SettleStatus::unknown;
  {
    const BusyLock other(q);
    q.clock.takes(kLookMs);
    status = q.settle(q.door(), verdict);
    q.clock.takes(0);
  }
  Gate::before_unlock = nullptr;
  return status;
}

}  // namespace

TEST_CASE("an ack that had to wait for the lock keeps its key as long as its record says") {
  SpoolFixture q;
  NewMessage message{.unique = "once"};
  message.unique_for_ms = 3'600'000;
  REQUIRE(q.door().push({&message, 1}, {}).ok());
  const Delivery delivery = q.lease();
  REQUIRE(settle_behind_another(q, {.receipt = delivery.receipt}) == SettleStatus::ok);
  q.check_clean();
}

TEST_CASE("a lease ends before a verdict that had to wait for the lock or behind it, also when rebuilt") {
  SpoolFixture q;
  for (int64_t hold_ms = 1; hold_ms <= 12 * kLookMs; hold_ms += 2) {
    q.push("job");
    const Delivery delivery = q.lease(hold_ms);
    const SettleStatus status = settle_behind_another(q, {.receipt = delivery.receipt, .verdict = Verdict::retry});
    INFO("a lease of " << hold_ms << " ms");
    REQUIRE((status == SettleStatus::ok || status == SettleStatus::stale));
    q.check_clean();
    q.drain();
  }
}

}  // namespace fq::test
