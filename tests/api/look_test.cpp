// look_test - what a queue shows of its messages, and cancel, by id and by filter.
#include "tests/api/contract.h"

// System.
#include <algorithm>

namespace fq::test {

TEST_CASE("a message can be looked at in each state") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("acme", "hello", {.priority = 2});
  const MessageInfo ready = q.get(id);
  CHECK(ready.state == State::ready);
  CHECK(ready.tenant == "acme");
  CHECK(ready.priority == 2);
  CHECK(ready.payload == "hello");
  CHECK(ready.pushed_at_wall_ms.has_value());
  const Delivery d = q.lease();
  CHECK(q.get(id).state == State::leased);
  CHECK(q.get(id).deliveries == 1);
  q.bury(d);
  CHECK(q.get(id).state == State::dead);
}

TEST_CASE("a message that never was is not there") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x");
  for (const uint64_t other : {uint64_t{0}, number(id) + 1, kMessageIdMax}) {
    const Result<std::optional<MessageInfo>> found = q.door().get(MessageId{other});
    REQUIRE(found.ok());
    CHECK(!found->has_value());
  }
}

TEST_CASE("a dead letter keeps its last error") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x");
  const Delivery d = q.lease();
  Settle item;
  item.receipt = d.receipt;
  item.verdict = Verdict::bury;
  item.reason = "no such host";
  item.exit = 65;
  item.stderr_tail = "cannot resolve\n";
  REQUIRE(q.door().settle({&item, 1}).ok());
  const LastError error = q.get(id).last_error.value();
  CHECK(error.reason == "no such host");
  CHECK(error.exit == 65);
  CHECK(!error.signal.has_value());
  CHECK(error.stderr_tail == "cannot resolve\n");
}

TEST_CASE("the history tells what happened, oldest first") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x");
  q.retry(q.lease());
  q.release(q.lease());
  q.bury(q.lease());
  q.mutate({id}, Action::kick);
  CHECK(q.events(id) == "pushed leased retried leased released leased buried kicked");
}

TEST_CASE("a cancelled message is not served") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x");
  q.push("t", "y");
  CHECK(q.mutate({id}, Action::cancel).changed == 1);
  CHECK(q.get(id).state == State::cancelled);
  CHECK(q.pop(2) == "y");
}

TEST_CASE("cancel takes delayed, leased and dead messages by id") {
  ON_EVERY_ENGINE(q);
  const MessageId dead = q.push("t", "dead");
  q.bury(q.lease());
  const MessageId leased = q.push("t", "leased");
  const Delivery d = q.lease();
  const MessageId delayed = q.push("t", "delayed", {.delay_ms = 1'000});
  CHECK(q.mutate({dead, leased, delayed}, Action::cancel).changed == 3);
  CHECK(q.ack(d) == SettleStatus::gone);
  q.clock().advance(100'000);
  CHECK(q.pop() == "");
}

TEST_CASE("cancel and kick of what has ended or never was change nothing") {
  ON_EVERY_ENGINE(q);
  const MessageId acked = q.push("t", "x");
  q.ack(q.lease());
  for (const Action action : {Action::cancel, Action::kick}) {
    const MutateReply reply = q.mutate({acked, MessageId{number(acked) + 1000}}, action);
    CHECK(reply.changed == 0);
    for (const SettleStatus status : reply.items) CHECK(is_refused(status));
  }
}

TEST_CASE("cancel by filter takes one state where that is named, else every one") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 5);
  q.bury(q.lease());
  q.lease();
  CHECK(q.mutate_all({.tenant = {}, .state = State::ready, .tag = {}}, Action::cancel) == 3);
  CHECK(q.stats().dead == 1);
  CHECK(q.stats().leased == 1);
  CHECK(q.mutate_all({}, Action::cancel) == 2);
  CHECK(q.stats().dead == 0);
}

TEST_CASE("peek by state goes on from its cursor and shows none twice") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 5);
  for (int i = 0; i < 5; ++i) q.bury(q.lease());
  std::string payloads;
  Cursor cursor;
  size_t pages = 0;
  do {
    const Result<MessagePage> page =
        q.door().peek({.tenant = {}, .state = State::dead, .tag = {}}, cursor, 2);
    REQUIRE(page.ok());
    for (const MessageInfo& message : page->messages) payloads += *message.payload + " ";
    cursor = page->next;
  } while (!cursor.text.empty() && ++pages < 20);
  CHECK(payloads == "t1 t2 t3 t4 t5 ");
}

TEST_CASE("cancel by tag takes those that bear it") {
  ON_EVERY_ENGINE(q);
  q.push("t", "blue", {.tags = {{"team", "blue"}}});
  q.push("t", "red", {.tags = {{"team", "red"}}});
  q.push("t", "none");
  CHECK(q.mutate_all({.tenant = {}, .state = {}, .tag = Tag{"team", "blue"}}, Action::cancel) == 1);
  CHECK(q.pop(3) == "red none");
}

