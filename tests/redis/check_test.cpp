// check_test - what does not agree on a server is found, and named for what it is.
#include "tests/redis/sharded_fixture.h"

// System.
#include <cstdlib>
#include <string>
#include <vector>

namespace fq::test {

namespace {

constexpr std::string_view kKeys = "fq1:fq:{default:0:0}:";
std::string key_of(std::string_view what) { return std::string(kKeys) + std::string(what); }

struct Checked {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);

  void set(const std::string& path, PolicyKey key, int64_t number, const std::string& text = {}) {
    REQUIRE(queue->policy_set(path, {{{key, number, 0, text}}, {}}).ok());
  }
  /// One of eight bytes of a value that is another number then.
  void add_one(const std::string& hash, const std::string& field, size_t at) {
    std::string bytes = command(server, {"HGET", hash, field}).text;
    double number = 0;
    REQUIRE(bytes.size() >= at + sizeof number);
    bytes.copy(reinterpret_cast<char*>(&number), sizeof number, at);
    number += 1;
    bytes.replace(at, sizeof number, std::string(reinterpret_cast<const char*>(&number), sizeof number));
    command(server, {"HSET", hash, field, bytes});
  }
  void put_in(const std::string& key, size_t at, const std::string& bytes) {
    command(server, {"SETRANGE", key, std::to_string(at), bytes});
  }
  bool finds(std::string_view what) {
    for (const std::string& line : answered(queue->check()).findings.lines) {
      if (line.find(what) != std::string::npos) return true;
    }
    return false;
  }
  bool is_well() {
    const CheckReport report = answered(queue->check());
    for (const std::string& line : report.findings.lines) UNSCOPED_INFO(line);
    return report.findings.empty() && report.remarks.empty();
  }
};

}  // namespace

