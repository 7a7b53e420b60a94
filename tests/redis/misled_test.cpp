// misled_test - what names another message than it should, or a number that is none, where a call comes to
// it: it ends, it does nothing by halves, and no message pays for it.

// System.
#include <functional>
// Tests.
#include "tests/redis/fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

/// A queue of one shard, and what is put under its keys by hand.
struct Misled {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);
  const std::string tag = "fq1:fq:{default:0:0}:";

  MessageId push(std::string_view tenant, const std::function<void(NewMessage&)>& change = {}) {
    NewMessage message;
    message.tenant = tenant;
    message.payload = as_bytes("payload");
    if (change) change(message);
    return answered(queue->push({&message, 1})).items.at(0).id;
  }
  MessageId push_behind(MessageId parent) {
    return push("t", [&](NewMessage& message) { message.after = {parent}; });
  }
  Result<LeaseReply> lease(std::string_view tenant = {}) {
    LeaseRequest request = for_a_minute(1);
    request.tenant = tenant;
    return queue->lease(request);
  }
  Delivery take(std::string_view tenant) { return std::move(answered(lease(tenant)).deliveries.at(0)); }
  void cancel(MessageId id) { CHECK(answered(queue->mutate({&id, 1}, Action::cancel)).changed == 1); }
  State state(MessageId id) { return answered(queue->get(id))->state; }
  Reply ask(std::initializer_list<std::string_view> words) { return command(server, words); }
  std::string key(const std::string& name) const { return tag + name; }
};

}  // namespace

TEST_CASE("a waiter whose name is damaged keeps no call that has something for another") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  const std::string list = GENERATE("bw", "bf");
  const Waiter waiter(open_on(real_time_engine(), server.spool()), until_there(), list == "bf" ? "none" : "");
  const std::string key = "fq1:fq:{default:0:0}:" + list;
  wait_until([&] { return command(server, {"ZCARD", key}).number == 1; });
  command(server, {"ZADD", key, "+inf", list == "bw" ? "garbage" : "garb"});
  NewMessage message;
  message.tenant = "t";
  message.delay_ms = 5'000;
  CHECK(answered(queue->push({&message, 1})).items.at(0).status == PushStatus::accepted);
}

TEST_CASE("what waits by its own record only is served when what it waits for has ended") {
  Misled m;
  const MessageId parent = m.push("t");
  m.push_behind(parent);
  SECTION("one that is leased") {
    const MessageId leased = m.push("u", [](NewMessage& message) { message.unique = "k"; });
    m.take("u");
    m.ask({"ZADD", m.key("w:1"), "0", member_of(leased)});
    m.cancel(parent);
    CHECK(m.state(leased) == State::leased);
  }
  SECTION("one that waits for nothing") {
    const MessageId plain = m.push("u");
    m.ask({"ZADD", m.key("w:1"), "0", member_of(plain)});
    m.cancel(parent);
    CHECK(m.take("u").id == plain);
  }
  SECTION("none at all") {
    const std::string_view name = GENERATE("garbage99", "\xff\xff\xff\xff\xff\xff\xff\xff");
    m.ask({"ZADD", m.key("w:1"), "0", name});
    m.cancel(parent);
    CHECK(m.ask({"HGET", m.key("h"), "ended"}).text.empty());
  }
  CHECK(answered(m.queue->check()).findings.lines == std::vector<std::string>{});
}

