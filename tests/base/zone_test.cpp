#include "core/base/time/zone.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/time/zone_file.h"
#include "tests/catch.h"

using namespace fq;

namespace {

const std::vector<std::string> kZones = {
    "Europe/Berlin",      "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca",
    "Pacific/Apia",       "Asia/Tehran",      "America/St_Johns",    "Europe/Dublin",     "Antarctica/Troll",
    "Pacific/Kiritimati", "Asia/Kolkata",     "America/Nuuk",        "Asia/Gaza"};

struct Dumped {
  int64_t at_s;
  int32_t offset_s;
};

/// What zdump says of the seconds before and at each change.
std::vector<Dumped> dump_of(const std::string& zone) {
  std::vector<Dumped> dumped;
  FILE* pipe = ::popen(("zdump -v -c 1900,2100 " + zone + " 2>/dev/null").c_str(), "r");
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    char month[8];
    int day = 0, hour = 0, minute = 0, second = 0, year = 0;
    const char* offset = std::strstr(line, "gmtoff=");
    if (offset == nullptr || std::sscanf(line, "%*s %*s %7s %d %d:%d:%d %d UT =", month, &day, &hour, &minute,
                                         &second, &year) != 6)
      continue;
    const std::string months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    using namespace std::chrono;
    const sys_days date =
        std::chrono::year{year} / std::chrono::month{static_cast<unsigned>(months.find(month) / 3 + 1)} / day;
    dumped.push_back({date.time_since_epoch().count() * int64_t{86400} + hour * 3600 + minute * 60 + second,
                      std::atoi(offset + 7)});
  }
  ::pclose(pipe);
  return dumped;
}

Zone zone_of(const std::string& name) { return load_zone(name).value(); }

constexpr int64_t kSpring2024 = 1711846800;  // 2024-03-31T01:00:00Z: 02:00 becomes 03:00 in Berlin
constexpr int64_t kAutumn2024 = 1729990800;  // 2024-10-27T01:00:00Z: 03:00 becomes 02:00

}  // namespace

