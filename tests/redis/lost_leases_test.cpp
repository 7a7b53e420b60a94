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

}  // namespace fq::test