TEST_CASE("check finds the sums of a limit that are not those of its tenants") {
  Checked c;
  c.set("a", PolicyKey::max_messages, 5);
  push_one(*c.queue, "a/x", "12345");
  REQUIRE(answered(c.queue->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(c.is_well());
  const size_t field = GENERATE(size_t{16}, size_t{24});  // messages, bytes
  c.add_one(key_of("am"), "a", field);
  CHECK(c.finds("tenant a: its limit counts other messages or bytes than it has"));
}

TEST_CASE("check finds a pool that counts others than run in it") {
  Checked c;
  REQUIRE(c.queue->policy_load({{}, {}, {{"p", {{PolicyKey::concurrency, 2, 0, {}}}}}}, {.inode = 1}).ok());
  c.set("a", PolicyKey::pool, 0, "p");
  push_one(*c.queue, "a", "x");
  REQUIRE(answered(c.queue->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(c.is_well());
  c.add_one(key_of("p"), "p", 48);
  CHECK(c.finds("pool p: counts others than run in it"));
}

TEST_CASE("check finds a tenant that stands by rank where it should not") {
  Checked c;
  c.set("", PolicyKey::scope, static_cast<int64_t>(Scope::queue));
  push_one(*c.queue, "a/x", "1");
  push_one(*c.queue, "b", "2");
  CHECK(c.is_well());
  const std::string ring = GENERATE(std::string("k:"), std::string("g:"));
  const std::string member = command(c.server, {"ZRANGE", key_of(ring), "0", "0"}).items.at(0).text;
  SECTION("one is missing") {
    command(c.server, {"ZREM", key_of(ring), member});
    CHECK(c.finds("stands by rank where it should not"));
  }
  SECTION("one has another place") {
    command(c.server, {"ZINCRBY", key_of(ring), "7", member});
    CHECK(c.finds("stands by rank where it should not"));
  }
}

TEST_CASE("check finds a tenant that counts other messages or bytes than it has") {
  Checked c;
  push_one(*c.queue, "a", "12345");
  push_one(*c.queue, "b", "1");
  REQUIRE(answered(c.queue->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(c.is_well());
  std::string sums = command(c.server, {"GET", key_of("c:b")}).text;
  double bytes = 17;
  sums.replace(13 * sizeof bytes, sizeof bytes,
               std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes));
  command(c.server, {"SET", key_of("c:b"), sums});
  CHECK(c.finds("tenant b: counts other messages or bytes than it has"));
}

TEST_CASE("what steps have put out is among the bytes of their tenant") {
  Checked c;
  push_one(*c.queue, "a", "x");
  const LeaseReply reply = answered(c.queue->lease(for_a_minute()));
  const Receipt receipt = reply.deliveries.at(0).receipt;
  CHECK(answered(c.queue->steps()->keep(receipt, "s", as_bytes("output"))) == SettleStatus::ok);
  CHECK(c.is_well());
}

namespace {

/// Something of each kind, of which one runs and one is delayed.
struct Damaged : Checked {
  Receipt receipt;

  Damaged() {
    REQUIRE(queue->policy_load({{}, {}, {{"p", {{PolicyKey::concurrency, 2, 0, {}}}}}}, {.inode = 1}).ok());
    set("a", PolicyKey::max_messages, 9);
    set("run", PolicyKey::pool, 0, "p");
    for (const std::string tenant : {"a/x", "a", "b", "b", "run"}) push_one(*queue, tenant, tenant);
    LeaseRequest request = for_a_minute();
    request.tenant = "run";
    receipt = answered(queue->lease(request)).deliveries.at(0).receipt;
    NewMessage later;
    later.tenant = "late";
    later.delay_ms = 3'600'000;
    answered(queue->push({&later, 1}));
    REQUIRE(is_well());
  }
  void damage(int what) {
    constexpr std::string_view kGone[] = {
        "q:b", "q:a/x", "n:b", "n:", "n:a", "r:", "r:a", "t", "i", "c:b", "c:run"};
    const std::string nobody("\xff\0\0\0\0\0\0\0\x63", 9);
    if (what < kDamages - 7) command(server, {"DEL", key_of(kGone[what])});
    if (what == kDamages - 7) command(server, {"SET", key_of("n:b"), "cut"});
    if (what == kDamages - 6) command(server, {"SET", key_of("c:b"), "cut"});
    if (what == kDamages - 5) command(server, {"HDEL", key_of("h"), "sums"});
    if (what == kDamages - 4) command(server, {"ZADD", key_of("q:b"), "-9", nobody});
    if (what == kDamages - 3) command(server, {"ZADD", key_of("t"), "1e14", nobody.substr(1)});
    if (what == kDamages - 2) add_one(key_of("am"), "a", 16);
    if (what == kDamages - 1) add_one(key_of("p"), "p", 48);
  }
  static constexpr int kDamages = 18;
};

}  // namespace

TEST_CASE("what does not agree is repaired by what records say, and served") {
  Damaged c;
  const int what = GENERATE(range(0, Damaged::kDamages));
  CAPTURE(what);
  c.damage(what);
  const CheckReport report = answered(c.queue->check({.repair = true}));
  for (const std::string& line : report.findings.lines) UNSCOPED_INFO(line);
  CHECK(report.findings.empty());
  CHECK(report.remarks.empty());
  CHECK_FALSE(report.repairs.empty());
  CHECK(c.is_well());
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.size() == 4);
  Settle ack;
  ack.receipt = c.receipt;
  CHECK(answered(c.queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
  c.clock.advance(3'600'000);
  // The leases are over, too.
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.size() == 5);
  CHECK(c.is_well());
}

TEST_CASE("a repair of a ring that is lost looks a few times at each that sits in it") {
  Checked c;
  constexpr uint64_t kTenants = 300;
  for (uint64_t i = 0; i < kTenants; ++i) push_one(*c.queue, "t" + std::to_string(i), "x");
  const auto gets = [&] {
    const std::string info = command(c.server, {"INFO", "commandstats"}).text, begin = "cmdstat_get:calls=";
    return std::strtoull(info.c_str() + info.find(begin) + begin.size(), nullptr, 10);
  };
  command(c.server, {"DEL", key_of("r:")});
  const uint64_t before = gets();
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(gets() - before < 50 * kTenants);
  CHECK(c.is_well());
  CHECK(answered(c.queue->lease(for_a_minute(kTenants))).deliveries.size() == kTenants);
}

TEST_CASE(
    "whoever does not sit in a ring where it should is taken out by a repair, and who does keeps its turn") {
  Checked c;
  for (const std::string tenant : {"a", "b", "c"}) push_one(*c.queue, tenant, tenant);
  const std::string seat(8, '\0');
  command(c.server, {"ZADD", key_of("r:"), "-5", seat + "nobody", "-4", seat + "c/x"});
  CHECK(c.finds("counts others than its ring has"));
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(command(c.server, {"ZCARD", key_of("r:")}).number == 3);
  CHECK(c.is_well());
  for (const std::string tenant : {"a", "b", "c"})
    CHECK(answered(c.queue->lease(for_a_minute())).deliveries.at(0).tenant == tenant);
}

TEST_CASE("a message that is in no place from where it would come is made ready") {
  Checked c;
  NewMessage message;
  message.tenant = "t";
  message.delay_ms = 60'000;
  const MessageId id = answered(c.queue->push({&message, 1})).items.at(0).id;
  command(c.server, {"DEL", key_of("t")});
  const std::string never(8, '\0');  // its timer: see records.lua
  command(c.server, {"SETRANGE", key_of("m:" + std::to_string(number(id))), "39", never});
  const CheckReport report = answered(c.queue->check({.repair = true}));
  CHECK(report.findings.empty());
  REQUIRE_FALSE(report.repairs.empty());
  CHECK(report.repairs.lines.at(0) == "message 1: was in no place; it is ready");
  CHECK(answered(c.queue->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(c.is_well());
}

TEST_CASE("places by rank are repaired") {
  Checked c;
  c.set("", PolicyKey::scope, static_cast<int64_t>(Scope::queue));
  push_one(*c.queue, "a/x", "1");
  push_one(*c.queue, "b", "2");
  const std::string ring = GENERATE(std::string("k:"), std::string("g:"), std::string("rk"));
  command(c.server, {"DEL", key_of(ring)});
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(c.is_well());
  CHECK(answered(c.queue->lease(for_a_minute(2))).deliveries.size() == 2);
  CHECK(c.is_well());
}

TEST_CASE("a limit that nothing holds any more since its message is lost is found, and free after a repair") {
  Checked c;
  const std::string limited = GENERATE(std::string(), std::string("a"), std::string("a/x"));
  CAPTURE(limited);
  c.set(limited, PolicyKey::concurrency, 1);
  const MessageId lost = push_one(*c.queue, "a/x", "1");
  REQUIRE(answered(c.queue->lease(for_a_minute())).deliveries.size() == 1);
  push_one(*c.queue, "a/x", "2");
  CHECK(c.is_well());
  command(c.server, {"DEL", key_of("m:" + std::to_string(number(lost)))});
  SECTION("at once") {}
  SECTION("behind a repair that counted what leases there are, and no more") {
    std::string node = command(c.server, {"GET", key_of("n:a/x")}).text;
    const double none = 0;
    node.replace(90, sizeof none, std::string(reinterpret_cast<const char*>(&none), sizeof none));  // its own
    command(c.server, {"SET", key_of("n:a/x"), node});
    CHECK(c.finds("counts other runs than there are at and below it"));
  }
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.size() == 1);
  CHECK(c.is_well());
}

TEST_CASE("what says when a tenant may start again is found to be lost, and said again by a repair") {
  Checked c;
  const PolicyKey key = GENERATE(PolicyKey::rate, PolicyKey::limited, PolicyKey::linger);
  CAPTURE(static_cast<int>(key));
  if (key == PolicyKey::rate) {
    REQUIRE(c.queue->policy_set("a", {{{key, 1, 1'000, {}}}, {}}).ok());
  } else {
    c.set(key == PolicyKey::linger ? "" : "a", key, 1'000);
  }
  if (key == PolicyKey::linger) c.set("", PolicyKey::batch, 9);
  push_one(*c.queue, "a", "1");
  push_one(*c.queue, "a", "2");
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.size() == (key == PolicyKey::rate ? 1 : 0));
  CHECK(c.is_well());
  REQUIRE(command(c.server, {"DEL", key_of("nt")}).number == 1);
  CHECK(c.finds("tenant a: "));
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.empty());
  c.clock.advance(1'000);
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.size() == (key == PolicyKey::rate ? 1 : 2));
  CHECK(c.is_well());
}

TEST_CASE("a tenant that is not among those that run, or have something ready, is found, and is so again") {
  Checked c;
  push_one(*c.queue, "a", "1");
  push_one(*c.queue, "a", "2");
  REQUIRE(answered(c.queue->lease(for_a_minute())).deliveries.size() == 1);
  REQUIRE(command(c.server, {"DEL", key_of(GENERATE("rn", "tn"))}).number == 1);
  CHECK(c.finds("tenant a: is not listed by what it has"));
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(c.is_well());
}

TEST_CASE(
    "a tenant with another weight or limit than is set is found, and has what is set again by a repair") {
  Checked c;
  const std::string three("\0\0\0\0\0\0\x08\x40", 8);
  Policy file;
  file.tenants.push_back({"*", {{PolicyKey::weight, 2'000, 0, {}}}});
  REQUIRE(c.queue->policy_load(file, {.inode = 1}).ok());
  c.set("a", PolicyKey::concurrency, 1);
  c.set("a", PolicyKey::max_messages, 5);
  push_one(*c.queue, "a", "1");
  push_one(*c.queue, "a", "2");
  push_one(*c.queue, "b", "3");
  REQUIRE(c.is_well());
  const std::string who = GENERATE(std::string("a"), std::string("b"));
  const int what = GENERATE(range(0, 4));
  CAPTURE(who, what);
  if (what == 0) c.put_in(key_of("n:" + who), 42, three);  // its weight
  if (what == 1) c.put_in(key_of("n:" + who), 1, std::string(1, static_cast<char>(who == "a" ? 0x99 : 0x8b)));
  if (what == 2 && who == "a") c.put_in(key_of("n:a"), 146, three);  // its concurrency
  if (what == 3 && who == "a") command(c.server, {"HDEL", key_of("am"), "a"});
  if (what < 2 || who == "a") {
    CHECK(c.finds("tenant " + who + ": has another weight or limit than is set"));
    CHECK_FALSE(answered(c.queue->check({.repair = true})).repairs.empty());
  }
  CHECK(c.is_well());
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.size() == 2);
  CHECK(c.is_well());
}

TEST_CASE("a queue with another limit than is set is found, and has what is set again by a repair") {
  Checked c;
  c.set("", PolicyKey::concurrency, 1);
  push_one(*c.queue, "a", "1");
  push_one(*c.queue, "a", "2");
  REQUIRE(c.is_well());
  c.put_in(key_of("n:"), 146, std::string("\0\0\0\0\0\0\x08\x40", 8));
  CHECK(c.finds("the queue: has another weight or limit than is set"));
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(answered(c.queue->lease(for_a_minute(9))).deliveries.size() == 1);
}

TEST_CASE("among many tenants and many rules the one that does not follow them is found in many calls") {
  Checked c;
  constexpr int kTenants = 300, kRules = 400;
  Policy file;
  for (int i = 0; i < kRules; ++i)
    file.tenants.push_back({"t*x" + std::to_string(i), {{PolicyKey::weight, 2'000, 0, {}}}});
  REQUIRE(c.queue->policy_load(file, {.inode = 1}).ok());
  for (int i = 0; i < kTenants; ++i) push_one(*c.queue, "t" + std::to_string(i), "x");
  REQUIRE(c.is_well());
  c.put_in(key_of("n:t299"), 42, std::string("\0\0\0\0\0\0\x08\x40", 8));
  const auto calls = [&] {
    const std::string info = command(c.server, {"INFO", "commandstats"}).text,
                      begin = "cmdstat_fcall_ro:calls=";
    return std::strtoull(info.c_str() + info.find(begin) + begin.size(), nullptr, 10);
  };
  const uint64_t before = calls();
  CHECK(c.finds("tenant t299: has another weight or limit than is set"));
  CHECK(calls() - before > kTenants * kRules / 8'192);
  CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  CHECK(c.is_well());
}

TEST_CASE("a tenant that is not among those that there are is found, and is so again by a repair") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  push_one(*queue, "a", "x");
  command(server, {"DEL", "fq1:fq:{default:0:0}:cn"});
  CHECK(answered(queue->check()).findings.lines ==
        std::vector<std::string>{"tenant a: has messages, and is not among the tenants"});
  CHECK(answered(queue->check({.repair = true})).findings.empty());
  CHECK(answered(queue->check()).findings.empty());
}

TEST_CASE("a repair of what is well changes nothing and says nothing") {
  Checked c;
  push_one(*c.queue, "a", "1");
  const CheckReport report = answered(c.queue->check({.repair = true}));
  CHECK(report.findings.empty());
  CHECK(report.repairs.empty());
}

TEST_CASE("what a repair seats anew in a shard weighs there once") {
  Sharded s(2);
  std::vector<std::string> there;  // accounts of the first shard
  for (int i = 0; there.size() < 300; ++i) {
    const std::string name = "t" + std::to_string(i);
    if (shard_of(push_one(*s.queue, name, "x")) == 0) there.push_back(name);
  }
  REQUIRE(s.queue->policy_set(there[0], {{{PolicyKey::weight, 5'000, 0, {}}}, {}}).ok());
  const std::string tag = tag_of(s.server, 0), root = tag + "h";
  const auto weight = [&] { return command(s.server, {"HGET", root, "weight"}).text; };
  const std::string before = weight();
  REQUIRE(before == "304000");
  SECTION("its node was lost") { command(s.server, {"DEL", tag + "n:" + there[0]}); }
  SECTION("it stood elsewhere in its ring") {
    for (const Reply& each : command(s.server, {"ZRANGE", tag + "r:", "0", "-1"}).items)
      command(s.server, {"ZINCRBY", tag + "r:", "1", each.text});
  }
  SECTION("it weighed something else") { command(s.server, {"HSET", root, "weight", "12345"}); }
  CHECK_FALSE(answered(s.queue->check({.repair = true})).repairs.empty());
  CHECK(weight() == before);
  CHECK(answered(s.queue->check({})).findings.empty());
}

}  // namespace fq::test