TEST_CASE("a zone's clocks show what zdump says, to the second of each change") {
  for (const std::string& name : kZones) {
    const std::vector<Dumped> dumped = dump_of(name);
    REQUIRE(dumped.size() > 4);
    const Zone zone = zone_of(name);
    size_t wrong = 0;
    for (const Dumped& each : dumped) wrong += zone.offset_at(each.at_s) != each.offset_s ? 1u : 0u;
    INFO(name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the changes of a zone are those at which zdump sees another offset") {
  for (const std::string& name : kZones) {
    const std::vector<Dumped> dumped = dump_of(name);
    const Zone zone = zone_of(name);
    std::vector<int64_t> wanted, found;
    for (size_t i = 1; i < dumped.size(); ++i) {
      if (dumped[i].at_s == dumped[i - 1].at_s + 1 && dumped[i].offset_s != dumped[i - 1].offset_s)
        wanted.push_back(dumped[i].at_s);
    }
    REQUIRE(!wanted.empty());
    for (auto change = zone.next_change(wanted.front() - 1); change && change->at_s <= wanted.back();
         change = zone.next_change(change->at_s)) {
      if (change->before_s != change->after_s) found.push_back(change->at_s);
    }
    INFO(name);
    CHECK(found == wanted);
  }
}

TEST_CASE("a local time that is left out is the moment of the change, one that comes twice the first") {
  const Zone berlin = zone_of("Europe/Berlin");
  CHECK(berlin.first_at(kSpring2024 + 3600 - 60) == kSpring2024 - 60);      // 01:59
  CHECK(berlin.first_at(kSpring2024 + 3600 + 1800) == kSpring2024);         // 02:30 is not there
  CHECK(berlin.first_at(kSpring2024 + 7200) == kSpring2024);                // 03:00
  CHECK(berlin.first_at(kAutumn2024 + 3600 + 1800) == kAutumn2024 - 1800);  // 02:30, the first
  CHECK(berlin.first_at(kAutumn2024 + 7200) == kAutumn2024 + 3600);         // 03:00
}

TEST_CASE("a day that a zone has left out is the moment of the change") {
  // Samoa had no 30 December 2011.
  const Zone apia = zone_of("Pacific/Apia");
  const int64_t change = 1325239200;  // 2011-12-30T10:00:00Z
  CHECK(apia.first_at(change - 10 * 3600 + 12 * 3600) == change);
}

TEST_CASE("a rule that names no days has those that it has for every other program") {
  const auto plain = ZoneRule::parse("CET-1CEST"), full = ZoneRule::parse("CET-1CEST,M3.2.0,M11.1.0");
  REQUIRE(plain);
  REQUIRE(full);
  const auto change = Zone(*plain).next_change(1'780'000'000), same = Zone(*full).next_change(1'780'000'000);
  REQUIRE(change);
  CHECK(change->at_s == same->at_s);
  CHECK(change->after_s == 3600);
}

TEST_CASE("rules as in TZ are zones") {
  const Zone berlin = Zone(*ZoneRule::parse("CET-1CEST,M3.5.0,M10.5.0/3"));
  CHECK(berlin.offset_at(kSpring2024 - 1) == 3600);
  CHECK(berlin.offset_at(kSpring2024) == 7200);
  CHECK(berlin.offset_at(kAutumn2024) == 3600);
  CHECK(Zone(*ZoneRule::parse("<+0330>-3:30")).offset_at(0) == 12600);
  CHECK(Zone(*ZoneRule::parse("IST-1GMT0,M10.5.0,M3.5.0/1")).offset_at(kSpring2024) == 3600);
  for (const char* text : {"", "A1", "CET", "CET-1CEST,", "CET-25", "CET-1CEST,M13.1.0,M10.5.0", "CET-1x",
                           "CET-1CEST,M3.5.0", "CET-1CEST,J0,J1", "CET-1CEST,M3.5.7,M10.5.0"})
    CHECK(!ZoneRule::parse(text));
}

TEST_CASE("what is no zone is refused, and what is no file of zones is none") {
  for (const char* name : {"", "Mars/Phobos", "../zoneinfo/UTC", "/etc/passwd", "Europe", "Europe/Berlin/",
                           "zone.tab", "-", "Europe//Berlin", "tzdata.zi"}) {
    INFO(name);
    CHECK(load_zone(name).error().kind == ErrorKind::usage);
  }
  const Result<Zone> without = load_zone("Europe/Berlin", "/nonexistent/zoneinfo");
  CHECK(without.error().kind == ErrorKind::config);
  CHECK(without.error().text.find("install tzdata") != std::string::npos);
  CHECK(load_zone("UTC", "/nonexistent/zoneinfo").ok());
  const Result<Zone> emptied = load_zone("Europe/Berlin", "/proc/self/net");
  CHECK(emptied.error().kind == ErrorKind::config);
  CHECK(emptied.error().text.find("install tzdata") != std::string::npos);
  CHECK(!Zone::parse({}));
}

TEST_CASE("a file of zones that is cut or turned anywhere is refused or read, and never read past its end") {
  FILE* file = std::fopen("/usr/share/zoneinfo/Europe/Berlin", "rb");
  REQUIRE(file != nullptr);
  std::vector<std::byte> whole(8192);
  whole.resize(std::fread(whole.data(), 1, whole.size(), file));
  std::fclose(file);
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    // Exactly as long, so that a sanitizer sees a byte too far.
    const std::vector<std::byte> bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
    static_cast<void>(Zone::parse(bytes));
  }
  size_t zones = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> bytes = whole;
    bytes[at] ^= std::byte{0x55};
    if (const auto zone = Zone::parse(bytes)) zones += zone->first_at(kSpring2024) != 0 ? 1u : 0u;
  }
  CHECK(zones < whole.size());
}
