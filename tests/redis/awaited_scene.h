// awaited_scene - a queue on a server, and who waits for what happens there.
#pragma once

// System.
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

inline const std::string kVeryPatient = "?poll=10s";

/// Something that waits, in a thread of its own.
template <class T>
class InThread {
 public:
  explicit InThread(std::function<T(Interrupt&)> run)
      : result_(std::async(std::launch::async, [this, run] { return run(interrupt_); })) {}
  ~InThread() { interrupt_.raise(); }
  InThread(const InThread&) = delete;
  InThread& operator=(const InThread&) = delete;

  bool is_back(int64_t within_ms = kSoonMs) {
    return result_.wait_for(std::chrono::milliseconds(within_ms)) == std::future_status::ready;
  }
  T result() {
    REQUIRE(is_back());
    return result_.get();
  }

 private:
  Interrupt interrupt_;
  std::future<T> result_;
};

struct AwaitedScene {
  explicit AwaitedScene(uint32_t shards = 1) : s(shards) {
    for (uint64_t shard = 0; shard < shards; ++shard)
      tags.push_back(shards == 1 ? "fq1:fq:{default:0:0}:" : tag_of(s.server, shard));
  }
  std::unique_ptr<Queue> patient(const std::string& options = kVeryPatient) const {
    return open_on(real_time_engine(), s.server.spool(options));
  }
  int64_t waiters(const std::string& list) const {
    int64_t count = 0;
    for (const std::string& tag : tags) count += command(s.server, {"ZCARD", tag + list}).number;
    return count;
  }
  /// So many are noted down: from then on they sleep, but for one look.
  void wait_for_waiters(const std::string& list, int64_t count = 1) const {
    wait_until([&] { return waiters(list) == count; });
  }
  Receipt take() const { return answered(s.queue->lease(for_a_minute())).deliveries.at(0).receipt; }
  void ack(const Receipt& receipt) const {
    Settle verdict;
    verdict.receipt = receipt;
    CHECK(answered(s.queue->settle({&verdict, 1})).items.at(0) == SettleStatus::ok);
  }
  void set(std::string_view path, PolicyKey key, int64_t value) const {
    REQUIRE(s.queue->policy_set(path, {{{key, value, 0, {}}}, {}}).ok());
  }
  /// How often commands were called with these words in the name.
  uint64_t calls(const std::string& word) const {
    const std::string info = command(s.server, {"INFO", "commandstats"}).text;
    uint64_t sum = 0;
    for (size_t at = 0; (at = info.find("cmdstat_", at)) != std::string::npos; ++at) {
      const size_t colon = info.find(":calls=", at);
      const std::string name = info.substr(at + 8, colon - at - 8);
      if (name.find(word) != std::string::npos && name != "info")
        sum += std::strtoull(info.c_str() + colon + 7, nullptr, 10);
    }
    return sum;
  }

  Sharded s;
  std::vector<std::string> tags;
};

}  // namespace fq::test
