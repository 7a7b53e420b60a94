// tolls_test - turns that are paid in bytes and in run time, between the shards of a queue.
#include "tests/redis/tolls_fixture.h"

// System.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
// Tests.
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

constexpr double kTurnBytes = 4096;

void fill(Queue& queue, const std::string& tenant, size_t count, size_t bytes = 1) {
  const std::string payload(bytes, 'x');
  const std::vector<NewMessage> batch(100, message_for(tenant, payload));
  for (size_t pushed = 0; pushed < count; pushed += batch.size()) REQUIRE(queue.push(batch).ok());
}

/// What the root of the shard of this message says of what can be served.
std::string told_open(const TestServer& server, MessageId id) {
  return command(server, {"HGET", tag_of(server, shard_of(id)) + "h", "open"}).text;
}

Delivery next_of(Queue& queue) {
  LeaseReply reply = answered(queue.lease(for_a_minute()));
  REQUIRE(reply.deliveries.size() == 1);
  return std::move(reply.deliveries[0]);
}

}  // namespace

TEST_CASE("by bytes, accounts of other shards have their bytes by weight, to a visit of each") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::bytes);
  const auto names = names_apart(s.queue(), 2);
  const std::string &longs = names[0], &shorts = names[1];
  const int64_t weight = GENERATE(1'000, 3'000);
  set_for(s.queue(), longs, PolicyKey::weight, weight);
  fill(s.queue(), longs, 500, 6'400);
  fill(s.queue(), shorts, 1'000, 640);
  const size_t want = GENERATE(size_t{1}, size_t{4}, size_t{16});
  const double most = static_cast<double>(2 * want * 6'400) + 2 * kTurnBytes;
  std::map<std::string, double> given;
  for (size_t taken = 0; taken < 800;) {
    const LeaseReply reply = answered(s.queue().lease(for_a_minute(want)));
    REQUIRE(reply.deliveries.size() == want);
    taken += want;
    for (const Delivery& each : reply.deliveries)
      given[each.tenant] += static_cast<double>(each.payload.bytes().size());
    CHECK(std::abs(given[longs] * 1'000 / static_cast<double>(weight) - given[shorts]) <= most);
  }
  CHECK(given[shorts] > most);
}

TEST_CASE("by time, accounts of other shards have their run time by weight, whoever measured it") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::time);
  const auto names = names_apart(s.queue(), 2);
  const std::string &slow = names[0], &quick = names[1];
  set_for(s.queue(), slow, PolicyKey::weight, 3'000);
  fill(s.queue(), slow, 300);
  fill(s.queue(), quick, 500);
  const size_t at_once = GENERATE(size_t{1}, size_t{5});
  const bool is_told = GENERATE(false, true);
  const auto other = s.another();  // verdicts need not come from where the message went
  std::map<std::string, double> given;
  std::deque<Delivery> running;
  for (int taken = 0; taken < 500; ++taken) {
    running.push_back(next_of(s.queue()));
    if (running.size() < at_once) continue;
    const Delivery one = std::move(running.front());
    running.pop_front();
    const int64_t ms = one.tenant == slow ? 1'000 : 100;
    given[one.tenant] += static_cast<double>(ms);
    if (at_once == 1) s.clock.advance(is_told ? 7 : ms);
    if (is_told || at_once > 1)
      end_run(*other, one.receipt, static_cast<uint64_t>(ms) * 1'000);
    else
      REQUIRE(answered(other->settle(std::vector<Settle>{{.receipt = one.receipt}})).items.at(0) ==
              SettleStatus::ok);
    const double most = 1'000 * static_cast<double>(2 + 2 * at_once);
    CHECK(std::abs(given[slow] / 3 - given[quick]) <= most);
  }
  CHECK(given[quick] > 30'000);
}

TEST_CASE("many that come for a single message each draw by weight over what turns cost") {
  Sharded s;
  const FairBy by = GENERATE(FairBy::bytes, FairBy::time);
  const int64_t weight = GENERATE(1'000, 3'000);
  set_fair_by(*s.queue, by);
  const auto names = names_apart(*s.queue, 2);
  const std::string &dear = names[0], &cheap = names[1];
  set_for(*s.queue, dear, PolicyKey::weight, weight);
  fill(*s.queue, dear, 500, by == FairBy::bytes ? 6'400 : 1);
  fill(*s.queue, cheap, 500, by == FairBy::bytes ? 640 : 1);
  int of_dear = 0;
  constexpr int kTurns = 500;
  for (int i = 0; i < kTurns; ++i) {
    const auto queue = s.another();
    const Delivery one = next_of(*queue);
    of_dear += one.tenant == dear ? 1 : 0;
    if (by == FairBy::time) end_run(*queue, one.receipt, one.tenant == dear ? 1'000'000 : 100'000);
  }
  // One in eleven, or three in thirteen; and by chance within five times what is usual.
  const double share = weight == 1'000 ? 1.0 / 11 : 3.0 / 13;
  CHECK(std::abs(of_dear - kTurns * share) <= 5 * std::sqrt(kTurns * share * (1 - share)));
}

TEST_CASE("who wants many takes all of them where it has drawn, once it is known what turns cost") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::bytes);
  const auto names = names_apart(s.queue(), 2);
  fill(s.queue(), names[0], 300, 6'400);
  fill(s.queue(), names[1], 300, 640);
  for (int i = 0; i < 4; ++i) REQUIRE(answered(s.queue().lease(for_a_minute())).deliveries.size() == 1);
  std::set<std::string> served;
  const auto same_for_all = [&](Queue& queue) {
    const LeaseReply reply = answered(queue.lease(for_a_minute(16)));
    REQUIRE(reply.deliveries.size() == 16);
    served.insert(reply.deliveries[0].tenant);
    return std::all_of(reply.deliveries.begin(), reply.deliveries.end(),
                       [&](const Delivery& each) { return each.tenant == reply.deliveries[0].tenant; });
  };
  for (int i = 0; i < 12; ++i) CHECK(same_for_all(s.queue()));
  CHECK(served.size() == 2);
  CHECK(same_for_all(*s.another()));
}

TEST_CASE("many that come for several messages each take all of them where they have drawn, by weight") {
  Sharded s;
  const auto names = names_apart(*s.queue, 2);
  set_for(*s.queue, names[0], PolicyKey::weight, 10'000);
  for (const std::string& name : names) fill(*s.queue, name, 1'600);
  int of_light = 0;
  constexpr int kTurns = 400;
  for (int i = 0; i < kTurns; ++i) {
    const LeaseReply reply = answered(s.another()->lease(for_a_minute(4)));
    REQUIRE(reply.deliveries.size() == 4);
    for (const Delivery& each : reply.deliveries) CHECK(each.tenant == reply.deliveries[0].tenant);
    of_light += reply.deliveries[0].tenant == names[1] ? 1 : 0;
  }
  // One in eleven, and by chance within five times what is usual.
  constexpr double kShare = 1.0 / 11;
  CHECK(std::abs(of_light - kTurns * kShare) <= 5 * std::sqrt(kTurns * kShare * (1 - kShare)));
}

TEST_CASE("what the turns of a shard cost is an average that each moves by an eighth") {
  ToldShards s;
  const FairBy by = GENERATE(FairBy::bytes, FairBy::time);
  set_fair_by(s.queue(), by);
  const MessageId id = push_one(s.queue(), "a", std::string(640, 'x'));
  push_one(s.queue(), "a", std::string(6'400, 'x'));
  push_one(s.queue(), "a", "x");
  push_one(s.queue(), "a", "x");
  CHECK(told_open(s.sharded.server, id) == "1000");
  // Of time, nothing is known until the first has ended.
  const auto turn = [&](uint64_t run_us) {
    const Delivery one = next_of(s.queue());
    const std::string started = told_open(s.sharded.server, id);
    end_run(s.queue(), one.receipt, run_us);
    return by == FairBy::bytes ? started : told_open(s.sharded.server, id);
  };
  // A turn is 2,520,000,000: of 4 KiB, and of 10 ms.
  CHECK(turn(1'000) == (by == FairBy::bytes ? "1000 393750000" : "1000 252000000"));
  CHECK(turn(9'000) == (by == FairBy::bytes ? "1000 836718750" : "1000 504000000"));
  // The least that counts: 64 bytes, 500 us.
  CHECK(turn(10) == (by == FairBy::bytes ? "1000 737050781" : "1000 456750000"));
}

TEST_CASE("a run that nobody ends is counted by the time that its lease had") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::time);
  const MessageId id = push_one(s.queue(), "a", "x");
  REQUIRE(answered(s.queue().lease(for_a_minute())).deliveries.size() == 1);
  s.clock.advance(60'000);
  REQUIRE(answered(s.queue().lease(for_a_minute())).deliveries.size() == 1);
  CHECK(told_open(s.sharded.server, id) == "0 15120000000000");
}

TEST_CASE("where turns are paid by something else, what they cost is found out anew") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::bytes);
  const MessageId id = push_one(s.queue(), "a", std::string(640, 'x'));
  push_one(s.queue(), "a", "x");
  REQUIRE(answered(s.queue().lease(for_a_minute())).deliveries.size() == 1);
  CHECK(told_open(s.sharded.server, id) == "1000 393750000");
  push_one(s.queue(), "a", "x");
  CHECK(told_open(s.sharded.server, id) == "1000 393750000");
  set_fair_by(s.queue(), GENERATE(FairBy::turns, FairBy::time));
  CHECK(told_open(s.sharded.server, id) == "1000");
  set_fair_by(s.queue(), FairBy::bytes);
  CHECK(told_open(s.sharded.server, id) == "1000");
}

TEST_CASE("a shard that has not said what its turns cost is taken to be as the others") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::bytes);
  const auto names = names_apart(s.queue(), 2);
  fill(s.queue(), names[0], 200);
  for (int i = 0; i < 20; ++i) REQUIRE(answered(s.queue().lease(for_a_minute())).deliveries.size() == 1);
  fill(s.queue(), names[1], 100);
  // A turn of the other one is 64 of these: it waits for some.
  int before = 0;
  while (next_of(s.queue()).tenant == names[0]) ++before;
  CHECK(before <= 5);
}

TEST_CASE("what of a root cannot be read is as with the others, and nobody waits for what says too much") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::bytes);
  const auto names = names_apart(s.queue(), 2);
  const size_t which = GENERATE(size_t{0}, size_t{1});
  const MessageId id = push_one(s.queue(), names[which], std::string(4'096, 'x'));
  for (const std::string& name : names) fill(s.queue(), name, 100, 4'096);
  std::map<std::string, int> served;
  while (served.size() < 2) ++served[next_of(s.queue()).tenant];
  const auto say = [&](const std::string& toll) {
    command(s.sharded.server, {"HSET", tag_of(s.sharded.server, shard_of(id)) + "h", "open", "1000" + toll});
  };
  const auto drawn = [&](const std::string& toll) {
    say(toll);
    return next_of(*s.another()).tenant;
  };
  const std::string toll = GENERATE("", " ", " x", " nan", " inf", " -1", " 0", " 1e308", " 1e-320");
  const bool is_cost = toll.starts_with(" 1");
  if (!is_cost) CHECK(drawn(toll) == drawn(""));
  served.clear();
  for (int i = 0; i < 10; ++i) {
    say(toll);
    const LeaseReply reply = answered(s.queue().lease(for_a_minute(2)));
    REQUIRE(reply.deliveries.size() == 2);
    for (const Delivery& each : reply.deliveries) ++served[each.tenant];
  }
  CHECK(served.size() == 2);
}

TEST_CASE("what turns cost is read and told without a call more, and by turns without a word more") {
  Sharded s;
  fill(*s.queue, "a", 100);
  const MessageId id = push_one(*s.queue, "a", "x");
  struct Cost {
    uint64_t calls = 0, looks = 0, reads = 0;
  };
  const auto cost_of_ten = [&](FairBy by) {
    set_fair_by(*s.queue, by);
    end_run(*s.queue, next_of(*s.queue).receipt, 1'000);
    const auto counted = [&] {
      return Cost{calls_of(s.server, "fcall"), calls_of(s.server, "hmget"), calls_of(s.server, "hget")};
    };
    const Cost before = counted();
    for (int i = 0; i < 10; ++i) end_run(*s.another(), next_of(*s.another()).receipt, 1'000);
    CHECK((told_open(s.server, id).find(' ') == std::string::npos) == (by == FairBy::turns));
    const Cost after = counted();
    return Cost{after.calls - before.calls, after.looks - before.looks, after.reads - before.reads};
  };
  const Cost turns = cost_of_ten(FairBy::turns), other = cost_of_ten(GENERATE(FairBy::bytes, FairBy::time));
  CHECK(turns.calls == 20);
  CHECK(other.calls == 20);
  CHECK(other.looks == turns.looks);
  CHECK(other.reads == turns.reads + 20);  // of the average, inside a call
}

TEST_CASE("a queue of one shard keeps nothing of what its turns cost, and reads nothing of it") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  fill(*queue, "a", 10);
  const auto reads_of_one = [&](FairBy by) {
    set_fair_by(*queue, by);
    const uint64_t before = calls_of(server, "hget");
    end_run(*queue, next_of(*queue).receipt, 1'000);
    return calls_of(server, "hget") - before;
  };
  CHECK(reads_of_one(GENERATE(FairBy::bytes, FairBy::time)) == reads_of_one(FairBy::turns));
  const Reply keys = command(server, {"KEYS", "*:h"});
  REQUIRE(keys.items.size() == 1);
  CHECK(!command(server, {"HGET", keys.items[0].text, "open"}).is_text());
}

TEST_CASE("over shards no latest place is told where turns do not count alike") {
  Sharded s;
  const FairBy by = GENERATE(FairBy::turns, FairBy::bytes);
  set_fair_by(*s.queue, by);
  ExplainRequest request;
  request.id = push_one(*s.queue, "a", "x");
  const ExplainReply reply = answered(s.queue->explain(request));
  REQUIRE(reply.subject);
  CHECK(!reply.subject->place);
  CHECK(reply.subject->place_max.has_value() == (by == FairBy::turns));
}

}  // namespace fq::test
