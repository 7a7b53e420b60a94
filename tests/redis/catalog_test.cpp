// catalog_test - queues of a prefix: made, listed, removed without a trace.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

// System.
#include <unistd.h>

#include <set>
// fq, below us.
#include "core/redis/shard/shard_places.h"

namespace fq::test {

namespace {

using Names = std::vector<std::string>;

/// From then on it sleeps.
void wait_for_waiter(const TestServer& server, const std::string& queue) {
  const std::string list = "fq1:fq:{" + queue + ":0:0}:bw";
  wait_until([&] { return command(server, {"ZCARD", list}).number == 1; });
}

}  // namespace

TEST_CASE("queues are made once, listed by name and removed without a key left") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  CHECK(answered(engine.create({server.spool(), "b"}, {})));
  CHECK(!answered(engine.create({server.spool(), "b"}, {})));
  CHECK(answered(engine.create({server.spool(), "a"}, {})));
  CHECK(answered(engine.list(server.spool())) == Names{"a", "b"});
  for (const char* name : {"a", "b"}) {
    const auto queue = answered(engine.open({server.spool(), name}, {}));
    push_one(*queue, "acme/x", name);
    push_one(*queue, "acme", name);
    REQUIRE(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
    REQUIRE(engine.remove({server.spool(), name}).ok());
    const Result<std::optional<MessageInfo>> gone = queue->get(MessageId{1});
    REQUIRE(!gone.ok());
    CHECK(gone.error().kind == ErrorKind::missing);
  }
  CHECK(keys_of(server) == Names{});
  CHECK(engine.remove({server.spool(), "a"}).error().kind == ErrorKind::missing);
}

TEST_CASE("a queue of shards under another name keeps what it has, beside one that has its old name") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  const Location old{server.spool(), "old"}, later{server.spool(), "new"};
  const auto fill = [&](const Location& location, uint32_t shards) {
    REQUIRE(answered(engine.create(location, {.shards = shards})));
    const auto queue = answered(engine.open(location, {}));
    // Of names that look like what stands around the keys, too.
    for (int i = 0; i < 20; ++i) push_one(*queue, "t" + std::to_string(i) + ":0}:h", "x");
  };
  const auto count = [&](const Location& location) {
    return answered(answered(engine.open(location, {}))->select({}, {}, 100)).ids.size();
  };
  fill(old, 4);
  REQUIRE(engine.rename(old, "new").ok());
  CHECK(count(later) == 20);
  fill(old, 2);
  CHECK(count(old) == 20);
  REQUIRE(engine.remove(old).ok());
  CHECK(count(later) == 20);
  REQUIRE(engine.remove(later).ok());
  CHECK(keys_of(server) == Names{});
}

/// Places are drawn, so some of them would be another queue's in some of these.
TEST_CASE("a queue that is made under the name of a renamed one shares no shard with it") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  std::set<std::string> places;
  for (int i = 0; i < 8; ++i) {
    REQUIRE(answered(engine.create({server.spool(), "q"}, {.shards = 64})));
    const Reply told = command(server, {"HGET", "fq1:fq:{q}:meta", "places"});
    for (const std::string& each : places_in(told.text)) CHECK(places.insert(each).second);
    REQUIRE(engine.rename({server.spool(), "q"}, "q" + std::to_string(i)).ok());
  }
}

TEST_CASE("a queue of shards keeps its name, and stays, while a process is attached to any of them") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  const Location location{server.spool(), "q"};
  answered(engine.create(location, {.shards = 4}));
  for (int i = 0; i < 8; ++i) {
    const auto queue = answered(engine.open(location, {}));
    const std::string tenant = "t" + std::to_string(i);
    push_one(*queue, tenant, "x");
    LeaseRequest request;
    request.tenant = tenant;
    REQUIRE(answered(queue->lease(request)).deliveries.size() == 1);
    CHECK(engine.rename(location, "r").error().kind == ErrorKind::later);
    const Result<void> removed = engine.remove(location);
    REQUIRE(!removed.ok());
    CHECK(removed.error().kind == ErrorKind::later);
    CHECK(removed.error().text.find("is in use by process " + std::to_string(getpid())) != std::string::npos);
    CHECK(answered(queue->select({}, {}, 1)).ids.empty() == false);
  }
  REQUIRE(engine.remove(location).ok());
  CHECK(keys_of(server) == Names{});
}

