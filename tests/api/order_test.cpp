// order_test - who is served next: turns between tenants, order inside one, old places kept.
#include "tests/api/contract.h"

// System.
#include <set>
// fq, below us.
#include "core/base/sort_key.h"

namespace fq::test {

TEST_CASE("the classic example is served in turns") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  for (const char* payload : {"测试111", "测试111222", "测试111333"}) q.push("client_1", payload);
  for (const char* payload : {"测试222", "测试222333"}) q.push("client_2", payload);
  q.push("client_3", "测试333");
  CHECK(q.pop(6) == "测试111 测试222 测试333 测试111222 测试222333 测试111333");
  CHECK(q.pop() == "");
}

TEST_CASE("one message of B and one of C are served second and third behind 1000 of A") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("A", 1000);
  q.push("B", "b");
  q.push("C", "c");
  CHECK(q.pop(5) == "A1 b c A2 A3");
}

TEST_CASE("a tenant that comes anew joins at the end of the ring") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 3);
  q.push_many("b", 3);
  CHECK(q.pop() == "a1");
  q.push("c", "c1");
  CHECK(q.pop(4) == "b1 a2 c1 b2");
}

TEST_CASE("an account that splits its work over many tenants gains no turns") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("big/x", 2);
  q.push_many("big/y", 2);
  q.push_many("small", 4);
  CHECK(q.pop(8) == "big/x1 small1 big/y1 small2 big/x2 small3 big/y2 small4");
}

TEST_CASE("a node's own messages are one more child of it") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 2);
  q.push_many("a/b", 2);
  q.push_many("c", 4);
  CHECK(q.pop(8) == "a1 c1 a/b1 c2 a2 c3 a/b2 c4");
}

TEST_CASE("a path of eight levels is served like any other") {
  ON_EVERY_ENGINE(q);
  q.push("a/b/c/d/e/f/g/h", "deep");
  q.push("z", "flat");
  CHECK(q.in_turns(q.pop(2)) == q.in_turns("deep flat"));
}

TEST_CASE("inside a tenant higher priorities go first and equals as accepted") {
  ON_EVERY_ENGINE(q);
  q.push("t", "first");
  q.push("t", "low", {.priority = -1});
  q.push("t", "high", {.priority = 7});
  q.push("t", "second");
  q.push("t", "high2", {.priority = 7});
  CHECK(q.pop(5) == "high high2 first second low");
}

TEST_CASE("the extremes of priority are kept apart") {
  ON_EVERY_ENGINE(q);
  q.push("t", "min", {.priority = INT32_MIN});
  q.push("t", "zero");
  q.push("t", "max", {.priority = INT32_MAX});
  CHECK(q.pop(3) == "max zero min");
}

TEST_CASE("a high priority takes no turn from another tenant") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("quiet", 2);
  q.push("loud", "l1", {.priority = 9});
  q.push("loud", "l2", {.priority = 9});
  CHECK(q.pop(4) == "quiet1 l1 quiet2 l2");
}

TEST_CASE("sort keys go smallest first and messages without one last") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.order = Order::key; });
  q.push("t", "none");
  q.push("t", "b", {.key = "b"});
  q.push("t", "a2", {.key = "aa"});
  q.push("t", "a1", {.key = "a"});
  q.push("t", "bytes", {.key = "\xff"});
  CHECK(q.pop(5) == "a1 a2 b bytes none");
}

TEST_CASE("one order for the whole queue: the highest priority of all goes first, and equals take turns") {
  ON_EVERY_ENGINE(q);
  if (!q.set_scope_of_queue()) return;
  q.push_many("quiet", 3);
  q.push("loud", "l1", {.priority = 9});
  q.push("loud/below", "x1", {.priority = 9});
  q.push("loud", "l2", {.priority = 9});
  q.push("late", "n1");
  CHECK(q.pop(7) == "l1 x1 l2 quiet1 n1 quiet2 quiet3");
}

TEST_CASE("one order for the whole queue: the smallest key of all goes first") {
  ON_EVERY_ENGINE(q);
  if (!q.set_scope_of_queue(Order::key)) return;
  q.push("a", "a7", {.key = "7"});
  q.push("b", "b3", {.key = "3"});
  q.push("a", "a5", {.key = "5"});
  q.push("c", "c5", {.key = "5"});
  q.push("b", "b9", {.key = "9"});
  CHECK(q.pop(5) == "b3 a5 c5 a7 b9");
}

TEST_CASE("one order for the whole queue: equal keys take turns, however they are typed") {
  ON_EVERY_ENGINE(q);
  if (!q.set_scope_of_queue(Order::key)) return;
  const auto key = [](std::string_view typed) { return encode_sort_key(typed).bytes; };
  q.push("a", "a1", {.key = key("2.50")});
  q.push("b", "b1", {.key = key("2.5")});
  q.push("b", "b2", {.key = key("+2.5")});
  q.push("a", "a2", {.key = key("25e-1")});
  q.push("b", "b3", {.key = key("02.5")});
  q.push("b", "near", {.key = key("2.49")});
  q.push("a", "minus", {.key = key("-2.50")});
  q.push("b", "less", {.key = key("-2.51")});
  q.push("a", "zero", {.key = key("0.0")});
  q.push("b", "naught", {.key = key("0")});
  CHECK(q.pop(10) == "less minus naught zero near a1 b1 a2 b2 b3");
}

