// waiter - a client that waits for a message, in a thread of its own.
#pragma once

// System.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
// fq, below us.
#include "core/base/clock.h"
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

constexpr int64_t kSoonMs = 5'000;  // on a machine that is busy with other tests

inline LeaseRequest until_there() {
  LeaseRequest request = for_a_minute();
  request.wait = true;
  return request;
}

/// A client that waits, in a thread of its own.
class Waiter {
 public:
  explicit Waiter(std::unique_ptr<Queue> queue, LeaseRequest request = until_there(), std::string tenant = {})
      : tenant_(std::move(tenant)), queue_(std::move(queue)) {
    request.tenant = tenant_;
    request.interrupt = &interrupt_;
    reply_ = std::async(std::launch::async, [this, request] { return queue_->lease(request); });
  }
  ~Waiter() {
    interrupt_.raise();
    if (reply_.valid()) reply_.wait();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  bool is_back(int64_t within_ms = kSoonMs) {
    return reply_.wait_for(std::chrono::milliseconds(within_ms)) == std::future_status::ready;
  }
  /// What it came back with.
  LeaseReply reply() {
    REQUIRE(is_back());
    return answered(reply_.get());
  }
  Error error() {
    REQUIRE(is_back());
    return reply_.get().error();
  }
  void interrupt() { interrupt_.raise(); }
  Queue& queue() { return *queue_; }

 private:
  const std::string tenant_;
  Interrupt interrupt_;
  std::unique_ptr<Queue> queue_;
  std::future<Result<LeaseReply>> reply_;
};

/// How often functions were called, or another command; also by functions.
inline uint64_t calls_of(const TestServer& server, const std::string& what = "fcall") {
  const std::string info = command(server, {"INFO", "commandstats"}).text;
  const std::string word = "cmdstat_" + what + ":calls=";
  const size_t at = info.find(word);
  return at == std::string::npos ? 0 : std::strtoull(info.c_str() + at + word.size(), nullptr, 10);
}

inline void set(Queue& queue, std::string_view path, PolicyKey key, int64_t value) {
  REQUIRE(queue.policy_set(path, {{{key, value, 0, {}}}, {}}).ok());
}

template <class Run>
int64_t ms_of(Run run) {
  const int64_t begin_ms = system_clock().boot_ms();
  run();
  return system_clock().boot_ms() - begin_ms;
}

template <class Is>
void wait_until(Is is) {
  const int64_t end_ms = system_clock().boot_ms() + 20'000;
  bool was = is();  // what has come about may be over at the next look
  while (!was && system_clock().boot_ms() < end_ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    was = is();
  }
  REQUIRE(was);
}

}  // namespace fq::test
