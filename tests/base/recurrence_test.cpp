#include "core/base/time/recurrence.h"

#include <string>
#include <vector>

#include "core/base/text/wall_time.h"
#include "core/base/time/zone_file.h"
#include "tests/catch.h"

using namespace fq;

namespace {

/// The next `n` times after `from`, as UTC texts without milliseconds, one a line.
std::string times(const char* spec, const char* zone, const char* from, int n) {
  const Recurrence recurrence = Recurrence::parse(spec).value();
  const Zone in = load_zone(zone).value();
  int64_t at = *parse_wall_time(from, 0);
  std::string text;
  for (int i = 0; i < n; ++i) {
    const std::optional<int64_t> next = recurrence.next(at, in, 0);
    if (!next) return text + "never";
    at = *next;
    text += format_wall_time(at).substr(0, 16) + " ";
  }
  return text;
}

std::string fault(const char* spec) {
  const Result<Recurrence> parsed = Recurrence::parse(spec);
  if (parsed.ok()) return "";
  CHECK(parsed.error().kind == ErrorKind::bad_data);
  return parsed.error().text;
}

}  // namespace

TEST_CASE("five fields say when: numbers, lists, ranges, steps and names") {
  CHECK(times("30 4 * * *", "UTC", "2024-01-01T04:30:00Z", 2) == "2024-01-02T04:30 2024-01-03T04:30 ");
  CHECK(times("*/25 9,17 * * *", "UTC", "2024-01-01T09:10:00Z", 4) ==
        "2024-01-01T09:25 2024-01-01T09:50 2024-01-01T17:00 2024-01-01T17:25 ");
  CHECK(times("0 0 * FEB-apr/2 mOn", "UTC", "2024-01-31T00:00:00Z", 5) ==
        "2024-02-05T00:00 2024-02-12T00:00 2024-02-19T00:00 2024-02-26T00:00 2024-04-01T00:00 ");
  CHECK(times("10-40/15 0 1 1 *", "UTC", "2024-01-01T00:00:00Z", 3) ==
        "2024-01-01T00:10 2024-01-01T00:25 2024-01-01T00:40 ");
  CHECK(times("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1) == "2104-02-29T00:00 ");
}

TEST_CASE("0 and 7 are Sunday, and a week may end with it") {
  for (const char* spec : {"0 0 * * 0", "0 0 * * 7", "0 0 * * Sun", "@weekly"})
    CHECK(times(spec, "UTC", "2024-01-01T00:00:00Z", 1) == "2024-01-07T00:00 ");
  CHECK(times("0 0 * * fri-sun", "UTC", "2024-01-01T00:00:00Z", 4) ==
        "2024-01-05T00:00 2024-01-06T00:00 2024-01-07T00:00 2024-01-12T00:00 ");
}

TEST_CASE(
    "where both day fields are restricted either matches; one that begins with a star restricts nothing") {
  CHECK(times("0 0 13 * 5", "UTC", "2024-09-05T00:00:00Z", 3) ==
        "2024-09-06T00:00 2024-09-13T00:00 2024-09-20T00:00 ");
  CHECK(times("0 0 13 * *", "UTC", "2024-09-01T00:00:00Z", 2) == "2024-09-13T00:00 2024-10-13T00:00 ");
  CHECK(times("0 0 */2 * 5", "UTC", "2024-09-01T00:00:00Z", 2) == "2024-09-13T00:00 2024-09-27T00:00 ");
}

TEST_CASE("what a clock change leaves out runs at the change, what comes twice the first time") {
  CHECK(times("30 2 * * *", "Europe/Berlin", "2024-03-30T12:00:00Z", 2) ==
        "2024-03-31T01:00 2024-04-01T00:30 ");
  CHECK(times("*/15 2 31 3 *", "Europe/Berlin", "2024-03-30T12:00:00Z", 2) ==
        "2024-03-31T01:00 2025-03-31T00:00 ");
  CHECK(times("30 2 * * *", "Europe/Berlin", "2024-10-26T12:00:00Z", 2) ==
        "2024-10-27T00:30 2024-10-28T01:30 ");
  CHECK(times("0,30 2 * * *", "Europe/Berlin", "2024-10-27T00:45:00Z", 1) == "2024-10-28T01:00 ");
}

TEST_CASE("every hour, or every n hours, is real time") {
  CHECK(times("30 * * * *", "Europe/Berlin", "2024-10-26T23:30:00Z", 4) ==
        "2024-10-27T00:30 2024-10-27T01:30 2024-10-27T02:30 2024-10-27T03:30 ");
  CHECK(times("30 * * * *", "Europe/Berlin", "2024-03-31T00:00:00Z", 3) ==
        "2024-03-31T00:30 2024-03-31T01:30 2024-03-31T02:30 ");
  CHECK(times("@hourly", "Australia/Lord_Howe", "2024-04-06T13:30:00Z", 3) ==
        "2024-04-06T14:00 2024-04-06T15:30 2024-04-06T16:30 ");
}

TEST_CASE("every DUR counts from its anchor") {
  const Recurrence every = Recurrence::parse("every 90m").value();
  CHECK(every.next(1000, Zone(), 1000) == 5'401'000);
  CHECK(every.next(999, Zone(), 1000) == 1000);
  CHECK(every.last(0, 5'400'999, Zone(), 1000) == 1000);
  CHECK(every.last(1000, 5'400'999, Zone(), 1000) == std::nullopt);
  CHECK(every.last(0, 1'000'000'000'000, Zone(), 1000) == 999'999'001'000);
}

TEST_CASE("the last time up to now is the one that next would have told before it") {
  for (const char* spec : {"* * * * *", "0 3 * * 1", "*/7 2 * * *", "0 0 29 2 *", "15,45 1-4 1 */3 *"}) {
    const Recurrence recurrence = Recurrence::parse(spec).value();
    const Zone zone = load_zone("Europe/Berlin").value();
    const int64_t from = *parse_wall_time("2023-10-01T00:00:00Z", 0);
    for (int64_t to = from; to < from + int64_t{500} * 86'400'000; to += 7'777'777'777) {
      const std::optional<int64_t> last = recurrence.last(from, to, zone, 0);
      std::optional<int64_t> wanted;
      for (auto at = recurrence.next(std::max(from, to - int64_t{40} * 86'400'000), zone, 0); at && *at <= to;
           at = recurrence.next(*at, zone, 0))
        wanted = at;
      if (wanted) CHECK(last == wanted);
    }
  }
}

TEST_CASE("a spec that is none, or never comes, names what is wrong") {
  CHECK(fault("61 * * * *") == "schedule: minute: '61' is not from 0 to 59");
  CHECK(fault("* 24 * * *").starts_with("schedule: hour: '24'"));
  CHECK(fault("* * 0 * *").starts_with("schedule: day of month: '0'"));
  CHECK(fault("* * * 13 *").starts_with("schedule: month: '13'"));
  CHECK(fault("* * * foo *").starts_with("schedule: month: 'foo'"));
  CHECK(fault("* * * * 8").starts_with("schedule: day of week: '8'"));
  CHECK(fault("* * * * mon,").starts_with("schedule: day of week: ''"));
  CHECK(fault("5/15 * * * *") == "schedule: minute: '5/15' has a step and no range; write it as in 5-59/15");
  CHECK(fault("30-10 * * * *").starts_with("schedule: minute: '30-10' ends before it begins"));
  CHECK(fault("*/0 * * * *").starts_with("schedule: minute: '*/0'"));
  CHECK(fault("0 0 30 2 *").starts_with("schedule: day of month: no month of"));
  CHECK(fault("0 0 31 4,6,9,11 *").starts_with("schedule: day of month: no month of"));
  CHECK(fault("0 0 * *").find("has 4 fields") != std::string::npos);
  CHECK(fault("").find("has 0 fields") != std::string::npos);
  CHECK(fault("0 0 * * * *").find("has 6 fields") != std::string::npos);
  CHECK(fault("@reboot").find("is not known") != std::string::npos);
  CHECK(fault("every 0s").find("the shortest is 1s") != std::string::npos);
  CHECK(fault("every 36501d").find("is too long; the limit is 36500d") != std::string::npos);
  CHECK(fault("every").find("has no duration") != std::string::npos);
  CHECK(fault("every soon").find("has no duration") != std::string::npos);
  CHECK(fault("every 10").find("has no duration") != std::string::npos);
  CHECK(fault("every 500ms").find("from 1s") != std::string::npos);
  CHECK(fault("99999999999999999999 * * * *").starts_with("schedule: minute:"));
  CHECK(fault("0 0 30 2 1") == "");  // either day field
}
