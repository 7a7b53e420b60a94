// job_test - what a worker needs of its queue: a job's terms, news of its leases, how much to take of whom.
#include "tests/api/contract.h"

// System.
#include <algorithm>
#include <thread>
// fq, below us.
#include "core/base/host_name.h"

namespace fq::test {

namespace {

LeaseRequest watching(size_t want = 1) {
  LeaseRequest request;
  request.want = want;
  request.watch = true;
  return request;
}

/// What became of watched leases, without waiting.
std::vector<LeaseChange> changes_of(QueueFixture& q) {
  const LeaseReply reply = q.lease_all(watching(0));
  CHECK(reply.deliveries.empty());
  CHECK((reply.why_empty == WhyEmpty::changed) == !reply.changes.empty());
  return reply.changes;
}

SettleStatus settle_through(Queue& queue, const Receipt& receipt, Verdict verdict) {
  Settle item;
  item.receipt = receipt;
  item.verdict = verdict;
  return queue.settle({&item, 1}).value().items.at(0);
}

}  // namespace

TEST_CASE("what a push says of its job comes with each delivery") {
  ON_EVERY_ENGINE(q);
  const std::string payload("in\0put", 6);
  NewMessage message = message_of("acme", payload, {.tags = {{"order", "7"}, {"empty", ""}}});
  message.command = JobCommand{{"convert", "", "-x", "a b\n"}, "/a dir", {"LANG=C", "EMPTY="}};
  message.timeout_ms = 1'500;
  message.keep_ms = 86'400'000;
  const MessageId id = q.door().push({&message, 1}, {}).value().items.at(0).id;
  CHECK(q.get(id).command == message.command);
  for (int delivery = 0; delivery < 2; ++delivery) {
    const Delivery d = q.lease();
    CHECK(payload_of(d) == payload);
    CHECK(d.tags == std::vector<Tag>{{"order", "7"}, {"empty", ""}});
    CHECK(d.command == message.command);
    CHECK(d.timeout_ms == 1'500);
    CHECK(d.keep_ms == 86'400'000);
    q.release(d);
  }
}

TEST_CASE("a message whose push says nothing of a job has no terms of one") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "plain");
  CHECK_FALSE(q.get(id).command);
  const Delivery d = q.lease();
  CHECK(d.tags.empty());
  CHECK_FALSE(d.command);
  CHECK_FALSE(d.timeout_ms);
  CHECK_FALSE(d.keep_ms);
}

TEST_CASE("a lease may say how many attempts count for messages without a number of their own") {
  ON_EVERY_ENGINE(q);
  const MessageId free = q.push("t", "free");
  const MessageId own = q.push("t", "own", {.attempts_max = 3});
  LeaseRequest request = timed_lease(2);
  request.attempts_max = 1;
  const LeaseReply reply = q.lease_all(request);
  REQUIRE(reply.deliveries.size() == 2);
  CHECK(reply.deliveries[0].attempts_max == 1);
  CHECK(reply.deliveries[1].attempts_max == 3);
  CHECK(q.retry(reply.deliveries[0]) == SettleStatus::buried);
  CHECK(q.retry(reply.deliveries[1]) == SettleStatus::ok);
  CHECK(q.get(free).state == State::dead);
  CHECK(q.get(own).state == State::ready);
}

TEST_CASE("a group takes of nobody else, and not of those below it") {
  ON_EVERY_ENGINE(q);
  q.push("a", "a1");
  q.push("a/b", "ab1");
  q.push("c", "c1");
  q.push("a", "a2");
  LeaseRequest request = timed_lease(1);
  request.grouped = true;
  std::vector<std::string> groups;
  for (;;) {
    const LeaseReply reply = q.lease_all(request);
    if (reply.deliveries.empty()) break;
    std::string group = reply.deliveries[0].tenant + ":";
    for (const Delivery& d : reply.deliveries) group += " " + payload_of(d);
    groups.push_back(group);
  }
  std::sort(groups.begin(), groups.end());
  CHECK(groups == std::vector<std::string>{"a/b: ab1", "a: a1 a2", "c: c1"});
}

