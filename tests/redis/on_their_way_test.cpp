// on_their_way_test - while a message goes from one queue to another others do what they do, late calls among
// them.

// Tests.
#include "tests/redis/moves_fixture.h"

namespace fq::test {

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a message whose move is over is not taken again by a call that was stuck on its way") {
  Two two;
  Stalled stalled = two.stalled(push_one(*two.from, "a", "moved"));
  stalled.go(5);
  const MessageId there{std::stoull(stalled.take().second)};
  CHECK(answered(two.to->get(there)).has_value());
  CHECK(Two::served(*two.to) == Texts{"moved"});
  CHECK(stalled.take() == std::pair(std::string("taken"), std::to_string(number(there))));
  CHECK(Two::served(*two.to).empty());
  two.is_over();
}

TEST_CASE("what is known of moves that are over goes with its time") {
  Two two(1, 4);
  const auto known = [&] {
    int64_t count = 0;
    for (const Reply& key : command(two.server, {"KEYS", "*:ux"}).items)
      count += command(two.server, {"ZCARD", key.text}).number;
    return count;
  };
  for (int i = 0; i < 10; ++i) two.move(push_one(*two.from, "a", "x"));
  CHECK(known() == 10);
  two.clock.advance(int64_t{10} * 60 * 1'000);
  two.move(push_one(*two.from, "a", "x"));
  CHECK(known() == 1);
  two.is_over();
}

TEST_CASE("what is dead and on its way is not held again by a kick, but is if it comes back") {
  Two two(1, 4);
  const MessageId parent = push_one(*two.from, "a", "parent");
  NewMessage message = message_for("a", "child");
  message.after = {parent};
  const MessageId child = answered(two.from->push({&message, 1})).items.at(0).id;
  Settle bury;
  bury.receipt = answered(two.from->lease(for_a_minute())).deliveries.at(0).receipt;
  bury.verdict = Verdict::bury;
  answered(two.from->settle({&bury, 1}));
  Stalled stalled = two.stalled(child);
  stalled.go(1);
  CHECK(answered(two.from->mutate({&parent, 1}, Action::kick)).changed == 1);
  CHECK(two.state(*two.from, child) == State::dead);
  CHECK(answered(two.from->check()).findings.empty());
  SECTION("it arrives, and is served there only") {
    CHECK(Two::served(*two.from) == Texts{"parent"});
    const std::string there = stalled.take().second;
    stalled.leave(there);
    stalled.forget();
    stalled.done();
    const MessageId arrived{std::stoull(there)};
    CHECK(two.state(*two.to, arrived) == State::dead);
    CHECK(answered(two.to->mutate({&arrived, 1}, Action::kick)).changed == 1);
    CHECK(Two::served(*two.to) == Texts{"child"});
  }
  SECTION("it comes back") {
    two.clock.advance(kPatienceMs);
    answered(two.from->stats({}));
    CHECK(two.state(*two.from, child) == State::held);
    CHECK(Two::served(*two.from) == Texts{"parent"});
    CHECK(Two::served(*two.from) == Texts{"child"});
  }
  two.is_over();
}

TEST_CASE("what is dead and on its way is not forgotten when it has been kept for its time") {
  Two two(1, 4);
  REQUIRE(two.from->policy_set("", {{{PolicyKey::dead_retention, 10'000, 0, {}}}, {}}).ok());
  const MessageId id = push_one(*two.from, "a", "x");
  Settle bury;
  bury.receipt = answered(two.from->lease(for_a_minute())).deliveries.at(0).receipt;
  bury.verdict = Verdict::bury;
  answered(two.from->settle({&bury, 1}));
  Stalled stalled = two.stalled(id);
  stalled.go(1);
  two.clock.advance(kPatienceMs - 1);
  REQUIRE(two.from->maintain(10).ok());
  CHECK(two.state(*two.from, id) == State::dead);
  SECTION("it arrives") {
    const std::string there = stalled.take().second;
    stalled.leave(there);
    stalled.forget();
    stalled.done();
    CHECK(two.state(*two.to, MessageId{std::stoull(there)}) == State::dead);
    CHECK(two.state(*two.from, id) == State::moved);
  }
  SECTION("it comes back, and is forgotten then") {
    two.clock.advance(1);
    answered(two.from->stats({}));
    REQUIRE(two.from->maintain(10).ok());
    CHECK(two.state(*two.from, id) == State::cancelled);
  }
  two.is_over();
}

}  // namespace fq::test
