// bells_test - who waits is told, and what is not told is found all the same.
//
// Patience is 10 s in most of these, longer than a test waits for anything: a bell that is lost is seen.

// System.
#include <atomic>
#include <list>
// fq, below us.
#include "core/base/clock.h"
#include "core/redis/records/records.h"
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

const std::string kPatient = "?poll=10s";
const std::string kShardTag = "fq1:fq:{default:0:0}:";

std::unique_ptr<Queue> at(const std::string& spool) { return open_on(real_time_engine(), spool); }

/// So many are noted down: from then on they sleep.
void wait_for_waiters(const TestServer& server, int64_t count, const std::string& list = kShardTag + "bw") {
  wait_until([&] { return command(server, {"ZCARD", list}).number == count; });
}

}  // namespace

TEST_CASE("who waits is told of a push at once") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  Waiter waiter(at(server.spool(kPatient)));
  wait_for_waiters(server, 1);
  const MessageId id = push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.at(0).id == id);
  CHECK(command(server, {"ZCARD", kShardTag + "bw"}).number == 0);
}

TEST_CASE("one message wakes one of many, and each has its own") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  std::list<Waiter> waiters;
  for (int i = 0; i < 10; ++i) waiters.emplace_back(at(server.spool(kPatient)));
  wait_for_waiters(server, 10);
  const uint64_t before = calls_of(server);
  push_one(*queue, "t", "x");
  wait_for_waiters(server, 9);
  wait_until([&] {
    return std::count_if(waiters.begin(), waiters.end(), [](Waiter& each) { return each.is_back(0); }) == 1;
  });
  CHECK(calls_of(server) - before <= 3);  // the push, the lease, and who keeps the time of its end
  std::vector<NewMessage> rest(9);
  answered(queue->push(rest));
  for (Waiter& each : waiters) CHECK(each.reply().deliveries.size() == 1);
}

TEST_CASE("a message that comes between the look and the subscription is found by the second look") {
  const Sharded s(GENERATE(1U, 4U));
  std::atomic<bool> is_pushed = false;
  const Relay relay(s.server, [&](const std::string& asked) {
    const bool subscribes = asked.find("SSUBSCRIBE") != std::string::npos;
    if (subscribes && !is_pushed.exchange(true)) push_one(*s.queue, "t", "between");
    return std::string();
  });
  Waiter waiter(at(relay.spool(kPatient)));
  CHECK(waiter.reply().deliveries.size() == 1);
  CHECK(is_pushed);
}

TEST_CASE("who waits is told of what is due earlier than anything that was known") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  std::list<Waiter> waiters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back(at(server.spool(kPatient)));
  wait_for_waiters(server, 3);
  std::vector<NewMessage> late(3);
  for (size_t i = 0; i < late.size(); ++i) late[i].delay_ms = 300 - 100 * static_cast<int64_t>(i);
  for (const NewMessage& each : late) answered(queue->push({&each, 1}));
  for (Waiter& each : waiters) CHECK(each.reply().deliveries.size() == 1);
}

TEST_CASE("where the one that kept the time has gone another one keeps it") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  std::list<Waiter> waiters;
  for (int i = 0; i < 2; ++i) waiters.emplace_back(at(server.spool(kPatient)));
  wait_for_waiters(server, 2);
  NewMessage late;
  late.delay_ms = 1'000;
  answered(queue->push({&late, 1}));
  wait_for_waiters(server, 2);
  push_one(*queue, "t", "x");  // for one of them
  for (Waiter& each : waiters) CHECK(each.reply().deliveries.size() == 1);
}

