// tolls_test - turns that are paid in bytes and in run time, between the shards of a queue.
//
// FQ_SEED=n runs one random history again, FQ_HISTORIES=n more of them.
#include "tests/redis/sharded_fixture.h"

// System.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <set>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

namespace {

constexpr double kTurnBytes = 4096;

void set_for(Queue& queue, std::string_view path, PolicyKey key, int64_t number) {
  REQUIRE(queue.policy_set(path, {{{key, number, 0, {}}}, {}}).ok());
}
void set_fair_by(Queue& queue, FairBy what) {
  set_for(queue, "", PolicyKey::fair_by, static_cast<int64_t>(what));
}

void fill(Queue& queue, const std::string& tenant, size_t count, size_t bytes = 1) {
  const std::string payload(bytes, 'x');
  const std::vector<NewMessage> batch(100, message_for(tenant, payload));
  for (size_t pushed = 0; pushed < count; pushed += batch.size()) REQUIRE(queue.push(batch).ok());
}

/// Names of accounts that lie in a shard of their own each. What was pushed to find them is gone.
std::vector<std::string> names_apart(Queue& queue, size_t count) {
  std::vector<std::string> names;
  std::vector<MessageId> ids;
  std::set<uint64_t> shards;
  for (int i = 0; names.size() < count; ++i) {
    const std::string name = "t" + std::to_string(i);
    ids.push_back(push_one(queue, name, "x"));
    if (shards.insert(shard_of(ids.back())).second) names.push_back(name);
  }
  REQUIRE(answered(queue.mutate(ids, Action::cancel)).changed == ids.size());
  return names;
}

/// Where time is told what is drawn is the same in each run, and here so are the shards.
struct ToldShards {
  ToldShards() : sharded(kShards, told_time_engine(), &clock) {
    command(sharded.server, {"HSET", "fq1:fq:{default}:meta", "spread", std::string(32, '7')});
    sharded.queue = another();
  }
  std::unique_ptr<Queue> another() { return sharded.another(&clock); }
  Queue& queue() { return *sharded.queue; }

