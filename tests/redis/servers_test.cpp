// servers_test - servers as they are met: gone, started anew, without the library, refused, full, hostile.
#include "core/redis/shard/server_link.h"
#include "core/redis/wire/redis_place.h"
#include "core/redis/wire/server.h"
#include "tests/redis/impostor.h"
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

Error refusal_of(const TestServer& server, const RedisEngine& engine = real_time_engine()) {
  const Result<std::vector<std::string>> queues = engine.list(server.spool());
  REQUIRE(!queues.ok());
  return queues.error();
}

}  // namespace

TEST_CASE("nobody there is said, and nothing was done") {
  const Result<std::vector<std::string>> queues =
      real_time_engine().list("redis+unix:///tmp/fq-nobody-is-here");
  REQUIRE(!queues.ok());
  CHECK(queues.error().kind == ErrorKind::later);
  CHECK(queues.error().text.find("/tmp/fq-nobody-is-here: cannot be reached") != std::string::npos);
}

TEST_CASE("a server that drops keys when it is full is refused") {
  const TestServer server({"--maxmemory-policy", "allkeys-lru"});
  const Error error = refusal_of(server);
  CHECK(error.kind == ErrorKind::unusable);
  CHECK(error.text.find("noeviction") != std::string::npos);
}

TEST_CASE("a server of version 6 is refused, naming it") {
  const std::string info = "# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\nrole:master\r\n";
  const Impostor old(as_bulk(info));
  const Result<std::vector<std::string>> queues = real_time_engine().list(old.spool());
  REQUIRE(!queues.ok());
  CHECK(queues.error().kind == ErrorKind::unusable);
  CHECK(queues.error().text.find("is a Redis 6.2.14; fq needs 7.0") != std::string::npos);
}

TEST_CASE("a cluster in which nobody serves a slot is waited for, and said") {
  const TestServer server({"--cluster-enabled", "yes"});
  const Result<std::vector<std::string>> queues = real_time_engine().list(server.spool("?timeout=100ms"));
  REQUIRE(!queues.ok());
  CHECK(queues.error().kind == ErrorKind::later);
  CHECK(queues.error().text.find("serves not all slots") != std::string::npos);
}

TEST_CASE("an answer that comes too late is not taken for that to what is asked next") {
  const std::string info =
      "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrole:master\r\nrun_id:r\r\n"
      "maxmemory_policy:noeviction\r\nconnected_slaves:0\r\n";
  const Impostor slow(Impostor::Answer([&](const std::string& asked) {
    if (asked.find("INFO") != std::string::npos) return as_bulk(info);
    if (asked.find("TIME") == std::string::npos) return std::string("+PONG\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(1'300));  // as one that hangs for a moment
    return std::string("+the time\r\n");
  }));
  ServerLink link(answered(parse_redis_place(slow.spool("?timeout=1s&connect=1s"))), "");
  std::string said;
  const auto ask = [&](std::string_view word) {
    return link.on_each_server([&](Server& server) -> Result<void> {
      FQ_TRY_SET(const Reply reply, server.call({&word, 1}));
      said = reply.text;
      return {};
    });
  };
  CHECK(!ask("TIME").ok());
  // The late one comes while this is waited for.
  answered(ask("PING"));
  CHECK(said == "PONG");
}

TEST_CASE("who has no password, or a wrong one, is denied, and no error repeats it") {
  const TestServer server({"--requirepass", "right"});
  CHECK(refusal_of(server).kind == ErrorKind::denied);
  static const RedisEngine wrong(redis_library(), [] { return Result<std::string>(std::string("wr0ng")); });
  const Error error = refusal_of(server, wrong);
  CHECK(error.kind == ErrorKind::denied);
  CHECK(error.text.find("wr0ng") == std::string::npos);
  static const RedisEngine right(redis_library(), [] { return Result<std::string>(std::string("right")); });
  CHECK(right.list(server.spool()).ok());
}

TEST_CASE("a library that was flushed is loaded again, and work goes on") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "t", "before");
  command(server, {"FUNCTION", "FLUSH"});
  push_one(*queue, "t", "after");
  CHECK(answered(queue->lease(for_a_minute(2))).deliveries.size() == 2);
}

