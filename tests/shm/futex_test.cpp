// futex_test - event words: no wake is lost between looking and sleeping, and every sleep has a cap.

// fq, this room.
#include "core/shm/futex.h"
// Tests.
#include "tests/shm/forked.h"

namespace fq::test {

namespace {

struct WordBox {
  EventWord ping;
  EventWord pong;
};

}  // namespace

TEST_CASE("a wait on a word that has moved on returns at once") {
  SharedBox<WordBox> box;
  announce(box->ping);
  const auto start = std::chrono::steady_clock::now();
  futex_wait(box->ping, 0, 10'000);
  const WatchedWord words[] = {{&box->pong, 0}, {&box->ping, 0}};
  static_cast<void>(futex_wait_any(words, 10'000));
  CHECK(elapsed_ms(start) < 5'000);  // of the 10 s that it would wait
}

TEST_CASE("a wait ends at its cap when nobody wakes") {
  SharedBox<WordBox> box;
  auto start = std::chrono::steady_clock::now();
  futex_wait(box->ping, 0, 30);
  CHECK(elapsed_ms(start) >= 29);
  start = std::chrono::steady_clock::now();
  const WatchedWord words[] = {{&box->pong, 0}, {&box->ping, 0}};
  if (futex_wait_any(words, 30)) CHECK(elapsed_ms(start) >= 29);
}

TEST_CASE("two processes that wake each other a thousand times never miss a wake") {
  SharedBox<WordBox> box;
  constexpr uint32_t kRounds = 1000;
  Forked other([&] {
    for (uint32_t i = 0; i < kRounds; ++i) {
      while (box->ping.load() == i) futex_wait(box->ping, i, 10'000);
      announce(box->pong);
    }
  });
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < kRounds; ++i) {
    announce(box->ping);
    while (box->pong.load() == i) futex_wait(box->pong, i, 10'000);
  }
  CHECK(other.wait() == 0);
  // One missed wake would have cost 10 s.
  CHECK(elapsed_ms(start) < 9'000);
}

TEST_CASE("waking all wakes every process that sleeps on a word") {
  SharedBox<WordBox> box;
  const auto sleep = [&] {
    box->pong.fetch_add(1);
    while (box->ping.load() == 0) futex_wait(box->ping, 0, 15'000);
  };
  Forked a(sleep);
  Forked b(sleep);
  Forked c(sleep);
  while (box->pong.load() < 3) futex_wait(box->pong, box->pong.load(), 1);
  const auto start = std::chrono::steady_clock::now();
  announce(box->ping);
  for (Forked* each : {&a, &b, &c}) CHECK(each->wait() == 0);
  CHECK(elapsed_ms(start) < 5'000);
}

TEST_CASE("waiters that are killed in their sleep leave nothing behind") {
  SharedBox<WordBox> box;
  for (int i = 0; i < 50; ++i) {
    Forked doomed([&] {
      announce(box->pong);
      futex_wait(box->ping, 0, 15'000);
    });
    await(box->pong, static_cast<uint32_t>(i) + 1);
    doomed.kill();
  }
  Forked waiter([&] {
    announce(box->pong);
    while (box->ping.load() == 0) futex_wait(box->ping, 0, 15'000);
  });
  await(box->pong, 51);
  announce(box->ping);
  CHECK(waiter.wait() == 0);
}

}  // namespace fq::test