TEST_CASE("equal sort keys are served as accepted, however they are typed") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.order = Order::key; });
  for (const char* typed : {"1.00", "1", "+1", "2026-11-02T08:00:00+01:00", "2026-11-02T07:00:00Z", "x", "X"})
    q.push("t", typed, {.key = encode_sort_key(typed).bytes});
  CHECK(q.pop(7) == "1.00 1 +1 2026-11-02T08:00:00+01:00 2026-11-02T07:00:00Z X x");
  q.push("t", "low", {.priority = 1, .key = encode_sort_key("7").bytes});
  q.push("t", "high", {.priority = 2, .key = encode_sort_key("7.0").bytes});
  CHECK(q.pop(2) == "high low");
}

TEST_CASE("who takes the turns of one tenant uses up none that others have by age, and has its own") {
  ON_EVERY_ENGINE(q);
  if (!q.set_scope_of_queue()) return;
  q.push("low", "low");
  q.push("x/low", "x/low");
  for (int i = 0; i < 50; ++i) {
    q.push("urgent", "urgent", {.priority = 9});
    q.push("x/busy", "busy", {.priority = 5});
  }
  const auto turn_of = [&](const std::string& tenant) {
    const std::string expected = q.peek(1, {.tenant = tenant, .state = State::ready, .tag = {}});
    LeaseRequest request = timed_lease();
    request.tenant = tenant;
    const LeaseReply taken = q.lease_all(request);
    REQUIRE(taken.deliveries.size() == 1);
    q.ack(taken.deliveries[0]);
    CHECK(payload_of(taken.deliveries[0]) == expected);
    return expected;
  };
  // Each second turn is one of x. Three have work at the top, and two below x.
  std::set<std::string> of_all, of_x;
  for (int turn = 1; turn <= 3 * 16; ++turn) {
    of_all.insert(turn_of(""));
    of_x.insert(turn_of("x"));
    if (turn == 2 * 16) CHECK(of_x.contains("x/low"));
  }
  CHECK(of_all.contains("low"));
}

TEST_CASE("one order for the whole queue goes with fifo as if it were not there") {
  ON_EVERY_ENGINE(q);
  if (!q.set_scope_of_queue(Order::fifo)) return;
  q.push_many("a", 2);
  q.push_many("b", 2);
  CHECK(q.pop(4) == "a1 b1 a2 b2");
}

TEST_CASE("equal sort keys are served as accepted") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.order = Order::key; });
  for (const char* payload : {"one", "two", "three"}) q.push("t", payload, {.key = "same"});
  CHECK(q.pop(3) == "one two three");
}

TEST_CASE("fifo serves as accepted") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.order = Order::fifo; });
  q.push_many("t", 4);
  CHECK(q.pop(4) == "t1 t2 t3 t4");
}

TEST_CASE("what comes back takes its old place in its tenant") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 3);
  const Delivery first = q.lease();
  const Delivery second = q.lease();
  CHECK(q.release(second) == SettleStatus::ok);
  CHECK(q.retry(first) == SettleStatus::ok);
  CHECK(q.pop(3) == "t1 t2 t3");
}

TEST_CASE("what comes back jumps no ring") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push("a", "a1");
  const Delivery taken = q.lease();
  q.push_many("b", 2);
  q.push_many("c", 2);
  q.release(taken);
  CHECK(q.pop(5) == "b1 c1 a1 b2 c2");
}

TEST_CASE("peek shows the order of serving and changes nothing") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 3);
  q.push("b/x", "bx");
  q.push_many("b/y", 2);
  q.push("c", "c1", {.priority = 3});
  const std::string shown = q.peek();
  CHECK(q.peek() == shown);
  CHECK(q.pop(100) == shown);
}

TEST_CASE("peek goes on from its cursor where the page before ended") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 5);
  q.push_many("b", 2);
  std::string payloads;
  Cursor cursor;
  size_t pages = 0;
  do {
    const Result<MessagePage> page =
        q.door().peek({.tenant = {}, .state = State::ready, .tag = {}}, cursor, 2);
    REQUIRE(page.ok());
    CHECK(page->messages.size() <= 2);
    for (const MessageInfo& message : page->messages) payloads += *message.payload + " ";
    cursor = page->next;
  } while (!cursor.text.empty() && ++pages < 20);
  CHECK(payloads == "a1 b1 a2 b2 a3 a4 a5 ");
}

TEST_CASE("between two turns of a busy tenant an equal one gets no more than the bound") {
  ON_EVERY_ENGINE(q);
  q.push_many("a", 50);
  q.push_many("b", 50);
  const uint32_t bound = q.door().caps().fairness_bound;
  uint32_t run = 0;
  for (int i = 0; i < 60; ++i) {
    run = q.pop().starts_with("a") ? run + 1 : 0;
    CHECK(run <= bound);
  }
}

}  // namespace fq::test
