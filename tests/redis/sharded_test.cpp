// sharded_test - a queue cut into shards: what lies where, who is served when, and what is refused.
#include "tests/redis/sharded_fixture.h"

// System.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace fq::test {

TEST_CASE("shards are a power of two, and fixed when a queue is made") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  const Location location{server.spool(), "q"};
  CHECK(answered(engine.create(location, {.shards = 4})));
  CHECK(!answered(engine.create(location, {.shards = 4})));
  CHECK(!answered(engine.create(location, {})));
  const Result<bool> other = engine.create(location, {.shards = 8});
  REQUIRE(!other.ok());
  CHECK(other.error().kind == ErrorKind::usage);
  CHECK(other.error().text.find("has 4 shards") != std::string::npos);
  CHECK(answered(engine.open(location, {}))->caps().shards == 4);
  CHECK(answered(engine.create({server.spool(), "one"}, {})));
  CHECK(answered(engine.open({server.spool(), "one"}, {}))->caps().shards == 1);
}

TEST_CASE("a queue of which not all shards were made is finished by whoever makes it next") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  REQUIRE(answered(engine.create({server.spool(), "default"}, {.shards = 4})));
  command(server, {"HDEL", "fq1:fq:{default}:meta", "whole"});
  command(server, {"UNLINK", tag_of(server, 2) + "h", tag_of(server, 3) + "h"});
  const auto queue = open_on(engine, server.spool());
  std::set<uint64_t> met;
  for (int i = 0; met.size() < 4; ++i) met.insert(shard_of(push_one(*queue, "t" + std::to_string(i), "x")));
  CHECK(answered(queue->check({})).findings.empty());
}

TEST_CASE("what of a queue's shards cannot be read is refused, not guessed") {
  const TestServer server;
  REQUIRE(answered(real_time_engine().create({server.spool(), "default"}, {.shards = 4})));
  const char* field = GENERATE("shards", "spread", "places");
  const char* value = GENERATE("", "3", "2048", "x", "a b c");
  command(server, {"HSET", "fq1:fq:{default}:meta", field, value});
  const auto opened = real_time_engine().open({server.spool(), "default"}, {});
  REQUIRE(!opened.ok());
  CHECK(opened.error().kind == ErrorKind::bad_data);
}

TEST_CASE("an account lies in one shard, its ids ascend, and accounts are spread") {
  Sharded s;
  std::map<std::string, std::set<uint64_t>> met;
  std::map<std::string, uint64_t> last;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 64; ++i) {
      const std::string account = "t" + std::to_string(i);
      const MessageId id = push_one(*s.queue, account + "/" + std::to_string(round), "x");
      met[account].insert(shard_of(id));
      CHECK(number(id) > last[account]);
      last[account] = number(id);
    }
  }
  std::set<uint64_t> used;
  for (const auto& [account, shards] : met) {
    CHECK(shards.size() == 1);
    used.insert(*shards.begin());
  }
  CHECK(used.size() > kShards / 2);
}

TEST_CASE("a batch goes to all its shards, and each message says what became of it") {
  Sharded s;
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("t" + std::to_string(i % 50));
  std::vector<NewMessage> batch;
  for (const std::string& name : names) batch.push_back(message_for(name, name));
  const PushReply reply = answered(s.queue->push(batch));
  REQUIRE(reply.items.size() == batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    REQUIRE(reply.items.at(i).status == PushStatus::accepted);
    const auto info = answered(s.queue->get(reply.items.at(i).id));
    REQUIRE(info);
    CHECK(info->tenant == names[i]);
  }
  batch[150].priority = 1;
  batch[199].tenant = "no good//name";
  CHECK(!s.queue->push(batch).ok());
  CHECK(answered(s.queue->stats({})).rows.at(0).pushed == 200);
}

