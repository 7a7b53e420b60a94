// verdicts_test - from how a job ended to what becomes of its message.

// System.
#include <signal.h>
// fq, below us.
#include "core/worker/jobs/verdicts.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

constexpr Ending kEndings[] = {Ending::none, Ending::timed_out, Ending::cancelled, Ending::stopped};

ExitStatus exited(int status) { return {status, std::nullopt}; }
ExitStatus killed_by(int signal) { return {std::nullopt, signal}; }

}  // namespace

TEST_CASE("the exit status decides: 0 ack, 65 bury, anything else and a signal retry") {
  for (int status = 0; status < 256; ++status) {
    const Verdict expected = status == 0 ? Verdict::ack : status == 65 ? Verdict::bury : Verdict::retry;
    CHECK(verdict_of(exited(status), Ending::none) == expected);
  }
  CHECK(verdict_of(killed_by(SIGKILL), Ending::none) == Verdict::retry);
}

TEST_CASE("what was over its time is retried, whatever it says in the end") {
  for (const int status : {0, 65, 1}) CHECK(verdict_of(exited(status), Ending::timed_out) == Verdict::retry);
  CHECK(reason_of(killed_by(SIGTERM), Ending::timed_out) == "timed out");
}

TEST_CASE("what we ended because we end has done nothing wrong, and is done when it says so") {
  CHECK(verdict_of(exited(0), Ending::stopped) == Verdict::ack);
  for (const int status : {1, 65, 75}) CHECK(verdict_of(exited(status), Ending::stopped) == Verdict::release);
  CHECK(verdict_of(killed_by(SIGTERM), Ending::stopped) == Verdict::release);
}

TEST_CASE("an order says why, and only of what failed") {
  Surroundings around(Options{});
  const Delivery one = delivery(17);
  const VerdictOrder failed = order_for(around.shop(), one, exited(3), Ending::none, "last words");
  CHECK(failed.receipt.text() == "17.1");
  CHECK(failed.reason == "exit 3");
  CHECK(failed.exit == 3);
  CHECK(failed.stderr_tail == "last words");
  const VerdictOrder killed = order_for(around.shop(), one, killed_by(SIGSEGV), Ending::none, "");
  CHECK(killed.reason == "signal 11");
  CHECK(killed.signal == SIGSEGV);
  CHECK_FALSE(killed.exit);
  const VerdictOrder done = order_for(around.shop(), one, exited(0), Ending::none, "talk");
  CHECK(done.reason + done.stderr_tail == "");
}

TEST_CASE("the wait before the next try is the option's, else the queue's, and longer each time") {
  Options options;
  Surroundings around(options);
  around.settings.backoff_base_ms = 10;
  around.settings.backoff_max_ms = 1'000;
  Delivery one = delivery(17);
  int64_t longest = 0;
  for (const uint32_t attempt : {1U, 5U, 400U, 65'535U}) {
    one.attempt = attempt;
    const int64_t most = attempt == 1 ? 10 : attempt == 5 ? 160 : 1'000;
    for (int i = 0; i < 200; ++i) {
      const int64_t waits = backoff_for(around.shop(), one);
      longest = std::max(longest, waits);
      REQUIRE(waits >= 1);
      REQUIRE(waits <= most);
    }
  }
  CHECK(longest > 160);
  around.options.backoff = BackoffRange{0, 0};
  CHECK(backoff_for(around.shop(), one) <= 1);
}

TEST_CASE("a failure is told in one line, with what comes next") {
  VerdictOrder order;
  order.reason = "exit 3";
  order.verdict = Verdict::retry;
  order.delay_ms = 1'500;
  Delivery one = delivery(17, "acme");
  const std::string start = "queue 'q': message 17 of tenant 'acme': exit 3; ";
  CHECK(failure_line("q", one, order) == start + "again in 1s500ms (attempt 1 of 5)");
  one.attempt = 5;
  CHECK(failure_line("q", one, order) == start + "buried after attempt 5 of 5");
  order.verdict = Verdict::bury;
  CHECK(failure_line("q", one, order) == start + "buried");
}

TEST_CASE("every end has a verdict and a reason") {
  for (const Ending ending : kEndings) {
    for (const ExitStatus& status : {exited(0), exited(1), killed_by(SIGTERM), ExitStatus{}}) {
      CHECK_FALSE(reason_of(status, ending).empty());
    }
  }
}

}  // namespace fq::test
