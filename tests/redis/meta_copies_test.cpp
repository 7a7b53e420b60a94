// meta_copies_test - the server of what is fixed of a queue is gone, or that of the policy: work goes on with
// the shards that answer, by copies that lead to no other queue.
#include "tests/redis/on_cluster.h"
#include "tests/redis/waiter.h"

// System.
#include <atomic>
#include <map>
#include <set>
#include <thread>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/redis/catalog/queue_meta.h"

namespace fq::test {

namespace {

using Fields = std::map<std::string, std::string>;

constexpr size_t kLast = 2;

/// A queue on a cluster of its own. What is fixed of it and the names of queues lie apart, and neither on the
/// last server, where a queue of two shards has none.
struct Copied {
  explicit Copied(uint32_t shards) {
    while (names() == kLast) prefix = new_prefix();
    for (int i = 0; queue.empty() || cluster.owner_of(meta()) == kLast || cluster.owner_of(meta()) == names();
         ++i)
      queue = "q" + std::to_string(i);
    answered(engine.create(location(), {.shards = shards}));
  }
  std::string key(const std::string& what) const { return "fq1:" + prefix + ":" + what; }
  std::string meta() const { return key("{" + queue + "}:meta"); }
  size_t names() const { return cluster.owner_of(key("queues")); }
  std::vector<std::string> copies() const {
    std::vector<std::string> keys;
    for (const std::string& each : copy_places(queue)) keys.push_back(key("{" + each + "}:meta"));
    return keys;
  }
  Location location(const std::string& timeout = "2s") const {
    return {cluster.spool("?timeout=" + timeout + "&connect=1s&prefix=" + prefix), queue};
  }
  std::unique_ptr<Queue> open(AwayList* away = nullptr) const {
    OpenOptions options;
    options.away = away;
    return answered(engine.open(location(), options));
  }
  Reply at(const std::string& key, const std::vector<std::string>& words) const {
    const std::vector<std::string_view> views(words.begin(), words.end());
    return command(cluster.node(cluster.owner_of(key)), views);
  }
  Fields fields(const std::string& key) const {
    Fields found;
    const Reply told = at(key, {"HGETALL", key});
    for (size_t i = 0; i + 1 < told.items.size(); i += 2) found[told.at(i).text] = told.at(i + 1).text;
    return found;
  }
  /// What a copy is to have.
  Fields fixed() const {
    Fields all = fields(meta());
    all.erase("whole"), all.erase("copies");
    all.try_emplace("events"), all.try_emplace("spread");
    return all;
  }
  /// That there are copies.
  bool is_told_of_late() const {
    const uint64_t told_ms = parse_decimal(fields(meta())["copies"]).value_or(0);
    const auto now_ms = static_cast<uint64_t>(system_clock().wall_ms());
    return told_ms <= now_ms && now_ms - told_ms < 60'000;
  }
  /// As a server has them that forgot that they were dropped.
  void leave_copies(const Fields& old) const {
    for (const std::string& copy : copies()) {
      std::vector<std::string> words = {"HSET", copy};
      for (const auto& [field, value] : old) words.insert(words.end(), {field, value});
      at(copy, words);
    }
  }
  bool has_copies() const {
    const std::vector<std::string> keys = copies();
    return fields(keys[0]) == fixed() && fields(keys[1]) == fixed() && is_told_of_late();
  }