TEST_CASE("who leaves gives back what it holds, beside what is no message") {
  Misled m;
  auto holder = open_on(told_time_engine(), m.server.spool(), &m.clock);
  const MessageId id = m.push("t");
  LeaseRequest by_living = for_a_minute(1);
  by_living.hold = Hold::process;
  REQUIRE(answered(holder->lease(by_living)).deliveries.size() == 1);
  const std::string list = m.ask({"KEYS", m.key("l:*")}).at(0).text;
  for (int i = 0; i < 300; ++i) m.ask({"ZADD", list, "-1", "garbage" + std::to_string(1'000 + i)});
  holder.reset();
  CHECK(m.take("t").id == id);
}

TEST_CASE("what is told of after its end goes with its time, and not one that lives") {
  Misled m;
  const MessageId id = m.push("t");
  m.ask({"ZADD", m.key("zt"), "1", member_of(id)});
  m.push("u");
  CHECK(m.take("t").id == id);
}

TEST_CASE("a count of times that is no number begins anew") {
  Misled m;
  const MessageId id = m.push("t");
  m.ask({"HSET", m.key("hg"), "ws", "", "wm", "x"});
  CHECK(m.take("t").id == id);
  CHECK(answered(m.queue->check()).findings.lines == std::vector<std::string>{});
}

TEST_CASE("what is set for one tenant and cannot be read stops no other") {
  Misled m;
  m.push("t");
  SECTION("for one that has nothing") {
    m.ask({"HSET", m.key("ov"), "z", "xx"});
    m.ask({"ZADD", m.key("il"), "1", "z"});
    m.ask({"HSET", m.key("h"), "idle", "1"});
  }
  SECTION("for one with a limit") {
    REQUIRE(m.queue->policy_set("u", {{{PolicyKey::concurrency, 3, 0, {}}}, {}}).ok());
    m.push("u");
    const std::string node = m.ask({"GET", m.key("n:u")}).text;
    REQUIRE(node.size() > 150);
    m.ask({"SET", m.key("n:u"), node.substr(0, 150)});
  }
  m.push("t");
  m.take("t");
  answered(m.queue->check({.repair = true}));
  CHECK(answered(m.queue->check()).findings.lines == std::vector<std::string>{});
}

TEST_CASE("where the root says that messages are on their way, and none is, it says so no more") {
  Misled m;
  const bool is_garbage = GENERATE(false, true);
  if (is_garbage) m.ask({"HSET", m.key("mv"), "7", "garbage"});
  m.ask({"HSET", m.key("h"), "crossing", "1"});
  m.push("t");
  m.push("t");
  CHECK(m.ask({"HEXISTS", m.key("h"), "crossing"}).number == 0);
}

TEST_CASE("a unique key of a message that is lost is free") {
  Misled m;
  const auto push_unique = [&] { return m.push("t", [](NewMessage& message) { message.unique = "k"; }); };
  const MessageId lost = push_unique();
  m.ask({"DEL", m.key("m:1")});
  const MessageId next = push_unique();
  CHECK(next != lost);
  CHECK(push_unique() == next);
}

TEST_CASE("a tenant of which all is lost that says when its turn is stops no other") {
  Misled m;
  const bool by_rank = GENERATE(false, true);
  if (by_rank) {
    const auto scope = static_cast<int64_t>(Scope::queue);
    REQUIRE(m.queue->policy_set("", {{{PolicyKey::scope, scope, 0, {}}}, {}}).ok());
  }
  m.push("a");
  const MessageId other = m.push("b");
  m.ask({"DEL", m.key("n:a")});
  const LeaseReply reply = answered(m.lease());
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(reply.deliveries[0].id == other);
  answered(m.queue->check({.repair = true}));
  CHECK(answered(m.lease()).deliveries.size() == 1);
}

TEST_CASE("a message whose move cannot be written where it goes to is still where it was") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  const MessageId id = push_one(*queue, "t", "x");
  answered(real_time_engine().create({server.spool(), "other"}, {}));
  const std::vector<Reply> roots = command(server, {"KEYS", "fq1:fq:{other:*}:h"}).items;
  const std::string key = roots.at(0).text.substr(0, roots[0].text.size() - 1) + "e";
  command(server, {"DEL", key});
  command(server, {"SET", key, "of another program"});
  const Result<MoveReply> moved = queue->move({&id, 1}, {"other", ""});
  CHECK((!moved || moved->error));
  CHECK(answered(queue->get(id))->state == State::ready);
}

}  // namespace fq::test
