// What a process that stays knows of a schedule: tables and hints of its own, and never another answer for
// it.
#include "tests/schedule/fixture.h"

namespace fq::test {

TEST_CASE("a hint of a tenant that was forgotten or has become inner leads to where its path is now") {
  ScheduleFixture q;
  Schedule stays = q.schedule();
  stays.make_room();
  stays.learn();
  q.push("a");
  const auto first = stays.tenants().find("a");
  REQUIRE(first);
  CHECK(stays.tenants().find("a") == first);

  q.ack(q.lease());
  q.wait_until(q.now + 3 * kIdleMs);
  CHECK(!stays.tenants().find("a"));
  q.push("b");  // in its place
  CHECK(stays.tenants().find("b") == first);
  CHECK(!stays.tenants().find("a"));
  q.push("a");
  const auto second = stays.tenants().find("a");
  REQUIRE(second);
  CHECK(second != first);

  q.push("b/c");  // the messages of b lie in a node without name now
  const auto inner = stays.tenants().find("b");
  REQUIRE(inner);
  CHECK(inner != first);
  CHECK(inner == q.schedule().tenants().find("b"));
  CHECK(stays.tenants().find("b/c") == q.schedule().tenants().find("b/c"));
}

TEST_CASE("tenants that share the place of a hint are told apart") {
  ScheduleFixture q;
  Schedule stays = q.schedule();
  stays.make_room();
  stays.learn();
  for (int i = 0; i < 3000; ++i) q.push("t" + std::to_string(i));
  bool same = true;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3000; ++i) {
      const std::string path = "t" + std::to_string(i);
      same = same && stays.tenants().find(path) == q.schedule().tenants().find(path);
    }
  }
  CHECK(same);
}

}  // namespace fq::test
