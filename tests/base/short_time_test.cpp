#include "core/base/time/short_time.h"

#include "tests/catch.h"

namespace fq {

namespace {

uint64_t told(uint64_t ms) { return ms_of(short_time_of(ms)); }

bool is_near(uint64_t ms) { return told(ms) >= ms && (told(ms) - ms) * 1024 <= ms; }

constexpr uint64_t kYearMs = uint64_t{365} * 86'400'000;

}  // namespace

TEST_CASE("a short time is never too short, and too long by one part in 1024 at the most") {
  for (uint64_t ms = 0; ms < 2048; ++ms) REQUIRE(told(ms) == ms);
  for (uint64_t ms = 2048; ms < 300'000; ++ms) REQUIRE(is_near(ms));
  for (uint32_t bit = 18; bit < 42; ++bit) {
    for (uint64_t part = 0; part < 4096; ++part) {
      const uint64_t at = (uint64_t{1} << bit) + (part << (bit - 12));
      for (const uint64_t ms : {at - 1, at, at + 1}) REQUIRE((ms > kShortTimeMost || is_near(ms)));
    }
  }
}

TEST_CASE("a short time holds a century, and what it cannot hold is the longest that it can") {
  CHECK(is_near(100 * kYearMs));
  for (const uint64_t ms : {kShortTimeMost - 1, kShortTimeMost, kShortTimeMost + 1, UINT64_MAX})
    CHECK(told(ms) == kShortTimeMost);
}

TEST_CASE("short times are in the order of the times, and whoever is not longer than one stays as short") {
  uint64_t last = 0;
  for (uint64_t ms = 1; ms < 2 * kYearMs; ms += 1 + ms / 3000) {
    REQUIRE(told(ms) >= last);
    REQUIRE(told(told(ms)) == told(ms));
    REQUIRE_FALSE(is_longer(told(ms), short_time_of(ms)));
    REQUIRE(is_longer(told(ms) + 1, short_time_of(ms)));
    last = told(ms);
  }
}

}  // namespace fq