TEST_CASE("peek by state shows the delayed by due time") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push("t", "last", {.delay_ms = 3'000});
  q.push("t", "first", {.delay_ms = 1'000});
  q.push("u", "middle", {.delay_ms = 2'000});
  q.push("t", "ready");
  CHECK(q.peek(10, {.tenant = {}, .state = State::delayed, .tag = {}}) == "first middle last");
}

TEST_CASE("peek shows the leased by the end of their lease, the dead by when they died, then by id") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 6);
  REQUIRE(q.lease_all({}).deliveries.size() == 1);  // for as long as this process lives: they come last
  REQUIRE(q.lease_all(timed_lease(1, 60'000)).deliveries.size() == 1);
  const LeaseReply third = q.lease_all(timed_lease(1, 30'000));
  const LeaseReply next = q.lease_all(timed_lease(2, 20'000));
  REQUIRE(next.deliveries.size() == 2);
  REQUIRE(q.lease_all({}).deliveries.size() == 1);
  CHECK(q.peek(10, {.tenant = {}, .state = State::leased, .tag = {}}) == "t4 t5 t3 t2 t1 t6");
  std::string one_by_one;
  Cursor at;
  do {
    MessagePage page = q.door().peek({.tenant = {}, .state = State::leased, .tag = {}}, at, 1).value();
    for (const MessageInfo& message : page.messages) one_by_one += *message.payload + " ";
    at = page.next;
  } while (!at.text.empty());
  CHECK(one_by_one == "t4 t5 t3 t2 t1 t6 ");
  for (const Delivery* each : {&next.deliveries[1], &third.deliveries.at(0), &next.deliveries[0]}) {
    q.bury(*each);
    q.clock().advance(10);
  }
  CHECK(q.peek(2, {.tenant = {}, .state = State::dead, .tag = {}}) == "t5 t3");
  CHECK(q.peek(10, {.tenant = {}, .state = State::dead, .tag = {}}) == "t5 t3 t4");
}

TEST_CASE("peek without a state shows every message that has not ended") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 4);
  q.ack(q.lease());
  q.bury(q.lease());
  q.lease();
  q.push("t", "later", {.delay_ms = 1'000});
  const Result<MessagePage> page = q.door().peek({}, {}, 100);
  REQUIRE(page.ok());
  CHECK(page->messages.size() == 4);
}

TEST_CASE("peek shows what is held until a time and what is held by living") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 4);
  REQUIRE(q.lease_all({}).deliveries.size() == 1);
  q.lease();
  REQUIRE(q.lease_all({}).deliveries.size() == 1);
  const Filter leased{.tenant = "t", .state = State::leased, .tag = {}};
  size_t count = 0;
  Cursor at;
  do {
    MessagePage page = q.door().peek(leased, at, 1).value();
    count += page.messages.size();
    at = page.next;
  } while (!at.text.empty());
  CHECK(count == 3);
  CHECK(q.door().peek({}, {}, 10).value().messages.size() == 4);
}

TEST_CASE("peek of a tenant shows it and what is below it") {
  ON_EVERY_ENGINE(q);
  for (const char* tenant : {"acme", "acme/sub", "acmes", "other"}) q.push(tenant, tenant);
  CHECK(q.peek(10, {.tenant = "acme", .state = State::ready, .tag = {}}) == "acme acme/sub");
}

TEST_CASE("the counts of a quiet queue are exact") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 6);
  q.ack(q.lease());
  q.bury(q.lease());
  q.retry(q.lease(), 1'000);
  q.release(q.lease(), 1'000);
  q.lease();
  const StatsRow row = q.stats();
  CHECK(row.ready == 1);
  CHECK(row.delayed == 2);
  CHECK(row.leased == 1);
  CHECK(row.dead == 1);
  CHECK(row.held == 0);
  CHECK(row.pushed == 6);
  CHECK(row.popped == 5);
  CHECK(row.acked == 1);
  CHECK(row.retried == 1);
  CHECK(row.released == 1);
  CHECK(row.buried == 1);
  CHECK(row.cancelled == 0);
}

TEST_CASE("a retry that was the last attempt is counted as one, and buries") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.attempts_max = 2; });
  q.push("t", "x");
  q.clock().advance(100);
  q.release(q.lease());
  q.clock().advance(5'000);
  q.retry(q.lease());
  q.clock().advance(5'000);
  q.retry(q.lease());
  const StatsRow row = q.stats();
  CHECK(row.dead == 1);
  CHECK(row.popped == 3);
  CHECK(row.released == 1);
  CHECK(row.retried == 2);
  CHECK(row.buried == 1);
}

TEST_CASE("rates are over the last minutes, idle time included") {
  ON_EVERY_ENGINE(q);
  for (int i = 0; i < 120; ++i) {
    q.push("t", "x");
    if (i % 2 == 0) q.ack(q.lease());
    q.clock().advance(1'000);
  }
  const StatsRow busy = q.stats();
  CHECK(busy.pushed_per_s.value().m1 == Approx(1).epsilon(0.02));
  CHECK(busy.popped_per_s.value().m1 == Approx(0.5).epsilon(0.05));
  CHECK(busy.acked_per_s.value().m1 == Approx(0.5).epsilon(0.05));
  CHECK(busy.pushed_per_s.value().m5 == Approx(120.0 / 300));
  CHECK(busy.pushed_per_s.value().m15 == Approx(120.0 / 900));
  q.clock().advance(180'000);
  CHECK(q.stats().pushed_per_s.value().m1 == 0);
  CHECK(q.stats().pushed_per_s.value().m5 == Approx(120.0 / 300).epsilon(0.05));
  q.push("t", "x");
  CHECK(q.stats().pushed_per_s.value().m1 == Approx(1.0 / 60));
  q.clock().advance(3'600'000);
  CHECK(q.stats().pushed_per_s.value().m15 == 0);
}

TEST_CASE("a tenant's row counts its own messages") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 3);
  q.push_many("a/b", 2);
  q.push("c", "c1");
  q.ack(q.lease());
  CHECK(q.stats("a").ready == 2);
  CHECK(q.stats("a").acked == 1);
  CHECK(q.stats("a/b").ready == 2);
  CHECK(q.stats("c").ready == 1);
}

TEST_CASE("settings are those that were loaded last") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.attempts_max = 7; });
  const Result<Settings> settings = q.door().settings();
  REQUIRE(settings.ok());
  CHECK(settings->attempts_max == 7);
}

TEST_CASE("a policy file is known by its identity") {
  ON_EVERY_ENGINE(q);
  FileIdentity identity;
  identity.inode = 17;
  REQUIRE(q.door().policy_load({}, identity).ok());
  CHECK(q.door().policy_is_current(identity).value());
  identity.modified_ns = 1;
  CHECK(!q.door().policy_is_current(identity).value());
}

TEST_CASE("two handles see one queue") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.another_handle();
  q.push("t", "x");
  Result<LeaseReply> reply = other->lease(timed_lease());
  REQUIRE(reply.ok());
  REQUIRE(reply->deliveries.size() == 1);
  CHECK(q.pop() == "");
  CHECK(q.ack(reply->deliveries[0]) == SettleStatus::ok);
}

TEST_CASE("check finds nothing in a queue that was only used") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 20);
  q.retry(q.lease());
  q.ack(q.lease());
  const Result<CheckReport> report = q.door().check();
  REQUIRE(report.ok());
  for (const std::string& finding : report->findings.lines) FAIL_CHECK(finding);
  CHECK(report->messages == 19);
}

TEST_CASE("what failed is found by a part of the reason, what expired too") {
  ON_EVERY_ENGINE(q);
  const MessageId lost = q.push("a", "x", {.attempts_max = 1});
  const MessageId timed = q.push("b", "y");
  REQUIRE(q.retry(q.lease("a"), 0, "exit 3: no route") == SettleStatus::buried);
  REQUIRE(q.bury(q.lease("b"), "timed out") == SettleStatus::ok);
  const MessageId late = q.push("c", "z", {.ttl_ms = 10});
  q.clock().advance(11);
  const auto dead_for = [&](const std::string& reason) {
    const Result<IdPage> page = q.door().select({.state = State::dead, .reason = reason}, {}, 10);
    REQUIRE(page.ok());
    CHECK(page->next.text.empty());
    return page->ids;
  };
  using Ids = std::vector<MessageId>;
  Ids all = {lost, timed, late};
  std::sort(all.begin(), all.end());
  CHECK(dead_for("") == all);
  CHECK(dead_for("no route") == Ids{lost});
  CHECK(dead_for("timed") == Ids{timed});
  CHECK(dead_for("expired") == Ids{late});
  CHECK(dead_for("No route").empty());
  CHECK(q.mutate_all({.state = State::dead, .reason = "out"}, Action::kick, 1) == 2);
  CHECK(dead_for("") == Ids{late});
}

TEST_CASE("ids are selected in pages by all of a filter, and none twice") {
  ON_EVERY_ENGINE(q);
  std::vector<MessageId> wanted;
  for (int i = 0; i < 30; ++i) {
    const bool fits = i % 3 == 0;
    const MessageId id = q.push(i % 2 == 0 ? "a/b" : "a", "x", {.tags = {{"k", fits ? "v" : "w"}}});
    if (fits && i % 2 == 0) wanted.push_back(id);
  }
  std::vector<MessageId> found;
  Cursor from;
  do {
    const Result<IdPage> page =
        q.door().select({.tenant = "a/b", .state = State::ready, .tag = Tag{"k", "v"}}, from, 4);
    REQUIRE(page.ok());
    found.insert(found.end(), page->ids.begin(), page->ids.end());
    from = page->next;
  } while (!from.text.empty());
  CHECK(found == wanted);
  CHECK(q.door().select({.tenant = "b"}, {}, 4)->ids.empty());
}

}  // namespace fq::test
