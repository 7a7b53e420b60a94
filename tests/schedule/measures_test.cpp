// measures_test - what is told of times, rates and service is as near to the truth as it is said to be.

// System.
#include <algorithm>
#include <cmath>
// fq, below us.
#include "core/schedule/memory/rates.h"
#include "core/schedule/memory/service.h"
#include "tests/schedule/fixture.h"

namespace fq::test {

namespace {

QueueHistogram& wait_of(ScheduleFixture& q) { return q.header().root.wait; }

void note(ScheduleFixture& q, const std::vector<uint64_t>& times) {
  q.change([&](Schedule&, Txn& txn) {
    for (const uint64_t ms : times) {
      histogram_note(txn, wait_of(q), ms);
      if (txn.noted() > kUndoEntries - 8) txn.commit();
    }
  });
}

/// The time that `part` of all stayed within, exactly.
uint64_t exact(std::vector<uint64_t> times, double part) {
  std::sort(times.begin(), times.end());
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(times.size())));
  return times[std::max<size_t>(rank, 1) - 1];
}

struct Counter {
  ScheduleFixture q;
  void at(int64_t ms, uint32_t pushed, uint32_t popped = 0, uint32_t acked = 0) {
    q.now = ms;
    q.change([&](Schedule&, Txn& txn) {
      ScheduleRoot& root = q.header().root;
      rates_note(txn, root, ms);
      add_to(txn, root.counters.pushed, pushed);
      add_to(txn, root.counters.popped, popped);
      add_to(txn, root.counters.acked, acked);
    });
  }
  RatesOver over(int64_t window_ms, int64_t now_ms) { return rates_over(q.root(), window_ms, now_ms); }
};

constexpr int64_t kMinute = 60'000;

}  // namespace

