#include "core/base/backoff.h"

// System.
#include <algorithm>
#include <random>
// Tests.
#include "tests/catch.h"
#include "tests/knobs.h"

using namespace fq;

namespace {

/// The longest wait that 10,000 draws give.
int64_t longest(const BackoffRange& range, uint32_t failures, std::mt19937_64& random) {
  int64_t most = 0;
  for (int i = 0; i < 10'000; ++i) most = std::max(most, backoff_ms(range, failures, random()));
  return most;
}

}  // namespace

TEST_CASE("a backoff is two durations, the smaller one first") {
  const auto range = parse_backoff("5s..1h");
  REQUIRE(range);
  CHECK(range->base_ms == 5'000);
  CHECK(range->max_ms == 3'600'000);
  CHECK(parse_backoff("1s..1s"));
  for (const char* bad : {"", "5s", "..", "5s..", "..1h", "1h..5s", "5s...1h", "5..10", "5s..1h..2h"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_backoff(bad));
  }
}

TEST_CASE("each failure doubles the longest wait, up to the maximum") {
  const uint64_t seed = test::seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  const BackoffRange range{1'000, 60'000};
  CHECK(longest(range, 1, random) <= 1'000);
  CHECK(longest(range, 1, random) > 950);
  CHECK(longest(range, 3, random) <= 4'000);
  CHECK(longest(range, 3, random) > 3'900);
  CHECK(longest(range, 7, random) <= 60'000);
  CHECK(longest(range, 7, random) > 59'000);
}

TEST_CASE("the jitter is full: some wait hardly at all") {
  const uint64_t seed = test::seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  int64_t least = INT64_MAX;
  for (int i = 0; i < 10'000; ++i) least = std::min(least, backoff_ms({10'000, 60'000}, 3, random()));
  CHECK(least >= 1);
  CHECK(least < 100);
}

TEST_CASE("attempt 400 and the longest durations do not overflow") {
  const BackoffRange widest{1, int64_t{36'500} * 24 * 3600 * 1000};
  for (const uint32_t failures : {1U, 41U, 62U, 63U, 64U, 400U, UINT32_MAX}) {
    CAPTURE(failures);
    CHECK(backoff_ms(widest, failures, UINT64_MAX) >= 1);
    CHECK(backoff_ms(widest, failures, UINT64_MAX) <= widest.max_ms);
  }
  CHECK(backoff_ms({0, 0}, 5, 12345) == 1);
}
