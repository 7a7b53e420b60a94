// growth_test - how many jobs may run at once, by a sequence of loads.

// System.
#include <string>
// fq, below us.
#include "core/worker/jobs/growth.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

using fq::worker::Growth;

namespace {

/// A second each: B all busy and more to do, b all busy, . a slot idle. What slots() was after each.
std::string follows(Growth& growth, const std::string& loads, int64_t& now_ms) {
  std::string numbers;
  for (const char load : loads) {
    now_ms += 1'000;
    if (load == 'B') growth.on_backlog(now_ms);
    if (load == 'b') growth.on_busy(now_ms);
    if (load == '.') growth.on_idle(now_ms);
    numbers += static_cast<char>('0' + growth.slots());
  }
  return numbers;
}
std::string follows(Growth& growth, const std::string& loads) {
  int64_t now_ms = 0;
  return follows(growth, loads, now_ms);
}

}  // namespace

TEST_CASE("a worker begins with the least, and that is one at least") {
  CHECK(Growth(0, 4).slots() == 1);
  CHECK(Growth(3, 4).slots() == 3);
  CHECK(Growth(4, 4).slots() == 4);
}

TEST_CASE("a backlog is one more slot each time it is seen, up to the most") {
  Growth growth(0, 4);
  CHECK(follows(growth, "BBBBB") == "23444");
  CHECK_FALSE(growth.on_backlog(9'000));
}

TEST_CASE("slots that are busy without a backlog are enough") {
  Growth growth(1, 4);
  CHECK(follows(growth, "BbbbbbbbbbbbbbbB") == "2222222222222223");
}

TEST_CASE("ten seconds without work give up one slot, and the next ten one more, down to the least") {
  Growth growth(2, 4);
  CHECK(follows(growth, "BB..........") == "344444444443");
  int64_t now_ms = 12'000;
  CHECK(follows(growth, "....................", now_ms) == "33333333322222222222");
}

TEST_CASE("pauses shorter than that change nothing") {
  Growth growth(1, 4);
  int64_t now_ms = 0;
  CHECK(follows(growth, "BBB", now_ms) == "234");
  for (int i = 0; i < 20; ++i) CHECK(follows(growth, ".........b", now_ms) == "4444444444");
}

TEST_CASE("a load that comes and goes is followed without thrash") {
  Growth growth(0, 8);
  int64_t now_ms = 0;
  CHECK(follows(growth, "BBB.B..B...B", now_ms) == "234455566667");
  CHECK(follows(growth, "..........", now_ms) == "7777777776");
  CHECK(follows(growth, "B.........", now_ms) == "7777777777");
}

TEST_CASE("it is known when a slot is given up, so that nobody has to look before") {
  Growth growth(1, 2);
  CHECK(growth.next_ms() == kNever);
  growth.on_backlog(5'000);
  CHECK(growth.next_ms() == 5'000 + Growth::kIdleMs);
  CHECK_FALSE(growth.on_idle(growth.next_ms() - 1));
  CHECK(growth.on_idle(growth.next_ms()));
  CHECK(growth.next_ms() == kNever);
}

}  // namespace fq::test
