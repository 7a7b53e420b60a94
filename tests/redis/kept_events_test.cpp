// kept_events_test - so long a queue on a server keeps its events as was said when it was made.

// System.
#include <cstdlib>
#include <utility>
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kMinute = 60'000;

struct KeptEvents {
  explicit KeptEvents(const CreateOptions& options) {
    REQUIRE(answered(told_time_engine().create(location(), options)));
    queue = open_on(told_time_engine(), server.spool(), &clock);
  }
  Location location() const { return {server.spool(), "default"}; }
  /// More than the server keeps in one piece, which goes as a whole.
  void push_many() {
    for (int i = 0; i < 200; ++i) push_one(*queue, "acme", "x");
  }
  /// Whether the first event is told still, once so much time has passed and something happened.
  bool has_first_after(int64_t ms) {
    clock.advance(ms);
    push_one(*queue, "acme", "x");
    EventPage page;
    EventRequest request;
    request.id = first;
    REQUIRE(queue->events(request, page).ok());
    return !page.events.empty();
  }

  TestServer server;
  FakeClock clock;
  std::unique_ptr<Queue> queue;
  MessageId first{};
};

CreateOptions kept(uint32_t shards, std::optional<int64_t> events_ms) {
  return {.shards = shards, .events_ms = events_ms};
}

}  // namespace

TEST_CASE("events are kept as long as was said when the queue was made, and go then") {
  const uint32_t shards = GENERATE(1U, 4U);
  const auto [said, lasts_ms] =
      GENERATE(std::pair<std::optional<int64_t>, int64_t>{std::nullopt, 10 * kMinute},
               std::pair<std::optional<int64_t>, int64_t>{1'000, 1'000},
               std::pair<std::optional<int64_t>, int64_t>{60 * kMinute, 60 * kMinute});
  CAPTURE(shards, lasts_ms);
  KeptEvents k(kept(shards, said));
  CHECK(k.queue->caps().event_horizon_ms == lasts_ms);
  k.first = push_one(*k.queue, "acme", "first");
  k.push_many();
  CHECK(k.has_first_after(lasts_ms - 10));
  CHECK(!k.has_first_after(20));
}

TEST_CASE("events go when their time is over, also where nothing happens any more") {
  const uint32_t shards = GENERATE(1U, 4U);
  KeptEvents k(kept(shards, kMinute));
  k.push_many();
  const auto events = [&] {
    size_t count = 0;
    for (uint64_t shard = 0; shard < shards; ++shard) {
      const std::string tag = shards == 1 ? "fq1:fq:{default:0:0}:" : tag_of(k.server, shard);
      count += static_cast<size_t>(command(k.server, {"XLEN", tag + "e"}).number);
    }
    return count;
  };
  k.clock.advance(kMinute - 10);
  answered(k.queue->compact());
  CHECK(events() >= 200);
  k.clock.advance(20);
  answered(k.queue->compact());
  CHECK(events() == 0);
}

TEST_CASE("a queue of a version that did not know of it keeps its events for ten minutes") {
  const uint32_t shards = GENERATE(1U, 4U);
  KeptEvents k(kept(shards, 60 * kMinute));
  const std::string meta = "fq1:fq:{default}:meta";
  for (uint64_t shard = 0; shard < shards; ++shard)
    command(k.server, {"HDEL", tag_of(k.server, shard) + "h", "events"});
  command(k.server, {"HDEL", meta, "events"});
  k.queue = open_on(told_time_engine(), k.server.spool(), &k.clock);
  CHECK(k.queue->caps().event_horizon_ms == 10 * kMinute);
  k.first = push_one(*k.queue, "acme", "first");
  k.push_many();
  CHECK(k.has_first_after(10 * kMinute - 10));
  CHECK(!k.has_first_after(20));
  CHECK(!answered(told_time_engine().create(k.location(), kept(shards, 10 * kMinute))));
}

