#include "core/base/text/wall_time.h"

#include "tests/catch.h"

using namespace fq;

TEST_CASE("RFC 3339, @EPOCH and +DURATION are times") {
  CHECK(parse_wall_time("1970-01-01T00:00:00Z", 0) == 0);
  CHECK(parse_wall_time("2026-11-02T08:00:00.5+01:00", 0) == 1793602800500);
  CHECK(parse_wall_time("2026-11-02t07:00:00.5z", 0) == 1793602800500);
  CHECK(parse_wall_time("2026-11-02 07:00:00.5Z", 0) == 1793602800500);
  CHECK(parse_wall_time("2024-02-29T00:00:00Z", 0) == 1709164800000);
  CHECK(parse_wall_time("@1700000000", 0) == 1'700'000'000'000);
  CHECK(parse_wall_time("@1.25", 0) == 1250);
  CHECK(parse_wall_time("@-1.25", 0) == -1250);
  CHECK(parse_wall_time("+5m", 1000) == 301'000);
}

TEST_CASE("what is no time, or no day of the calendar, is refused") {
  for (const char* text : {"",
                           "now",
                           "yesterday",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:61Z",
                           "2026-01-01T00:00:00",
                           "2026-01-01",
                           "2026-1-1T00:00:00Z",
                           "2026-01-01T00:00:00+0100",
                           "2026-01-01T00:00:00Zx",
                           "@",
                           "@x",
                           "@99999999999999999999",
                           "+5",
                           "+99999999999d",
                           "0000-01-01T00:00:00Z"}) {
    INFO(text);
    CHECK_FALSE(parse_wall_time(text, 0));
  }
}

TEST_CASE("a time before or after all that can be written is the first or the last that can") {
  CHECK(format_wall_time(253'402'300'800'000) == "9999-12-31T23:59:59.999Z");
  CHECK(format_wall_time(-62'135'596'800'001) == "0001-01-01T00:00:00.000Z");
}

TEST_CASE("a formatted time is RFC 3339 in UTC and parses back to the same") {
  CHECK(format_wall_time(0) == "1970-01-01T00:00:00.000Z");
  CHECK(format_wall_time(-1) == "1969-12-31T23:59:59.999Z");
  for (int64_t at = -62'135'596'800'000; at < 253'402'300'800'000; at += 7'777'777'777'777) {
    CHECK(parse_wall_time(format_wall_time(at), 0) == at);
  }
}
