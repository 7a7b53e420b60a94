// purses_test - limits that count over all shards of a queue: never more than they say, whatever is lost on
// the way, and nothing of them is lost for good.
#include "tests/redis/purses_fixture.h"
#include "tests/redis/waiter.h"

// System.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <thread>
// fq, below us.
#include "core/redis/records/packing.h"

namespace fq::test {

TEST_CASE("no more run than the whole queue may, whatever shards they lie in") {
  Sharded s(GENERATE(4U, 16U));
  CHECK(s.queue->caps().pool_slack >= 1);
  REQUIRE(s.queue->policy_set("", concurrency(3)).ok());
  for (int i = 0; i < 40; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  const auto other = s.another();
  std::vector<Delivery> running = taken(*s.queue, 10);
  REQUIRE(running.size() == 3);
  CHECK(taken(*other, 10).empty());
  size_t served = 0;
  while (!running.empty()) {
    served += settled(*s.queue, running.back());
    running.pop_back();
    for (Delivery& each : taken(served % 2 == 0 ? *other : *s.queue, 10)) running.push_back(std::move(each));
    REQUIRE(running.size() == std::min<size_t>(3, 40 - served));
  }
  CHECK(served == 40);
  CHECK(is_well(*s.queue));
}

TEST_CASE("where one may run at once each account has its turns, whatever shard it lies in") {
  Sharded s;
  REQUIRE(s.queue->policy_set("", concurrency(1)).ok());
  std::map<std::string, int> turns;
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 40; ++k) push_one(*s.queue, "t" + std::to_string(i), "x");
  }
  for (int i = 0; i < 160; ++i) {
    const std::vector<Delivery> one = taken(*s.queue, 1);
    REQUIRE(one.size() == 1);
    ++turns[one[0].tenant];
    REQUIRE(settled(*s.queue, one[0]) == 1);
  }
  REQUIRE(turns.size() == 8);
  for (const auto& [tenant, count] : turns) {
    CAPTURE(tenant);
    CHECK(count >= 5);
  }
}

TEST_CASE("a limit of the whole queue becomes another, and none, while messages run") {
  Sharded s;
  for (int i = 0; i < 60; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  std::vector<Delivery> running = taken(*s.queue, 8);
  REQUIRE(running.size() == 8);
  REQUIRE(s.queue->policy_set("", concurrency(5)).ok());
  CHECK(taken(*s.queue, 8).empty());
  const auto settle_one = [&] {
    REQUIRE(settled(*s.queue, running.back()) == 1);
    running.pop_back();
  };
  for (int i = 0; i < 3; ++i) {
    settle_one();
    CHECK(taken(*s.queue, 8).empty());
  }
  settle_one();
  for (Delivery& each : taken(*s.queue, 8)) running.push_back(std::move(each));
  CHECK(running.size() == 5);
  REQUIRE(s.queue->policy_set("", concurrency(9)).ok());
  for (Delivery& each : taken(*s.queue, 20)) running.push_back(std::move(each));
  CHECK(running.size() == 9);
  while (running.size() > 1) settle_one();
  REQUIRE(s.queue->policy_set("", concurrency(2)).ok());
  CHECK(taken(*s.queue, 20).size() == 1);
  REQUIRE(s.queue->policy_set("", {{}, {PolicyKey::concurrency}}).ok());
  CHECK(taken(*s.queue, 100).size() == 60 - 14);
  CHECK(is_well(*s.queue));
}

TEST_CASE("who waits gets at once what its shard has to be lent something for") {
  Sharded s(4);
  std::string other;
  two_apart(*s.queue, other);
  REQUIRE(s.queue->policy_set("", concurrency(1)).ok());
  for (;;) {
    const std::vector<Delivery> one = taken(*s.queue, 1);
    if (one.empty()) break;
    REQUIRE(settled(*s.queue, one[0]) == 1);
  }
  for (const std::string& tenant : {std::string("a"), other, std::string("a")}) {
    CAPTURE(tenant);
    Waiter waiter(open_on(real_time_engine(), s.server.spool("?poll=10s")));
    wait_until([&] { return command(s.server, {"ZCARD", tag_of(s.server, 0) + "bw"}).number == 1; });
    push_one(*s.queue, tenant, "x");
    REQUIRE(settled(*s.queue, waiter.reply().deliveries.at(0)) == 1);
  }
}

TEST_CASE("what a server tells of its loans that is no count is as if it were not there") {
  const auto told_of = [](double share) {
    Packer lent;
    for (const double each : {1.0, 1.0, 5.0, 0.0, share, 3.0, 1.0, 0.0, 0.0, 0.0}) lent.number(each);
    return read_lent(lent.number(uint16_t{2}).raw("c:").bytes()).limits.size();
  };
  CHECK(told_of(2) == 1);
  for (const double wrong : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()})
    CHECK(told_of(wrong) == 0);
}

