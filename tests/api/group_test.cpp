// group_test - what gathers, and what is taken together.
#include "tests/api/contract.h"

// System.
#include <thread>

namespace fq::test {

namespace {

LeaseRequest groups(size_t want = 1, uint64_t group_max = UINT64_MAX) {
  LeaseRequest request = timed_lease(want);
  request.grouped = true;
  request.group_max = group_max;
  return request;
}

/// "tenant: payloads" of each group, in order; groups of one tenant that follow each other look like one.
std::string taken(const LeaseReply& reply) {
  std::string text, tenant;
  for (const Delivery& d : reply.deliveries) {
    if (d.tenant != tenant) text += (text.empty() ? "" : " | ") + d.tenant + ":";
    tenant = d.tenant;
    text += " " + payload_of(d);
  }
  return text;
}

void gather(QueueFixture& q, int64_t linger_ms, uint64_t batch_max = UINT64_MAX) {
  q.set_policy([&](Settings& s) { s.linger_ms = linger_ms, s.batch_max = batch_max; });
}

}  // namespace

TEST_CASE("without linger a group is all that one tenant has, not of those below it") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 3);
  q.push_many("a/b", 2);
  q.push_many("c", 1);
  CHECK(taken(q.lease_all(groups())) == "a: a1 a2 a3");
  CHECK(taken(q.lease_all(groups())) == "c: c1");
  CHECK(taken(q.lease_all(groups())) == "a/b: a/b1 a/b2");
  CHECK(q.lease_all(groups()).why_empty == WhyEmpty::nothing);
}

TEST_CASE("groups are whole until enough messages are reached or passed") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  for (const char* tenant : {"a", "b", "c", "d"}) q.push_many(tenant, 3);
  CHECK(taken(q.lease_all(groups(4))) == "a: a1 a2 a3 | b: b1 b2 b3");
  CHECK(taken(q.lease_all(groups(3))) == "c: c1 c2 c3");
  CHECK(taken(q.lease_all(groups(100))) == "d: d1 d2 d3");
}

TEST_CASE("a group has at most as many as the queue's batch, or as are asked for") {
  ON_EVERY_ENGINE(q);
  q.push_many("a", 9);
  CHECK(taken(q.lease_all(groups(1, 2))) == "a: a1 a2");
  gather(q, 0, 3);
  CHECK(taken(q.lease_all(groups())) == "a: a3 a4 a5");
  CHECK(taken(q.lease_all(groups(1, 2))) == "a: a6 a7");
  CHECK(taken(q.lease_all(groups(1, 0))) == "a: a8");
  CHECK(taken(q.lease_all(groups(1, 9))) == "a: a9");
}

TEST_CASE("a group of thousands is taken whole") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 2'500);
  q.push_many("b", 1);
  const LeaseReply reply = q.lease_all(groups());
  CHECK(reply.deliveries.size() == 2'500);
  CHECK(payload_of(reply.deliveries.back()) == "a2500");
  CHECK(q.pop(2) == "b1");
}