TEST_CASE("who waits is told when a limit lets go, a tenant is resumed, a lease runs out or is given back") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  set(*queue, "t", PolicyKey::concurrency, 1);
  push_one(*queue, "t", "one");
  push_one(*queue, "t", "two");
  const LeaseReply first = answered(queue->lease(for_a_minute()));
  Settle verdict;
  verdict.receipt = first.deliveries.at(0).receipt;
  Waiter waiter(at(server.spool(kPatient)));
  wait_for_waiters(server, 1);
  SECTION("a verdict") {
    CHECK(answered(queue->settle({&verdict, 1})).items.at(0) == SettleStatus::ok);
    CHECK(answered(waiter.reply().deliveries.at(0).payload.read_all()) == "two");
  }
  SECTION("given back") {
    verdict.verdict = Verdict::release;
    CHECK(answered(queue->settle({&verdict, 1})).items.at(0) == SettleStatus::ok);
    CHECK(answered(waiter.reply().deliveries.at(0).payload.read_all()) == "one");
  }
  SECTION("a higher limit") {
    set(*queue, "t", PolicyKey::concurrency, 2);
    CHECK(waiter.reply().deliveries.size() == 1);
  }
  SECTION("a lease that runs out") {
    answered(queue->extend({&verdict.receipt, 1}, 200));
    CHECK(waiter.reply().deliveries.size() == 1);
  }
  SECTION("resumed") {
    set(*queue, "u", PolicyKey::paused, 1);
    push_one(*queue, "u", "three");
    CHECK(!waiter.is_back(100));
    REQUIRE(queue->policy_set("u", {{}, {PolicyKey::paused}}).ok());
    CHECK(answered(waiter.reply().deliveries.at(0).payload.read_all()) == "three");
  }
}

TEST_CASE("who waits for one tenant is told of that one, and not of others") {
  const uint32_t shards = GENERATE(1U, 4U);
  const Sharded s(shards);
  const MessageId first = push_one(*s.queue, "a", "x");
  const uint64_t shard = shards == 1 ? 0 : shard_of(first);
  answered(s.queue->lease(for_a_minute()));
  Waiter of_one(at(s.server.spool(kPatient)), until_there(), "a/b");
  wait_for_waiters(s.server, 1, tag_of(s.server, shard) + "bf");
  const uint64_t before = calls_of(s.server);
  push_one(*s.queue, "other", "x");
  CHECK(!of_one.is_back(100));
  // Over shards it looks again once it is noted down.
  CHECK(calls_of(s.server) - before <= (shards > 1 ? 2U : 1U));
  push_one(*s.queue, "a/b/c", "x");
  CHECK(of_one.reply().deliveries.at(0).tenant == "a/b/c");
  CHECK(command(s.server, {"ZCARD", tag_of(s.server, shard) + "bf"}).number == 0);
}

TEST_CASE("who waits for one tenant is told however many wait for others, and whoever died before it") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  for (int i = 0; i < 200; ++i)
    command(server,
            {"ZADD", kShardTag + "bf", "+inf", std::string(kNonceBytes, '0') + "other" + std::to_string(i)});
  command(server,
          {"HSET", kShardTag + "bt", "a", std::string(kNonceBytes, 'y') + std::string(kNonceBytes, 'z')});
  Waiter waiter(at(server.spool(kPatient)), until_there(), "a");
  wait_for_waiters(server, 201, kShardTag + "bf");
  SECTION("of a push") { push_one(*queue, "a/b", "x"); }
  SECTION("of a tenant below that is resumed") {
    set(*queue, "a/b", PolicyKey::paused, 1);
    push_one(*queue, "a/b", "x");
    CHECK(!waiter.is_back(100));
    REQUIRE(queue->policy_set("a/b", {{}, {PolicyKey::paused}}).ok());
  }
  CHECK(waiter.reply().deliveries.at(0).tenant == "a/b");
  CHECK(command(server, {"EXISTS", kShardTag + "bt"}).number == 0);
}

