// lost_roots_test - what the shards of a queue begin with is gone from its server, of one or of all of them.

// System.
#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <string>
// Tests.
#include "tests/redis/purses_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

Result<LeaseReply> lease(Queue& queue, const LeaseRequest& request = for_a_minute()) {
  return queue.lease(request);
}

}  // namespace

TEST_CASE("who waits for work of a queue that is gone is told so, also where another was made by its name",
          "[threads]") {
  Sharded s(8);
  const auto queue = open_on(real_time_engine(), s.server.spool("?poll=20ms"));
  auto waiting = std::async(std::launch::async, [&] {
    LeaseRequest request = until_there();
    request.wait_ms = 10'000;
    return queue->lease(request);
  });
  CHECK(waiting.wait_for(std::chrono::milliseconds(200)) == std::future_status::timeout);
  SECTION("its server has lost all") { command(s.server, {"FLUSHALL"}); }
  SECTION("it was removed") { answered(real_time_engine().remove(s.location())); }
  if (GENERATE(true, false)) push_one(*s.another(), "t", "x");
  const Result<LeaseReply> told = waiting.get();
  REQUIRE(!told.ok());
  CHECK(told.error().kind == ErrorKind::missing);
  CHECK(told.error().text.find("queue 'default': ") == 0);
  CHECK(told.error().text.find("has no such queue any more") != std::string::npos);
  const Result<LeaseReply> again = lease(*queue);
  REQUIRE(!again.ok());
  CHECK(again.error().kind == ErrorKind::missing);
}

TEST_CASE("a worker begins also where the first shard has lost what it begins with") {
  const Sharded s(8);
  command(s.server, {"DEL", tag_of(s.server, 0) + "h"});
  const auto queue = s.another();
  CHECK(answered(queue->policy_is_current({})));
  FileIdentity file;
  file.device = 1;
  CHECK_FALSE(answered(queue->policy_is_current(file)));
  answered(queue->policy_load({}, file, nullptr));
  CHECK(answered(queue->policy_is_current(file)));
  command(s.server, {"HSET", tag_of(s.server, 5) + "h", "identity", ""});  // as of one that was away then
  CHECK_FALSE(answered(queue->policy_is_current(file)));
  CHECK(queue->settings().ok());
  REQUIRE(queue->attend({}).ok());
}

TEST_CASE("a shard that has lost what it begins with is named, once nothing else is left to take") {
  const Sharded s(8);
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  const std::string root = tag_of(s.server, shard_of(first)) + "h";
  command(s.server, {"DEL", root});
  const auto queue = s.another();
  SECTION("which is served first") {
    size_t count = 0;
    for (int i = 0; i < 10; ++i) {
      const Result<LeaseReply> reply = lease(*queue, for_a_minute(100));
      count += reply ? reply->deliveries.size() : 0;
    }
    CHECK(count > 0);
  }
  SECTION("also where a tenant's is left") {
    LeaseRequest of_other = for_a_minute();
    of_other.tenant = other;
    CHECK(answered(lease(*queue, of_other)).deliveries.size() == 1);
    for (int i = 0; i < 10; ++i) static_cast<void>(lease(*queue));  // and all that is there besides
  }
  for (const bool wait : {false, true}) {
    LeaseRequest request = wait ? until_there() : for_a_minute();
    request.wait_ms = 2'000;
    const Result<LeaseReply> told = lease(*queue, request);
    REQUIRE(!told.ok());
    CHECK(told.error().kind == ErrorKind::unusable);
    CHECK(told.error().text.find("has lost the key '" + root + "'") != std::string::npos);
  }
  // A worker that stays serves the others, and says why it serves no more than that.
  REQUIRE(queue->attend({}).ok());
  LeaseRequest of_worker = until_there();
  of_worker.watch = true;
  of_worker.wait_ms = 300;
  std::string said;
  for (int i = 0; i < 3; ++i) {
    CHECK(answered(lease(*queue, of_worker)).deliveries.empty());
    for (const std::string& each : queue->take_notices()) said += each + "\n";
  }
  CHECK(said.find("has lost the key '" + root + "'") != std::string::npos);
  push_one(*queue, other, "x");
  CHECK(answered(lease(*queue, of_worker)).deliveries.size() == 1);
  of_worker.until_idle = true;
  CHECK(lease(*queue, of_worker).error().kind == ErrorKind::unusable);
}

TEST_CASE("a limit that is set beside a lost shard holds at once for what runs in the others") {
  Sharded s(4);
  for (int i = 0; i < 60; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  REQUIRE(s.queue->policy_set("", concurrency(20)).ok());
  std::vector<Delivery> running = taken(*s.queue, 8);
  REQUIRE(running.size() == 8);
  // One may have all of them, of which none can end then.
  std::array<size_t, 4> runs_in{};
  for (const Delivery& each : running) ++runs_in.at(shard_of(each.id));
  const auto fewest = static_cast<size_t>(std::min_element(runs_in.begin(), runs_in.end()) - runs_in.begin());
  command(s.server, {"DEL", tag_of(s.server, fewest) + "h"});
  REQUIRE(s.queue->policy_set("", concurrency(5)).error().kind == ErrorKind::unusable);
  const auto other = s.another();
  const auto more = [&] {
    const Result<LeaseReply> reply = other->lease(for_a_minute(20));
    return reply ? reply->deliveries.size() : 0;
  };
  CHECK(more() == 0);
  size_t ended = 0;  // of those that can
  for (const Delivery& each : running) {
    const Settle verdict{.receipt = each.receipt};
    const Result<SettleReply> reply = s.queue->settle({&verdict, 1});
    ended += reply && !reply->error && reply->items.at(0) == SettleStatus::ok;
  }
  CHECK(ended + 5 > running.size());
  CHECK(more() <= 5);
}

}  // namespace fq::test