TEST_CASE("a loan that does not arrive is lent again to its shard, and later to others") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  REQUIRE(s.queue->policy_set("", concurrency(1)).ok());
  Client dies(s.server), lives(s.server);
  const std::string lost = dies.fetch(s.server, shard_of(first), 1);
  REQUIRE(!lost.empty());
  SECTION("to its shard") {
    const std::string again = lives.fetch(s.server, shard_of(first), 1);
    CHECK(again == lost);
    CHECK(lives.hand_on(shard_of(first), again, 5) == 1);
    CHECK(lives.hand_on(shard_of(first), lost, 5) == 0);  // a late one changes nothing
    CHECK(share_of(s.server, shard_of(first)) == 1);
  }
  SECTION("to another, once it is late, and then it comes too late") {
    CHECK(lives.fetch(s.server, shard_of(second), 1).empty());
    std::string loan;
    for (int i = 0; loan.empty() && i < 100; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      loan = lives.fetch(s.server, shard_of(second), 1);
    }
    REQUIRE(!loan.empty());
    CHECK(dies.hand_on(shard_of(first), lost, 5) == 0);
    CHECK(share_of(s.server, shard_of(first)) == 0);
    CHECK(lives.hand_on(shard_of(second), loan, 5) == 1);
  }
  CHECK(taken(*s.queue, 5).empty());
  CHECK(is_well(*s.queue));
}

TEST_CASE("a loan of an earlier epoch comes too late") {
  Sharded s(4);
  std::string other;
  const MessageId first = two_apart(*s.queue, other).first;
  REQUIRE(s.queue->policy_set("", concurrency(2)).ok());
  Client dies(s.server);
  const std::string lost = dies.fetch(s.server, shard_of(first), 2);
  REQUIRE(!lost.empty());
  SECTION("the limit was another meanwhile") {
    REQUIRE(s.queue->policy_set("", concurrency(1)).ok());
    REQUIRE(s.queue->policy_set("", concurrency(2)).ok());
  }
  SECTION("there was none meanwhile") {
    REQUIRE(s.queue->policy_set("", {{}, {PolicyKey::concurrency}}).ok());
    REQUIRE(s.queue->policy_set("", concurrency(2)).ok());
  }
  SECTION("the purse was lost") {
    command(s.server, {"DEL", purse_key(s.server, kRunning)});
    CHECK(taken(*s.queue, 1).size() == 1);
  }
  SECTION("its server forgot what it had") {
    restart_of(s.server, shard_of(first));
    LeaseRequest of_first = for_a_minute();  // for another shard it is on its way until it is late
    of_first.tenant = "a";
    CHECK(answered(s.queue->lease(of_first)).deliveries.size() == 1);
  }
  const double before = share_of(s.server, shard_of(first));
  CHECK(dies.hand_on(shard_of(first), lost, 0) == 0);
  CHECK(share_of(s.server, shard_of(first)) == before);
  CHECK(is_well(*s.queue));
}

TEST_CASE("a purse that was lost lends nothing before all shards have told what they use") {
  Sharded s;
  for (int i = 0; i < 40; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  REQUIRE(s.queue->policy_set("", concurrency(6)).ok());
  REQUIRE(taken(*s.queue, 4).size() == 4);
  const std::string key = purse_key(s.server, kRunning);
  const std::string before = command(s.server, {"DUMP", key}).text;
  std::vector<Delivery> more = taken(*s.queue, 2);
  REQUIRE(more.size() == 2);
  SECTION("all of it") { command(s.server, {"DEL", key}); }
  SECTION("what it did last, as where a replica takes over that lags") {
    command(s.server, {"RESTORE", key, "0", before, "REPLACE"});
    const std::string root = key.substr(0, key.rfind("pu:")) + "h";
    command(s.server, {"HSET", root, "run", "another"});
    command(s.server, {"HSET", key, "run", "another"});
  }
  CHECK(taken(*s.queue, 9).empty());
  REQUIRE(settled(*s.queue, more[0]) == 1);
  CHECK(taken(*s.another(), 9).size() == 1);
  CHECK(is_well(*s.queue));
}

TEST_CASE("a shard that has forgotten that it gave something back uses only what it is lent anew") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  REQUIRE(s.queue->policy_set("", concurrency(1)).ok());
  LeaseRequest of_first = for_a_minute();
  of_first.tenant = "a";
  const std::vector<Delivery> one = answered(s.queue->lease(of_first)).deliveries;
  REQUIRE(one.size() == 1);
  REQUIRE(settled(*s.queue, one[0]) == 1);
  REQUIRE(share_of(s.server, shard_of(first)) == 1);
  const std::string root = tag_of(s.server, shard_of(first)) + "h";
  const std::string lent = command(s.server, {"HGET", root, "lent"}).text;
  REQUIRE(taken(*s.queue, 1).size() == 1);  // of the other: it gives back what it has
  REQUIRE(share_of(s.server, shard_of(first)) == 0);
  command(s.server, {"HSET", root, "lent", lent, "run", "another"});
  push_one(*s.queue, "a", "x");
  CHECK(taken(*s.queue, 5).empty());
  CHECK(is_well(*s.queue));
}