TEST_CASE("what gathers is served when its oldest has waited, to everybody") {
  ON_EVERY_ENGINE(q);
  gather(q, 3'000);
  q.push("a", "a1");
  q.clock().advance(2'000);
  q.push("a", "a2");
  q.push("b", "b1");
  LeaseRequest look = timed_lease();
  look.look = true;
  CHECK(q.lease_all(look).why_empty == WhyEmpty::nothing);
  const LeaseReply none = q.lease_all(groups());
  CHECK(none.deliveries.empty());
  CHECK(none.next_wake_ms.value_or(0) <= 1'000);
  CHECK(q.pop() == "");
  CHECK(q.stats().ready == 3);
  q.clock().advance(1'000);
  CHECK(q.lease_all(look).why_empty == WhyEmpty::servable);
  CHECK(q.pop(9) == "a1 a2");
  q.clock().advance(2'000);
  CHECK(q.pop(9) == "b1");
}

TEST_CASE("waiting ends when a group has gathered") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  gather(q, 30);
  q.push("a", "a1");
  LeaseRequest request = groups();
  request.wait = true;
  request.wait_ms = 5'000;
  CHECK(taken(q.lease_all(request)) == "a: a1");
}

TEST_CASE("a batch that is full waits for nothing") {
  ON_EVERY_ENGINE(q);
  gather(q, 3'000, 2);
  q.push("a", "a1");
  CHECK(q.pop() == "");
  q.push_many("b", 5);
  CHECK(taken(q.lease_all(groups(9))) == "b: b1 b2 b3 b4");
  q.push("a", "a2");
  CHECK(taken(q.lease_all(groups(9))) == "a: a1 a2");
  q.clock().advance(3'000);
  CHECK(taken(q.lease_all(groups(9))) == "b: b5");
}

TEST_CASE("what comes while a group is out, and what comes back, is of the next group") {
  ON_EVERY_ENGINE(q);
  gather(q, 1'000);
  q.push_many("a", 2);
  q.clock().advance(1'000);
  LeaseReply first = q.lease_all(groups());
  REQUIRE(taken(first) == "a: a1 a2");
  q.push("a", "a3");
  q.clock().advance(500);
  q.retry(first.deliveries[0]);
  q.clock().advance(499);
  CHECK(q.lease_all(groups()).deliveries.empty());
  q.clock().advance(1);
  CHECK(taken(q.lease_all(groups())) == "a: a1 a3");
}

TEST_CASE("linger that changes holds at once for what is queued") {
  ON_EVERY_ENGINE(q);
  q.push_many("a", 2);
  q.push("b", "b1");
  const auto set = [&](PolicyKey key, int64_t number) {
    const Result<void> done = q.door().policy_set("", {{{key, number, 0, {}}}, {}});
    REQUIRE(done.ok());
  };
  set(PolicyKey::linger, 5'000);
  CHECK(q.pop() == "");
  set(PolicyKey::batch, 2);
  CHECK(q.pop(9) == "a1 a2");
  set(PolicyKey::linger, 1'000);
  q.clock().advance(1'000);
  CHECK(q.pop(9) == "b1");
  q.push("b", "b2");
  CHECK(q.pop() == "");
  REQUIRE(q.door().policy_set("", {{}, {PolicyKey::linger}}).ok());
  CHECK(q.pop() == "b2");
}

TEST_CASE("a group is cut by a limit of its tenant, or by bytes, and the rest gathers anew") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  gather(q, 1'000);
  q.set("a", PolicyKey::concurrency, 2);
  q.push_many("a", 3);
  q.push_many("b", 3);
  q.clock().advance(1'000);
  LeaseReply reply = q.lease_all(groups());
  CHECK(taken(reply) == "a: a1 a2");
  q.ack(reply.deliveries[0]);
  LeaseRequest few = groups(9);
  few.bytes_max = 6;
  CHECK(taken(q.lease_all(few)) == "b: b1 b2 b3");
  CHECK(taken(q.lease_all(few)) == "a: a3");
}

TEST_CASE("a group takes only of the tenant that is asked for, and of those below it") {
  ON_EVERY_ENGINE(q);
  for (const char* tenant : {"a", "b/x", "b/y"}) q.push_many(tenant, 2);
  LeaseRequest request = groups(9);
  request.tenant = "b";
  CHECK(taken(q.lease_all(request)) == "b/x: b/x1 b/x2 | b/y: b/y1 b/y2");
}

TEST_CASE("each message of a group costs its tenant a turn") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 6);
  q.push_many("b", 6);
  CHECK(taken(q.lease_all(groups(1, 3))) == "a: a1 a2 a3");
  CHECK(q.pop(4) == "b1 b2 b3 a4");
}

TEST_CASE("two who take groups at once share none", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  constexpr size_t kTenants = 40, kMessages = 30;
  for (size_t i = 0; i < kTenants; ++i) q.push_many("t" + std::to_string(i), kMessages);
  const std::unique_ptr<Queue> doors[] = {q.another_handle(), q.another_handle()};
  std::vector<std::thread> takers;
  std::vector<std::vector<std::pair<std::string, size_t>>> seen(2);
  for (size_t i = 0; i < seen.size(); ++i) {
    takers.emplace_back([door = doors[i].get(), &mine = seen[i]] {
      for (;;) {
        const Result<LeaseReply> reply = door->lease(groups());
        if (!reply.ok() || reply->deliveries.empty()) return;
        mine.push_back({reply->deliveries[0].tenant, reply->deliveries.size()});
      }
    });
  }
  for (std::thread& each : takers) each.join();
  CHECK(seen[0].size() + seen[1].size() == kTenants);
  for (const auto& mine : seen) {
    for (const auto& [tenant, size] : mine) CHECK(size == kMessages);
  }
}

}  // namespace fq::test
