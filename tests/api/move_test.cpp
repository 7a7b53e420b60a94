// Moves to another queue: what a queue alone can show of them. (Between two: tests/cli/move_test.sh.)
#include "tests/api/contract.h"

using namespace fq;
using namespace fq::test;

TEST_CASE("an engine moves messages between queues, or says that it does not") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  const Result<MoveReply> moved = q.door().move({&id, 1}, {"nowhere", ""});
  REQUIRE(!moved.ok());
  CHECK(moved.error().kind == (q.door().caps().moves ? ErrorKind::missing : ErrorKind::unusable));
  CHECK(q.peek() == "m");
}
