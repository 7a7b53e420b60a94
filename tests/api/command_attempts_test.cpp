// command_attempts_test - how often a command message is run: what failed is not run again, what was cut off
// is.
#include "tests/api/contract.h"

using namespace fq;
using namespace fq::test;

namespace {

MessageId push_command(QueueFixture& q, std::optional<uint32_t> attempts_max = std::nullopt) {
  NewMessage message = message_of("t", "", {.attempts_max = attempts_max});
  message.command = JobCommand{{"true"}, "/", {}};
  const Result<PushReply> reply = q.door().push({&message, 1});
  REQUIRE(reply.ok());
  return reply->items.at(0).id;
}

void let_lease_run_out(QueueFixture& q) {
  q.lease();
  q.clock().advance(60'010);
}

}  // namespace

TEST_CASE("a command that failed is not run again, beside a message that is") {
  ON_EVERY_ENGINE(q);
  const MessageId command = push_command(q);
  const MessageId message = q.push("t", "x");
  CHECK(q.get(command).attempts_max == 1);
  CHECK(q.get(message).attempts_max == 5);
  const LeaseReply both = q.lease_all(timed_lease(2));
  REQUIRE(both.deliveries.size() == 2);
  CHECK(both.deliveries[0].attempts_max == 1);
  CHECK(both.deliveries[1].attempts_max == 5);
  CHECK(q.retry(both.deliveries[0]) == SettleStatus::buried);
  CHECK(q.retry(both.deliveries[1]) == SettleStatus::ok);
}

TEST_CASE("attempts that were set hold for commands too, also where they are the standard ones") {
  ON_EVERY_ENGINE(q);
  q.set("", PolicyKey::attempts, 5);
  push_command(q);
  CHECK(q.lease().attempts_max == 5);
  q.unset("", PolicyKey::attempts);
  push_command(q);
  CHECK(q.lease().attempts_max == 1);
  push_command(q, 3);
  CHECK(q.lease().attempts_max == 3);
}

TEST_CASE("a command that was cut off has not failed; the fifth crash buries") {
  ON_EVERY_ENGINE(q);
  const MessageId id = push_command(q);
  for (uint32_t crash = 1; crash <= 4; ++crash) {
    let_lease_run_out(q);
    CHECK(q.get(id).state == State::ready);
    CHECK(q.get(id).attempts == 0);
    CHECK(q.get(id).crashes == crash);
  }
  let_lease_run_out(q);
  CHECK(q.get(id).state == State::dead);
  CHECK(q.get(id).attempts == 0);
  q.mutate({id}, Action::kick);
  CHECK(q.get(id).crashes == 0);
  CHECK(q.lease().id == id);
}
