// waiting_test - how late a wait is that nobody tells of anything, how often it looks, and what ends it.

// System.
#include <poll.h>
#include <sys/resource.h>

#include <thread>

// fq, below us.
#include "core/base/clock.h"
#include "core/redis/waits/waiting.h"
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

namespace {

/// How often this thread went to sleep.
long sleeps() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

/// Bells that nobody rings.
struct Silence {
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(real_time_engine(), server.spool("?poll=10s"));
};

}  // namespace

TEST_CASE("who waits sleeps until there is something, and looks for no interrupt meanwhile") {
  const Silence silence;
  Interrupt interrupt;
  LeaseRequest request = for_a_minute();
  request.wait = true;
  request.wait_ms = 50;
  request.interrupt = &interrupt;
  answered(silence.queue->lease(request));  // its connections are there
  request.wait_ms = 500;
  const long before = sleeps();
  CHECK(answered(silence.queue->lease(request)).why_empty == WhyEmpty::timed_out);
  CHECK(sleeps() - before < 15);
}

TEST_CASE("an interrupt ends a wait at once: raised before it, in it, or while another call waits for it too",
          "[threads]") {
  const Silence silence;
  Interrupt interrupt;
  LeaseRequest request = for_a_minute();
  request.wait = true;
  request.interrupt = &interrupt;
  const int64_t began_ms = system_clock().boot_ms();
  interrupt.raise();
  CHECK(answered(silence.queue->lease(request)).why_empty == WhyEmpty::interrupted);
  interrupt.lower();
  std::thread other([&] {
    const auto queue = open_on(real_time_engine(), silence.server.spool("?poll=10s"));
    answered(queue->lease(request));
  });
  std::thread raiser([&] {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100));  // both sleep by then; before, it is the same
    interrupt.raise();
  });
  CHECK(answered(silence.queue->lease(request)).why_empty == WhyEmpty::interrupted);
  other.join();
  raiser.join();
  CHECK(system_clock().boot_ms() - began_ms < 5'000);
  interrupt.lower();
  request.wait_ms = 50;  // what it was raised for is over
  CHECK(answered(silence.queue->lease(request)).why_empty == WhyEmpty::timed_out);
}

TEST_CASE("what is left of an interrupt that was lowered ends no sleep") {
  Interrupt interrupt;
  const auto is_readable = [&] {
    pollfd one{interrupt.descriptor(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
  };
  CHECK(!is_readable());
  interrupt.raise();
  CHECK(is_readable());
  CHECK(is_readable());  // by each who sleeps on it
  interrupt.lower();
  CHECK(!is_readable());
  interrupt.raise();
  CHECK(is_readable());
}

TEST_CASE("a wait of no time, or of less, is over at once") {
  for (const int64_t wait_ms : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    Waiting waiting(wait_ms, nullptr);
    CHECK(waiting.end() == Waiting::End::timed_out);
    CHECK(waiting.sleep(std::nullopt) == Waiting::End::timed_out);
  }
  CHECK(Waiting(INT64_MAX, nullptr).end() == Waiting::End::goes_on);
}

TEST_CASE("who always finds a reason to look again looks so often, and sleeps then") {
  Waiting waiting(std::nullopt, nullptr);
  constexpr int kTimes = 100'000;  // as often as that if nothing stopped it
  int looks = 0;
  for (int i = 0; i < kTimes; ++i) looks += waiting.looks_at_once() ? 1 : 0;
  CHECK(looks >= 20);
  CHECK(looks < kTimes / 10);
}

TEST_CASE("what is over soon is seen at once, and what takes long a small part of that later") {
  int looks = 0;
  int64_t waited_ms = 0;
  while (waited_ms < 3'600'000) {
    const int64_t nap_ms = Waiting::nap_ms(waited_ms);
    REQUIRE(nap_ms >= 1);
    REQUIRE(nap_ms <= std::max<int64_t>(1, waited_ms / 8));
    REQUIRE(nap_ms <= 50);
    waited_ms += nap_ms;
    if (waited_ms <= 1'000) ++looks;
  }
  CHECK(looks < 60);
}

}  // namespace fq::test