TEST_CASE("each bucket of a queue's histogram speaks for its times within one part in 32") {
  const QueueHistogram shape{};
  const auto told = [&](uint64_t ms) { return histogram_value(shape, histogram_bucket(shape, ms)); };
  const auto off = [&](uint64_t ms) { return std::abs(double(told(ms)) - double(ms)) / double(ms); };
  CHECK(told(0) == 0);
  for (uint64_t ms = 1; ms < 32; ++ms) CHECK(told(ms) == ms);
  double worst = 0;
  for (uint64_t ms = 1; ms < 200'000; ++ms) worst = std::max(worst, off(ms));
  for (uint32_t bit = 17; bit < 32; ++bit) {
    for (uint64_t part = 0; part < 64; ++part) {
      const uint64_t at = (uint64_t{64} + part) << (bit - 6);
      for (const uint64_t ms : {at - 1, at, at + 1}) worst = std::max(worst, off(ms));
    }
  }
  CHECK(worst <= 1.0 / 32);
  CHECK(histogram_bucket(shape, UINT32_MAX) == QueueHistogram::kBuckets - 1);
  CHECK(histogram_bucket(shape, UINT64_MAX) == QueueHistogram::kBuckets - 1);
}

TEST_CASE("buckets follow each other without a gap") {
  const QueueHistogram shape{};
  uint32_t last = 0;
  for (uint64_t ms = 1; ms < 100'000; ++ms) {
    const uint32_t bucket = histogram_bucket(shape, ms);
    REQUIRE((bucket == last || bucket == last + 1));
    last = bucket;
  }
}

TEST_CASE("percentiles of random times are off by at most one part in twenty") {
  const uint32_t seed = GENERATE(range(1u, 60u));
  INFO("seed " << seed);
  Dice dice(seed);
  ScheduleFixture q(1);
  // Times of one size, of every size up to days, or of two sizes.
  std::vector<uint64_t> times(1 + dice.roll(5000));
  const uint32_t shape = dice.roll(3);
  for (uint64_t& ms : times) {
    const uint32_t bits = shape == 0 ? 12 : shape == 1 ? dice.roll(30) : (dice.roll(2) == 0 ? 3 : 20);
    ms = dice.roll(uint32_t{1} << bits);
  }
  note(q, times);
  CHECK(histogram_count(wait_of(q)) == times.size());
  for (const double part : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto truth = double(exact(times, part));
    const auto told = double(histogram_percentile_ms(wait_of(q), part).value());
    INFO("part " << part << " truth " << truth << " told " << told);
    CHECK(std::abs(told - truth) <= truth / 20);
  }
  CHECK(wait_of(q).max_ms == exact(times, 1.0));
  uint64_t sum = 0;
  for (const uint64_t ms : times) sum += ms;
  CHECK(wait_of(q).sum_ms == sum);
}

TEST_CASE("a time of months is told as the longest, and no time is none") {
  ScheduleFixture q(1);
  CHECK_FALSE(histogram_percentile_ms(wait_of(q), 0.5).has_value());
  const uint64_t months = uint64_t{200} * 24 * 3600 * 1000;
  note(q, {months});
  CHECK(histogram_percentile_ms(wait_of(q), 0.5) == months);
}

namespace {

constexpr int64_t kDayMs = 86'400'000;

/// Days go by, and with each `every`-th one of another tenant is served.
void pass(ScheduleFixture& q, int64_t days, int64_t every) {
  for (int64_t day = 1; day <= days; ++day) {
    q.wait_until(q.now + kDayMs);
    if (every != 0 && day % every == 0) q.ack(q.lease("other"));
  }
}

}  // namespace

TEST_CASE("a run of many days counts for as long as it took, whatever starts meanwhile") {
  for (const int64_t days : {1, 12, 13, 24, 25, 26, 49, 50, 62, 99, 100, 149, 200, 380}) {
    for (const int64_t every : {0, 1, 11, 30, 60}) {
      INFO(days << " days, another each " << every);
      ScheduleFixture q;
      q.push("long", 1).push("other", 500);
      if (every != 0) pass(q, 3, 1);
      const uint64_t id = q.lease("long");
      pass(q, days, every);
      const auto took = static_cast<uint64_t>(days * kDayMs);
      q.ack(id);
      CHECK(q.root().run.max_ms == took);
      const Histogram& runs = q.schedule().tenants().at(*q.schedule().tenants().find("long")).run;
      CHECK(runs.longest.get() == short_time_of(took));
      CHECK(q.faults().empty());
    }
  }
}

TEST_CASE("a run of years counts for a year at least") {
  ScheduleFixture q;
  q.push("long", 1).push("other", 2000);
  const uint64_t id = q.lease("long");
  pass(q, 1000, 1);
  q.ack(id);
  CHECK(q.root().run.max_ms >= 365 * kDayMs);
  CHECK(q.root().run.max_ms <= 1000 * kDayMs);
}

TEST_CASE("the days of a run count as they were where the machine was started anew meanwhile") {
  ScheduleFixture q;
  q.now = 1'000 * kDayMs;
  q.push("long", 1).push("other", 200);
  const uint64_t id = q.lease("long");
  pass(q, 70, 1);
  // Its clock begins at 0 again, and of the wall clock 5 days have passed.
  q.schedule().timers().shift(q.now, 0, -q.now - 5 * kDayMs);
  q.now = 0;
  pass(q, 20, 1);
  q.ack(id);
  CHECK(q.root().run.max_ms == 95 * kDayMs);
}

TEST_CASE("rates are what was counted in the last minutes") {
  Counter counter;
  for (int64_t ms = 0; ms < 20 * kMinute; ms += 100) counter.at(1000 + ms, 2, 1, 1);
  const int64_t now = 1000 + 20 * kMinute;
  for (const int64_t minutes : {1, 5, 15}) {
    CHECK(counter.over(minutes * kMinute, now).pushed == Approx(20).epsilon(0.01));
    CHECK(counter.over(minutes * kMinute, now).popped == Approx(10).epsilon(0.01));
    CHECK(counter.over(minutes * kMinute, now).acked == Approx(10).epsilon(0.01));
  }
}

TEST_CASE("a queue younger than the window counts as one that had nothing before") {
  Counter counter;
  counter.at(1000, 30);
  counter.at(2000, 30);
  CHECK(counter.over(kMinute, 2000).pushed == Approx(1));
  CHECK(counter.over(15 * kMinute, 2000).pushed == Approx(60.0 / 900));
}

TEST_CASE("after idle time rates fall to nothing, and what comes then is counted then") {
  Counter counter;
  for (int64_t ms = 1000; ms < 60'000; ms += 500) counter.at(ms, 1);
  const int64_t idle_until = 60'000 + 60 * kMinute;
  CHECK(counter.over(kMinute, 60'000).pushed == Approx(118.0 / 60));
  CHECK(counter.over(kMinute, 60'000 + 30'000).pushed == Approx(59.0 / 60).epsilon(0.1));
  CHECK(counter.over(kMinute, 60'000 + 70'000).pushed == 0);
  CHECK(counter.over(15 * kMinute, idle_until).pushed == 0);
  counter.at(idle_until, 6);
  CHECK(counter.over(kMinute, idle_until + 1).pushed == Approx(0.1));
  CHECK(counter.over(15 * kMinute, idle_until + 1).pushed == Approx(6.0 / 900));
  CHECK(counter.over(kMinute, idle_until + 61'000).pushed == Approx(0).margin(0.09));
}

TEST_CASE("rates follow a random history within what falls between two samples") {
  const uint32_t seed = GENERATE(range(1u, 20u));
  INFO("seed " << seed);
  Dice dice(seed);
  Counter counter;
  std::vector<int64_t> pushes;
  int64_t now = 1000;
  for (int i = 0; i < 3000; ++i) {
    now += dice.roll(50) == 0 ? dice.roll(400'000) : dice.roll(2'000);
    counter.at(now, 1);
    pushes.push_back(now);
    const int64_t window = kMinute * (dice.roll(2) == 0 ? 1 : 15);
    const auto in = [&](int64_t from) {
      return double(pushes.end() - std::upper_bound(pushes.begin(), pushes.end(), from));
    };
    const double told = counter.over(window, now).pushed * double(window) / 1000;
    REQUIRE(told <= in(now - window - kRateSampleMs) + 1e-6);
    REQUIRE(told >= in(now - window + kRateSampleMs) - 1e-6);
  }
}

TEST_CASE("counters that pass 2^32 do not disturb the rates") {
  Counter counter;
  counter.q.change([&](Schedule&, Txn& txn) {
    txn.set(counter.q.header().root.counters.pushed, uint64_t{UINT32_MAX} - 10);
  });
  counter.at(1000, 60);
  CHECK(counter.over(kMinute, 2000).pushed == Approx(1));
}

TEST_CASE("what a tenant was given is forgotten by halves") {
  ScheduleFixture q;
  q.now = 10 * kServiceHalfMs;
  q.push("a", 4).push("b", 2);
  for (int i = 0; i < 4; ++i) q.ack(q.lease());
  CHECK(service_of(q.tenant("a"), q.now) == 2 * kServiceOfTurn);
  CHECK(service_of(q.tenant("b"), q.now) == 2 * kServiceOfTurn);
  CHECK(service_of(q.tenant("a"), q.now + kServiceHalfMs) == kServiceOfTurn);
  q.now += kServiceHalfMs;
  q.ack(q.lease());
  CHECK(service_of(q.tenant("a"), q.now) == 2 * kServiceOfTurn);
  CHECK(service_of(q.tenant("a"), q.now + 100 * kServiceHalfMs) == 0);
}

TEST_CASE("service is counted in what turns are paid by") {
  ScheduleFixture q;
  q.set_terms({.fair_by = FairBy::bytes});
  q.add({.tenant = "a", .payload_bytes = 1600});
  q.lease();
  CHECK(service_of(q.tenant("a"), q.now) == 101);
  q.set_terms({.fair_by = FairBy::time});
  q.push("b");
  const uint64_t id = q.lease();
  CHECK(service_of(q.tenant("b"), q.now) == 0);
  q.now += 250;
  q.change([&](Schedule& s, Txn& txn) { s.messages().end_run(txn, q.slot(id), 100'000, q.now); });
  q.ack(id);
  CHECK(service_of(q.tenant("b"), q.now) == 101);
}

}  // namespace fq::test
