// wait_cost_test - who waits for what does not come costs the server next to nothing, whatever it waits for.
//
// Patience is longer than the waits: what is called after the first looks is called for no reason.

// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

constexpr int64_t kWaitMs = 1'000;
// Of one shard, for a wait: its looks until it is heard, and that it waits no more.
constexpr uint64_t kCallsOfShard = 12;
// Who nobody tells of anything looks each 50 ms.
constexpr uint64_t kDeafLooks = kWaitMs / 50 + 5;

/// At `path` one may run, and one of `a` does; each of these has a message that waits.
void reach_limit(Queue& queue, std::string_view path, const std::vector<std::string>& waiting) {
  set(queue, path, PolicyKey::concurrency, 1);
  push_one(queue, "a", "runs");
  for (const std::string& tenant : waiting) push_one(queue, tenant, "waits");
  answered(queue.lease(for_a_minute()));
}

}  // namespace

TEST_CASE("a wait for what does not come is a few calls, whatever is waited for") {
  const uint32_t shards = GENERATE(1U, 4U);
  const Sharded s(shards);
  const auto queue = open_on(real_time_engine(), s.server.spool("?poll=10s"));
  LeaseRequest request = for_a_minute();
  uint64_t most = kCallsOfShard * shards;
  SECTION("anything") {}
  SECTION("a tenant that nobody knows") { request.tenant = "a/b"; }
  SECTION("a tenant beside which others have something") {
    push_one(*s.queue, "other", "x");
    request.tenant = "a";
  }
  SECTION("a tenant whose limit is reached") {
    reach_limit(*s.queue, "a", {"a"});
    request.tenant = "a";
  }
  SECTION("something of a queue whose limit is reached") {
    reach_limit(*s.queue, "", {"b", "c"});
    if (shards > 1) most += kDeafLooks * shards;
  }
  SECTION("something of a tenant of such a queue") {
    reach_limit(*s.queue, "", {"b"});
    request.tenant = "b";
    if (shards > 1) most += kDeafLooks * shards;
  }
  SECTION("what a tenant that is paused has") {
    set(*s.queue, "a", PolicyKey::paused, 1);
    push_one(*s.queue, "a", "x");
    request.tenant = GENERATE("", "a");
  }
  SECTION("something, as a worker that may be told of its leases") { request.watch = true; }
  SECTION("something of a tenant, as such a worker") {
    request.watch = true;
    request.tenant = "a";
  }
  SECTION("that there is something, to look only") { request.look = true; }
  SECTION("that a tenant has something, to look only") {
    request.look = true;
    request.tenant = "a";
  }
  SECTION("the end of all that is there") {
    push_one(*s.queue, "a", "x");
    answered(s.queue->lease(for_a_minute()));
    request.until_idle = true;
    request.tenant = GENERATE("", "a", "b");
  }
  CAPTURE(shards, request.tenant);
  answered(queue->lease({.want = 0}));  // the connection
  request.wait = true;
  request.wait_ms = kWaitMs;
  const uint64_t before = calls_of(s.server);
  CHECK(answered(queue->lease(request)).why_empty == WhyEmpty::timed_out);
  CHECK(calls_of(s.server) - before <= most);
}

}  // namespace fq::test