TEST_CASE("two builds of fq work on one queue, each by functions of its own") {
  FakeClock clock;
  const TestServer server;
  const auto one = open_on(real_time_engine(), server.spool());
  const auto other = open_on(told_time_engine(), server.spool(), &clock);
  const CallId call = answered(one->begin_call("t"));
  NewMessage message;
  message.call = call;
  const MessageId id = answered(one->push({&message, 1})).items.at(0).id;
  const auto follower = answered(one->follow(id, call));
  const LeaseReply leased = answered(other->lease(for_a_minute()));
  REQUIRE(leased.deliveries.size() == 1);
  const auto run = answered(other->run_output(leased.deliveries[0], {100, true}));
  REQUIRE(run->open().ok());
  run->write(Channel::out, "told");
  CHECK(answered(follower->next({0, false, nullptr})).what == FollowStep::What::run);
  CHECK(answered(follower->next({0, false, nullptr})).bytes == "told");
  Settle ack;
  ack.receipt = leased.deliveries[0].receipt;
  CHECK(answered(other->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
  push_one(*other, "t", "x");
  CHECK(answered(one->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(command(server, {"FUNCTION", "LIST"}).items.size() == 2);
}

TEST_CASE("ids and serials are given once, also after a server forgot the last of them") {
  FakeClock clock;
  TestServer server({"--appendonly", "yes", "--appendfsync", "always"});
  uint64_t last_id = 0;
  std::string receipt;
  {
    const auto queue = open_on(told_time_engine(), server.spool(), &clock);
    last_id = number(push_one(*queue, "t", "x"));
    receipt = answered(queue->lease(for_a_minute())).deliveries.at(0).receipt.text();
  }
  server.kill();
  server.start();
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  CHECK(number(push_one(*queue, "t", "y")) > last_id + 16'000'000);
  const std::string other = answered(queue->lease(for_a_minute())).deliveries.at(0).receipt.text();
  CHECK(std::stoull(other.substr(other.find('.') + 1)) > 16'000'000);
}

TEST_CASE("no lease runs out in the first 15 s of a server that was started anew") {
  FakeClock clock;
  TestServer server({"--appendonly", "yes", "--appendfsync", "always"});
  {
    const auto queue = open_on(told_time_engine(), server.spool(), &clock);
    push_one(*queue, "t", "x");
    REQUIRE(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
  }
  server.kill();
  server.start();
  clock.advance(61'000);
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  CHECK(answered(queue->lease(for_a_minute())).deliveries.empty());
  clock.advance(14'999);
  CHECK(answered(queue->lease(for_a_minute())).deliveries.empty());
  clock.advance(1);
  CHECK(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
}

TEST_CASE("a connection that was cut between two calls is made anew") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "t", "x");
  command(server, {"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
}

TEST_CASE("with its memory full a server takes no push, and what is there is served and acked") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "t", "x");
  command(server, {"CONFIG", "SET", "maxmemory", "1"});
  NewMessage message;
  const Result<PushReply> refused = queue->push({&message, 1});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::later);
  CHECK(refused.error().text.find("memory is full") != std::string::npos);
  const LeaseReply leased = answered(queue->lease(for_a_minute()));
  REQUIRE(leased.deliveries.size() == 1);
  Settle ack;
  ack.receipt = leased.deliveries[0].receipt;
  CHECK(answered(queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
}

TEST_CASE("who was there when a server loses its master is refused, and goes on when it is a master again") {
  const TestServer server({"--replica-serve-stale-data", "no"});
  const auto queue = open_on(real_time_engine(), server.spool());
  const MessageId id = push_one(*queue, "t", "x");
  // Nobody comes to a replica anew.
  const auto admin = answered(Server::open(answered(parse_redis_place(server.spool())), ""));
  const auto said = [&](std::vector<std::string_view> words) { return answered(admin->call(words)).text; };
  REQUIRE(said({"REPLICAOF", "127.0.0.1", "1"}) == "OK");
  REQUIRE(said({"GET", "x"}).starts_with("MASTERDOWN"));
  const NewMessage message;
  const auto is_refused = [](const auto& result) {
    REQUIRE(!result.ok());
    CHECK(result.error().kind == ErrorKind::later);
    CHECK(result.error().text.find("is a replica; name the master") != std::string::npos);
  };
  is_refused(queue->get(id));
  is_refused(queue->push({&message, 1}));
  is_refused(queue->lease(for_a_minute()));
  REQUIRE(said({"REPLICAOF", "NO", "ONE"}) == "OK");
  wait_until([&] { return queue->get(id).ok(); });
  CHECK(answered(queue->lease(for_a_minute(9))).deliveries.size() == 1);
}

TEST_CASE("what answers and is no Redis is refused, whatever it says") {
  for (const std::string& answer :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), std::string("$-5\r\n"),
        std::string("*2000000000\r\n"), std::string("*-7\r\n"), std::string("$99999999999999999999\r\n"),
        std::string("+PONG\r\n"),
        std::string("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"),
        std::string("\0\0\0", 3)}) {
    const Impostor impostor(answer);
    const Result<std::vector<std::string>> queues = real_time_engine().list(impostor.spool());
    CAPTURE(answer);
    REQUIRE(!queues.ok());
    const bool is_refused =
        queues.error().kind == ErrorKind::unusable || queues.error().kind == ErrorKind::later;
    CHECK(is_refused);
  }
}

TEST_CASE("a server that refuses a password is named, and never the password") {
  const TestServer nameless({"--rename-command", "AUTH", ""}), open;
  for (const TestServer* server : {&nameless, &open}) {
    for (const std::string user : {"", "u"}) {
      RedisPlace place = answered(parse_redis_place(server->spool()));
      place.user = user;
      const Result<std::unique_ptr<Server>> opened = Server::open(place, "a secret");
      REQUIRE(!opened.ok());
      CAPTURE(opened.error().text);
      CHECK(opened.error().text.find("secret") == std::string::npos);
      CHECK(opened.error().kind == (server == &nameless ? ErrorKind::unusable
                                    : user.empty()      ? ErrorKind::config
                                                        : ErrorKind::denied));
    }
  }
  const Impostor impostor("-ERR who said 'a secret'?\r\n");
  const Result<std::unique_ptr<Server>> opened =
      Server::open(answered(parse_redis_place(impostor.spool())), "a secret");
  REQUIRE(!opened.ok());
  CHECK(opened.error().text.find("secret") == std::string::npos);
  CHECK(opened.error().kind == ErrorKind::unusable);
}

TEST_CASE("who comes when a server has as many clients as it takes comes again") {
  const TestServer server;
  command(server, {"CONFIG", "SET", "maxclients", "1"});
  const RedisPlace place = answered(parse_redis_place(server.spool()));
  const std::unique_ptr<Server> one = answered(Server::open(place, ""));
  const Result<std::unique_ptr<Server>> other = Server::open(place, "");
  REQUIRE(!other.ok());
  CHECK(other.error().kind == ErrorKind::later);
  CHECK(other.error().passes);
}

TEST_CASE("an answer that no function gives is not taken for the word that there is nothing") {
  const TestServer server;
  const std::string answer =
      GENERATE("*0\r\n", "*-1\r\n", "$-1\r\n", ":0\r\n", "+OK\r\n", "*2\r\n:0\r\n*0\r\n");
  CAPTURE(answer);
  std::atomic<bool> lies = false;
  const Relay relay(server, [&](const std::string& asked) {
    return lies && asked.find("FCALL") != std::string::npos ? answer : std::string();
  });
  const auto queue = open_on(real_time_engine(), relay.spool());
  const MessageId id = push_one(*queue, "t", "x");
  lies = true;
  const auto is_told = [](const auto& said) {
    REQUIRE_FALSE(said.ok());
    CHECK(said.error().kind == ErrorKind::io);
    CHECK(said.error().text.find("as its program does; the outcome is unknown") != std::string::npos);
  };
  is_told(queue->lease({}));
  is_told(queue->peek({}, {}, 10));
  is_told(queue->get(id));
  is_told(queue->stats({}));
  const NewMessage message = message_for("t");
  CHECK(answered(queue->push({&message, 1})).items.at(0).status == PushStatus::unknown);
}

}  // namespace fq::test
