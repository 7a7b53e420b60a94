// kept_events_test - so long a queue on a server keeps its events as was said when it was made.
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
  for (const char* const wrong : {"x", "0", "-1", "31622400001", "18446744073709551616"}) {
    CAPTURE(wrong);
    command(server, {"HSET", "fq1:fq:{default}:meta", "events", wrong});
    const Result<std::unique_ptr<Queue>> opened = engine.open(location, {});
    REQUIRE(!opened.ok());
    CHECK(opened.error().kind == ErrorKind::bad_data);
  }
}

TEST_CASE("a queue keeps its events as long under another name") {
  const uint32_t shards = GENERATE(1U, 4U);
  KeptEvents k(kept(shards, 60 * kMinute));
  k.first = push_one(*k.queue, "acme", "first");
  k.push_many();
  REQUIRE(
      real_time_engine().rename(k.location(), "other").ok());  // shards nobody has called have no other time
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

}  // namespace fq::test
