// tenant_test - what is set for a tenant is written down: it is there after the loss of the segment, after a
// reboot's worth of files came and went, and no longer than it holds.

// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

void limit(SpoolFixture& q, const std::string& tenant, int64_t for_ms) {
  REQUIRE(q.door().policy_set(tenant, for_ms > 0 ? limited_for(for_ms) : limited_no_more()).ok());
}

}  // namespace

TEST_CASE("a limit holds to its time although the segment was lost") {
  SpoolFixture q;
  q.push("a1", Durability::always, "a");
  q.push("b1", Durability::always, "b");
  limit(q, "a", 60'000);
  limit(q, "b", 60'000);
  limit(q, "b", 0);
  q.lose_segment();
  CHECK(q.drain() == "b1");
  q.clock.advance(59'999);
  q.lose_segment();
  CHECK(q.drain().empty());
  q.clock.advance(1);
  CHECK(q.drain() == "a1");
  q.check_clean();
}

TEST_CASE("a limit that was over when the segment was lost does not come back") {
  SpoolFixture q;
  q.push("a1", Durability::always, "a");
  limit(q, "a", 1'000);
  q.clock.advance(2'000);
  q.lose_segment();
  CHECK(q.drain() == "a1");
  q.check_clean();
}

TEST_CASE("limits are carried forward when the file that says them goes") {
  SpoolFixture q;
  limit(q, "a", 3'600'000);
  limit(q, "over", 1'000);
  limit(q, "back", 3'600'000);
  limit(q, "back", 0);
  q.clock.advance(2'000);
  q.outlive_first_file();
  q.check_clean();
  for (const char* tenant : {"a", "over", "back"}) q.push(tenant, Durability::always, tenant);
  q.lose_segment();
  CHECK(q.drain() == "over back");
  q.clock.advance(3'598'000);
  CHECK(q.drain() == "a");
  q.check_clean();
}

TEST_CASE("a leaf that is limited stays so when it gets children") {
  SpoolFixture q;
  q.push("own", Durability::always, "a");
  limit(q, "a", 1'000);
  q.push("child", Durability::always, "a/x");
  CHECK(q.drain().empty());
  q.lose_segment();
  CHECK(q.drain().empty());
  q.clock.advance(1'000);
  CHECK(q.drain() == "own child");
  q.check_clean();
}

}  // namespace fq::test
