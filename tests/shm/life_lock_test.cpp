// life_lock_test - a death is seen at once, by looking and by sleeping; an orderly end is no death.

// fq, this room.
#include "core/shm/life_lock.h"
// Tests.
#include "tests/left_out.h"
#include "tests/shm/forked.h"

namespace fq::test {

namespace {

struct LifeBox {
  LifeLock life;
  EventWord step;
  std::atomic<int64_t> woken_after_us;
};

}  // namespace

TEST_CASE("a life lock tells the death of its holder and nothing before it") {
  SharedBox<LifeBox> box;
  REQUIRE(box->life.initialise());
  CHECK_FALSE(box->life.is_dead());
  Forked child([&] {
    if (!box->life.begin()) ::_exit(1);
    announce(box->step);
    for (;;) ::pause();
  });
  await(box->step, 1);
  CHECK_FALSE(box->life.is_dead());
  CHECK_FALSE(box->life.begin());  // somebody lives in it
  child.kill();
  CHECK(box->life.is_dead());
}

TEST_CASE("a life lock of a dead holder can be begun anew") {
  SharedBox<LifeBox> box;
  REQUIRE(box->life.initialise());
  Forked([&] { static_cast<void>(box->life.begin()); }).wait();
  REQUIRE(box->life.is_dead());
  REQUIRE(box->life.begin());
  CHECK_FALSE(box->life.is_dead());
  box->life.end();
}

TEST_CASE("an orderly end is no death, though the process dies afterwards") {
  SharedBox<LifeBox> box;
  REQUIRE(box->life.initialise());
  Forked([&] {
    if (!box->life.begin()) ::_exit(1);
    box->life.end();
  }).wait();
  CHECK_FALSE(box->life.is_dead());
}

TEST_CASE("a process that leaves by exec is dead to its life lock") {
  SharedBox<LifeBox> box;
  REQUIRE(box->life.initialise());
  Forked([&] {
    static_cast<void>(box->life.begin());
    ::execl("/bin/true", "true", nullptr);
  }).wait();
  CHECK(box->life.is_dead());
}

TEST_CASE("a sleeper on many words is woken by the kernel when one holder is killed") {
  SharedBox<LifeBox> box;
  SharedBox<LifeBox> other;
  REQUIRE(box->life.initialise());
  REQUIRE(other->life.initialise());
  Forked holder([&] {
    static_cast<void>(box->life.begin());
    announce(box->step);
    for (;;) ::pause();
  });
  await(box->step, 1);
  double best_ms = 10'000;
  {
    const WatchedWord words[] = {{&other->step, 0}, box->life.watched()};
    // A second process ends the holder, 30 ms from now, and notes when.
    Forked killer([&] {
      ::usleep(30'000);  // until then the other sleeps on the words; too early, the test passes untried
      ::kill(holder.pid(), SIGKILL);
    });
    const auto start = std::chrono::steady_clock::now();
    const bool can = futex_wait_any(words, 5'000);
    best_ms = elapsed_ms(start);
    killer.wait();
    if (!can) {
      leave_out("this kernel has no futex_waitv");
      return;
    }
  }
  CHECK(best_ms >= 25);    // it did sleep
  CHECK(best_ms < 4'000);  // and not to the cap: by the kernel, not by time
  CHECK(box->life.is_dead());
}

}  // namespace fq::test
