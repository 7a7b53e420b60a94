// shared_rate_test - rates of a whole queue that lies in many shards, and of pools: in any time no more
// starts than from one bucket, whatever is lost on the way, and no fewer where there is work.
#include "tests/redis/shared_rate.h"

// System.
#include <array>
#include <optional>
#include <set>

namespace fq::test {

TEST_CASE("from a queue of many shards no more start than from one bucket, and no fewer") {
  Rated q(GENERATE(4U, 16U));
  REQUIRE(q.s.queue->policy_set("", rate(2, 1'000, 3)).ok());
  q.fill(20, 4);
  CHECK(q.started() == 3);
  CHECK(q.started() == 0);
  q.clock.advance(499);
  CHECK(q.started() == 0);
  q.clock.advance(1);
  CHECK(q.started() == 1);
  q.clock.advance(1'000);
  CHECK(q.started(1) == 1);
  CHECK(answered(q.s.another(&q.clock)->lease(for_a_minute(9))).deliveries.size() == 1);
  q.clock.advance(60'000);
  CHECK(q.started() == 3);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("a rate over shards is reached by who comes when he was told to, wherever the work lies") {
  const bool is_in_one = GENERATE(true, false);
  const int64_t burst = GENERATE(1, 5);
  Rated q(8);
  REQUIRE(q.s.queue->policy_set("", rate(100, 1'000, burst)).ok());
  q.fill(is_in_one ? 1 : 24, is_in_one ? 240 : 10);
  const auto other = q.s.another(&q.clock);
  std::array<Queue*, 2> who = {q.s.queue.get(), other.get()};
  size_t started = 0, looks = 0;
  const int64_t end = q.clock.boot_ms() + 2'000;
  while (q.clock.boot_ms() < end) {
    const LeaseReply reply = answered(who.at(looks++ % 2)->lease(for_a_minute(3)));
    started += reply.deliveries.size();
    if (!reply.deliveries.empty()) continue;
    REQUIRE(reply.next_wake_ms);
    REQUIRE(*reply.next_wake_ms > 0);
    q.clock.advance(*reply.next_wake_ms);
  }
  CHECK(started == 199 + static_cast<size_t>(burst));
  CHECK(looks <= 2 * started + 2);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("a rate costs a call for what is lent, one where there is nothing, and none where it is not set") {
  Rated q(4);
  q.fill(1, 40);
  const auto calls_of = [&](size_t want) {
    const uint64_t before = functions_called(q.s.server);
    q.started(want);
    return functions_called(q.s.server) - before;
  };
  calls_of(1);
  CHECK(calls_of(1) == 1);
  CHECK(calls_of(5) == 1);
  REQUIRE(q.s.queue->policy_set("", rate(1, 60'000, 10)).ok());
  CHECK(calls_of(5) == 2);
  CHECK(calls_of(5) == 2);
  CHECK(calls_of(5) <= 2);  // who finds nothing looks once more
  REQUIRE(q.s.queue->policy_set("", no_rate()).ok());
  CHECK(calls_of(1) == 1);
  CHECK(calls_of(5) == 1);
  CHECK(lent_to(q.s.server, 0).limits.empty());
}

TEST_CASE("tenants of many shards share a pool's rate, and others wait for none") {
  Rated q;
  const auto pools = [](int64_t count) { return rated_pool(count, 60'000, 2); };
  REQUIRE(q.s.queue->policy_load(pools(1), {.inode = 1}).ok());
  for (int i = 0; i < 10; ++i) REQUIRE(q.s.queue->policy_set(tenant(i), in_pool("p")).ok());
  q.fill(12, 3);
  CHECK(q.started(60) == 2 + 6);
  CHECK(q.started(60) == 0);
  REQUIRE(q.s.queue->policy_load(pools(1), {.inode = 2}).ok());  // what is as it was begins nothing anew
  CHECK(q.started(60) == 0);
  q.clock.advance(60'000);
  CHECK(q.started(60) == 1);
  REQUIRE(q.s.queue->policy_load(pools(2), {.inode = 3}).ok());
  CHECK(q.started(60) == 2);
  REQUIRE(q.s.queue->policy_load({}, {.inode = 4}).ok());
  CHECK(q.started(60) == 30 - 5);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("a rate of the whole queue becomes another and then none") {
  Rated q;
  q.fill(12, 3);
  REQUIRE(q.s.queue->policy_set("", rate(1, 60'000)).ok());
  CHECK(q.started() == 1);
  REQUIRE(q.s.queue->policy_set("", rate(1, 60'000, 3)).ok());
  CHECK(q.started() == 2);  // a larger bucket lacks what the smaller one did
  q.clock.advance(60'000);
  REQUIRE(q.s.queue->policy_set("", rate(1, 60'000, 4)).ok());
  CHECK(q.started() == 2);
  REQUIRE(q.s.queue->policy_set("", rate(1, 60'000, 2)).ok());
  CHECK(q.started() == 0);
  q.clock.advance(119'999);
  CHECK(q.started() == 1);
  q.clock.advance(1);
  CHECK(q.started() == 1);
  REQUIRE(q.s.queue->policy_set("", rate(1, 30'000, 2)).ok());
  CHECK(q.started() == 2);
  REQUIRE(q.s.queue->policy_set("", {{{PolicyKey::concurrency, 10, 0, {}}}, {}}).ok());
  CHECK(q.started() == 0);
  q.clock.advance(30'000);
  CHECK(q.started() == 1);
  q.clock.advance(60'000);
  CHECK(q.started() == 0);  // ten run, and nothing of the rate is used up for that
  REQUIRE(q.s.queue->policy_set("", {{}, {PolicyKey::concurrency}}).ok());
  CHECK(q.started() == 2);
  REQUIRE(q.s.queue->policy_set("", no_rate()).ok());
  CHECK(q.started(60) == 36 - 12);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE(
    "who waits is told when a rate over shards lets the next one start, and explain and stats say so, too") {
  Rated q;
  std::string other;
  const auto [first, second] = one_of_two(q.s, other);
  REQUIRE(q.s.queue->policy_set("", rate(1, 10'000)).ok());
  CHECK(q.look().why_empty == WhyEmpty::servable);
  const auto explained = [&](std::optional<MessageId> id) {
    ExplainRequest request;
    request.id = id;
    request.next = 5;
    return answered(q.s.queue->explain(request));
  };
  const auto reasons = [&](MessageId id) { return explained(id).subject->reasons; };
  const auto blocked = [&] {
    StatsRequest request;
    request.tenants = true;
    std::set<std::optional<Reason::Kind>> found;
    for (const StatsRow& row : answered(q.s.queue->stats(request)).rows) {
      if (row.ready > 0) found.insert(row.blocked);
    }
    return found;
  };
  const std::set<std::optional<Reason::Kind>> none = {std::nullopt}, by_rate = {Reason::Kind::rate};
  CHECK(reasons(first).empty());
  CHECK(explained(first).subject->place_max);
  CHECK(explained({}).next.size() == 2);
  CHECK(explained({}).blocked.empty());
  CHECK(blocked() == none);
  const std::vector<Delivery> one = taken(*q.s.queue, 1);
  REQUIRE(one.size() == 1);
  const MessageId left = one[0].id == first ? second : first;
  q.clock.advance(4'000);
  const LeaseReply nothing = answered(q.s.queue->lease(for_a_minute(1)));
  CHECK(nothing.deliveries.empty());
  REQUIRE(nothing.next_wake_ms);
  CHECK(*nothing.next_wake_ms == 6'000);
  CHECK(q.look().why_empty == WhyEmpty::nothing);
  REQUIRE(reasons(left).size() == 1);
  CHECK(reasons(left)[0].kind == Reason::Kind::rate);
  CHECK(reasons(left)[0].node.empty());
  CHECK(reasons(left)[0].interval_ns == 10'000'000'000);
  CHECK(reasons(left)[0].until_wall_ms == q.clock.wall_ms() + 6'000);
  CHECK(explained({}).next.empty());
  CHECK(explained({}).blocked.size() == 1);
  CHECK(blocked() == by_rate);
  q.clock.advance(6'000);
  CHECK(reasons(left).empty());
  CHECK(blocked() == none);
  CHECK(explained({}).next.size() == 1);
  CHECK(q.started() == 1);
}

TEST_CASE("starts that a shard was lent and has no use for are there for the others at once") {
  Rated q;
  std::string other;
  one_of_two(q.s, other);
  for (int i = 0; i < 8; ++i) push_one(*q.s.queue, "a", "x"), push_one(*q.s.queue, other, "x");
  REQUIRE(q.s.queue->policy_set("a", concurrency(1)).ok());
  REQUIRE(q.s.queue->policy_set("", rate(1, 3'600'000, 6)).ok());
  CHECK(q.started_of("a", 8) == 1);  // and it is lent as many as it has
  const auto late = q.s.another(&q.clock);
  LeaseRequest request = for_a_minute(8);
  request.tenant = other;
  CHECK(answered(late->lease(request)).deliveries.size() == 5);
  CHECK(q.started() == 0);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("no start is fetched where a slot is missing, and none is lost for it") {
  Rated q;
  std::string other;
  one_of_two(q.s, other);
  for (int i = 0; i < 4; ++i) push_one(*q.s.queue, "a", "x"), push_one(*q.s.queue, other, "x");
  SECTION("of the queue") {
    REQUIRE(q.s.queue->policy_set("", concurrency(1)).ok());
    REQUIRE(q.s.queue->policy_set("", rate(1, 3'600'000, 3)).ok());
    for (int i = 0; i < 3; ++i) {
      const std::vector<Delivery> one = taken(*q.s.queue, 4);
      REQUIRE(one.size() == 1);
      const uint64_t before = functions_called(q.s.server);
      CHECK(q.started() == 0);
      CHECK(functions_called(q.s.server) - before <= 4);
      CHECK(q.started_of(other) + q.started_of("a") == 0);
      settled(*q.s.queue, one[0]);
    }
  }
  SECTION("of a pool, beside another tenant of that shard") {
    REQUIRE(q.s.queue->policy_load(with_pool(1), {.inode = 1}).ok());
    REQUIRE(q.s.queue->policy_set("a", in_pool("p")).ok());
    REQUIRE(q.s.queue->policy_set(other, in_pool("p")).ok());
    REQUIRE(q.s.queue->policy_set("", rate(1, 3'600'000, 3)).ok());
    CHECK(q.started() == 1);
    CHECK(q.started() == 0);
    q.fill(40, 1);
    CHECK(q.started() == 2);
  }
  CHECK(q.started() == 0);
  q.clock.advance(3'600'000 - 1);
  CHECK(q.started() == 0);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("who waits for the next start of many looks for it no more than some 100 times a second") {
  Rated q;
  REQUIRE(q.s.queue->policy_set("", rate(1, 3)).ok());
  q.fill(2, 1);
  REQUIRE(q.started() == 1);
  const LeaseReply reply = answered(q.s.queue->lease(for_a_minute()));
  REQUIRE(reply.deliveries.empty());
  CHECK(reply.next_wake_ms == 10);
}

TEST_CASE("a queue with rates over all shards is removed without a key left, and a rate has any form") {
  Rated q(16);
  REQUIRE(q.s.queue->policy_set("", rate(5'000, 1'000)).ok());  // several in a millisecond
  q.fill(20, 1);
  CHECK(q.started(20) == 5);
  q.clock.advance(2);
  CHECK(q.started(20) == 5);
  REQUIRE(q.s.queue->policy_set("", rate(1, 86'400'000, 100'000)).ok());
  CHECK(q.started(20) == 10);
  CHECK(is_well(*q.s.queue));
  REQUIRE(q.s.engine_.remove(q.s.location()).ok());
  CHECK(keys_of(q.s.server).empty());
}

}  // namespace fq::test