TEST_CASE("who gives up waiting for a message is struck out") {
  const Sharded s(GENERATE(1U, 4U));
  const std::string tenant = GENERATE(as<std::string>(), "", "t");
  LeaseRequest request = until_there();
  request.tenant = tenant;
  request.wait_ms = 100;
  const int64_t began_ms = system_clock().boot_ms();
  CHECK(answered(at(s.server.spool(kPatient))->lease(request)).why_empty == WhyEmpty::timed_out);
  CHECK(system_clock().boot_ms() - began_ms < 5'000);  // when its wait is over, and not its patience
  for (const Reply& key : command(s.server, {"KEYS", "*"}).items)
    for (const char* list : {":bw", ":bf", ":bt"}) CHECK(!key.text.ends_with(list));
}

TEST_CASE("a holder that waits is told what others made of its leases", "[threads]") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  const MessageId id = push_one(*queue, "t", "x");
  const auto holder = open_on(real_time_engine(), server.spool(kPatient));
  LeaseRequest request;
  request.watch = request.wait = true;
  REQUIRE(answered(holder->lease(request)).deliveries.size() == 1);
  auto news = std::async(std::launch::async, [&] {
    request.want = 0;
    return holder->lease(request);
  });
  wait_until([&] { return command(server, {"PUBSUB", "SHARDCHANNELS"}).items.size() == 1; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // so that it sleeps; it is told before, too
  answered(queue->mutate({&id, 1}, Action::cancel));
  REQUIRE(news.wait_for(std::chrono::milliseconds(kSoonMs)) == std::future_status::ready);
  CHECK(answered(news.get()).changes.at(0).what == LeaseChange::What::cancelled);
}

TEST_CASE("who waits on many shards is told by each of them") {
  const Sharded s;
  std::string other;
  const auto drain = [&] {
    while (!answered(s.queue->lease(for_a_minute(16))).deliveries.empty()) continue;
  };
  two_apart(*s.queue, other);
  drain();
  for (const std::string& tenant : {std::string("a"), other}) {
    Waiter waiter(at(s.server.spool(kPatient)));
    for (uint64_t shard = 0; shard < kShards; ++shard)
      wait_for_waiters(s.server, 1, tag_of(s.server, shard) + "bw");
    push_one(*s.queue, tenant, "x");
    CHECK(waiter.reply().deliveries.at(0).tenant == tenant);
    for (uint64_t shard = 0; shard < kShards; ++shard)
      CHECK(command(s.server, {"ZCARD", tag_of(s.server, shard) + "bw"}).number == 0);
  }
  Waiter waiter(at(s.server.spool(kPatient)));
  wait_for_waiters(s.server, 1, tag_of(s.server, kShards - 1) + "bw");
  command(s.server, {"FUNCTION", "FLUSH"});
  NewMessage late = message_for(other);
  late.delay_ms = 200;
  answered(s.queue->push({&late, 1}));
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("who has looked for what time has changed in a shard is told of what comes there after that") {
  const Sharded s;
  set(*s.queue, "a", PolicyKey::concurrency, 1);
  const uint64_t shard = shard_of(push_one(*s.queue, "a", "runs"));
  const std::string root = tag_of(s.server, shard) + "h";
  const std::vector<Delivery> runs = answered(s.queue->lease(for_a_minute())).deliveries;
  REQUIRE(runs.size() == 1);
  Waiter waiter(at(s.server.spool(kPatient)));
  wait_for_waiters(s.server, 1, tag_of(s.server, shard) + "bw");
  NewMessage later = message_for("a"), dies = message_for("a");
  later.delay_ms = 3'600'000;
  dies.ttl_ms = 300;
  answered(s.queue->push({&later, 1}));
  const MessageId dead = answered(s.queue->push({&dies, 1})).items[0].id;
  // Whom the time has woken has told the shard to do what was due.
  wait_until([&] { return answered(s.queue->get(dead)).value().state == State::dead; });
  wait_until([&] {
    return command(s.server, {"HGET", root, "due"}).text > command(s.server, {"HGET", root, "now"}).text;
  });
  Settle ack;
  ack.receipt = runs[0].receipt;
  ack.verdict = Verdict::ack;
  answered(s.queue->settle({&ack, 1}));
  push_one(*s.queue, "a", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("a wait goes on where its connections are cut") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  Relay relay(server);
  Waiter waiter(at(relay.spool(kPatient)));
  wait_for_waiters(server, 1);
  relay.cut();
  SECTION("at once") {}
  SECTION("and it is told again some time later") {
    wait_until([&] { return command(server, {"PUBSUB", "SHARDCHANNELS"}).items.size() == 1; });
    wait_for_waiters(server, 1);
  }
  push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("one who died while it waited takes no bell from those that live") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  Waiter waiter(at(server.spool(kPatient)));
  wait_for_waiters(server, 1);
  for (const char* member : {"zzzzzzzzzz1", "zzzzzzzzzz2", "00000000000"})
    command(server, {"ZADD", kShardTag + "bw", "+inf", member});
  push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("functions that are gone while somebody waits cost nothing but a load") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  Waiter waiter(at(server.spool(kPatient)));
  wait_for_waiters(server, 1);
  command(server, {"FUNCTION", "FLUSH"});
  push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("who may not be told, or not tell, waits all the same") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  command(server, {"ACL", "SETUSER", "admin", "on", ">all", "~*", "&*", "+@all"});
  SECTION("not be told: it asks often") {
    command(server, {"ACL", "SETUSER", "default", "-ssubscribe"});
    Waiter waiter(at(server.spool(kPatient)));
    CHECK(!waiter.is_back(200));
    push_one(*queue, "t", "x");
    CHECK(waiter.reply().deliveries.size() == 1);
  }
  SECTION("not tell: its patience has an end") {
    Waiter waiter(at(server.spool("?poll=500ms")));
    wait_for_waiters(server, 1);
    command(server, {"ACL", "SETUSER", "default", "-spublish"});
    push_one(*queue, "t", "x");
    CHECK(waiter.reply().deliveries.size() == 1);
  }
}

TEST_CASE("who is rung all the time looks a few times a tenth of a second, and hears of its interrupt") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  Waiter waiter(at(server.spool(kPatient)));
  wait_for_waiters(server, 1);
  const std::string channel = command(server, {"PUBSUB", "SHARDCHANNELS"}).at(0).text;
  RedisPlace place = answered(parse_redis_place(server.spool()));
  const auto bell = answered(Server::open(place, ""));
  const uint64_t before = calls_of(server);
  const int64_t begin_ms = system_clock().boot_ms();
  int64_t took_ms = 0;
  while ((took_ms = system_clock().boot_ms() - begin_ms) < 1'000)
    answered(bell->call(std::array<std::string_view, 3>{"SPUBLISH", channel, ""}));
  CHECK(calls_of(server) - before <= static_cast<uint64_t>(20 * (took_ms / 100 + 2)));
  waiter.interrupt();
  CHECK(waiter.reply().why_empty == WhyEmpty::interrupted);
}

TEST_CASE("what is no bell is refused, and the wait goes on without") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  const std::string answer = GENERATE(
      as<std::string>(), "+OK\r\n", "*3\r\n$10\r\nssubscribe\r\n$1\r\nx\r\n:1\r\n", "what?\r\n",
      "*2147483647\r\n", "$536870912\r\n", "*-1\r\n", "*0\r\n", "-ERR\r\n", "-MOVED 1 [::1]:99999\r\n",
      "*3\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n");
  CAPTURE(answer);
  const Relay relay(server, [&](const std::string& asked) {
    return asked.find("SSUBSCRIBE") != std::string::npos ? answer : std::string();
  });
  Waiter waiter(at(relay.spool("?poll=10s&timeout=1s")));
  CHECK(!waiter.is_back(100));
  push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("an interrupt is heard while a client sleeps") {
  const TestServer server;
  Waiter waiter(at(server.spool(kPatient)));
  wait_for_waiters(server, 1);
  waiter.interrupt();
  CHECK(waiter.reply().why_empty == WhyEmpty::interrupted);
}

TEST_CASE("a wait that finds something at once makes no second connection") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "t", "x");
  const auto connections = [&] {
    const std::string info = command(server, {"INFO", "stats"}).text;
    const std::string word = "total_connections_received:";
    return std::strtoull(info.c_str() + info.find(word) + word.size(), nullptr, 10);
  };
  const uint64_t before = connections();
  CHECK(answered(queue->lease(until_there())).deliveries.size() == 1);
  LeaseRequest not_long = until_there();
  not_long.wait_ms = 0;
  CHECK(answered(queue->lease(not_long)).deliveries.empty());
  CHECK(connections() - before == 1);  // of the second look at that number
}

TEST_CASE("on a queue where nobody waits nothing is rung, nor is anything looked up for it") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "t", "x");
  CHECK(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(command(server, {"INFO", "commandstats"}).text.find("spublish") == std::string::npos);
  CHECK(command(server, {"EXISTS", kShardTag + "bw", kShardTag + "bf"}).number == 0);
  CHECK(!command(server, {"HGET", kShardTag + "h", "waiters"}).is_text());
}

}  // namespace fq::test
