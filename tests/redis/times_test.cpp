// times_test - how long messages of a queue on a server waited and ran.
#include "core/redis/views/time_counts.h"

// System.
#include <limits>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

TEST_CASE("stats tell how long messages waited and ran, each within one part in 32") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  CHECK(answered(queue->stats({})).rows.at(0).wait_ms.count == 0);
  uint64_t sum = 0;
  for (const int64_t ms : {0, 1, 31, 32, 33, 100, 999, 12'345, 50'000}) {
    push_one(*queue, "t", "x");
    clock.advance(ms);
    const LeaseReply reply = answered(queue->lease(for_a_minute()));
    clock.advance(ms);
    Settle ack;
    ack.receipt = reply.deliveries.at(0).receipt;
    CHECK(answered(queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
    sum += static_cast<uint64_t>(ms);
    const StatsRow row = answered(queue->stats({})).rows.at(0);
    CHECK(row.wait_ms.max == ms);
    CHECK(row.run_ms.max == ms);
    CHECK(row.wait_ms.sum_ms == sum);
  }
  const Percentiles waited = answered(queue->stats({})).rows.at(0).wait_ms;
  CHECK(waited.count == 9);
  CHECK(waited.p50 == 33);
  CHECK(waited.p99 == 50'000);
  CHECK(waited.by_octave.at(0) == 1);
}

TEST_CASE("the sum of all times goes on where a server would write it with an exponent") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const uint64_t before = 99'999'999'999'999'984;  // as a double has it
  command(server, {"HSET", "fq1:fq:{default:0:0}:hg", "ws", std::to_string(before)});
  push_one(*queue, "t", "x");
  clock.advance(1'000'000);
  answered(queue->lease(for_a_minute()));
  CHECK(answered(queue->stats({})).rows.at(0).wait_ms.sum_ms > before);
}

TEST_CASE("what waits to be delivered once more is not counted again") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  push_one(*queue, "t", "x");
  for (const int64_t ms : {100, 5'000}) {
    clock.advance(ms);
    const LeaseReply reply = answered(queue->lease(for_a_minute()));
    Settle back;
    back.receipt = reply.deliveries.at(0).receipt;
    back.verdict = Verdict::release;
    CHECK(answered(queue->settle({&back, 1})).items.at(0) == SettleStatus::ok);
  }
  const StatsRow row = answered(queue->stats({})).rows.at(0);
  CHECK(row.wait_ms.count == 1);
  CHECK(row.wait_ms.max == 100);
  CHECK(row.run_ms.count == 2);
}

TEST_CASE("a time is told by its bucket, and off by one part in 32 at the most") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  int64_t last = 0;
  for (const int64_t ms : {40, 63, 64, 127, 128, 1'000, 65'535, 65'536, 3'600'000}) {
    push_one(*queue, "t", "x");
    clock.advance(ms);
    const LeaseReply reply = answered(queue->lease(for_a_minute()));
    Settle ack;
    ack.receipt = reply.deliveries.at(0).receipt;
    CHECK(answered(queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
    TimeCounts counts;
    const Reply all = command(server, {"HGETALL", "fq1:fq:{default:0:0}:hg"});
    for (size_t i = 0; i + 1 < all.items.size(); i += 2) {
      const std::string& field = all.at(i).text;
      const bool is_new = field != "ws" && field[0] == 'w';
      if (is_new) counts.take(field.substr(1), std::stoull(all.at(i + 1).text));
    }
    last = ms;
    const int64_t told = counts.percentiles().p99.value_or(0);
    CHECK(std::abs(told - last) * 32 <= last);
  }
}

namespace {

StatsRow row_of_tenant(Queue& queue, const std::string& tenant) {
  StatsRequest request;
  request.tenants = true;
  request.tenant = tenant;
  return answered(queue.stats(request)).rows.at(0);
}

/// One that waits so long and then runs so long.
void live_through(Queue& queue, FakeClock& clock, std::string_view tenant, int64_t waits_ms,
                  int64_t runs_ms) {
  push_one(queue, tenant, "x");
  clock.advance(waits_ms);
  const LeaseReply reply = answered(queue.lease(for_a_minute()));
  clock.advance(runs_ms);
  Settle ack;
  ack.receipt = reply.deliveries.at(0).receipt;
  CHECK(answered(queue.settle({&ack, 1})).items.at(0) == SettleStatus::ok);
}

}  // namespace

TEST_CASE("a tenant's times that others wrote are told as far as they are there") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  live_through(*queue, clock, "t", 5, 5);
  const std::string key = "fq1:fq:{default:0:0}:c:t";
  const std::string whole = command(server, {"GET", key}).text;
  for (size_t bytes = 120; bytes < whole.size(); ++bytes) {
    command(server, {"SET", key, whole.substr(0, bytes)});
    const StatsRow row = row_of_tenant(*queue, "t");
    CHECK(row.acked == 1);
    CHECK(row.wait_ms.count <= 1);
    CHECK(row.run_ms.count <= 1);
  }
  live_through(*queue, clock, "t", 5, 5);
  CHECK(row_of_tenant(*queue, "t").acked == 2);
  CHECK(row_of_tenant(*queue, "t").run_ms.count == 1);
}

TEST_CASE("a tenant's times are halved where more are alike than a byte counts") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  for (int i = 0; i < 8; ++i) live_through(*queue, clock, "t", 1'000, 0);
  for (int i = 0; i < 255; ++i) live_through(*queue, clock, "t", 1, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.count == 8 + 255);
  live_through(*queue, clock, "t", 1, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.count == 4 + 128);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max == 1'000);
}

namespace {

constexpr int64_t kWaitHour = 3'600'000;
constexpr int64_t kWaitDay = 24 * kWaitHour;

/// Keeps it from being forgotten between its messages.
void keep_tenant(Queue& queue, std::string_view tenant) {
  NewMessage message;
  message.tenant = tenant;
  message.payload = as_bytes("later");
  message.delay_ms = 4'000 * kWaitDay;
  REQUIRE(answered(queue.push({&message, 1})).items.at(0).status == PushStatus::accepted);
}

std::string packed_double(double number) { return Packer().number(number).bytes(); }

}  // namespace

TEST_CASE("on a server a tenant that once waited for a month is told what it waits now") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  keep_tenant(*queue, "t");
  live_through(*queue, clock, "t", 30 * kWaitDay, 0);
  for (int i = 0; i < 254; ++i) live_through(*queue, clock, "t", 2 * kWaitHour, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max >= 30 * kWaitDay);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max <= 31 * kWaitDay);
  for (int i = 254; i < 1'000; ++i) live_through(*queue, clock, "t", 2 * kWaitHour, 0);
  const Percentiles waited = row_of_tenant(*queue, "t").wait_ms;
  CHECK(waited.p50 >= 2 * kWaitHour);
  CHECK(waited.p50 <= 4 * kWaitHour);
  CHECK(waited.max >= 2 * kWaitHour);
  CHECK(waited.max <= 4 * kWaitHour);
}

TEST_CASE("on a server a tenant's longest time fades, and what is longer is counted no more") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  keep_tenant(*queue, "t");
  for (int i = 0; i < 200; ++i) live_through(*queue, clock, "t", 3'000, 0);
  for (int i = 0; i < 256; ++i) live_through(*queue, clock, "t", 5, 0);
  live_through(*queue, clock, "t", 100, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.p90 == 3'000);
  for (int i = 0; i < 128; ++i) live_through(*queue, clock, "t", 5, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max == 100);
  CHECK(row_of_tenant(*queue, "t").wait_ms.p90 == 8);
  for (int i = 0; i < 256; ++i) live_through(*queue, clock, "t", 5, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max == 5);
}

TEST_CASE("the longest time that an older fq or others wrote of a tenant is told, and fades") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  keep_tenant(*queue, "t");
  for (int i = 0; i < 200; ++i) live_through(*queue, clock, "t", 2 * kWaitHour, 0);
  const std::string key = "fq1:fq:{default:0:0}:c:t";
  const std::string whole = command(server, {"GET", key}).text;
  const auto poke = [&](double longest) {
    std::string bytes = whole;
    command(server, {"SET", key, bytes.replace(136, 8, packed_double(longest))});
  };
  // Those that are no time are none; then the bucket says how long it was at least.
  const double none = std::numeric_limits<double>::quiet_NaN(), all = std::numeric_limits<double>::infinity();
  for (const double longest : {none, -all, -1.0, -0.0, 0.0, 0.5, 1e-300, 1e300, all}) {
    INFO(longest);
    poke(longest);
    CHECK(row_of_tenant(*queue, "t").wait_ms.max >= int64_t{1} << 22);
    live_through(*queue, clock, "t", 3 * kWaitHour, 0);
    CHECK(row_of_tenant(*queue, "t").wait_ms.max >= 3 * kWaitHour);
    CHECK(row_of_tenant(*queue, "t").wait_ms.count == 201);
  }
  const auto month = static_cast<double>(30 * kWaitDay);
  poke(month);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max == 30 * kWaitDay);
  for (int i = 0; i < 100; ++i) live_through(*queue, clock, "t", 2 * kWaitHour, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max >= 30 * kWaitDay);
  for (int i = 0; i < 200; ++i) live_through(*queue, clock, "t", 2 * kWaitHour, 0);
  CHECK(row_of_tenant(*queue, "t").wait_ms.max <= 4 * kWaitHour);
}

TEST_CASE("what nobody counts so is passed over") {
  TimeCounts counts;
  for (const char* field : {"", "x", "-1", "99999999999", "s ", "1e3"}) counts.take(field, 7);
  CHECK(counts.percentiles().count == 0);
}

}  // namespace fq::test