  const RedisEngine& engine = real_time_engine();
  TestCluster cluster{3};
  std::string prefix = new_prefix();
  std::string queue;
};

ErrorKind kind_of(const Result<void>& result) {
  REQUIRE(!result.ok());
  INFO(result.error().text);
  return result.error().kind;
}

}  // namespace

TEST_CASE("a queue goes on without the server of what is fixed of it, for who is there and for who comes") {
  Copied c(16);
  CHECK(c.has_copies());
  const size_t home = c.cluster.owner_of(c.meta());
  for (const std::string& copy : c.copies()) CHECK(c.cluster.owner_of(copy) != home);
  std::string there, gone;
  size_t left = 0;
  const auto before = c.open();
  std::map<size_t, std::string> tags;
  for (const std::string& each : places_in(c.fixed()["places"])) tags[tags.size()] = "{" + each + "}";
  for (int i = 0; i < 60; ++i) {
    const std::string tenant = "t" + std::to_string(i);
    const bool lives = c.cluster.owner_of(tags[shard_of(push_one(*before, tenant, "x"))]) != home;
    (lives ? there : gone) = tenant;
    left += lives ? 1 : 0;
  }
  c.cluster.node(home).kill();

  AwayList away;
  CHECK(ms_of([&] { answered(c.engine.open(c.location("30s"), {})); }) < 15'000);
  auto queue = c.open(&away);
  CHECK(queue->caps().shards == 16);
  CHECK(answered(queue->policy_is_current({})));
  CHECK(answered(queue->stats({})).rows.at(0).ready == left);
  CHECK(parts_in(away) >= 5);
  push_one(*queue, there, "y");
  const NewMessage message = message_for(gone);
  const Result<PushReply> refused = queue->push({&message, 1});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::later);
  const LeaseReply leased = answered(queue->lease(for_a_minute(100)));
  CHECK(leased.deliveries.size() == left + 1);
  for (const Delivery& each : leased.deliveries) CHECK(ack(*queue, each) == SettleStatus::ok);
  const std::string receipt = leased.deliveries.at(0).receipt.text();
  CHECK(answered(c.engine.queue_marked(c.location().spool, receipt.substr(receipt.rfind('.') + 1))) ==
        c.queue);
  const std::vector<DoctorRow> rows = c.engine.examine(c.location().spool, c.queue);
  CHECK(rows.back().about == "queue " + c.queue);
  CHECK(rows.back().health == Health::warning);
  CHECK(rows.back().found.find("; told by a copy: " + c.cluster.address(home)) != std::string::npos);

  // What it takes to end or to make one cannot be had.
  queue.reset();
  CHECK(kind_of(c.engine.remove(c.location())) == ErrorKind::later);
  CHECK(kind_of(c.engine.rename(c.location(), "other")) == ErrorKind::later);
  CHECK(!c.engine.create(c.location(), {}).ok());
  for (const std::string& copy : c.copies()) CHECK(!c.fields(copy).empty());
  push_one(*c.open(), there, "z");
}

TEST_CASE("where nobody tells that there is a queue it is away, and not missing") {
  Copied c(1);
  for (const std::string& copy : c.copies()) CHECK(c.fields(copy).empty());  // they would help nobody
  c.cluster.node(c.cluster.owner_of(c.meta())).kill();
  const Result<std::unique_ptr<Queue>> opened = c.engine.open(c.location(), {});
  REQUIRE(!opened.ok());
  CHECK(opened.error().kind == ErrorKind::later);
}

TEST_CASE("the policy is told to be away, at once, where its server is, and a queue is there all the same") {
  Copied c(16);
  const auto queue = c.open();
  const size_t victim = c.cluster.owner_of(c.key("policy"));
  const bool hangs = GENERATE(false, true);
  hangs ? c.cluster.node(victim).stop() : c.cluster.node(victim).kill();
  const Result<std::string> version = queue->policy_version();
  REQUIRE(!version.ok());
  CHECK(version.error().kind == ErrorKind::config);
  CHECK(version.error().passes);
  CHECK(version.error().text.find("fq.toml: " + c.cluster.address(victim)) == 0);
  CHECK(answered(queue->policy_is_current({})));
  CHECK(!c.engine.policy_text(c.location().spool).ok());
  if (hangs) c.cluster.node(victim).go_on();
}

TEST_CASE("copies that an earlier fq did not make or a server forgot come with who opens the queue") {
  OnCluster s(4);
  const std::string meta = s.meta_key();
  const auto at = [&](const std::string& key, std::initializer_list<std::string_view> words) {
    return command(s.cluster.node(s.cluster.owner_of(key)), words);
  };
  const auto copy_keys = [&] {
    std::vector<std::string> keys;
    for (const std::string& place : copy_places("default"))
      keys.push_back("fq1:" + s.prefix + ":{" + place + "}:meta");
    return keys;
  };
  const auto copies = [&] {
    const std::string places = at(meta, {"HGET", meta, "places"}).text;
    size_t count = 0;
    for (const std::string& key : copy_keys())
      count += at(key, {"HGET", key, "places"}).text == places ? 1U : 0U;
    return count;
  };
  const auto forget = [&] {
    for (const std::string& key : copy_keys()) at(key, {"DEL", key});
  };
  CHECK(copies() == 2);
  forget();
  s.another();
  CHECK(copies() == 0);  // they are told to be there
  CHECK(!answered(real_time_engine().create(s.location, {.shards = 4})));
  CHECK(copies() == 2);
  forget();
  at(meta, {"HDEL", meta, "copies"});
  s.another();
  CHECK(copies() == 2);
  const int64_t now_ms = system_clock().wall_ms(), hour_ms = 3'600'000;
  for (const int64_t told_ms : {now_ms - hour_ms - 1, now_ms + 2 * hour_ms, int64_t{1}}) {
    CAPTURE(told_ms - now_ms);
    forget();
    at(meta, {"HSET", meta, "copies", std::to_string(told_ms)});
    s.another();
    CHECK(copies() == 2);
    CHECK(parse_decimal(at(meta, {"HGET", meta, "copies"}).text).value() >= static_cast<uint64_t>(now_ms));
  }
}

TEST_CASE("no queue is removed or renamed while a copy would stay, and it is used as before") {
  Copied c(2);
  for (const std::string& each : places_in(c.fixed()["places"]))
    REQUIRE(c.cluster.owner_of("{" + each + "}") != kLast);
  push_one(*c.open(), "t", "x");
  c.cluster.node(kLast).stop();
  CHECK(kind_of(c.engine.remove(c.location())) == ErrorKind::later);
  CHECK(kind_of(c.engine.rename(c.location(), "other")) == ErrorKind::later);
  CHECK(answered(c.engine.list(c.location().spool)) == std::vector{c.queue});
  CHECK(answered(c.open()->select({}, {}, 9)).ids.size() == 1);
  c.cluster.node(kLast).go_on();
  c.cluster.wait_until_whole();
  // Who has found that server hanging lets it alone for a while, and makes no copy there until then.
  wait_until([&] {
    CHECK(answered(c.open()->select({}, {}, 9)).ids.size() == 1);
    return c.has_copies();
  });
  REQUIRE(c.engine.remove(c.location()).ok());
  CHECK(all_keys(c.cluster, c.prefix).empty());
}

TEST_CASE("a copy of a queue that is gone leads to nothing, and makes nothing") {
  Copied c(4);
  const Fields old = c.fixed();
  push_one(*c.open(), "t", "x");
  REQUIRE(c.engine.remove(c.location()).ok());
  CHECK(all_keys(c.cluster, c.prefix).empty());
  answered(c.engine.create(c.location(), {.shards = 4}));
  push_one(*c.open(), "t", "y");
  const std::set<std::string> before = all_keys(c.cluster, c.prefix);
  c.leave_copies(old);
  TestServer& home = c.cluster.node(c.cluster.owner_of(c.meta()));
  home.stop();
  const NewMessage message = message_for("t");
  const auto queue = c.open();
  CHECK(!queue->push({&message, 1}).ok());
  CHECK(!queue->stats({}).ok());
  home.go_on();
  c.cluster.wait_until_whole();
  CHECK(all_keys(c.cluster, c.prefix) == before);
  CHECK(answered(c.open()->select({}, {}, 9)).ids.size() == 1);
  CHECK(!answered(c.engine.create(c.location(), {})));
  CHECK(c.has_copies());
}

TEST_CASE("a queue whose server has forgotten what is fixed of it is there, and nothing is made over it") {
  Copied c(4);
  const Fields old = c.fixed();
  for (int i = 0; i < 20; ++i) push_one(*c.open(), "t" + std::to_string(i), "x");
  const std::string root = "fq1:" + c.prefix + ":{" + places_in(old.at("places")).at(1) + "}:h";
  c.at(root, {"DEL", root});  // some of its shards may be lost with that
  const auto forget = [&] {
    c.at(c.meta(), {"DEL", c.meta()});
    c.at(c.key("queues"), {"DEL", c.key("queues")});
  };
  forget();
  SECTION("opened") { CHECK(c.open() != nullptr); }
  SECTION("made") { CHECK(!answered(c.engine.create(c.location(), {.shards = 4}))); }
  CHECK(c.fixed() == old);
  CHECK(c.at(root, {"EXISTS", root}).number == 0);
  CHECK(c.at(c.key("queues"), {"SISMEMBER", c.key("queues"), c.queue}).number == 1);
  forget();
  CHECK(c.engine.remove(c.location()).ok());
  CHECK(all_keys(c.cluster, c.prefix).empty());
}

TEST_CASE("of those who find it forgotten at once, each finds the queue", "[threads]") {
  Copied c(4);
  for (int round = 0; round < 20; ++round) {
    c.at(c.meta(), {"DEL", c.meta()});
    std::atomic<int> opened = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i)
      all.emplace_back([&] { opened += c.engine.open(c.location(), {}).ok() ? 1 : 0; });
    for (std::thread& each : all) each.join();
    CHECK(opened == 8);
  }
}

