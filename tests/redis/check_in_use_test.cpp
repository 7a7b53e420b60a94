// check_in_use_test - a check of a queue that changes meanwhile.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

TEST_CASE("what falls due while check looks is nothing that it finds") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  clock.takes(1);
  for (int64_t delay_ms = 1; delay_ms <= 60; ++delay_ms) {  // at each place of a check once
    CAPTURE(delay_ms);
    NewMessage message = message_for("t");
    message.delay_ms = delay_ms;
    REQUIRE(queue->push({&message, 1}).ok());
    CHECK(answered(queue->check()).findings.lines == std::vector<std::string>());
    clock.advance(delay_ms);
  }
}

}  // namespace fq::test
