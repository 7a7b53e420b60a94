// robust_mutex_test - what a lock in shared memory tells when its holder dies, and when it does not.
//
// Real processes: only the kernel can mark a robust lock.

// System.
#include <linux/futex.h>
// fq, this room.
#include "core/shm/robust_mutex.h"
// Tests.
#include "tests/asleep.h"
#include "tests/shm/forked.h"

namespace fq::test {

namespace {

struct MutexBox {
  RobustMutex mutex;
  EventWord step;
  uint64_t counter;
};

/// Takes the lock in a child and lets it die there.
void die_inside(MutexBox& box) {
  const uint32_t before = box.step.load();
  Forked child([&] {
    if (box.mutex.take(1000) == Taken::unusable) ::_exit(1);
    announce(box.step);
    for (;;) ::pause();
  });
  await(box.step, before + 1);
  child.kill();
}

/// The lock's word, as the kernel sees it: the first of glibc's fields.
uint32_t& word_of(RobustMutex& mutex) { return *reinterpret_cast<uint32_t*>(&mutex); }
bool has_waiters_bit(RobustMutex& mutex) {
  return (__atomic_load_n(&word_of(mutex), __ATOMIC_RELAXED) & FUTEX_WAITERS) != 0;
}

/// What a lost wake-up leaves: others sleep, and the word of its holder does not say so.
void forget_waiters(RobustMutex& mutex) { __atomic_fetch_and(&word_of(mutex), ~FUTEX_WAITERS, __ATOMIC_RELAXED); }

}  // namespace

TEST_CASE("a lost wake-up keeps nobody from a free lock for longer than a slice") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  double best_ms = 10'000;
  for (int round = 0; round < 5; ++round) {
    REQUIRE(box->mutex.take(1000) == Taken::clean);
    Forked sleeper([&] { ::_exit(box->mutex.take(5'000) == Taken::clean ? 0 : 1); });
    REQUIRE(falls_asleep(task_of(sleeper.pid())));
    forget_waiters(box->mutex);
    const auto unlocked = std::chrono::steady_clock::now();
    box->mutex.unlock();
    REQUIRE(sleeper.wait() == 0);
    best_ms = std::min(best_ms, elapsed_ms(unlocked));
    REQUIRE(box->mutex.try_take() == Taken::owner_died);  // it ended with the lock
    box->mutex.consistent();
    box->mutex.unlock();
  }
  CHECK(best_ms < 40);  // a slice is 20
}

TEST_CASE("who got the lock after a wait wakes the next one, whom a lost wake-up left asleep") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  REQUIRE(box->mutex.take(1000) == Taken::clean);
  Forked sleeper([&] {
    if (box->mutex.take(5'000) != Taken::clean) ::_exit(1);
    ::_exit(has_waiters_bit(box->mutex) ? 0 : 2);
  });
  REQUIRE(falls_asleep(task_of(sleeper.pid())));
  forget_waiters(box->mutex);
  box->mutex.unlock();
  CHECK(sleeper.wait() == 0);
}

TEST_CASE("a holder is named that was stopped before the C library noted it") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  CHECK(box->mutex.holder() == 0);
  // The first store of a lock is its word; the owner's field is still empty.
  __atomic_store_n(&word_of(box->mutex), uint32_t{4711} | FUTEX_WAITERS, __ATOMIC_RELAXED);
  CHECK(box->mutex.holder() == 4711);
}

TEST_CASE("a lock whose holder was killed is taken with the news of it, and is clean once made consistent") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  for (int round = 0; round < 20; ++round) {
    die_inside(*box);
    REQUIRE(box->mutex.take(1000) == Taken::owner_died);
    box->mutex.consistent();
    box->mutex.unlock();
    REQUIRE(box->mutex.take(1000) == Taken::clean);
    box->mutex.unlock();
  }
}

TEST_CASE("a recoverer that dies too leaves the lock to the next one") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  die_inside(*box);
  die_inside(*box);  // takes it as owner_died, dies before consistent()
  REQUIRE(box->mutex.try_take() == Taken::owner_died);
  box->mutex.consistent();
  box->mutex.unlock();
  CHECK(box->mutex.try_take() == Taken::clean);
}

TEST_CASE("a lock that was unlocked without being made consistent says for ever that it is unusable") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  die_inside(*box);
  REQUIRE(box->mutex.take(1000) == Taken::owner_died);
  box->mutex.unlock();
  CHECK(box->mutex.take(1000) == Taken::unusable);
  CHECK(box->mutex.try_take() == Taken::unusable);
}

TEST_CASE("a stopped holder is waited for as long as asked, and then named") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  Forked child([&] {
    if (box->mutex.take(1000) != Taken::clean) ::_exit(1);
    announce(box->step);
    ::raise(SIGSTOP);
    box->mutex.unlock();
  });
  ::waitpid(child.pid(), nullptr, WUNTRACED);
  const auto start = std::chrono::steady_clock::now();
  CHECK(box->mutex.take(60) == Taken::timed_out);
  CHECK(elapsed_ms(start) >= 60);
  CHECK(elapsed_ms(start) < 10'000);  // and not until it goes on
  CHECK(box->mutex.holder() == child.pid());
  ::kill(child.pid(), SIGCONT);
  CHECK(box->mutex.take(10'000) == Taken::clean);
  CHECK(child.wait() == 0);
}

TEST_CASE("processes that count under the lock lose no count, though some are killed inside") {
  SharedBox<MutexBox> box;
  REQUIRE(box->mutex.initialise());
  constexpr uint64_t kEach = 2000;
  const auto count = [&](uint64_t die_at) {
    for (uint64_t i = 0; i < kEach; ++i) {
      if (box->mutex.take(10'000) == Taken::owner_died) box->mutex.consistent();
      // Not atomic on purpose: only the lock protects it.
      const uint64_t seen = *static_cast<volatile uint64_t*>(&box->counter);
      *static_cast<volatile uint64_t*>(&box->counter) = seen + 1;
      if (i + 1 == die_at) ::raise(SIGKILL);
      box->mutex.unlock();
    }
  };
  {
    Forked a([&] { count(0); });
    Forked b([&] { count(kEach / 2); });
    Forked c([&] { count(kEach / 3); });
    Forked d([&] { count(0); });
    for (Forked* each : {&a, &b, &c, &d}) each->wait();
  }
  if (box->mutex.take(1000) == Taken::owner_died) box->mutex.consistent();
  CHECK(box->counter == 2 * kEach + kEach / 2 + kEach / 3);
}

}  // namespace fq::test
