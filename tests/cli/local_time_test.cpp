// local_time_test - times of the clock on the wall, in zones whose clocks are changed.
#include "cli/words/local_time.h"

#include <cstdlib>
#include <ctime>

#include "core/base/text/wall_time.h"
#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

/// For as long as it lives.
struct Zone {
  explicit Zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  ~Zone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

/// In UTC, or what was said.
std::string parsed(std::string_view text, std::string_view now = "2026-06-01T10:00:00Z",
                   Nearest nearest = Nearest::next) {
  const Result<std::optional<int64_t>> at = parse_local_time("--at", text, *parse_wall_time(now, 0), nearest);
  if (!at) return (at.error().kind == ErrorKind::config ? "78 " : "64 ") + at.error().text;
  return *at ? format_wall_time(**at).substr(0, 19) : "none";
}

}  // namespace

TEST_CASE("a local time is in the zone, in summer and in winter") {
  const Zone zone(kBerlin);
  CHECK(parsed("2026-01-15 08:00") == "2026-01-15T07:00:00");
  CHECK(parsed("2026-07-15 08:00:30") == "2026-07-15T06:00:30");
  CHECK(local_time_text(*parse_wall_time("2026-07-15T06:00:30.25Z", 0)) == "2026-07-15T08:00:30.250+02:00");
  CHECK(local_time_text(-1) == "1970-01-01T00:59:59.999+01:00");
}

TEST_CASE("what is shown is read back as the same") {
  for (const char* name : {kBerlin, "UTC", "NST3:30NDT,M3.2.0,M11.1.0", "<+1245>-12:45"}) {
    const Zone zone(name);
    for (int64_t at = 0; at < 4'000'000'000'000; at += 7'777'777'777)
      CHECK(parse_wall_time(local_time_text(at), 0) == at);
  }
}

TEST_CASE("a time without a date is the next one, or the last one") {
  const Zone zone(kBerlin);  // it is 12:00
  CHECK(parsed("12:30") == "2026-06-01T10:30:00");
  CHECK(parsed("12:00") == "2026-06-02T10:00:00");
  CHECK(parsed("08:00:05") == "2026-06-02T06:00:05");
  CHECK(parsed("12:00", "2026-06-01T10:00:00Z", Nearest::last) == "2026-06-01T10:00:00");
  CHECK(parsed("12:01", "2026-06-01T10:00:00Z", Nearest::last) == "2026-05-31T10:01:00");
  CHECK(parsed("00:30", "2026-06-30T21:59:59Z") == "2026-06-30T22:30:00");
  CHECK(parsed("23:59", "2025-12-31T23:30:00Z", Nearest::last) == "2025-12-31T22:59:00");
  // Across a change the next day is not 24 hours away.
  CHECK(parsed("12:00", "2026-03-28T11:30:00Z") == "2026-03-29T10:00:00");
}

TEST_CASE("a time that the clocks are changed past does not exist") {
  const Zone zone(kBerlin);
  CHECK(parsed("2026-03-29 01:59:59") == "2026-03-29T00:59:59");
  CHECK(parsed("2026-03-29 02:30") ==
        "64 --at: '2026-03-29 02:30' does not exist: the clocks are changed past it");
  CHECK(parsed("2026-03-29 03:00") == "2026-03-29T01:00:00");
  CHECK(parsed("02:30", "2026-03-28T11:00:00Z").find("does not exist") != std::string::npos);
}

TEST_CASE("a time that today's clocks were changed past is there the day after, and the day before") {
  const Zone zone(kBerlin);
  CHECK(parsed("02:30", "2026-03-29T00:59:00Z").find("does not exist") != std::string::npos);
  CHECK(parsed("02:30", "2026-03-29T01:00:00Z") == "2026-03-30T00:30:00");
  CHECK(parsed("02:30", "2026-03-29T00:59:00Z", Nearest::last) == "2026-03-28T01:30:00");
  CHECK(parsed("02:30", "2026-03-29T01:00:00Z", Nearest::last).find("does not exist") != std::string::npos);
}

TEST_CASE("of a time that comes twice it is the first") {
  const Zone zone(kBerlin);
  CHECK(parsed("2026-10-25 02:30") == "2026-10-25T00:30:00");
  CHECK(parsed("2026-10-25 03:00") == "2026-10-25T02:00:00");
}

TEST_CASE("a day or a time that no clock shows is refused, and what is none is none") {
  const Zone zone(kBerlin);
  CHECK(parsed("2026-02-30 08:00") == "64 --at: '2026-02-30 08:00' is not a date of the calendar");
  CHECK(parsed("2026-02-28 24:00") == "64 --at: '2026-02-28 24:00' is not a time of day");
  for (const char* bad : {"25:00", "12:60", "12:00:60"})
    CHECK(parsed(bad).find("is not a time of day") != std::string::npos);
  for (const char* other :
       {"", "8:00", "0800", "08:00Z", "2026-02-28", "2026-02-28T08:00", "2026-02-28 8:00", "2h", "@1",
        "2026-02-28 08:00:00Z", "2026-02-28 08:00:00+01:00", "2026-02-28 08:00 "}) {
    INFO(other);
    CHECK(parsed(other) == "none");
  }
}

TEST_CASE("a zone that does not exist is named, not taken for UTC") {
  for (const char* bad :
       {"Nowhere/Land", "Europe/Berln", "/no/such/file", ":Nowhere/Land", "xx", "..", "Europe"}) {
    const Zone zone(bad);
    INFO(bad);
    CHECK(parsed("08:00").find("78 TZ: '") == 0);
    CHECK(parsed("2026-02-28T08:00:00Z") == "none");
  }
  for (const char* good : {"", "UTC", "UTC0", "<+03>-3", "EST5EDT,M3.2.0,M11.1.0", ":UTC"}) {
    const Zone zone(good);
    INFO(good);
    CHECK(parsed("2026-02-28 08:00").find("2026-02-28T") == 0);
  }
}
