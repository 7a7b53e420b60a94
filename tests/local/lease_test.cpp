// lease_test - leases of the local engine: by living, by time, and what is left of them by a rebuild.

// System.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

TEST_CASE("a receipt is stale once its lease has run out, and the message has a new one") {
  SpoolFixture q;
  q.push("m");
  const Delivery first = q.lease(1'000);
  q.clock.advance(1'001);
  const Delivery second = q.lease();
  CHECK(second.attempt == 2);
  CHECK(second.crashes == 1);
  CHECK(q.ack(first) == SettleStatus::stale);
  CHECK(q.ack(second) == SettleStatus::ok);
  q.check_clean();
}

TEST_CASE("what has expired by the time of another process hides nothing from who read the clock before") {
  SpoolFixture q;
  const NewMessage messages[] = {{.payload = as_bytes("late"), .ttl_ms = 5}, {.payload = as_bytes("good")}};
  REQUIRE(q.door().push(messages, {}).ok());
  q.write_header(offsetof(SegmentHeader, last_boot_ms), q.clock.boot_ms() + 10);
  CHECK(text_of(q.lease()) == "good");
  CHECK(q.stats().dead == 1);
}

TEST_CASE(
    "who read the clock before a lease ran out and takes its message after that writes no older record") {
  SpoolFixture q;
  q.push("m");
  q.lease(1'000);
  FakeClock late;
  late.advance(999);
  OpenOptions options;
  options.clock = &late;
  const auto other = open_queue({q.path("../.."), "default"}, options);
  REQUIRE(other.ok());
  q.clock.advance(1'000);
  CHECK(q.door().stats({}).value().rows.at(0).ready == 1);
  const LeaseReply again = q.lease_from(**other, {});
  REQUIRE(again.deliveries.size() == 1);
  CHECK(again.deliveries[0].attempt == 2);
  q.check_clean();
}

TEST_CASE("a receipt ends its own message, whatever lies where that was") {
  SpoolFixture q;
  q.push("a");
  q.push("b");
  Delivery a = q.lease();
  const Delivery b = q.lease();
  const ReceiptParts own = *a.receipt.parts();
  std::array<char, kOwnMarkBytes> mark{};
  own.mark.copy(mark.data(), mark.size());
  const uint64_t id = own.id, serial = own.serial;
  a.receipt = Receipt(id, serial, mark, b.receipt.parts()->place);
  CHECK(q.ack(a) == SettleStatus::ok);
  CHECK(q.ack(a) == SettleStatus::gone);
  for (const uint32_t nowhere : {uint32_t{70'000}, uint32_t{0xffff'fffe}, kNoPlace}) {
    a.receipt = Receipt(id, serial, mark, nowhere);
    CHECK(q.ack(a) == SettleStatus::gone);
  }
  CHECK(q.ack(b) == SettleStatus::ok);
  q.check_clean();
}

TEST_CASE("a queue object that is closed gives back what it held, uncounted") {
  SpoolFixture q;
  q.push("m");
  {
    const std::unique_ptr<Queue> other = q.open();
    CHECK(q.lease_from(*other, {}).deliveries.size() == 1);
    CHECK(q.lease_from(q.door(), {}).deliveries.empty());
  }
  const Delivery again = q.lease();
  CHECK(again.attempt == 1);
  CHECK(again.delivery == 2);
}

TEST_CASE("1,024 consumers are at work at most; who leases by time is none of them") {
  SpoolFixture q;
  q.push("first");
  q.push("second");
  // Places that nobody has are not asked who has them.
  q.write_header(offsetof(SegmentHeader, holders_used), uint32_t{1'023});
  {
    const std::unique_ptr<Queue> last = q.open();
    CHECK(q.lease_from(*last, {}).deliveries.size() == 1);
    const Result<LeaseReply> refused = q.door().lease({});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::later);
    CHECK(refused.error().text == "queue 'default': 1024 consumers are at work, the limit");
    CHECK(text_of(q.lease()) == "second");
  }
  CHECK(q.lease_from(q.door(), {}).deliveries.size() == 1);
  q.check_clean();
}

TEST_CASE("what a killed process held is served to another at once, as an attempt and a crash") {
  SpoolFixture q;
  q.push("m");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    OpenOptions options;
    options.clock = &q.clock;
    auto queue = open_queue({q.path("../.."), "default"}, options);
    const bool held = queue.ok() && (*queue)->lease({}).value().deliveries.size() == 1;
    static_cast<void>(::write(ready[1], held ? "y" : "n", 1));
    for (;;) ::pause();
  }
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  CHECK(q.lease_from(q.door(), {}).deliveries.empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  q.clock.advance(20);
  const Delivery again = q.lease();
  CHECK(again.attempt == 2);
  CHECK(again.crashes == 1);
  CHECK(q.get(1).last_error->reason == "its holder died");
  q.settle(q.door(), {.receipt = again.receipt, .verdict = Verdict::release});
  q.outlive_first_file();
  CHECK(q.get(1).last_error->reason == "its holder died");
  q.check_clean();
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("attempts, deliveries and the lease itself survive the loss of the segment") {
  SpoolFixture q;
  const uint64_t id = q.push("m");
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::retry, .reason = "first"});
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::release});
  const Delivery held = q.lease();
  q.lose_segment();
  const MessageInfo info = q.get(id);
  CHECK(info.state == State::leased);
  CHECK(info.attempts == 1);
  CHECK(info.deliveries == 3);
  CHECK(q.history(id) == "pushed leased retried leased released leased");
  CHECK(q.ack(held) == SettleStatus::ok);
  q.check_clean();
}

TEST_CASE("a lease by time runs out after the loss of the segment when it would have") {
  SpoolFixture q;
  q.push("m");
  const Delivery held = q.lease(10'000);
  q.lose_segment();
  q.clock.advance(9'000);
  CHECK(q.lease_from(q.door(), {.hold = Hold::duration}).deliveries.empty());
  q.clock.advance(1'100);
  CHECK(q.lease().attempt == 2);
  CHECK(q.ack(held) == SettleStatus::stale);
}

TEST_CASE("a dead letter keeps its last error and history across the loss of the segment") {
  SpoolFixture q;
  const uint64_t id = q.push("m");
  const Delivery held = q.lease();
  q.settle(q.door(), {.receipt = held.receipt,
                      .verdict = Verdict::bury,
                      .reason = "no use",
                      .exit = 65,
                      .stderr_tail = "it said so"});
  q.lose_segment();
  const MessageInfo info = q.get(id);
  CHECK(info.state == State::dead);
  REQUIRE(info.last_error);
  CHECK(info.last_error->reason == "no use");
  CHECK(info.last_error->exit == 65);
  CHECK(info.last_error->stderr_tail == "it said so");
  CHECK(q.history(id) == "pushed leased buried");
  q.check_clean();
}

TEST_CASE("the last attempt that a message has buries it, after the loss of the segment too") {
  SpoolFixture q;
  Settings settings;
  settings.attempts_max = 2;
  q.set_policy(settings);
  const uint64_t id = q.push("m");
  CHECK(q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::retry}) == SettleStatus::ok);
  q.lose_segment();
  q.set_policy(settings);
  CHECK(q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::retry}) ==
        SettleStatus::buried);
  CHECK(q.get(id).state == State::dead);
}

TEST_CASE("the history of a message that its last attempt buried says so") {
  SpoolFixture q;
  Settings settings;
  settings.attempts_max = 1;
  q.set_policy(settings);
  const uint64_t retried = q.push("retried");
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::retry});
  CHECK(q.history(retried) == "pushed leased retried buried");
  const uint64_t forgotten = q.push("forgotten");
  q.lease(1'000);
  q.clock.advance(1'100);
  CHECK(q.get(forgotten).state == State::dead);
  CHECK(q.history(forgotten) == "pushed leased buried");
}

TEST_CASE("a reason that is too long is cut between two characters") {
  SpoolFixture q;
  const uint64_t id = q.push("m");
  std::string reason = "r";
  while (reason.size() < 2 * kReasonBytesMax) reason += "\u00e9";
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::bury, .reason = reason});
  const std::string kept = q.get(id).last_error.value().reason;
  CHECK(kept.size() == kReasonBytesMax - 1);
  CHECK(kept == reason.substr(0, kept.size()));
}

}  // namespace fq::test
