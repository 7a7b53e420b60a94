// limits_test - limits at the edges of what can be written.
#include "tests/schedule/fixture.h"

// fq, below us.
#include "core/schedule/look/starts.h"

namespace fq::test {
namespace {

size_t starts(ScheduleFixture& q) {
  size_t count = 0;
  while (q.lease() != 0) ++count;
  return count;
}

}  // namespace

TEST_CASE("a rate of more than 32 bits is what it says") {
  ScheduleFixture q;
  q.set("a", PolicyKey::rate, 8'640'000'000, 86'400'000);  // 100,000/s, told by the day
  q.push("a", 1000);
  CHECK(starts(q) == 100);
  q.wait_until(q.now + 1);
  CHECK(starts(q) == 100);
  q.wait_until(q.now + 2);
  CHECK(starts(q) == 100);  // a bucket holds what one millisecond brings
}

TEST_CASE("one a day is one a day") {
  ScheduleFixture q;
  q.set("a", PolicyKey::rate, 1, 86'400'000);
  q.push("a", 3);
  CHECK(starts(q) == 1);
  q.wait_until(q.now + 86'399'999);
  CHECK(starts(q) == 0);
  q.wait_until(q.now + 1);
  CHECK(starts(q) == 1);
}

TEST_CASE("what could start now is what does") {
  ScheduleFixture q;
  q.set("a/x", PolicyKey::concurrency, 2);
  q.set("a", PolicyKey::rate, 3, 60'000);
  q.set("a", PolicyKey::burst, 3);
  for (const char* tenant : {"a/x", "a/y", "b"}) q.push(tenant, 5);
  const Schedule schedule = q.schedule();
  Starts thought(schedule.region(), q.now);
  size_t would_start = 0;
  Preview preview(schedule, kRootTenant, &thought);
  while (preview.next()) ++would_start;
  CHECK(would_start == 8);  // 3 of a, 5 of b
  CHECK(starts(q) == would_start);
  q.wait_until(q.now + 20'000);
  CHECK(Starts(schedule.region(), q.now).left(q.entry(6).tenant) == 1);
}

TEST_CASE(
    "a pool counts a start that is thought of once, also where an account and a tenant of it are members") {
  ScheduleFixture q;
  const PolicyValue member{PolicyKey::pool, 0, 0, "p"};
  q.load_rules({{"a", {member}}, {"a/*", {member}}}, {{"p", {{PolicyKey::concurrency, 3, 0, {}}}}});
  q.push("a/x", 4);
  const Schedule schedule = q.schedule();
  Starts thought(schedule.region(), q.now);
  for (uint64_t left = 3; left > 0; --left) {
    CHECK(thought.left(q.entry(1).tenant) == left);
    thought.start(q.entry(1).tenant);
  }
  CHECK(thought.left(q.entry(1).tenant) == 0);
}

}  // namespace fq::test
