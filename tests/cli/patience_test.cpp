// patience_test - who waits bears a server that is away, so long and no longer, and nothing else.
#include "cli/session/patience.h"

// fq, below us.
#include "core/base/clock.h"
// Tests.
#include "tests/catch.h"

namespace fq::cli::test {

namespace {

const Error kAway{ErrorKind::later, "h:1: cannot be reached: Connection refused", 0, true};

struct Asked {
  explicit Asked(int in_vain, Error fault = kAway) : left(in_vain), error(std::move(fault)) {}
  Result<int> operator()() const {
    ++times;
    if (left == 0) return times;
    if (left > 0) --left;
    return error;
  }
  mutable int left, times = 0;  // less than 0: always
  Error error;
};

}  // namespace

TEST_CASE("who waits asks again until a server that is away is there") {
  Asked asked(3);
  CHECK(*Patience(std::nullopt).ask(asked) == 4);
}

TEST_CASE("what does not pass by itself is told at once") {
  Asked asked(-1, {ErrorKind::later, "queue 'default': is full", 0});
  CHECK(!Patience(std::nullopt).ask(asked).ok());
  CHECK(asked.times == 1);
}

TEST_CASE("a server that stays away is told of when patience is over, each time that it is away anew") {
  Patience patience(std::nullopt, nullptr, 200);
  for (int again = 0; again < 2; ++again) {
    Asked asked(-1), there(0);
    const int64_t begin_ms = system_clock().boot_ms();
    const Result<int> said = patience.ask(asked);
    REQUIRE(!said.ok());
    CHECK(said.error().text == kAway.text);
    CHECK(asked.times > 1);
    CHECK(system_clock().boot_ms() - begin_ms >= 200);
    CHECK(patience.ask(there).ok());
  }
}

TEST_CASE("a wait with a bound of its own is patient until that, and not for longer") {
  Patience patience(300, nullptr, 100);
  Asked asked(-1);
  const int64_t begin_ms = system_clock().boot_ms();
  CHECK(!patience.ask(asked).ok());
  CHECK(system_clock().boot_ms() - begin_ms >= 300);
  CHECK(patience.left_ms() == 0);
}

TEST_CASE("who is interrupted asks no more") {
  Interrupt interrupt;
  interrupt.raise();
  Asked asked(-1);
  CHECK(!Patience(std::nullopt, &interrupt).ask(asked).ok());
  CHECK(asked.times == 1);
}

}  // namespace fq::cli::test