TEST_CASE("a look takes nothing and says whether there is something") {
  ON_EVERY_ENGINE(q);
  LeaseRequest look = timed_lease(10);
  look.look = true;
  CHECK(q.lease_all(look).why_empty == WhyEmpty::nothing);
  const MessageId id = q.push("t", "only");
  const LeaseReply reply = q.lease_all(look);
  CHECK(reply.deliveries.empty());
  CHECK(reply.why_empty == WhyEmpty::servable);
  CHECK(q.get(id).state == State::ready);
  CHECK(q.get(id).deliveries == 0);
  look.tenant = "other";
  CHECK(q.lease_all(look).why_empty == WhyEmpty::nothing);
}

TEST_CASE("a waiting look ends when somebody pushes", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  const std::unique_ptr<Queue> other = q.another_handle();
  LeaseRequest look = timed_lease();
  look.look = look.wait = true;
  look.wait_ms = 20'000;
  std::thread pusher([&] {
    const NewMessage message = message_of("t", "now", {});
    static_cast<void>(other->push({&message, 1}));
  });
  const LeaseReply reply = q.lease_all(look);
  pusher.join();
  CHECK(reply.why_empty == WhyEmpty::servable);
  CHECK(q.pop() == "now");
}

TEST_CASE("who wants none takes none, whatever is there") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  q.push("t", "only");
  LeaseRequest none = timed_lease(0);
  CHECK(q.lease_all(none).why_empty == WhyEmpty::nothing);
  none.wait = true;
  none.wait_ms = 10;
  const LeaseReply reply = q.lease_all(none);
  CHECK(reply.deliveries.empty());
  CHECK(reply.why_empty == WhyEmpty::timed_out);
  CHECK(q.pop() == "only");
}

TEST_CASE("who waits until the queue is idle is told when it is") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  LeaseRequest request = timed_lease();
  request.wait = request.until_idle = true;
  request.wait_ms = 20'000;
  q.push("t", "later", {.delay_ms = 3'600'000});
  CHECK(q.lease_all(request).why_empty == WhyEmpty::idle);
  q.push("t", "now");
  const LeaseReply reply = q.lease_all(request);
  REQUIRE(reply.deliveries.size() == 1);
  request.wait_ms = 10;
  CHECK(q.lease_all(request).why_empty == WhyEmpty::timed_out);  // one is leased
  q.ack(reply.deliveries[0]);
  CHECK(q.lease_all(request).why_empty == WhyEmpty::idle);
}

TEST_CASE("a watched lease that another cancels or settles is told as ended, once") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.another_handle();
  for (const char* payload : {"cancelled", "acked", "released", "kept"}) q.push("t", payload);
  const LeaseReply leased = q.lease_all(watching(4));
  REQUIRE(leased.deliveries.size() == 4);
  CHECK(changes_of(q).empty());
  const auto receipt = [&](size_t i) { return leased.deliveries[i].receipt; };
  REQUIRE(other->mutate(std::vector{leased.deliveries[0].id}, Action::cancel).ok());
  std::vector<LeaseChange> changes = changes_of(q);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].receipt == receipt(0));
  CHECK(changes[0].what == LeaseChange::What::cancelled);
  CHECK(settle_through(*other, receipt(1), Verdict::ack) == SettleStatus::ok);
  CHECK(settle_through(*other, receipt(2), Verdict::release) == SettleStatus::ok);
  changes = changes_of(q);
  REQUIRE(changes.size() == 2);
  for (const LeaseChange& change : changes) {
    CHECK((change.receipt == receipt(1) || change.receipt == receipt(2)));
    CHECK(change.what == LeaseChange::What::ended);
  }
  CHECK(changes_of(q).empty());
  CHECK(q.ack(leased.deliveries[3]) == SettleStatus::ok);
}

TEST_CASE("what others make of a watched lease is told beside a new one") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.another_handle();
  q.push("t", "cancelled");
  const LeaseReply first = q.lease_all(watching());
  REQUIRE(first.deliveries.size() == 1);
  q.push("t", "next");
  REQUIRE(other->mutate(std::vector{first.deliveries[0].id}, Action::cancel).ok());
  const LeaseReply next = q.lease_all(watching());
  REQUIRE(next.deliveries.size() == 1);
  REQUIRE(next.changes.size() == 1);
  CHECK(next.changes[0].receipt == first.deliveries[0].receipt);
  CHECK(q.ack(next.deliveries[0]) == SettleStatus::ok);
}

