// times_test - how long messages of a tenant waited and ran, as its row tells it.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

/// "7: 4 100 100, 100": how many, then within which time half, 90 and 99 % of them stayed, and the longest.
std::string told(const Percentiles& times) {
  std::string all = std::to_string(times.count) + ":";
  for (const auto& each : {times.p50, times.p90, times.p99})
    all += " " + (each ? std::to_string(*each) : std::string("-"));
  return all + ", " + (times.max ? std::to_string(*times.max) : std::string("-"));
}

/// One that waits so long and then runs so long.
void live_through(QueueFixture& q, std::string_view tenant, int64_t waits_ms, int64_t runs_ms,
                  Verdict verdict = Verdict::ack) {
  q.push(std::string(tenant), "x");
  q.clock().advance(waits_ms);
  const Delivery delivery = q.lease();
  q.clock().advance(runs_ms);
  CHECK(q.settle(delivery.receipt, verdict) == SettleStatus::ok);
}

}  // namespace

TEST_CASE("a tenant's row tells its own times by the next power of two, and none longer than the longest") {
  ON_EVERY_ENGINE(q);
  q.push("new", "x");
  CHECK(told(q.stats("new").wait_ms) == "0: - - -, -");
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  CHECK(told(q.stats("new").wait_ms) == "1: 0 0 0, 0");
  for (const int64_t ms : {0, 1, 2, 3, 100, 5'000, 20'000}) live_through(q, "acct/t", ms, 2 * ms + 1);
  live_through(q, "other", 7, 40, Verdict::bury);
  CHECK(told(q.stats("acct/t").wait_ms) == "7: 4 20000 20000, 20000");
  CHECK(told(q.stats("acct/t").run_ms) == "7: 8 40032 40032, 40032");
  CHECK(told(q.stats("other").wait_ms) == "1: 7 7 7, 7");
  CHECK(told(q.stats("other").run_ms) == "1: 40 40 40, 40");
  CHECK(q.stats("other").wait_ms.by_octave.empty());
}

TEST_CASE("a wait counts once, and each run up to its verdict") {
  ON_EVERY_ENGINE(q);
  live_through(q, "t", 3, 10, Verdict::release);
  q.clock().advance(1'000);
  const Delivery again = q.lease();
  q.clock().advance(50);
  CHECK(q.ack(again) == SettleStatus::ok);
  CHECK(told(q.stats("t").wait_ms) == "1: 3 3 3, 3");
  CHECK(told(q.stats("t").run_ms) == "2: 16 50 50, 50");
}

TEST_CASE("of the longest times a tenant's row tells the longest of all") {
  ON_EVERY_ENGINE(q);
  for (const int64_t ms : {1, 9'000'000, 20'000'000}) live_through(q, "t", ms, 1);
  CHECK(told(q.stats("t").wait_ms) == "3: 20004864 20004864 20004864, 20004864");
}

TEST_CASE("a tenant's longest time is never told as shorter, and by one part in 1024 longer at the most") {
  ON_EVERY_ENGINE(q);
  constexpr int64_t kDay = 86'400'000;
  for (const int64_t ms : {int64_t{4'095}, int64_t{4'097}, kDay + 1, 60 * kDay, 400 * kDay}) {
    live_through(q, "t" + std::to_string(ms), ms, 0);
    const int64_t told = q.stats("t" + std::to_string(ms)).wait_ms.max.value_or(0);
    CHECK(told >= ms);
    CHECK(told <= ms + ms / 1024 + 1);
  }
}

}  // namespace fq::test
