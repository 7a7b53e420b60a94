// no_server_test - where a server does not answer, or one is cut off from its cluster: who asks is told in
// time, and goes to another where there is one.

// System.
#include <string>
// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

TEST_CASE("where no server answers, what asks many shards takes the time of one try") {
  Sharded s(64);
  const auto queue = open_on(real_time_engine(), s.server.spool("?connect=300ms&timeout=300ms"));
  s.server.stop();
  // On the connection that it has, and then on none.
  for (int i = 0; i < 3; ++i) {
    Result<LeaseReply> reply = Error{ErrorKind::io, "", 0};
    const int64_t ms = ms_of([&] { reply = queue->lease(for_a_minute()); });
    CHECK(ms < 3'000);
    REQUIRE(!reply.ok());
    CHECK(reply.error().kind == ErrorKind::later);  // it only looked
  }
  s.server.go_on();
  const int64_t end_ms = system_clock().boot_ms() + 5'000;
  bool is_answered = false;
  while (!is_answered && system_clock().boot_ms() < end_ms) is_answered = queue->lease(for_a_minute()).ok();
  CHECK(is_answered);
}

}  // namespace fq::test
