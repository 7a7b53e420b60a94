// round_trips_test - how often whoever pushes, takes and settles waits for a server, on a queue of one shard
// and of many: what it costs where the server is far away.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

constexpr size_t kSteady = 50;  // looks at a client that asks for nothing any more

/// A client whose waits are counted.
struct Far {
  explicit Far(const Sharded& s)
      : relay(s.server), queue(open_on(real_time_engine(), relay.spool("?poll=10s"))) {}
  size_t waits_of(const std::function<void()>& run) const {
    const size_t before = relay.round_trips();
    run();
    return relay.round_trips() - before;
  }

  Relay relay;
  std::unique_ptr<Queue> queue;
};

std::vector<Settle> verdicts_for(const LeaseReply& leased) {
  std::vector<Settle> verdicts;
  for (const Delivery& each : leased.deliveries) verdicts.emplace_back().receipt = each.receipt;
  return verdicts;
}

/// Two of them, of which each has done once what it does.
struct Both {
  explicit Both(uint32_t shards) : s(shards), pusher(s), taker(s) {
    push_one(*pusher.queue, "t", "warm");
    answered(taker.queue->settle(verdicts_for(answered(taker.queue->lease(for_a_minute()))), nullptr));
  }

  const Sharded s;
  Far pusher, taker;
};

}  // namespace

TEST_CASE("a push waits for the server once, a lease once or twice, verdicts once") {
  const uint32_t shards = GENERATE(1U, 16U);
  CAPTURE(shards);
  Both far(shards);
  Queue &pusher = *far.pusher.queue, &taker = *far.taker.queue;
  for (int i = 0; i < 3; ++i) {
    CHECK(far.pusher.waits_of([&] { push_one(pusher, "t", "x"); }) == 1);
    LeaseReply leased;
    // Of many shards it looks first at which have something.
    const size_t lease_waits = shards == 1 ? 1 : 2;
    CHECK(far.taker.waits_of([&] { leased = answered(taker.lease(for_a_minute())); }) == lease_waits);
    CHECK(far.taker.waits_of([&] { answered(taker.settle(verdicts_for(leased), nullptr)); }) == 1);
  }
}

/// Half a round trip of the push, half of one of the bell, and whatever the worker asks then.
TEST_CASE("a message is with a worker that waits after three round trips at the most") {
  const uint32_t shards = GENERATE(1U, 16U);
  CAPTURE(shards);
  Both far(shards);
  const Relay& worker = far.taker.relay;
  LeaseRequest request = until_there();
  request.watch = true;  // as a worker does
  Waiter waiter(std::move(far.taker.queue), request);
  const std::string tag = tag_of(far.s.server, shards - 1);  // the last one that it tells
  wait_until([&] { return command(far.s.server, {"ZCARD", tag + "bw"}).number == 1; });
  size_t seen = 0, steady = 0;
  wait_until([&] {  // and looks once more
    steady = seen == worker.round_trips() ? steady + 1 : 0;
    seen = worker.round_trips();
    return steady == kSteady;
  });
  const size_t before = worker.round_trips();
  const size_t pushed = far.pusher.waits_of([&] { push_one(*far.pusher.queue, "t", "x"); });
  REQUIRE(waiter.reply().deliveries.size() == 1);
  CHECK(pushed + worker.round_trips() - before <= 3);
}

}  // namespace fq::test
