// waiting_test - how late a wait is that nobody tells of anything, and how often it looks.

// fq, below us.
#include "core/redis/shard/waiting.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

TEST_CASE("what is over soon is seen at once, and what takes long a small part of that later") {
  int looks = 0;
  int64_t waited_ms = 0;
  while (waited_ms < 3'600'000) {
    const int64_t nap_ms = Waiting::nap_ms(waited_ms);
    REQUIRE(nap_ms >= 1);
    REQUIRE(nap_ms <= std::max<int64_t>(1, waited_ms / 8));
    REQUIRE(nap_ms <= 50);
    waited_ms += nap_ms;
    if (waited_ms <= 1'000) ++looks;
  }
  CHECK(looks < 60);
}

}  // namespace fq::test