TEST_CASE("prefixes and databases keep queues of one name apart") {
  const TestServer server;
  const auto one = open_on(real_time_engine(), server.spool("?prefix=one"));
  const auto two = open_on(real_time_engine(), server.spool("?prefix=two"));
  const auto third = open_on(real_time_engine(), server.spool("?prefix=one&db=1"));
  push_one(*one, "t", "x");
  CHECK(answered(two->lease(for_a_minute())).deliveries.empty());
  CHECK(answered(third->lease(for_a_minute())).deliveries.empty());
  CHECK(answered(one->lease(for_a_minute())).deliveries.size() == 1);
}

TEST_CASE("a queue of another schema is refused, naming both") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  command(server, {"HSET", "fq1:fq:{default:0:0}:h", "schema", "7"});
  const Result<LeaseReply> leased = queue->lease(for_a_minute());
  REQUIRE(!leased.ok());
  CHECK(leased.error().kind == ErrorKind::unusable);
  command(server, {"HSET", "fq1:fq:{default}:meta", "schema", "7"});
  const Result<std::unique_ptr<Queue>> opened = real_time_engine().open({server.spool(), "default"}, {});
  REQUIRE(!opened.ok());
  CHECK(opened.error().kind == ErrorKind::unusable);
  CHECK(opened.error().text.find("'7'") != std::string::npos);
}

TEST_CASE("a receipt tells its queue from others, and is good in no other") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  answered(engine.create({server.spool(), "a"}, {}));
  answered(engine.create({server.spool(), "b"}, {}));
  const auto a = answered(engine.open({server.spool(), "a"}, {}));
  const auto b = answered(engine.open({server.spool(), "b"}, {}));
  push_one(*a, "t", "x");
  push_one(*b, "t", "x");
  const Receipt of_a = answered(a->lease(for_a_minute())).deliveries.at(0).receipt;
  REQUIRE(answered(b->lease(for_a_minute())).deliveries.size() == 1);
  const std::string text = of_a.text();
  CHECK(answered(engine.queue_marked(server.spool(), text.substr(text.rfind('.') + 1))) == "a");
  CHECK(answered(engine.queue_marked(server.spool(), "0000")).empty());
  Settle ack;
  ack.receipt = of_a;
  CHECK(answered(b->settle({&ack, 1})).items.at(0) == SettleStatus::foreign);
  CHECK(answered(a->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
}

TEST_CASE("who did not lease cannot settle, though it knows id and serial") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "t", "x");
  Settle ack;
  ack.receipt = answered(queue->lease(for_a_minute())).deliveries.at(0).receipt;
  std::string text = ack.receipt.text();
  text.back() = text.back() == 'a' ? 'b' : 'a';
  ack.receipt = Receipt(text);
  CHECK(answered(queue->settle({&ack, 1})).items.at(0) == SettleStatus::stale);
}

TEST_CASE("a queue that somebody is making just now is there for who opens it") {
  const uint32_t shards = GENERATE(1U, 4U);
  Sharded s(shards);
  const std::string meta = "fq1:fq:{default}:meta";
  command(s.server, {"HDEL", meta, "whole"});
  for (uint32_t shard = 0; shard < shards; ++shard) command(s.server, {"DEL", tag_of(s.server, shard) + "h"});
  const auto opened = s.another();
  push_one(*opened, "t", "x");
  CHECK(command(s.server, {"HGET", meta, "whole"}).text == "1");
  CHECK(answered(opened->lease({})).deliveries.size() == 1);
}

TEST_CASE("what is left of a queue is not made whole") {
  const TestServer server;

  const std::string meta = "fq1:fq:{default}:meta", call = std::string(redis_library().name) + "_whole";
  answered(real_time_engine().create({server.spool(), "other"}, {}));  // so the library is there
  CHECK(command(server, {"FCALL", call, "1", meta}).at(0).number == 0);
  CHECK(command(server, {"EXISTS", meta}).number == 0);
}

TEST_CASE("who waits goes on with a queue that gets another name, and is told when it is removed") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  const auto queue = open_on(engine, server.spool());
  Waiter waiter(open_on(engine, server.spool("?poll=10s")));
  wait_for_waiter(server, "default");
  answered(engine.rename({server.spool(), "default"}, "other"));
  const MessageId id = push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.at(0).id == id);
  answered(queue->mutate(std::span(&id, 1), Action::cancel));
  Waiter another(answered(engine.open({server.spool("?poll=100ms"), "other"}, {})));
  wait_for_waiter(server, "default");
  answered(engine.remove({server.spool(), "other"}));
  CHECK(another.error().kind == ErrorKind::missing);
}

}  // namespace fq::test