TEST_CASE("how long events are kept is said once, by whoever makes the queue") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  const Location location{server.spool(), "default"};
  CHECK(answered(engine.create(location, {.events_ms = 90'000})));
  CHECK(!answered(engine.create(location, {.events_ms = 90'000})));
  CHECK(!answered(engine.create(location, {})));
  const Result<bool> other = engine.create(location, {.events_ms = 60'000});
  REQUIRE(!other.ok());
  CHECK(other.error().kind == ErrorKind::usage);
  CHECK(other.error().text.find("keeps its events for 1m30s") != std::string::npos);
  CHECK(answered(engine.open(location, {}))->caps().event_horizon_ms == 90'000);
}

TEST_CASE("a queue whose time for its events was changed to none is refused as that, and others are not") {
  const TestServer server;
  const RedisEngine& engine = real_time_engine();
  const Location location{server.spool(), "default"};
  const uint32_t shards = GENERATE(1U, 4U);
  answered(engine.create(location, {.shards = shards, .events_ms = 90'000}));
  push_one(*answered(engine.open(location, {})), "acme", "x");
  // Of texts that outlive the first round: what is generated is kept for the next ones.
  const std::string wrong =
      GENERATE(as<std::string>{}, "x", "0", "-1", "+90000", " 90000", "999", "1.5", "1e6", "0x9999", "nan",
               "inf", "31622400001", "18446744073709551616", std::string(400, '9'));
  CAPTURE(wrong);
  const std::string_view meta = "fq1:fq:{default}:meta";
  command(server, {"HSET", meta, "events", wrong});
  const Result<std::unique_ptr<Queue>> opened = engine.open(location, {});
  REQUIRE(!opened.ok());
  CHECK(opened.error().kind == ErrorKind::bad_data);
  CHECK(opened.error().text.starts_with("queue 'default': field events of fq1:fq:{default}:meta: '"));
  CHECK(engine.rename(location, "other").error().kind == ErrorKind::bad_data);
  CHECK(answered(engine.list(server.spool())) == std::vector<std::string>{"default"});
  CHECK(answered(engine.create({server.spool(), "another"}, {})));
  CHECK(engine.queue_marked(server.spool(), "0000").ok());
  command(server, {"HDEL", meta, "events"});
  CHECK(answered(answered(engine.open(location, {}))->select({}, {}, 10)).ids.size() == 1);
}

TEST_CASE("a shard whose time for its events was changed to none throws none away, and nothing is written") {
  const uint32_t shards = GENERATE(1U, 4U);
  KeptEvents k(kept(shards, 60 * kMinute));
  k.first = push_one(*k.queue, "acme", "first");
  k.clock.advance(30 * kMinute);
  answered(k.queue->maintain(10));  // which tells all of them the time
  const std::string root = tag_of(k.server, shards == 1 ? 0 : shard_of(k.first)) + "h";
  const std::string_view wrong = GENERATE(as<std::string_view>{}, "x", "0", "-1", "-9999999999999", "1.5",
                                          "1e3", "0x10", "nan", "inf", "-inf", "9999999999999999");
  CAPTURE(wrong);
  command(k.server, {"HSET", root, "events", wrong});
  const std::string before = command(k.server, {"DEBUG", "DIGEST"}).text;
  const NewMessage message = message_for("acme");
  const Result<PushReply> pushed = k.queue->push({&message, 1});
  const Error error = pushed ? pushed->error.value() : pushed.error();
  CHECK(error.kind == ErrorKind::bad_data);
  CHECK(error.text.find("'events'") != std::string::npos);
  CHECK(!k.queue->get(k.first).ok());
  CHECK(command(k.server, {"DEBUG", "DIGEST"}).text == before);
  command(k.server, {"HSET", root, "events", GENERATE("3600000", "")});
  push_one(*k.queue, "acme", "x");
  CHECK(answered(k.queue->check()).findings.empty());
}

TEST_CASE("a queue keeps its events as long under another name") {
  const uint32_t shards = GENERATE(1U, 4U);
  KeptEvents k(kept(shards, 60 * kMinute));
  k.first = push_one(*k.queue, "acme", "first");
  k.push_many();
  answered(k.queue->maintain(10));  // which tells all shards the time that the rename goes by
  REQUIRE(told_time_engine().rename(k.location(), "other").ok());
  OpenOptions options;
  options.clock = &k.clock;
  k.queue = answered(told_time_engine().open({k.server.spool(), "other"}, options));
  CHECK(k.queue->caps().event_horizon_ms == 60 * kMinute);
  CHECK(k.has_first_after(59 * kMinute));
  CHECK(!k.has_first_after(2 * kMinute));
}

TEST_CASE("a queue on a cluster keeps its events as long under another name") {
  OnCluster s;
  const std::string old = s.location.queue + "-kept", name = s.location.queue + "-other";
  const Location before{s.location.spool, old}, after{s.location.spool, name};
  REQUIRE(answered(real_time_engine().create(before, {.shards = 4, .events_ms = 90'000})));
  REQUIRE(real_time_engine().rename(before, name).ok());
  CHECK(answered(real_time_engine().open(after, {}))->caps().event_horizon_ms == 90'000);
  REQUIRE(real_time_engine().remove(after).ok());
}

TEST_CASE(
    "what has a tag is told of by it when its push is told no more, and the log is read once for that") {
  const uint32_t shards = GENERATE(1U, 4U);
  CAPTURE(shards);
  KeptEvents k(kept(shards, 1'000));
  constexpr size_t kTagged = 100;
  for (size_t i = 0; i < kTagged; ++i) {
    NewMessage message = message_for("acme");
    message.tags = {{"order", "7"}};
    answered(k.queue->push({&message, 1}));
  }
  k.push_many();
  k.clock.advance(2'000);
  while (!answered(k.queue->lease(for_a_minute(50))).deliveries.empty()) {
  }
  const auto tell = [&](const Cursor& from, size_t n) {
    EventRequest request;
    request.tag = Tag{"order", "7"};
    request.from = from;
    request.n = n;
    EventPage page;
    const std::unique_ptr<Queue> reader = open_on(told_time_engine(), k.server.spool(), &k.clock);
    REQUIRE(reader->events(request, page).ok());
    for (const Event& each : page.events) CHECK(each.event == "leased");
    return std::pair(page.events.size(), page.next);
  };
  command(k.server, {"CONFIG", "RESETSTAT"});
  CHECK(tell({}, 1000).first == kTagged);
  // Who begins in the middle knows as much.
  const auto [half, next] = tell({}, kTagged / 2);
  CHECK(half == kTagged / 2);
  CHECK(tell(next, 1000).first == kTagged / 2);
  const std::string stats = command(k.server, {"INFO", "commandstats"}).text;
  constexpr std::string_view kCalls = "cmdstat_fcall_ro:calls=";
  const size_t at = stats.find(kCalls);
  REQUIRE(at != std::string::npos);
  CHECK(std::strtoull(stats.c_str() + at + kCalls.size(), nullptr, 10) < kTagged);
}

}  // namespace fq::test