  FakeClock clock;
  Sharded sharded;
};

/// What the root of the shard of this message says of what can be served.
std::string told_open(const TestServer& server, MessageId id) {
  return command(server, {"HGET", tag_of(server, shard_of(id)) + "h", "open"}).text;
}

void end(Queue& queue, const Receipt& receipt, uint64_t run_us) {
  Settle item;
  item.receipt = receipt;
  item.run_us = run_us;
  REQUIRE(answered(queue.settle({&item, 1})).items.at(0) == SettleStatus::ok);
}

Delivery next_of(Queue& queue) {
  LeaseReply reply = answered(queue.lease(for_a_minute()));
  REQUIRE(reply.deliveries.size() == 1);
  return std::move(reply.deliveries[0]);
}

uint64_t count_of(const TestServer& server, const std::string& what) {
  const std::string stats = command(server, {"INFO", "commandstats"}).text;
  const std::string word = "cmdstat_" + what + ":calls=";
  const size_t at = stats.find(word);
  return at == std::string::npos ? 0 : std::stoull(stats.substr(at + word.size()));
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
      end(*other, one.receipt, static_cast<uint64_t>(ms) * 1'000);
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
    if (by == FairBy::time) end(*queue, one.receipt, one.tenant == dear ? 1'000'000 : 100'000);
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
    end(s.queue(), one.receipt, run_us);
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

TEST_CASE("what of a root cannot be read costs a turn, and nobody waits for it") {
  ToldShards s;
  set_fair_by(s.queue(), FairBy::bytes);
  const auto names = names_apart(s.queue(), 2);
  const MessageId id = push_one(s.queue(), names[0], "x");
  fill(s.queue(), names[0], 100);
  fill(s.queue(), names[1], 100);
  const std::string toll = GENERATE("", " ", " x", " nan", " inf", " -1", " 0", " 1e308", " 1e-320");
  std::map<std::string, int> served;
  for (int i = 0; i < 20; ++i) {
    command(s.sharded.server, {"HSET", tag_of(s.sharded.server, shard_of(id)) + "h", "open", "1000" + toll});
    const LeaseReply reply = answered(s.queue().lease(for_a_minute(2)));
    REQUIRE(reply.deliveries.size() == 2);
    for (const Delivery& each : reply.deliveries) ++served[each.tenant];
  }
  CHECK(served[names[1]] > 0);
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
    end(*s.queue, next_of(*s.queue).receipt, 1'000);
    const auto counted = [&] {
      return Cost{count_of(s.server, "fcall"), count_of(s.server, "hmget"), count_of(s.server, "hget")};
    };
    const Cost before = counted();
    for (int i = 0; i < 10; ++i) end(*s.another(), next_of(*s.another()).receipt, 1'000);
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

TEST_CASE("a queue of one shard keeps nothing of what its turns cost") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  set_fair_by(*queue, GENERATE(FairBy::bytes, FairBy::time));
  push_one(*queue, "a", "x");
  end(*queue, next_of(*queue).receipt, 1'000);
  const Reply keys = command(server, {"KEYS", "*h"});
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

namespace {

/// Accounts in a shard of their own each, of random weights and costs, and some clients that take turns.
class TollHistory {
 public:
  TollHistory(uint64_t seed, FairBy by) : random_(seed), by_(by) {
    set_fair_by(s_.queue(), by);
    for (const std::string& name : names_apart(s_.queue(), 2 + below(3))) {
      Account& one = accounts_[name];
      one.weight = 1'000 + static_cast<int64_t>(below(2'001));
      one.most = accounts_.size() <= 2 ? 1 + (kMost - 1) * (accounts_.size() - 1) : 1 + below(kMost);
      set_for(s_.queue(), name, PolicyKey::weight, one.weight);
    }
    const size_t clients = 1 + below(3);
    for (size_t i = 0; i < clients; ++i) clients_.push_back(s_.another());
  }

  /// How far apart accounts come in what they are given by weight, once they are level: a visit of each for
  /// each client, and of time what the average is behind.
  std::string run() {
    const double visit = kWant * kMost * kPart;
    const double promised = 2 * visit * static_cast<double>(clients_.size()) +
                            (by_ == FairBy::time ? (8 + kRunning) * kMost * kPart : 0);
    while (least() < visit) turn();
    for (auto& [name, each] : accounts_) each.before = each.given;
    while (most() < 2 * promised) {
      turn();
      if (most() - least() > promised)
        return "apart by " + std::to_string(most() - least()) + " of " + std::to_string(promised);
    }
    return "";
  }

 private:
  static constexpr size_t kWant = 3, kMost = 10, kRunning = 4;
  static constexpr double kPart = 640;  // bytes, or as many us
  struct Account {
    int64_t weight = 0;
    size_t most = 0, ready = 0;
    double given = 0, before = 0;
    double by_weight() const { return (given - before) * 1'000 / static_cast<double>(weight); }
  };

  uint64_t below(uint64_t n) { return random_() % n; }
  double most() const { return extreme(true); }
  double least() const { return extreme(false); }
  double extreme(bool is_most) const {
    std::vector<double> all;
    for (const auto& [name, each] : accounts_) all.push_back(each.by_weight());
    return is_most ? *std::max_element(all.begin(), all.end()) : *std::min_element(all.begin(), all.end());
  }

  /// An eighth of what is drawn is dear, the rest is not.
  double cost_of(const Account& account) {
    return kPart * static_cast<double>(below(8) == 0 ? account.most : 1 + below((account.most + 1) / 2));
  }

  void turn() {
    for (auto& [name, each] : accounts_) {
      std::vector<std::string> payloads;
      for (; each.ready < 4 * kWant; ++each.ready)
        payloads.emplace_back(by_ == FairBy::bytes ? static_cast<size_t>(cost_of(each)) : 1, 'x');
      std::vector<NewMessage> batch;
      for (const std::string& payload : payloads) batch.push_back(message_for(name, payload));
      if (!batch.empty()) REQUIRE(s_.queue().push(batch).ok());
    }
    Queue& queue = *clients_[below(clients_.size())];
    const LeaseReply reply = answered(queue.lease(for_a_minute(1 + below(kWant))));
    for (const Delivery& each : reply.deliveries) {
      Account& account = accounts_.at(each.tenant);
      --account.ready;
      const double cost =
          by_ == FairBy::bytes ? static_cast<double>(each.payload.bytes().size()) : cost_of(account);
      account.given += cost;
      running_.push_back({each.receipt, cost});
    }
    while (running_.size() > below(kRunning + 1)) {
      end(*clients_[below(clients_.size())], running_.front().first,
          static_cast<uint64_t>(running_.front().second));
      running_.pop_front();
    }
  }

  std::mt19937_64 random_;
  FairBy by_;
  ToldShards s_;
  std::map<std::string, Account> accounts_;
  std::vector<std::unique_ptr<Queue>> clients_;
  std::deque<std::pair<Receipt, double>> running_;
};

}  // namespace

TEST_CASE("whatever accounts of other shards cost, none is further from its share than is promised") {
  const uint64_t one = number_of("FQ_SEED", 0);
  const uint64_t first = one != 0 ? one : std::random_device{}() | 1U;
  const uint64_t count = number_of("FQ_HISTORIES", 1);
  const FairBy by = GENERATE(FairBy::bytes, FairBy::time);
  std::printf("tolls: FQ_SEED=%llu, %llu histories\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(count));
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string fault = TollHistory(seed, by).run();
    if (!fault.empty()) FAIL("FQ_SEED=" << seed << ", fair_by " << static_cast<int>(by) << ": " << fault);
  }
}

}  // namespace fq::test