TEST_CASE("tenants of many shards share a pool, and one that moves into it takes its room with it") {
  Sharded s;
  REQUIRE(s.queue->policy_load(with_pool(3), {.inode = 1}).ok());
  for (int i = 0; i < 20; ++i) {
    const std::string tenant = "t" + std::to_string(i);
    if (i < 19) REQUIRE(s.queue->policy_set(tenant, in_pool("p")).ok());
    for (int k = 0; k < 3; ++k) push_one(*s.queue, tenant, "x");
  }
  std::vector<Delivery> running = taken(*s.queue, 60);
  CHECK(std::count_if(running.begin(), running.end(),
                      [](const Delivery& each) { return each.tenant != "t19"; }) == 3);
  CHECK(running.size() == 6);  // who is in no pool waits for none
  REQUIRE(s.queue->policy_set("t19", in_pool("p")).ok());
  push_one(*s.queue, "t19", "x");
  size_t in_it = running.size();
  for (const Delivery& each : running) {
    REQUIRE(settled(*s.queue, each) == 1);
    in_it += taken(*s.another(), 60).size() - 1;
    REQUIRE(in_it == std::max<size_t>(3, in_it));
    REQUIRE(in_it <= 6);
  }
  CHECK(in_it == 3);
  REQUIRE(s.queue->policy_load(with_pool(5), {.inode = 2}).ok());
  CHECK(taken(*s.queue, 60).size() == 2);
  REQUIRE(s.queue->policy_load({}, {.inode = 3}).ok());
  CHECK(taken(*s.queue, 100).size() == 61 - 6 - 3 - 2);
  CHECK(is_well(*s.queue));
}

TEST_CASE(
    "explain names a limit over all shards, with what runs in all of them, and only where it is in the way") {
  Sharded s;
  std::string other;
  const MessageId first = two_apart(*s.queue, other).first;
  REQUIRE(s.queue->policy_set("", concurrency(2)).ok());
  const auto reasons = [&](MessageId id) {
    ExplainRequest request;
    request.id = id;
    return answered(s.queue->explain(request)).subject->reasons;
  };
  CHECK(reasons(first).empty());
  std::vector<MessageId> held;  // one of them may be of an account that lies where the first does
  for (const Delivery& each : taken(*s.queue, 2)) held.push_back(each.id);
  REQUIRE(held.size() == 2);
  std::sort(held.begin(), held.end());
  const MessageId third = push_one(*s.queue, "c", "x");
  REQUIRE(reasons(third).size() == 1);
  std::vector<MessageId> running = reasons(third)[0].ids;
  std::sort(running.begin(), running.end());
  CHECK(running == held);
  for (const Explanation& each : answered(s.queue->explain({})).blocked)
    CHECK(each.reasons.at(0).ids.size() == 2);
  CHECK(reasons(third)[0].kind == Reason::Kind::concurrency);
  CHECK(reasons(third)[0].node.empty());
  CHECK(reasons(third)[0].running == 2);
  CHECK(reasons(third)[0].limit == 2);
  CHECK(answered(s.queue->stats({})).rows.at(0).leased == 2);
}

TEST_CASE("who looks or waits is told of what may start once its shard was lent what it lacks") {
  Sharded s;
  REQUIRE(s.queue->policy_set("", concurrency(1)).ok());
  LeaseRequest look;
  look.look = true;
  CHECK(answered(s.queue->lease(look)).why_empty == WhyEmpty::nothing);
  std::string other;
  two_apart(*s.queue, other);
  CHECK(answered(s.queue->lease(look)).why_empty == WhyEmpty::servable);
  LeaseRequest wait = for_a_minute();
  wait.wait = true;
  wait.wait_ms = 30'000;
  const std::vector<Delivery> one = answered(s.queue->lease(wait)).deliveries;
  REQUIRE(one.size() == 1);
  CHECK(answered(s.queue->lease(look)).why_empty == WhyEmpty::nothing);
  REQUIRE(settled(*s.queue, one[0]) == 1);
  CHECK(answered(s.another()->lease(wait)).deliveries.size() == 1);
}

