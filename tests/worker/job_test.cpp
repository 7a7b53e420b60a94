// job_test - a job's limits, as it hears of them.

// System.
#include <poll.h>
// fq, below us.
#include "core/base/clock.h"
#include "core/worker/jobs/job.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kLimitMs = 3'600'000;
constexpr int64_t kGraceMs = 10'000;

/// A job whose command is a shell script that writes a line to stderr once it has begun, with an hour of
/// time.
class JobOf {
 public:
  explicit JobOf(const std::string& script) : around_(options_of(script)) {
    Load load;
    load.arrivals.push_back(arrival(1));
    load.arrivals[0].delivery.timeout_ms = kLimitMs;
    job_ = std::move(Job::start(around_.shop(), "q", 1, load)).value();
    await(job_->err().descriptor());
  }
  Job& job() { return *job_; }
  VerdictOrder order() {
    await(job_->process().pidfd.get());
    while (!job_->close(system_clock().boot_ms())) {
    }
    std::vector<Load> again;
    return job_->finish(around_.shop(), again).at(0);
  }
  Verdict verdict() { return order().verdict; }

 private:
  static Options options_of(const std::string& script) {
    Options options;
    options.shell = true;
    options.command = {script};
    options.grace_ms = kGraceMs;
    return options;
  }
  static void await(int descriptor) {
    pollfd ready{descriptor, POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 20'000) == 1);
  }
  Surroundings around_;
  std::unique_ptr<Job> job_;
};

}  // namespace

TEST_CASE("a job that asks for more time when it is told to end may go on") {
  JobOf of("trap caught=1 TERM; echo up >&2; while [ -z \"$caught\" ]; do sleep 0.01; done; exit 0");
  const int64_t now_ms = system_clock().boot_ms() + kLimitMs;
  of.job().on_time(now_ms);
  CHECK(of.job().next_ms() == now_ms + kGraceMs);
  SECTION("it is not killed, and what it makes of it counts") {
    of.job().extend(now_ms + kLimitMs);
    CHECK(of.job().next_ms() == now_ms + kLimitMs);
    CHECK(of.verdict() == Verdict::ack);
  }
  SECTION("and one that does not ask has timed out, whatever it makes of it") {
    CHECK(of.verdict() == Verdict::retry);
  }
}

TEST_CASE("no more time is given to a job that is told to end for something else") {
  JobOf of("trap caught=1 TERM; echo up >&2; while [ -z \"$caught\" ]; do sleep 0.01; done; exit 0");
  const int64_t now_ms = system_clock().boot_ms();
  of.job().end(Ending::cancelled, now_ms, kGraceMs);
  of.job().extend(now_ms + kLimitMs);
  CHECK(of.job().next_ms() == now_ms + kGraceMs);
  CHECK(of.verdict() == Verdict::ack);
}

TEST_CASE("a job that is over its time has timed out, also where its worker ends before it") {
  JobOf of("trap '' TERM; echo up >&2; while :; do sleep 1000; done");
  of.job().on_time(system_clock().boot_ms() + kLimitMs);
  of.job().kill(Ending::stopped);
  const VerdictOrder order = of.order();
  CHECK(order.verdict == Verdict::retry);
  CHECK(order.reason == "timed out");
}

TEST_CASE("a job that is over its time has no more of it for being cancelled, but less") {
  JobOf of("trap '' TERM; echo up >&2; while :; do sleep 1000; done");
  const int64_t now_ms = system_clock().boot_ms() + kLimitMs;
  of.job().on_time(now_ms);
  of.job().end(Ending::cancelled, now_ms + 100, 500);
  CHECK(of.job().next_ms() == now_ms + 600);
  of.job().end(Ending::cancelled, now_ms + 300, kGraceMs);
  CHECK(of.job().next_ms() == now_ms + 600);
  of.job().kill(Ending::stopped);
  of.order();
}

}  // namespace fq::test
