// Times as they stand in tables.
#include "cli/views/message_view.h"

// Tests.
#include "tests/catch.h"

namespace fq::cli::test {

namespace {

constexpr int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

std::string in(int64_t ms) { return relative_time(1'000 * kDay + ms, 1'000 * kDay); }
std::string ago(int64_t ms) { return relative_time(1'000 * kDay, 1'000 * kDay + ms); }

}  // namespace

TEST_CASE("what was put off by an hour a moment ago comes in an hour") {
  CHECK(in(kHour - 1) == "in 1h");
  CHECK(in(3 * kHour - 20) == "in 3h");
  CHECK(in(kDay - kMinute) == "in 1d");
  CHECK(in(kMinute - 1) == "in 1m");
  CHECK(in(7 * kDay - kHour) == "in 7d");
}

TEST_CASE("a time to come is told by the nearest whole of its unit") {
  CHECK(in(35 * kMinute) == "in 35m");
  CHECK(in(59 * kMinute) == "in 59m");
  CHECK(in(80 * kMinute) == "in 1h");
  CHECK(in(100 * kMinute) == "in 2h");
  CHECK(in(23 * kHour) == "in 23h");
  CHECK(in(36 * kHour - 1) == "in 1d");
  CHECK(in(1'400) == "in 1s");
  CHECK(in(1'600) == "in 2s");
  CHECK(in(999) == "now");
}

TEST_CASE("a time that has passed is told by the wholes that have passed") {
  CHECK(ago(999) == "now");
  CHECK(ago(59 * kSecond + 999) == "59s ago");
  CHECK(ago(2 * kHour - 1) == "1h ago");
  CHECK(ago(3 * kDay) == "3d ago");
}

}  // namespace fq::cli::test
