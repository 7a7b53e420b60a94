// lease_test - taking and giving back: receipts, attempts, time, batches.
#include "tests/api/contract.h"

// System.
#include <thread>

namespace fq::test {

TEST_CASE("a delivery says what it is") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("acme/reports", "hello", {.priority = 4, .attempts_max = 3});
  const Delivery d = q.lease();
  CHECK(d.id == id);
  CHECK(d.tenant == "acme/reports");
  CHECK(payload_of(d) == "hello");
  CHECK(d.priority == 4);
  CHECK(d.attempt == 1);
  CHECK(d.attempts_max == 3);
  CHECK(d.delivery == 1);
  CHECK(d.deadline_wall_ms.has_value());
}

TEST_CASE("payloads come out byte for byte, also empty ones and zeros") {
  ON_EVERY_ENGINE(q);
  const std::vector<std::string> payloads = {"", std::string("\0a\0", 3), "\n", std::string(100'000, 'x')};
  for (const std::string& payload : payloads) q.push("t", payload);
  for (const std::string& payload : payloads) CHECK(payload_of(q.lease()) == payload);
}

TEST_CASE("an empty queue has nothing and says so") {
  ON_EVERY_ENGINE(q);
  const LeaseReply reply = q.lease_all(timed_lease());
  CHECK(reply.deliveries.empty());
  CHECK(reply.why_empty == WhyEmpty::nothing);
}

TEST_CASE("a leased message is offered to nobody else") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const Delivery d = q.lease();
  CHECK(q.lease_all(timed_lease()).deliveries.empty());
}

TEST_CASE("what was acked does not come back") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only");
  const Delivery d = q.lease();
  CHECK(q.ack(d) == SettleStatus::ok);
  q.clock().advance(3'600'000);
  CHECK(q.pop() == "");
  CHECK(q.get(id).state == State::acked);
}

TEST_CASE("a receipt is good for one verdict") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const Delivery d = q.lease();
  CHECK(q.ack(d) == SettleStatus::ok);
  CHECK(q.ack(d) == SettleStatus::gone);
  CHECK(q.retry(d) == SettleStatus::gone);
  CHECK(q.extend(d, 60'000).status == SettleStatus::gone);
}

TEST_CASE("the receipt of an earlier delivery is stale") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const Delivery first = q.lease();
  q.release(first);
  const Delivery second = q.lease();
  CHECK(q.ack(first) == SettleStatus::stale);
  CHECK(q.ack(second) == SettleStatus::ok);
}

TEST_CASE("what is no receipt is invalid") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  for (const char* text : {"", "abc", "1", "1.", ".1", "-1.1", "1.x", "99999999999999999999999.1"}) {
    CAPTURE(text);
    CHECK(q.settle({text}, Verdict::ack) == SettleStatus::invalid);
  }
}

TEST_CASE("retry counts as an attempt and release does not") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  q.release(q.lease());
  const Delivery again = q.lease();
  CHECK(again.attempt == 1);
  CHECK(again.delivery == 2);
  q.retry(again);
  const Delivery third = q.lease();
  CHECK(third.attempt == 2);
  CHECK(third.delivery == 3);
}

TEST_CASE("the last attempt buries") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only", {.attempts_max = 2});
  CHECK(q.retry(q.lease()) == SettleStatus::ok);
  CHECK(q.retry(q.lease(), 0, "no luck") == SettleStatus::buried);
  CHECK(q.get(id).state == State::dead);
  CHECK(q.get(id).last_error.value().reason == "no luck");
  CHECK(q.pop() == "");
}

TEST_CASE("attempts without a number of their own are the queue's") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.attempts_max = 1; });
  q.push("t", "only");
  CHECK(q.retry(q.lease()) == SettleStatus::buried);
}