TEST_CASE("where one shard has no room, those that were put are told, and why the others were not") {
  Sharded s;
  std::string other;
  two_apart(*s.queue, other);
  REQUIRE(s.queue->policy_set(other, {{{PolicyKey::max_messages, 1, 0, {}}}, {}}).ok());
  const std::vector<NewMessage> batch = {message_for("a"), message_for(other), message_for("a")};
  const PushReply reply = answered(s.queue->push(batch));
  CHECK(reply.items.at(0).status == PushStatus::accepted);
  CHECK(!is_accepted(reply.items.at(1).status));
  CHECK(reply.items.at(2).status == PushStatus::accepted);
  REQUIRE(reply.error);
  CHECK(reply.error->kind == ErrorKind::later);
  const Result<PushReply> none = s.queue->push(std::span(batch).subspan(1, 1));
  REQUIRE(!none.ok());
  CHECK(none.error().kind == ErrorKind::later);
}

TEST_CASE("what two shards would have to know together is refused by name") {
  Sharded s;
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  NewMessage after = message_for(other);
  after.after = {first};
  const Result<PushReply> pushed = s.queue->push({&after, 1});
  REQUIRE(!pushed.ok());
  CHECK(pushed.error().kind == ErrorKind::usage);
  CHECK(pushed.error().text.find("another shard") != std::string::npos);
  after.after = {second};
  CHECK(s.queue->push({&after, 1}).ok());
  {
    const PolicyValue value{PolicyKey::scope, 1, 0, {}};
    const Result<void> set = s.queue->policy_set("", {{value}, {}});
    REQUIRE(!set.ok());
    CHECK(set.error().kind == ErrorKind::config);
    const Result<void> loaded = s.queue->policy_load({{value}, {}, {}}, {.inode = 1});
    REQUIRE(!loaded.ok());
    CHECK(loaded.error().kind == ErrorKind::config);
  }
  CHECK(answered(s.queue->policy_is_current({})));
  CHECK(s.queue->policy_set("a", {{{PolicyKey::concurrency, 1, 0, {}}}, {}}).ok());
}

