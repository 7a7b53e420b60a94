// lost_rate_test - rates of a whole queue that lies in many shards: what is lost on the way, comes late, is
// away or is forgotten starts nothing beyond them, and comes again.
#include "tests/redis/shared_rate.h"

namespace fq::test {

TEST_CASE("whoever forgets what there was of a rate, no more start than from one bucket") {
  Rated q;
  REQUIRE(q.s.queue->policy_set("", rate(1, 10'000, 3)).ok());
  q.fill(12, 3);
  CHECK(q.started(1) == 1);
  SECTION("the purse") { command(q.s.server, {"DEL", purse_key(q.s.server, kRate)}); }
  SECTION("the server of the purse") {
    const std::string key = purse_key(q.s.server, kRate);
    command(q.s.server, {"HSET", key.substr(0, key.rfind("pu:")) + "h", "run", "another"});
    command(q.s.server, {"HSET", key, "run", "another"});
  }
  SECTION("all of them, and that the rate was set before") {
    const std::string key = purse_key(q.s.server, kRate);
    REQUIRE(q.s.queue->policy_set("", rate(1, 10'000, 2)).ok());
    CHECK(q.started(2) == 1);
    REQUIRE(q.s.queue->policy_set("", rate(1, 10'000, 3)).ok());
    command(q.s.server, {"DEL", key});
    for (uint64_t shard = 0; shard < 4; ++shard) restart_of(q.s.server, shard);
  }
  SECTION("all that was since the rate was set") {
    const std::string key = purse_key(q.s.server, kRate);
    CHECK(q.started(2) == 2);
    for (uint64_t shard = 0; shard < 4; ++shard) {
      const LentRecord record = lent_to(q.s.server, shard);
      Packer before;
      for (const double each : {record.age, record.age, 0.0, -1.0, 0.0, 3.0, 0.0, 9.0, 1e10, 0.0})
        before.number(each);
      before.number(static_cast<uint16_t>(kRate.size())).raw(kRate);
      command(q.s.server, {"HSET", tag_of(q.s.server, shard) + "h", "lent", before.bytes()});
      restart_of(q.s.server, shard);
    }
    command(q.s.server, {"DEL", key});
  }
  CHECK(q.started() == 0);
  q.clock.advance(10'000);
  CHECK(q.started() == 1);
  q.clock.advance(60'000);
  CHECK(q.started() == 3);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE(
    "starts that were lent and do not arrive are there again after a second, and those that come late are "
    "not used") {
  Rated q;
  std::string other;
  const auto [first, second] = one_of_two(q.s, other);
  push_one(*q.s.queue, "a", "x");
  REQUIRE(q.s.queue->policy_set("", rate(1, 3'600'000)).ok());
  CHECK(q.started_of("a") == 1);
  q.clock.advance(3'600'000);
  Client dies(q.s.server, &q.clock);
  const std::string loan = dies.fetch(q.s.server, shard_of(first), 1);
  REQUIRE(!loan.empty());
  CHECK(q.started_of(other) == 0);
  q.clock.advance(999);
  CHECK(q.started_of(other) == 0);
  q.clock.advance(1);
  CHECK(q.started_of(other) == 1);
  dies.bring(shard_of(first), loan);
  CHECK(q.started() == 0);
  q.clock.advance(3'600'000 - 1);
  CHECK(q.started() == 0);
  q.clock.advance(1);
  CHECK(q.started() == 1);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("a loan that two clients carry is used once") {
  Rated q;
  q.fill(1, 4);
  const size_t shard = shard_of(push_one(*q.s.queue, tenant(0), "x"));
  REQUIRE(q.s.queue->policy_set("", rate(1, 3'600'000)).ok());
  Client one(q.s.server, &q.clock), two(q.s.server, &q.clock);
  const std::string loan = one.fetch(q.s.server, shard, 1);
  REQUIRE(!loan.empty());
  CHECK(two.fetch(q.s.server, shard, 1) == loan);
  CHECK(one.hand_on(shard, loan, 1) == 1);
  CHECK(two.hand_on(shard, loan, 1) == 0);
}

TEST_CASE("a loan whose shard cannot be asked counts as used when it would not be taken any more") {
  Rated q;
  std::string other;
  const auto [first, second] = one_of_two(q.s, other);
  REQUIRE(q.s.queue->policy_set("", rate(1, 1'000)).ok());
  const size_t away = shard_of(first), there = shard_of(second);
  Client dies(q.s.server, &q.clock), goes_on(q.s.server, &q.clock);
  const std::string loan = dies.borrow(q.s.server, kRate, away, 1);
  REQUIRE(!loan.empty());
  CHECK(dies.borrow(q.s.server, kRate, away, 1) == loan);  // whoever asks for the same shard carries it
  q.clock.advance(5'000);
  CHECK(goes_on.borrow(q.s.server, kRate, there, 1).empty());
  CHECK(goes_on.hand_on(away, loan, 1) == 1);  // just in time
  q.clock.advance(999);
  CHECK(goes_on.borrow(q.s.server, kRate, there, 1).empty());
  q.clock.advance(2);
  const std::string next = goes_on.borrow(q.s.server, kRate, there, 1);
  REQUIRE(!next.empty());
  CHECK(goes_on.hand_on(away, loan, 1) == 0);
  q.clock.advance(5'001);
  CHECK(goes_on.hand_on(there, next, 1) == 0);  // too late: nothing starts by it, and it is there again
  CHECK(q.started() == 1);
  CHECK(q.started() == 0);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE(
    "when all is counted anew and a shard cannot be asked, the others start once it would take nothing any "
    "more") {
  Rated q;
  std::string other;
  const auto [first, second] = one_of_two(q.s, other);
  REQUIRE(q.s.queue->policy_set("", rate(1, 1'000)).ok());
  const size_t away = shard_of(first), there = shard_of(second);
  Client client(q.s.server, &q.clock);
  const std::string old = client.fetch(q.s.server, away, 1);
  REQUIRE(!old.empty());
  command(q.s.server, {"DEL", purse_key(q.s.server, kRate)});
  const auto fetched = [&] {
    for (size_t each = 0; each < client.shards.count(); ++each)
      client.purses.know(each, command(q.s.server, {"HGET", client.shards.tag(each) + "h", "lent"}).text);
    client.purses.forget(away);
    client.purses.begin();
    return answered(client.purses.fetch(there, 1));
  };
  CHECK(fetched().empty());
  q.clock.advance(5'000);
  CHECK(fetched().empty());
  CHECK(client.hand_on(away, old, 1) == 1);
  q.clock.advance(1);
  CHECK(fetched().empty());
  CHECK(client.hand_on(away, old, 1) == 0);
  q.clock.advance(999);
  CHECK(fetched().empty());
  q.clock.advance(1);
  const std::string loan = fetched();
  REQUIRE(!loan.empty());
  CHECK(client.hand_on(there, loan, 1) == 1);
  q.fill(8, 1);
  CHECK(q.started() == 0);
  q.clock.advance(1'000);
  CHECK(q.started() == 1);  // that shard is one of them again
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("a repair counts a rate over shards anew, and starts nothing for it") {
  Rated q;
  REQUIRE(q.s.queue->policy_set("", rate(1, 10'000, 3)).ok());
  q.fill(12, 3);
  CHECK(q.started(2) == 2);
  // A shard tells of a loan that its purse does not know.
  Client client(q.s.server, &q.clock);
  const LentRecord record = lent_to(q.s.server, 0);
  const LentUnits* const units = record.find(kRate);
  REQUIRE(units != nullptr);
  Packer forged;
  forged.number(units->age).number(units->tag).number(units->loans + 3).number(1.0).number(1e15);
  client.bring(0, forged.number(static_cast<uint16_t>(kRate.size())).raw(kRate).bytes());
  CHECK(!is_well(*q.s.queue));
  CheckRequest repair;
  repair.repair = true;
  answered(q.s.queue->check(repair));
  CHECK(is_well(*q.s.queue));
  CHECK(q.started() <= 1);
  q.clock.advance(10'000);
  CHECK(q.started() == 1);
}

}  // namespace fq::test
