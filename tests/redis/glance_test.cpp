// glance_test - who waits for work and is told of nothing reads, and calls only where that may find
// something.
//
// Here patience is short, so that what is found was seen by it.

// System.
#include <list>
// fq, below us.
#include "core/redis/waits/root_hints.h"
// Tests.
#include "tests/redis/dead_client.h"
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

const std::string kOnlyTag = "fq1:fq:{default:0:0}:";
const std::string kOnlyRoot = kOnlyTag + "h";
const std::string kShortPatience = "?poll=20ms";
const std::string kOther = "~~~~~~";  // a session behind all others by name

/// How often a command came.
uint64_t commands_of(const TestServer& server, const std::string& name) {
  const std::string info = command(server, {"INFO", "commandstats"}).text,
                    word = "cmdstat_" + name + ":calls=";
  const size_t at = info.find(word);
  return at == std::string::npos ? 0 : std::strtoull(info.c_str() + at + word.size(), nullptr, 10);
}

/// A queue, who waits on it, and a client that hears bells and does not come.
class GlanceScene {
 public:
  explicit GlanceScene(std::string tenant) : tenant_(std::move(tenant)) {}

  std::unique_ptr<Queue> open(const std::string& options) const {
    return open_on(real_time_engine(), server_.spool(options));
  }
  std::string list() const { return kOnlyTag + (tenant_.empty() ? "bw" : "bf"); }
  /// So many are noted down: from then on they sleep.
  void wait_for_waiters(int64_t count) const {
    wait_until([&] { return command(server_, {"ZCARD", list()}).number == count; });
  }
  uint64_t count(const std::string& name) const { return commands_of(server_, name); }
  uint64_t calls() const { return count("fcall"); }
  /// So many more were made.
  void wait_for_glances(uint64_t more) const {
    const uint64_t before = count("zscore");
    wait_until([&] { return count("zscore") - before >= more; });
  }
  /// One who dies when it is told: before all others, and at that time it would look.
  void note_dead_one(const std::string& at = "+inf") {
    dying_ = answered(Server::open(answered(parse_redis_place(server_.spool())), ""));
    answered(dying_->call(std::array<std::string_view, 2>{"SSUBSCRIBE", kOnlyTag + "bell:" + kOther}));
    command(server_, {"ZADD", list(), at, kOther + tenant_});
    const std::string others = command(server_, {"HGET", kOnlyTag + "bt", tenant_}).text;
    if (!tenant_.empty()) command(server_, {"HSET", kOnlyTag + "bt", tenant_, kOther + others});
  }
  const TestServer& server() const { return server_; }
  const std::string& tenant() const { return tenant_; }

 private:
  const std::string tenant_;
  const TestServer server_;
  std::unique_ptr<Server> dying_;
};

}  // namespace

TEST_CASE("clients that wait for what does not come read a few times, and call nothing") {
  const GlanceScene scene(GENERATE(as<std::string>(), "", "t"));
  std::list<Waiter> waiters;
  for (int i = 0; i < 20; ++i)
    waiters.emplace_back(scene.open(kShortPatience), until_there(), scene.tenant());
  scene.wait_for_waiters(20);
  scene.wait_for_glances(40);
  const uint64_t calls = scene.calls(), reads = scene.count("hmget");
  scene.wait_for_glances(200);
  CHECK(scene.calls() == calls);
  CHECK(scene.count("hmget") - reads >= 200);
}

