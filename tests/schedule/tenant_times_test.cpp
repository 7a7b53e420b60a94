// tenant_times_test - what is told of a tenant's times: of its latest ones, and never too short.

// System.
#include <algorithm>
// fq, below us.
#include "core/schedule/memory/histogram.h"
#include "tests/schedule/fixture.h"

namespace fq::test {

namespace {

constexpr uint64_t kWaitHour = 3'600'000;
constexpr uint64_t kWaitDay = 24 * kWaitHour;

/// The waits of one tenant.
class TenantTimes {
 public:
  void note(uint64_t ms, int count = 1) {
    for (int i = 0; i < count; ++i) q_.change([&](Schedule&, Txn& txn) { histogram_note(txn, times_, ms); });
  }
  uint64_t longest() const { return histogram_longest_ms(times_); }
  uint64_t within(double part) const { return histogram_percentile_ms(times_, part).value(); }
  Histogram& at() { return times_; }
  ScheduleFixture& q() { return q_; }

 private:
  ScheduleFixture q_{1};
  Histogram& times_ = const_cast<Tenant&>(q_.tenant("")).wait;
};

}  // namespace

TEST_CASE("a tenant that once waited for a month is told what it waits now") {
  TenantTimes waits;
  waits.note(30 * kWaitDay);
  CHECK(waits.longest() >= 30 * kWaitDay);
  CHECK(waits.longest() <= 30 * kWaitDay + kWaitDay / 32);
  waits.note(2 * kWaitHour, 1'000);
  CHECK(waits.within(0.5) <= 4 * kWaitHour);
  CHECK(waits.longest() >= 2 * kWaitHour);
  CHECK(waits.longest() <= 4 * kWaitHour);
}

TEST_CASE("a tenant's longest time fades once hundreds of others have come after it") {
  TenantTimes waits;
  waits.note(3'000);
  waits.note(5, 255);
  CHECK(waits.longest() == 3'000);
  waits.note(5, 3'000 - 255);
  CHECK(waits.longest() == 5);
  CHECK(waits.within(1.0) == 5);
}

TEST_CASE("what is longer than all of a tenant's latest times is counted no more") {
  TenantTimes waits;
  waits.note(3'000, 200);
  waits.note(5, 256);
  waits.note(100);
  CHECK(waits.within(0.9) == 3'000);
  waits.note(5, 128);
  CHECK(waits.longest() == 100);
  CHECK(waits.within(0.9) == 8);
}

TEST_CASE("a time of months, or of a century, is told as no shorter") {
  for (const uint64_t days : {49u, 50u, 60u, 400u, 36500u}) {
    TenantTimes waits;
    waits.note(days * kWaitDay);
    CHECK(waits.longest() >= days * kWaitDay);
    CHECK(waits.longest() <= days * kWaitDay + days * kWaitDay / 1024);
    CHECK(waits.within(0.5) == waits.longest());
  }
}

TEST_CASE("of a tenant's latest hundred times none is told too short, whatever came before") {
  const uint32_t seed = GENERATE(range(1u, 30u));
  INFO("seed " << seed);
  Dice dice(seed);
  TenantTimes waits;
  std::vector<uint64_t> all;
  for (int i = 0; i < 4'000; ++i) {
    const uint32_t bits = dice.roll(200) == 0 ? 31 : i % 1'000 < 500 ? 4 : 13;
    all.push_back(uint64_t{dice.roll(uint32_t{1} << bits)} + (bits == 31 ? 40 * kWaitDay : 0));
    waits.note(all.back());
    const size_t latest = std::min<size_t>(all.size(), 128);
    const uint64_t longest = *std::max_element(all.end() - static_cast<std::ptrdiff_t>(latest), all.end());
    REQUIRE(waits.longest() >= longest);
    REQUIRE(waits.within(0.5) <= waits.within(0.9));
    REQUIRE(waits.within(0.9) <= waits.within(1.0));
    REQUIRE(waits.within(1.0) <= waits.longest());
  }
}

TEST_CASE("to halve a tenant's times takes few notes, however many lengths there are") {
  TenantTimes waits;
  for (uint32_t bit = 0; bit < 24; ++bit) waits.note((uint64_t{1} << bit) / 2, 2);
  waits.note(30 * kWaitDay);
  waits.note(3'000, 300);
  for (uint32_t bit = 0; bit < 24; ++bit) waits.note((uint64_t{1} << bit) / 2, 2);
  waits.note(4, 300);
  waits.q().change([&](Schedule&, Txn& txn) {
    uint32_t most = 0;
    for (int i = 0; i < 255; ++i) {
      const uint32_t before = txn.noted();
      histogram_note(txn, waits.at(), 20 * kWaitDay);
      most = std::max(most, txn.noted() - before);
      txn.commit();
    }
    CHECK(most <= Histogram::kBuckets + 4);
  });
}

}  // namespace fq::test
