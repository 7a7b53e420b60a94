// lost_leases_test - a lease is made over shards and its answer never comes: the message is not kept from
// anybody.

// System.
#include <atomic>
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

TEST_CASE(
    "what a lease gave whose answer was lost, also when asked again, comes with the next one that is heard") {
  Sharded s(4);
  std::atomic<int> lost = 0;
  Relay* line = nullptr;
  Relay relay(s.server, [&](const std::string& asked) {
    const bool is_lease = asked.find("_work\r\n") != std::string::npos;
    if (!is_lease || lost == 0) return std::string();
    --lost;
    do_unheard(s.server, asked);
    line->cut();
    return std::string();
  });
  line = &relay;
  const auto queue = open_on(real_time_engine(), relay.spool("?timeout=2s"));
  LeaseRequest request;  // held by living: no time brings it back
  push_one(*queue, "a", "first");
  const LeaseReply first = answered(queue->lease(request));  // so the server knows of this client
  REQUIRE(first.deliveries.size() == 1);
  push_one(*queue, "a", "second");
  lost = 2;
  std::string seconds;
  const auto note = [&](const LeaseReply& reply) {
    for (const Delivery& each : reply.deliveries) seconds += std::string(each.payload.bytes()) + " ";
  };
  // Where the counts of the shards have changed meanwhile it has looked again, and may have it by now.
  if (const Result<LeaseReply> unheard = queue->lease(request)) note(*unheard);
  CHECK(lost == 0);
  CHECK(answered(s.queue->stats({})).rows.at(0).leased == 2);
  note(answered(queue->lease(request)));
  CHECK(seconds == "second ");
}

TEST_CASE("what a lease for a time gave whose answer was lost is given by the call that asks again") {
  const uint32_t shards = GENERATE(1U, 4U);
  CAPTURE(shards);
  Sharded s(shards);
  std::atomic<bool> loses = false;
  Relay* line = nullptr;
  Relay relay(s.server, [&](const std::string& asked) {
    if (!loses || asked.find("_work\r\n") == std::string::npos) return std::string();
    loses = false;
    do_unheard(s.server, asked);
    line->cut();
    return std::string();
  });
  line = &relay;
  const auto queue = open_on(real_time_engine(), relay.spool("?timeout=2s"));
  const auto lease = [&](size_t want) {
    const LeaseReply reply =
        answered(queue->lease({.want = want, .hold = Hold::duration, .hold_ms = 300'000}));
    return reply.deliveries.size();
  };
  for (const std::string tenant : {"a", "b", "c", "d", "e", "f"}) push_one(*queue, tenant, "x");
  const bool knows_it = GENERATE(false, true);
  CAPTURE(knows_it);
  const size_t before = knows_it ? lease(2) : 0;
  loses = true;
  CHECK(lease(4) == 4);
  CHECK_FALSE(loses);
  const StatsRow sums = answered(s.queue->stats({})).rows.at(0);
  CHECK(sums.leased == before + 4);
  CHECK(sums.ready == 2 - before);
  // It was nobody's run.
  CHECK(lease(6) == 2 - before);
  CHECK(answered(s.queue->check()).findings.empty());
}

}  // namespace fq::test