TEST_CASE(
    "who is at work goes on where a server comes back without what is fixed of the queue and its shards") {
  Copied c(16);
  const auto queue = c.open();
  for (int i = 0; i < 60; ++i) push_one(*queue, "t" + std::to_string(i), "x");
  command(c.cluster.node(c.cluster.owner_of(c.meta())), {"FLUSHALL"});
  AwayList away;
  const auto looks = c.open(&away);
  c.at(c.meta(), {"DEL", c.meta()});  // who opened it has put it back
  const size_t leased = answered(queue->lease(for_a_minute(100))).deliveries.size();
  CHECK(leased > 0);
  CHECK(answered(looks->stats({})).rows.at(0).leased == leased);
  CHECK(away.is_any_lost());
}

TEST_CASE("a shard that has lost what it begins with is away where nobody tells whether its queue is there") {
  Copied c(16);
  const auto queue = c.open();
  const size_t home = c.cluster.owner_of(c.meta());
  const std::vector<std::string> places = places_in(c.fixed()["places"]);
  std::string tenant, root;
  for (int i = 0; root.empty() || c.cluster.owner_of(root) == home; ++i) {
    tenant = "t" + std::to_string(i);
    root = c.key("{" + places.at(shard_of(push_one(*queue, tenant, "x"))) + "}:h");
  }
  c.at(root, {"DEL", root});
  const bool has_copies = GENERATE(true, false);
  for (const std::string& copy : c.copies()) {
    if (!has_copies) c.at(copy, {"DEL", copy});
  }
  c.cluster.node(home).kill();
  const NewMessage message = message_for(tenant);
  const Result<PushReply> pushed = queue->push({&message, 1});
  REQUIRE(!pushed.ok());
  INFO(pushed.error().text);
  CHECK(pushed.error().kind == (has_copies ? ErrorKind::unusable : ErrorKind::later));
}