TEST_CASE("who waits and is noted down no more finds a message that it was not told of") {
  const GlanceScene scene(GENERATE(as<std::string>(), "", "t"));
  const auto queue = scene.open({});
  Waiter waiter(scene.open(kShortPatience), until_there(), scene.tenant());
  scene.wait_for_waiters(1);
  SECTION("since it was lost with a server") {
    command(scene.server(), {"DEL", kOnlyTag + "bw", kOnlyTag + "bf", kOnlyTag + "bt"});
    command(scene.server(), {"HSET", kOnlyRoot, "waiters", "0"});
  }
  SECTION("since who pushed may not tell") {
    command(scene.server(), {"ACL", "SETUSER", "default", "-spublish"});
  }
  push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("who waits and is noted down no more is noted down again") {
  const GlanceScene scene(GENERATE(as<std::string>(), "", "t"));
  Waiter waiter(scene.open(kShortPatience), until_there(), scene.tenant());
  scene.wait_for_waiters(1);
  command(scene.server(), {"DEL", kOnlyTag + "bw", kOnlyTag + "bf", kOnlyTag + "bt"});
  scene.wait_for_waiters(1);
  const uint64_t calls = scene.calls();
  scene.wait_for_glances(4);
  CHECK(scene.calls() == calls);
}

TEST_CASE("a message whose bell was for one that died is found by another") {
  GlanceScene scene(GENERATE(as<std::string>(), "", "t"));
  const auto queue = scene.open({});
  Waiter waiter(scene.open(kShortPatience), until_there(), scene.tenant());
  scene.wait_for_waiters(1);
  scene.note_dead_one();
  push_one(*queue, "t/u", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("what is due is done by another where the one that kept the time has died") {
  GlanceScene scene(GENERATE(as<std::string>(), "", "t"));
  const auto queue = scene.open({});
  Waiter waiter(scene.open(kShortPatience), until_there(), scene.tenant());
  scene.wait_for_waiters(1);
  const int64_t now_ms = clock_ms_in(command(scene.server(), {"TIME"}));
  scene.note_dead_one(std::to_string(now_ms + 400));
  NewMessage late;
  late.tenant = "t";
  late.delay_ms = 600;
  answered(queue->push({&late, 1}));
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("who waits finds out that a holder has died, where nobody else calls") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  push_one(*queue, "t", "x");
  take_and_die(server, clock);
  Waiter waiter(open_on(told_time_engine(), server.spool(kShortPatience), &clock));
  wait_until([&] { return command(server, {"ZCARD", kOnlyTag + "bw"}).number == 1; });
  CHECK(!waiter.is_back(100));
  time_goes_by(server, clock, 15'000);
  CHECK(waiter.reply().deliveries.at(0).crashes == 1);
}

TEST_CASE("what a call of another library leaves is looked at by a call") {
  const GlanceScene scene("");
  Waiter waiter(scene.open(kShortPatience));
  scene.wait_for_waiters(1);
  scene.wait_for_glances(2);
  const uint64_t calls = scene.calls();
  command(scene.server(), {"HINCRBY", kOnlyRoot, "ops", "1"});
  scene.wait_for_glances(4);
  CHECK(scene.calls() == calls + 1);
}

TEST_CASE("a holder finds what others made of its leases where its bell was lost", "[threads]") {
  const GlanceScene scene("");
  const auto queue = scene.open({});
  const MessageId id = push_one(*queue, "t", "x");
  const auto holder = scene.open(kShortPatience);
  LeaseRequest request;
  request.watch = request.wait = true;
  REQUIRE(answered(holder->lease(request)).deliveries.size() == 1);
  auto news = std::async(std::launch::async, [&] { return holder->lease(request); });
  scene.wait_for_waiters(1);
  command(scene.server(), {"ACL", "SETUSER", "default", "-spublish"});
  answered(queue->mutate({&id, 1}, Action::cancel));
  REQUIRE(news.wait_for(std::chrono::milliseconds(kSoonMs)) == std::future_status::ready);
  CHECK(answered(news.get()).changes.at(0).what == LeaseChange::What::cancelled);
}

TEST_CASE("what a limit holds up is called for now and then, the more seldom the more wait") {
  const GlanceScene scene("t");
  const auto queue = scene.open({});
  REQUIRE(queue->policy_set("t", {{{PolicyKey::concurrency, 1, 0, {}}}, {}}).ok());
  for (const char* tenant : {"t", "t", "other"}) push_one(*queue, tenant, "x");
  LeaseRequest of_t = for_a_minute();
  of_t.tenant = "t";
  const Receipt runs = answered(queue->lease(of_t)).deliveries.at(0).receipt;
  // 100 more that wait: then it calls once a second at most.
  for (int i = 100; i < 200; ++i)
    command(scene.server(), {"ZADD", scene.list(), "+inf", "zzz" + std::to_string(i) + "u"});
  Waiter waiter(scene.open(kShortPatience), until_there(), "t");
  scene.wait_for_waiters(101);
  scene.wait_for_glances(1);
  const uint64_t calls = scene.calls();
  scene.wait_for_glances(10);
  CHECK(scene.calls() - calls <= 2);
  Settle ack;
  ack.receipt = runs;
  answered(queue->settle({&ack, 1}));
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("the more wait for work of many shards, the more seldom each of them reads", "[threads]") {
  const Sharded s(4);
  Waiter waiter(open_on(real_time_engine(), s.server.spool(kShortPatience)));
  const auto roots_read = [&] { return commands_of(s.server, "hmget"); };
  const auto wait_for_reads = [&](uint64_t more) {
    const uint64_t before = roots_read();
    wait_until([&] { return roots_read() - before >= more; });
  };
  wait_for_reads(40);
  command(s.server, {"HSET", tag_of(s.server, 3) + "h", "waiters", "25000"});  // a look each 10 s
  wait_for_reads(8);
  const uint64_t before = roots_read();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(roots_read() == before);
  push_one(*s.queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("how late a message may be found is told by how many waited when it was last looked", "[threads]") {
  const GlanceScene scene("");
  const auto queue = scene.open({});
  const std::unique_ptr<Queue> waits = scene.open(kShortPatience);
  CHECK(waits->caps().wake_latency_bound_ms == 20);
  auto taken = std::async(std::launch::async, [&] { return waits->lease(until_there()); });
  scene.wait_for_waiters(1);
  command(scene.server(), {"HSET", kOnlyRoot, "waiters", "3000"});
  scene.wait_for_glances(2);
  push_one(*queue, "t", "x");
  CHECK(answered(taken.get()).deliveries.size() == 1);
  CHECK(waits->caps().wake_latency_bound_ms == 1'200);
}

TEST_CASE("whatever a server answers to a glance, the wait goes on, and a bell ends it") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  const std::string number =
      GENERATE(as<std::string>(), "0", "-1", "x", "4000000000", "99999999999999999999");
  const std::string each = "$" + std::to_string(number.size()) + "\r\n" + number + "\r\n";
  const std::string answer = GENERATE_COPY(
      "*6\r\n" + each + each + each + each + each + each + each + "*2\r\n" + each + each + ":0\r\n",
      "*1\r\n" + each + each + each + ":-1\r\n", each + each + each + each,
      std::string("-ERR\r\n-ERR\r\n-ERR\r\n-ERR\r\n"), std::string("*-1\r\n*-1\r\n*-1\r\n*-1\r\n"));
  CAPTURE(answer);
  std::atomic<int> glances = 0;
  const Relay relay(server, [&](const std::string& asked) {
    const bool is_glance = asked.find("hinted") != std::string::npos;
    glances += is_glance ? 1 : 0;
    return is_glance ? answer : std::string();
  });
  Waiter waiter(open_on(real_time_engine(), relay.spool("?poll=10ms&timeout=1s")));
  wait_until([&] { return glances >= 1 && command(server, {"ZCARD", kOnlyTag + "bw"}).number == 1; });
  CHECK(!waiter.is_back(50));
  push_one(*queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

}  // namespace fq::test
