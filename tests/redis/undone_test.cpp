// undone_test - something is due in a shard, and its server does not let it be done.

// System.
#include <set>
#include <string>
// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

/// Its message is due after that.
void push_later(Queue& queue, int64_t delay_ms) {
  NewMessage message = message_for("t");
  message.delay_ms = delay_ms;
  REQUIRE(!answered(queue.push({&message, 1})).error);
}

}  // namespace

TEST_CASE("who waits while what is due cannot be done is told so, and asks the server seldom") {
  const Sharded s(8);
  AwayList away;
  OpenOptions options;
  options.away = &away;
  const auto queue = answered(real_time_engine().open(s.location(), options));
  push_later(*queue, 100);
  command(s.server, {"CONFIG", "SET", "min-replicas-to-write", "1"});
  LeaseRequest request = until_there();
  request.wait_ms = 2'000;
  const uint64_t calls = calls_of(s.server), looks = calls_of(s.server, "hmget");
  const LeaseReply reply = answered(queue->lease(request));
  CHECK(reply.why_empty == WhyEmpty::timed_out);
  CHECK(reply.partial);
  CHECK(away.text().find("has fewer replicas than its min-replicas-to-write asks for") != std::string::npos);
  CHECK(calls_of(s.server) - calls < 60);
  CHECK(calls_of(s.server, "hmget") - looks < 1'000);
  command(s.server, {"CONFIG", "SET", "min-replicas-to-write", "0"});
  CHECK(answered(queue->lease(request)).deliveries.size() == 1);
}

TEST_CASE("where what is due cannot be done, and no time mends that, it is said") {
  const Sharded s(8);
  push_later(*s.queue, 0);
  const std::string root = tag_of(s.server, 3) + "h";
  command(s.server, {"HSET", root, "schema", "99", "due", "1"});
  const Result<LeaseReply> reply = s.another()->lease(for_a_minute());
  REQUIRE(!reply.ok());
  CHECK(reply.error().kind == ErrorKind::unusable);
  CHECK(reply.error().text.ends_with(
      ": what it keeps of this queue is of schema '99', and this fq-redis knows 4; use the fq that made it"));
}

TEST_CASE("a push that finds the queue full does not try each time what cannot be done in a shard") {
  const Sharded s(8);
  constexpr int64_t kMost = 4;
  REQUIRE(s.queue->policy_set("", {{{PolicyKey::max_messages, kMost, 0, {}}}, {}}).ok());
  std::set<uint64_t> used;
  for (int64_t i = 0; i < kMost; ++i) used.insert(shard_of(push_one(*s.queue, "t" + std::to_string(i), "x")));
  const auto calls_of_push = [&] {
    const uint64_t before = calls_of(s.server);
    NewMessage message = message_for("t0");
    const Result<PushReply> pushed = s.queue->push({&message, 1});
    CHECK((!pushed || pushed->error));
    return calls_of(s.server) - before;
  };
  calls_of_push();
  const uint64_t usual = calls_of_push();
  uint64_t other = 0;
  while (used.contains(other)) ++other;
  const std::string root = tag_of(s.server, other) + "h";
  command(s.server, {"HSET", root, "due", "1"});
  command(s.server, {"HDEL", root, "serial"});  // it serves nothing
  CHECK(calls_of_push() > usual);
  CHECK(calls_of_push() == usual);
}

}  // namespace fq::test
