#include "core/base/text/duration.h"

#include "tests/catch.h"

using namespace fq;

TEST_CASE("durations have a unit and may be joined, largest first") {
  CHECK(parse_duration("250ms").ms == 250);
  CHECK(parse_duration("1.5s").ms == 1500);
  CHECK(parse_duration("5m").ms == 300'000);
  CHECK(parse_duration("2h").ms == 7'200'000);
  CHECK(parse_duration("1d").ms == 86'400'000);
  CHECK(parse_duration("1h30m").ms == 5'400'000);
  CHECK(parse_duration("1d2h3m4s5ms").ms == 93'784'005);
  CHECK(parse_duration("0s").ms == 0);
}

TEST_CASE("a part finer than a millisecond rounds up, so that no wait is too short") {
  CHECK(parse_duration("0.1ms").ms == 1);
  CHECK(parse_duration("1.0005s").ms == 1001);
  CHECK(parse_duration("0.00000000001s").ms == 1);
  CHECK(parse_duration("1.500000000s").ms == 1500);
}

TEST_CASE("what is no duration is refused") {
  for (const char* text : {"", "5", "5x", "s", "-5s", "+5s", " 5s", "5s ", "5 s", "1.s", ".5s", "1m1h",
                           "1s1s", "5S", "1h30", "1..5s", "1.5.5s", "infs", "1e3s"}) {
    INFO(text);
    CHECK(parse_duration(text).fault == DurationFault::not_a_duration);
  }
}

TEST_CASE("durations that would overflow are too long, however many digits they have") {
  CHECK(parse_duration("36500d").fault == DurationFault::none);
  CHECK(parse_duration("36501d").fault == DurationFault::too_long);
  CHECK(parse_duration("36500d1ms").fault == DurationFault::too_long);
  CHECK(parse_duration("99999999999d").fault == DurationFault::too_long);
  CHECK(parse_duration("99999999999999999999999999999999999999ms").fault == DurationFault::too_long);
  CHECK(parse_duration("36500d99999999h99999999m").fault == DurationFault::too_long);
}

TEST_CASE("a formatted duration parses back to the same") {
  CHECK(format_duration(0) == "0s");
  CHECK(format_duration(5'400'000) == "1h30m");
  for (const int64_t ms : {int64_t{1}, int64_t{999}, int64_t{60'000}, int64_t{93'784'005}, kDurationMsMax}) {
    CHECK(parse_duration(format_duration(ms)).ms == ms);
  }
}