TEST_CASE("a queue of one shard that was renamed is there without the server to which its name leads") {
  Copied c(1);
  push_one(*c.open(), "t", "x");
  const std::string place = c.fixed()["places"];
  CHECK(slot_of(place) == slot_of(c.queue));
  const size_t there = c.cluster.owner_of("{" + place + "}");
  while (c.cluster.owner_of(c.meta()) == there || c.cluster.owner_of(c.meta()) == c.names()) {
    const Location before = c.location();
    c.queue += "r";
    REQUIRE(c.engine.rename(before, c.queue).ok());
  }
  c.open();
  CHECK(c.has_copies());
  c.cluster.node(c.cluster.owner_of(c.meta())).kill();
  CHECK(answered(c.open()->lease(for_a_minute())).deliveries.size() == 1);
}

TEST_CASE("a copy under the name that a queue had, or of one that was removed, leads to nothing") {
  Copied c(4);
  const Fields old = c.fixed();
  push_one(*c.open(), "t", "x");
  SECTION("renamed") { REQUIRE(c.engine.rename(c.location(), "other").ok()); }
  SECTION("removed") { REQUIRE(c.engine.remove(c.location()).ok()); }
  c.leave_copies(old);
  OpenOptions options;
  options.create = false;
  const auto opened = c.engine.open(c.location(), options);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().kind == ErrorKind::missing);
  CHECK(answered(c.engine.create(c.location(), {.shards = 4})));
  CHECK(c.fixed().at("places") != old.at("places"));
}

/// Whoever makes them may have been held up for long.
TEST_CASE("copies of a queue that was removed, renamed or made anew meanwhile go with who made them") {
  OnCluster s(4);
  ServerAccess access;
  access.place = answered(parse_redis_place(s.location.spool));
  access.library = &redis_library();
  access.link = std::make_shared<ServerLink>(access.place, "");
  const QueueMeta meta(access);
  const Fixed old = answered(meta.read("default"));
  s.queue.reset();
  REQUIRE(real_time_engine().rename(s.location, "other").ok());
  std::set<std::string> before = all_keys(s.cluster, s.prefix);
  meta.make_copies("default", old);
  CHECK(all_keys(s.cluster, s.prefix) == before);
  const Location other{s.location.spool, "other"};
  CHECK(real_time_engine().open(other, {}).ok());
  CHECK(all_keys(s.cluster, s.prefix).size() == before.size() + 2);
  REQUIRE(real_time_engine().remove(other).ok());
  CHECK(all_keys(s.cluster, s.prefix).empty());
  meta.make_copies("default", old);
  CHECK(all_keys(s.cluster, s.prefix).empty());
  REQUIRE(answered(real_time_engine().create(s.location, {.shards = 4})));
  meta.make_copies("default", old);
  for (const std::string& place : copy_places("default")) {
    const std::string key = "fq1:" + s.prefix + ":{" + place + "}:meta";
    CHECK(command(s.cluster.node(s.cluster.owner_of(key)), {"HGET", key, "places"}).text != old.at("places"));
  }
}

}  // namespace fq::test