TEST_CASE("a retry with a delay comes back when it is over") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only");
  q.retry(q.lease(), 5'000);
  CHECK(q.get(id).state == State::delayed);
  q.clock().advance(4'990);
  CHECK(q.pop() == "");
  q.clock().advance(20);
  CHECK(q.pop() == "only");
}

TEST_CASE("a lease that ran out comes back as an attempt and a crash") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const LeaseReply first = q.lease_all(timed_lease(1, 1'000));
  q.clock().advance(1'100);
  const Delivery second = q.lease();
  CHECK(second.attempt == 2);
  CHECK(second.crashes == 1);
  CHECK(q.ack(first.deliveries.at(0)) == SettleStatus::stale);
  CHECK(q.ack(second) == SettleStatus::ok);
}

TEST_CASE("a lease that ran out on the last attempt is buried") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only", {.attempts_max = 1});
  q.lease_all(timed_lease(1, 1'000));
  q.clock().advance(1'100);
  CHECK(q.pop() == "");
  CHECK(q.get(id).state == State::dead);
}

TEST_CASE("a lease without a time of its own has the queue's") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.lease_ms = 2'000; });
  q.push("t", "only");
  LeaseRequest request = timed_lease();
  request.hold_ms.reset();
  q.lease_all(request);
  q.clock().advance(1'900);
  CHECK(q.pop() == "");
  q.clock().advance(200);
  CHECK(q.pop() == "only");
}

TEST_CASE("extend moves the end of a lease") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const Delivery d = q.lease();
  q.clock().advance(59'000);
  const ExtendResult extended = q.extend(d, 60'000);
  CHECK(extended.status == SettleStatus::ok);
  CHECK(std::abs(extended.deadline_wall_ms - (q.clock().wall_ms() + 60'000)) <= 1);
  q.clock().advance(59'000);
  CHECK(q.pop() == "");
  CHECK(q.ack(d) == SettleStatus::ok);
}

TEST_CASE("extend refuses the receipt of a lease that is over") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const Delivery d = q.lease();
  q.clock().advance(61'000);
  CHECK(is_refused(q.extend(d, 60'000).status));
}

TEST_CASE("a lease takes as many as are wanted, in the order of turns") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.push_many("a", 3);
  q.push_many("b", 1);
  const LeaseReply reply = q.lease_all(timed_lease(3));
  std::string payloads;
  for (const Delivery& d : reply.deliveries) payloads += payload_of(d) + " ";
  CHECK(payloads == "a1 b1 a2 ");
  CHECK(q.lease_all(timed_lease(3)).deliveries.size() == 1);
}

TEST_CASE("a lease stops before the bytes are too many but takes the first message always") {
  ON_EVERY_ENGINE(q);
  for (int i = 0; i < 4; ++i) q.push("t", std::string(100, 'x'));
  LeaseRequest request = timed_lease(4);
  request.bytes_max = 250;
  CHECK(q.lease_all(request).deliveries.size() == 2);
  request.bytes_max = 10;
  CHECK(q.lease_all(request).deliveries.size() == 1);
}

TEST_CASE("a tenant filter takes that tenant and what is below it") {
  ON_EVERY_ENGINE(q);
  for (const char* tenant : {"acme", "acme/sub", "acmes", "other"}) q.push(tenant, tenant);
  LeaseRequest request = timed_lease(10);
  request.tenant = "acme";
  std::string payloads;
  for (const Delivery& d : q.lease_all(request).deliveries) payloads += payload_of(d) + " ";
  CHECK(payloads == "acme acme/sub ");
  CHECK(q.in_turns(q.pop(10)) == q.in_turns("acmes other"));
}

TEST_CASE("a filter on an unknown tenant finds nothing") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  LeaseRequest request = timed_lease();
  request.tenant = "nobody/here";
  CHECK(q.lease_all(request).why_empty == WhyEmpty::nothing);
}

TEST_CASE("a batch of verdicts answers each by itself") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 4);
  const LeaseReply leased = q.lease_all(timed_lease(4));
  REQUIRE(leased.deliveries.size() == 4);
  std::vector<Settle> items(5);
  for (size_t i = 0; i < 4; ++i) items[i].receipt = leased.deliveries[i].receipt;
  items[1].verdict = Verdict::retry;
  items[2].verdict = Verdict::release;
  items[3].verdict = Verdict::bury;
  items[4].receipt = items[0].receipt;
  const Result<SettleReply> reply = q.door().settle(items);
  REQUIRE(reply.ok());
  CHECK(reply->items[0] == SettleStatus::ok);
  CHECK(reply->items[1] == SettleStatus::ok);
  CHECK(reply->items[2] == SettleStatus::ok);
  CHECK((reply->items[3] == SettleStatus::ok || reply->items[3] == SettleStatus::buried));
  CHECK(reply->items[4] == SettleStatus::gone);
  CHECK(q.pop(4) == "t2 t3");
}

TEST_CASE("a verdict and the next lease go in one call") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 2);
  Settle item;
  const Delivery first = q.lease();
  item.receipt = first.receipt;
  const LeaseRequest next = timed_lease();
  const Result<SettleReply> reply = q.door().settle({&item, 1}, &next);
  REQUIRE(reply.ok());
  CHECK(reply->items.at(0) == SettleStatus::ok);
  CHECK(payload_of(reply->next->deliveries.at(0)) == "t2");
}

TEST_CASE("what a verdict gives back can be the next lease of the same call") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  Settle item;
  const Delivery first = q.lease();
  item.receipt = first.receipt;
  item.verdict = Verdict::release;
  const LeaseRequest next = timed_lease();
  const Result<SettleReply> reply = q.door().settle({&item, 1}, &next);
  REQUIRE(reply.ok());
  REQUIRE(reply->next->deliveries.size() == 1);
  CHECK(reply->next->deliveries[0].delivery == 2);
}

TEST_CASE("a lease held by the process does not end by time") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const LeaseReply reply = q.lease_all({});
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(!reply.deliveries[0].deadline_wall_ms.has_value());
  q.clock().advance(24 * 3'600'000);
  CHECK(q.pop() == "");
  CHECK(q.ack(reply.deliveries[0]) == SettleStatus::ok);
}

TEST_CASE("extending a lease that the process holds gives it no time") {
  ON_EVERY_ENGINE(q);
  q.push("t", "only");
  const LeaseReply reply = q.lease_all({});
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(q.extend(reply.deliveries[0], 1'000).status == SettleStatus::ok);
  q.clock().advance(10'000);
  CHECK(q.pop() == "");
  CHECK(q.ack(reply.deliveries[0]) == SettleStatus::ok);
}

TEST_CASE("waiting ends when its time is over") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  LeaseRequest request = timed_lease();
  request.wait = true;
  request.wait_ms = 30;
  const int64_t start_ms = system_clock().boot_ms();
  CHECK(q.lease_all(request).why_empty == WhyEmpty::timed_out);
  CHECK(system_clock().boot_ms() - start_ms >= 29);
}

TEST_CASE("waiting ends when a delayed message is due") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  q.push("t", "soon", {.delay_ms = 30});
  LeaseRequest request = timed_lease();
  request.wait = true;
  request.wait_ms = 5'000;
  CHECK(payload_of(q.lease_all(request).deliveries.at(0)) == "soon");
}

TEST_CASE("waiting ends when somebody pushes", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  const std::unique_ptr<Queue> other = q.another_handle();
  std::thread pusher([&] {
    let_the_other_wait();
    const NewMessage message = message_of("t", "now", {});
    static_cast<void>(other->push({&message, 1}));
  });
  LeaseRequest request = timed_lease();
  request.wait = true;
  request.wait_ms = 5'000;
  const LeaseReply reply = q.lease_all(request);
  pusher.join();
  CHECK(reply.deliveries.size() == 1);
}

TEST_CASE("waiting ends when it is interrupted", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  Interrupt interrupt;
  std::thread thread([&] {
    let_the_other_wait();
    interrupt.raise();
  });
  LeaseRequest request = timed_lease();
  request.wait = true;
  request.wait_ms = 5'000;
  request.interrupt = &interrupt;
  const LeaseReply reply = q.lease_all(request);
  thread.join();
  CHECK(reply.why_empty == WhyEmpty::interrupted);
}

TEST_CASE("an empty lease says when to look again") {
  ON_EVERY_ENGINE(q);
  q.push("t", "later", {.delay_ms = 5'000});
  const LeaseReply reply = q.lease_all(timed_lease());
  REQUIRE(reply.next_wake_ms.has_value());
  CHECK(*reply.next_wake_ms > 0);
  CHECK(*reply.next_wake_ms <= 5'001);
}

}  // namespace fq::test