TEST_CASE("check finds limits over shards that do not agree, and repair counts them anew") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  REQUIRE(s.queue->policy_set("", concurrency(2)).ok());
  LeaseRequest of_first = for_a_minute();
  of_first.tenant = "a";
  REQUIRE(answered(s.queue->lease(of_first)).deliveries.size() == 1);
  REQUIRE(is_well(*s.queue));
  const std::string root = tag_of(s.server, shard_of(first)) + "h";
  std::string lent = command(s.server, {"HGET", root, "lent"}).text;
  const double share = 7;
  lent.replace(8 + 3 * sizeof share, sizeof share,
               std::string(reinterpret_cast<const char*>(&share), sizeof share));
  command(s.server, {"HSET", root, "lent", lent});
  CHECK(!is_well(*s.queue));
  const CheckReport repaired = answered(s.queue->check({.repair = true}));
  CHECK(repaired.findings.empty());
  CHECK(!repaired.repairs.empty());
  CHECK(is_well(*s.queue));
  push_one(*s.queue, "a", "x");
  push_one(*s.queue, other, "x");
  CHECK(taken(*s.queue, 9).size() == 1);
}

TEST_CASE("a queue with limits over all shards is removed without a key left") {
  Sharded s;
  REQUIRE(s.queue->policy_load(with_pool(2), {.inode = 1}).ok());
  REQUIRE(s.queue->policy_set("", concurrency(3)).ok());
  for (int i = 0; i < 20; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  REQUIRE(s.queue->policy_set("t1", in_pool("p")).ok());
  CHECK(taken(*s.queue, 20).size() == 3);
  REQUIRE(s.engine_.remove(s.location()).ok());
  CHECK(keys_of(s.server).empty());
}

TEST_CASE("one shard that has told is not all, and an epoch that is over is not begun again") {
  Sharded s(4);
  std::string other;
  const uint64_t shard = shard_of(two_apart(*s.queue, other).first);
  REQUIRE(s.queue->policy_set("", concurrency(2)).ok());
  Client client(s.server);
  const std::string name(kRunning);
  const auto ask = [&](size_t of, const std::vector<std::string_view>& words) {
    return answered(client.shards.at(of).shard().change("change", words)).at(1);
  };
  const LentUnits before = *lent_to(s.server, shard).find(kRunning);
  const std::string epoch = Packer().number(before.age).number(before.tag).bytes();

  command(s.server, {"DEL", purse_key(s.server, kRunning)});
  const std::string want =
      Packer().number(4.0).number(0.0).number(1.0).number(before.age).number(7.0).bytes();
  const size_t home = client.shards.of_tenant(name);
  const Reply none = ask(home, {"purse", name, want, ""});
  REQUIRE(none.at(0).text == "join");
  CHECK(none.at(2).items.size() == 4);
  const std::string told = Packer()
                               .number(0.0)
                               .raw(none.at(1).text)
                               .number(0.0)
                               .number(0.0)
                               .number(2.0)
                               .number(0.0)
                               .number(0.0)
                               .bytes();
  const Reply one = ask(home, {"purse", name, want, told});
  CHECK(one.at(0).text == "join");
  CHECK(one.at(2).items.size() == 3);

  REQUIRE(s.queue->policy_set("", concurrency(3)).ok());
  const LentUnits now = *lent_to(s.server, shard).find(kRunning);
  REQUIRE(now.age > before.age);
  ask(shard, {"lent_join", name, epoch});
  CHECK(lent_to(s.server, shard).find(kRunning)->age == now.age);
  CHECK(lent_to(s.server, shard).find(kRunning)->tag == now.tag);
}

TEST_CASE("what was lent and cannot be read is not told") {
  Packer whole;
  whole.number(1.0);
  for (double each = 1; each < 10; ++each) whole.number(each);
  whole.number(static_cast<uint16_t>(kRunning.size())).raw(kRunning);
  REQUIRE(read_lent(whole.bytes()).limits.size() == 1);
  CHECK(read_lent(whole.bytes()).find(kRunning)->share == 4);
  for (size_t bytes = 0; bytes < whole.bytes().size(); ++bytes)
    CHECK(read_lent(std::string_view(whole.bytes()).substr(0, bytes)).limits.empty());
}

}  // namespace fq::test