TEST_CASE("a policy holds in all shards, and is current when all have it") {
  Sharded s;
  REQUIRE(s.queue->policy_load({{{PolicyKey::attempts, 2, 0, {}}}, {}, {}}, {.inode = 7}).ok());
  CHECK(answered(s.queue->policy_is_current({.inode = 7})));
  CHECK(answered(s.another()->settings()).attempts_max == 2);
  command(s.server, {"HSET", tag_of(s.server, 9) + "h", "identity", "another"});
  CHECK(!answered(s.queue->policy_is_current({.inode = 7})));
  REQUIRE(s.queue->policy_set("", {{{PolicyKey::paused, 1, 0, {}}}, {}}).ok());
  for (int i = 0; i < 40; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  CHECK(answered(s.queue->lease(for_a_minute(40))).deliveries.empty());
  REQUIRE(s.queue->policy_set("", {{}, {PolicyKey::paused}}).ok());
  CHECK(answered(s.queue->lease(for_a_minute(40))).deliveries.size() == 40);
  for (const char* path : {"t1", "t2", "t3"})
    REQUIRE(s.queue->policy_set(path, {{{PolicyKey::weight, 2'000, 0, {}}}, {}}).ok());
  std::string paths;
  for (Cursor from;;) {
    const OverridePage page = answered(s.queue->policy_overrides(from, 1));
    for (const PolicyOverride& each : page.overrides) paths += each.path + " ";
    from = page.next;
    if (from.text.empty()) break;
  }
  CHECK(paths == "t1 t2 t3 ");
}

TEST_CASE("the text of a policy lies in no shard, and goes from one to which an earlier fq gave it") {
  Sharded s(4);
  const Policy policy{{{PolicyKey::attempts, 2, 0, {}}}, {}, {}};
  const std::string brief = "#", full(100'000, '#');
  const auto all_bytes = [&] {
    int64_t bytes = 0;
    for (uint64_t shard = 0; shard < 4; ++shard)
      bytes += command(s.server, {"MEMORY", "USAGE", tag_of(s.server, shard) + "h", "SAMPLES", "0"}).number;
    return bytes;
  };
  REQUIRE(s.queue->policy_load(policy, {.inode = 1}, &brief).ok());
  const int64_t before = all_bytes();
  REQUIRE(before > 0);
  REQUIRE(s.queue->policy_load(policy, {.inode = 2}, &full).ok());
  CHECK(all_bytes() < before + 1'000);
  for (uint64_t shard = 0; shard < 4; ++shard)
    command(s.server, {"HSET", tag_of(s.server, shard) + "h", "text", full});
  CHECK(answered(s.another()->settings()).attempts_max == 2);
  CHECK(answered(s.queue->policy_is_current({.inode = 2})));
  REQUIRE(s.queue->policy_load(policy, {.inode = 3}, &full).ok());
  CHECK(all_bytes() < before + 10'000);
}

/// Where an account is alone in its shard, by what was drawn when both were made it may begin some turns
/// late: here accounts are spread alike in each run, and the draw is the same.
TEST_CASE("of many accounts each has its share, whatever shard it lies in") {
  FakeClock clock;
  Sharded s(kShards, told_time_engine(), &clock);
  command(s.server, {"HSET", "fq1:fq:{default}:meta", "spread", std::string(32, '7')});
  s.queue = s.another(&clock);
  constexpr int kAccounts = 100, kEach = 30;
  for (int i = 0; i < kAccounts; ++i) {
    const std::string account = "t" + std::to_string(i);
    const int64_t weight = i % 10 == 0 ? 3'000 : 1'000;
    if (weight != 1'000)
      REQUIRE(s.queue->policy_set(account, {{{PolicyKey::weight, weight, 0, {}}}, {}}).ok());
    const std::vector<NewMessage> batch(kEach, message_for(account));
    REQUIRE(answered(s.queue->push(batch)).items.size() == kEach);
  }
  // 90 of weight 1 and 10 of weight 3: 1,200 turns are ten rounds.
  std::map<std::string, int> served;
  const size_t want = GENERATE(size_t{1}, size_t{16});
  for (int taken = 0; taken < 1'200;) {
    const LeaseReply reply = answered(s.queue->lease(for_a_minute(want)));
    REQUIRE(!reply.deliveries.empty());
    for (const Delivery& each : reply.deliveries) ++served[each.tenant];
    taken += static_cast<int>(reply.deliveries.size());
  }
  for (int i = 0; i < kAccounts; ++i) {
    const double share = i % 10 == 0 ? 30 : 10;
    // A tenth beside what a turn more or less of the shard is.
    CHECK(std::abs(served["t" + std::to_string(i)] - share) <= share / 10 + 2);
  }
}

TEST_CASE("one that comes for a single message draws by weight") {
  Sharded s;
  std::string other;
  two_apart(*s.queue, other);
  const std::vector<NewMessage> light(300, message_for("a")), heavy(300, message_for(other));
  REQUIRE(s.queue->push(light).ok());
  REQUIRE(s.queue->push(heavy).ok());
  REQUIRE(s.queue->policy_set(other, {{{PolicyKey::weight, 3'000, 0, {}}}, {}}).ok());
  // Whoever else two_apart() has met is out of the way.
  int of_light = 0, of_heavy = 0;
  for (int i = 0; i < 240; ++i) {
    const auto queue = s.another();
    const LeaseReply reply = answered(queue->lease(for_a_minute()));
    of_light += reply.deliveries.at(0).tenant == "a" ? 1 : 0;
    of_heavy += reply.deliveries.at(0).tenant == other ? 1 : 0;
  }
  // 60 and 180, and by chance within six times what is usual.
  CHECK(std::abs(of_light - 60) < 40);
  CHECK(of_heavy > 130);
}

TEST_CASE("all that is there is served, in any number of shards and to any number of clients") {
  Sharded s(GENERATE(2U, 64U));
  std::set<uint64_t> pushed, served;
  for (int i = 0; i < 300; ++i) pushed.insert(number(push_one(*s.queue, "t" + std::to_string(i % 70), "x")));
  const auto other = s.another();
  for (int i = 0;; ++i) {
    Queue& queue = i % 2 == 0 ? *s.queue : *other;
    const LeaseReply reply = answered(queue.lease(for_a_minute(7)));
    std::vector<Settle> acks;
    for (const Delivery& each : reply.deliveries) {
      CHECK(served.insert(number(each.id)).second);
      acks.push_back({.receipt = each.receipt});
    }
    if (acks.empty()) break;
    for (const SettleStatus status : answered(queue.settle(acks)).items) CHECK(status == SettleStatus::ok);
  }
  CHECK(served == pushed);
  CHECK(answered(s.queue->check({})).findings.empty());
  EndRequest idle;
  idle.until_idle = true;
  idle.wait_ms = 5'000;
  CHECK(answered(s.queue->await_end(idle)) == EndStatus::ended);
}

TEST_CASE("who waits is woken by a push to any shard, and by one that becomes due") {
  Sharded s;
  const int64_t delay_ms = GENERATE(0, 60);
  const std::string tenant = "t" + std::to_string(std::random_device{}() % 1'000);
  NewMessage message = message_for(tenant);
  if (delay_ms > 0) message.delay_ms = delay_ms;
  REQUIRE(s.queue->push({&message, 1}).ok());
  LeaseRequest request = for_a_minute();
  request.wait = true;
  request.wait_ms = 10'000;
  CHECK(answered(s.another()->lease(request)).deliveries.size() == 1);
  request.wait_ms = 20;
  CHECK(answered(s.queue->lease(request)).why_empty == WhyEmpty::timed_out);
}

TEST_CASE("a process is one worker, whatever shards it works in, and leaves all of them") {
  Sharded s;
  for (int i = 0; i < 20; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  {
    const auto worker = s.another();
    REQUIRE(worker->attend({.slots = 20, .messages = 1}).ok());
    LeaseRequest request;
    request.want = 20;
    REQUIRE(answered(worker->lease(request)).deliveries.size() == 20);
    const std::vector<Attendee> all = answered(s.queue->attendees());
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == Attendee::Kind::worker);
    CHECK(all[0].ids.size() == 20);
    CHECK(all[0].busy == 20);
  }
  CHECK(answered(s.queue->attendees()).empty());
  CHECK(answered(s.queue->lease(for_a_minute(20))).deliveries.size() == 20);
}

TEST_CASE("after a restart ids and serials of a shard go on far ahead, and stay of that shard") {
  Sharded s;
  const MessageId before = push_one(*s.queue, "a", "x");
  command(s.server, {"HSET", tag_of(s.server, shard_of(before)) + "h", "run", "another"});
  const MessageId later = push_one(*s.queue, "a", "x");
  CHECK(shard_of(later) == shard_of(before));
  CHECK(number(later) > number(before) + 1024 * (uint64_t{1} << 20));
  CHECK(answered(s.queue->lease(for_a_minute(2))).deliveries.size() == 2);
}

TEST_CASE("a queue of many shards is removed without a key left") {
  Sharded s(64);
  for (int i = 0; i < 100; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  REQUIRE(s.engine_.remove(s.location()).ok());
  CHECK(keys_of(s.server).empty());
  CHECK(s.queue->get(MessageId{1024}).error().kind == ErrorKind::missing);
}

TEST_CASE("a queue of shards is idle at once where only time had to do something") {
  FakeClock clock;
  Sharded s(4, told_time_engine(), &clock);
  const bool held = GENERATE(true, false);
  for (const std::string tenant : {"a", "b", "c"}) {
    NewMessage message = message_for(tenant);
    if (!held) message.ttl_ms = 1'000;
    answered(s.queue->push({&message, 1}));
  }
  if (held)
    answered(s.queue->lease({.want = 9, .hold = Hold::duration, .hold_ms = 1'000, .attempts_max = 1}));
  CHECK(answered(s.queue->await_end({.until_idle = true, .wait_ms = 0})) == EndStatus::timed_out);
  clock.advance(1'000);
  CHECK(answered(s.queue->await_end({.until_idle = true, .wait_ms = 0})) == EndStatus::ended);
}

}  // namespace fq::test