TEST_CASE("a watched lease that another extends is told with the time that it has left") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.another_handle();
  q.push("t", "only");
  const LeaseReply leased = q.lease_all(watching());
  REQUIRE(leased.deliveries.size() == 1);
  const Receipt receipt = leased.deliveries[0].receipt;
  for (const int64_t ms : {60'000, 5'000}) {
    const ExtendResult extended = other->extend({&receipt, 1}, ms).value().at(0);
    REQUIRE(extended.status == SettleStatus::ok);
    const std::vector<LeaseChange> changes = changes_of(q);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].receipt == receipt);
    CHECK(changes[0].what == LeaseChange::What::extended);
    CHECK(std::abs(changes[0].left_ms - ms) <= 1);
    CHECK(changes_of(q).empty());
  }
  CHECK(q.ack(leased.deliveries[0]) == SettleStatus::ok);
}

TEST_CASE("one's own verdict is no news") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const LeaseReply leased = q.lease_all(watching());
  REQUIRE(leased.deliveries.size() == 1);
  CHECK(q.release(leased.deliveries[0]) == SettleStatus::ok);
  CHECK(changes_of(q).empty());
  const LeaseReply again = q.lease_all(watching());
  REQUIRE(again.deliveries.size() == 1);
  CHECK(again.changes.empty());
}

TEST_CASE("news of a lease wakes who waits for something else", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  const std::unique_ptr<Queue> other = q.another_handle();
  LeaseRequest request = watching();
  request.wait = true;
  request.wait_ms = 20'000;
  std::vector<int64_t> took_ms;
  for (int round = 0; round < 3; ++round) {
    const MessageId id = q.push("t", "only");
    REQUIRE(q.lease_all(watching()).deliveries.size() == 1);
    std::thread canceller([&] {
      let_the_other_wait();
      static_cast<void>(other->mutate(std::vector{id}, Action::cancel));
    });
    const int64_t start_ms = system_clock().boot_ms();
    const LeaseReply reply = q.lease_all(request);
    canceller.join();
    took_ms.push_back(system_clock().boot_ms() - start_ms);
    CHECK(reply.why_empty == WhyEmpty::changed);
    CHECK(reply.changes.size() == 1);
  }
  std::sort(took_ms.begin(), took_ms.end());
  CHECK(took_ms[1] < 900);  // woken, and not by a cap of a second
}

TEST_CASE("a worker is seen by others, with what it works on; who only looks is not") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 5);
  const auto seen = [&] {
    Result<std::vector<Attendee>> all = q.door().attendees();
    REQUIRE(all.ok());
    return std::move(all).value();
  };
  CHECK(seen().empty());
  REQUIRE(q.lease_all(timed_lease(1)).deliveries.size() == 1);
  CHECK(seen().empty());
  LeaseRequest living;
  const LeaseReply first = q.lease_all(living);
  REQUIRE(seen().size() == 1);
  CHECK(seen()[0].kind == Attendee::Kind::holder);
  CHECK(seen()[0].pid == ::getpid());
  CHECK(seen()[0].ids == std::vector<MessageId>{first.deliveries.at(0).id});
  REQUIRE(q.ack(first.deliveries.at(0)) == SettleStatus::ok);
  CHECK(seen().empty());
  REQUIRE(q.door().attend({.slots = 4, .messages = 2}).ok());
  living.want = 3;
  q.lease_all(living);
  REQUIRE(seen().size() == 1);
  CHECK(seen()[0].kind == Attendee::Kind::worker);
  CHECK(seen()[0].host == host_name());
  CHECK(seen()[0].slots == 4);
  CHECK(seen()[0].busy == 2);
  CHECK(seen()[0].ids.size() == 3);
  CHECK(seen()[0].since_wall_ms == q.clock().wall_ms());
}

TEST_CASE("a worker is seen before it has taken anything") {
  ON_EVERY_ENGINE(q);
  REQUIRE(q.door().attend({.slots = 1}).ok());
  const Result<std::vector<Attendee>> all = q.door().attendees();
  REQUIRE(all.ok());
  REQUIRE(all->size() == 1);
  CHECK(all->front().busy == 0);
  CHECK(all->front().ids.empty());
}

}  // namespace fq::test
