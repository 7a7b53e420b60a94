// stats_test - what the local engine tells of times, shares and service, and of many tenants.

// System.
#include <map>
// fq, below us.
#include "core/base/step_count.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

StatsRow queue_row(SpoolFixture& q) { return q.door().stats({}).value().rows.at(0); }
std::vector<StatsRow> tenant_rows(SpoolFixture& q, const std::string& below = "") {
  StatsRequest request;
  request.tenants = true;
  request.tenant = below;
  return q.door().stats(request).value().rows;
}
void push_many(SpoolFixture& q, const std::string& tenant, int count) {
  for (int i = 0; i < count; ++i) q.push(tenant, Durability::lazy, tenant);
}
void serve(SpoolFixture& q, int count) {
  for (int i = 0; i < count; ++i) q.settle(q.door(), {.receipt = q.lease().receipt});
}

void put(SpoolFixture& q, const std::string& path, PolicyKey key, int64_t value) {
  REQUIRE(q.door().policy_set(path, {.set = {{key, value, 0, {}}}, .unset = {}}).ok());
}

}  // namespace

TEST_CASE("whether a queue is draining is told") {
  SpoolFixture q;
  CHECK_FALSE(queue_row(q).draining);
  put(q, "", PolicyKey::draining, 1);
  CHECK(queue_row(q).draining);
  CHECK_FALSE(queue_row(q).paused);
}

TEST_CASE("a run of more than 49 days counts for as long as it took") {
  constexpr int64_t kDayMs = 86'400'000;
  SpoolFixture q;
  push_many(q, "t", 3);
  const Delivery one = q.lease(400 * kDayMs);
  q.clock.advance(30 * kDayMs);
  serve(q, 1);
  q.clock.advance(30 * kDayMs);
  q.reopen();
  CHECK(q.ack(one) == SettleStatus::ok);
  CHECK(queue_row(q).run_ms.sum_ms == 60 * kDayMs);
  // The journal tells when one began.
  const Delivery other = q.lease(400 * kDayMs);
  q.clock.advance(70 * kDayMs);
  q.lose_segment();
  q.clock.advance(60 * kDayMs);
  CHECK(q.ack(other) == SettleStatus::ok);
  CHECK(queue_row(q).run_ms.sum_ms == (60 + 70 + 60) * kDayMs);
}

TEST_CASE("tenants are told by path, each with its own counts, however long their common front is") {
  SpoolFixture q;
  const std::string front(40, 'f');
  std::map<std::string, uint64_t> pushed;
  uint64_t most = 0;
  for (const std::string& name :
       {front + "b", std::string("z"), front, std::string("a"), front + "a/x", front.substr(0, 28),
        front.substr(0, 27), front + "a", std::string("\xe6\xb5\x8b")}) {
    push_many(q, name, static_cast<int>(++most));
    pushed[name] = most;
  }
  const std::vector<StatsRow> rows = tenant_rows(q);
  REQUIRE(rows.size() == pushed.size());
  auto wanted = pushed.begin();
  for (const StatsRow& row : rows) {
    CHECK(row.tenant == wanted->first);
    CHECK(row.ready == wanted->second);
    ++wanted;
  }
}

TEST_CASE("waits of a queue are told within a twentieth, by octaves and as a sum") {
  SpoolFixture q;
  for (int i = 0; i < 10; ++i) q.push("x", Durability::lazy);
  serve(q, 1);
  q.clock.advance(1'000);
  serve(q, 9);
  const Percentiles wait = queue_row(q).wait_ms;
  CHECK(wait.count == 10);
  CHECK(wait.p50.value() == Approx(1000).epsilon(0.05));
  CHECK(wait.max == 1000);
  CHECK(wait.sum_ms == 9000);
  REQUIRE(wait.by_octave.size() == 11);  // 512 to 1023 ms is the last
  CHECK(wait.by_octave[0] == 1);
  CHECK(wait.by_octave[10] == 9);
}

TEST_CASE("counts are there again after the loss of the segment, rates begin anew") {
  SpoolFixture q;
  push_many(q, "a", 60);
  CHECK(queue_row(q).pushed_per_s.value().m1 == Approx(1));
  q.push("last");
  q.lose_segment();
  CHECK(queue_row(q).pushed == 61);
  CHECK(queue_row(q).pushed_per_s.value().m1 == 0);
  q.clock.advance(10'000);
  push_many(q, "a", 6);
  CHECK(queue_row(q).pushed_per_s.value().m1 == Approx(0.1));
}

TEST_CASE("all of many tenants are told of, each looked at a few times", "[many]") {
  SpoolFixture q;
#ifdef FQ_SANITIZED
  constexpr size_t kTenants = 5'000;
#else
  constexpr size_t kTenants = 100'000;
#endif
  constexpr size_t kBatch = 1000;
  for (size_t at = 0; at < kTenants; at += kBatch) {
    std::vector<std::string> names;
    for (size_t i = 0; i < kBatch; ++i) names.push_back("account-" + std::to_string(at + i));
    std::vector<NewMessage> messages;
    for (const std::string& name : names) messages.push_back({.tenant = name, .payload = as_bytes("x")});
    REQUIRE(q.door().push(messages, {.durability = Durability::lazy}).ok());
  }
  q.clock.advance(5'000);
  const auto steps_of = [](auto&& work) {
    const uint64_t from = StepCount::steps;
    work();
    return StepCount::steps - from;
  };
  StatsRow row;
  std::vector<StatsRow> rows;
  const uint64_t queue_steps = steps_of([&] { row = queue_row(q); });
  const uint64_t tenants_steps = steps_of([&] { rows = tenant_rows(q); });
  INFO("stats of all tenants: " << queue_steps << " steps, a row each: " << tenants_steps);
  CHECK(row.tenants == kTenants);
  CHECK(row.oldest_ready_s == Approx(5));
  CHECK(rows.size() == kTenants);
  CHECK(queue_steps <= 8 * kTenants);
  CHECK(tenants_steps <= 8 * kTenants);
  CHECK(0 < tenants_steps);
}

}  // namespace fq::test
