// random_purses_test - clients that come, go and die while limits over all shards change and servers forget.
//
// FQ_SEED=n runs one history again, FQ_HISTORIES=n more of them.
#include "tests/redis/purses_fixture.h"

// System.
#include <algorithm>
#include <chrono>
#include <random>
#include <set>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

namespace {

/// What several clients do, and what may happen to them and to servers meanwhile.
class RandomClients {
 public:
  RandomClients(uint64_t seed, uint32_t shards) : random_(seed), s_(shards), dies_(s_.server) {
    for (int i = 0; i < 3; ++i) clients_.push_back(s_.another());
    for (int i = 0; i < 12; ++i) {
      if (i % 3 != 0) continue;
      in_pool_.insert("t" + std::to_string(i));
      REQUIRE(s_.queue->policy_set("t" + std::to_string(i), in_pool("p")).ok());
    }
    set_limits();
  }

  void run() {
    for (int i = 0; i < 120; ++i) step();
    finish();
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  void note(const std::string& what) { log_ += what + "\n"; }
  Queue& any() { return *clients_[below(clients_.size())]; }

  void set_limits() {
    of_queue_ = 1 + below(8);
    of_pool_ = 1 + below(4);
    note("limits " + std::to_string(of_queue_) + " " + std::to_string(of_pool_));
    REQUIRE(any().policy_set("", concurrency(static_cast<int64_t>(of_queue_))).ok());
    REQUIRE(any().policy_load(with_pool(static_cast<int64_t>(of_pool_)), {.inode = ++inode_}).ok());
  }
  size_t running_in_pool() const {
    return static_cast<size_t>(std::count_if(running_.begin(), running_.end(), [&](const Delivery& each) {
      return in_pool_.contains(each.tenant);
    }));
  }
  void take(Queue& queue, size_t want) {
    const size_t before = running_.size(), before_in_pool = running_in_pool();
    INFO(log_);
    for (Delivery& each : taken(queue, want)) running_.push_back(std::move(each));
    note("take " + std::to_string(want) + ": " + std::to_string(before) + " to " +
         std::to_string(running_.size()));
    if (running_.size() > before) REQUIRE(running_.size() <= of_queue_);
    if (running_in_pool() > before_in_pool) REQUIRE(running_in_pool() <= of_pool_);
  }
  void settle_one() {
    if (running_.empty()) return;
    std::swap(running_[below(running_.size())], running_.back());
    REQUIRE(settled(any(), running_.back()) == 1);
    running_.pop_back();
    note("settled");
  }
  void lose_purse(bool is_pool) {
    const Reply found = command(s_.server, {"KEYS", is_pool ? "*pu:c:p" : "*pu:c:"});
    if (!found.items.empty()) command(s_.server, {"DEL", found.items[0].text});
  }

  void step() {
    switch (below(14)) {
      case 0:
        return set_limits();
      case 1:
        note("purse lost");
        return lose_purse(below(2) == 0);
      case 2:
        note("restart");
        return restart_of(s_.server, below(dies_.shards.count()));
      case 3:  // a client dies with what it was lent
        note("dies");
        static_cast<void>(dies_.fetch(s_.server, below(dies_.shards.count()), 1 + below(4)));
        return;
      case 4:
      case 5:
      case 6:
        for (uint64_t i = below(6); i > 0; --i) push_one(any(), "t" + std::to_string(below(12)), "x");
        return;
      case 7:
      case 8:
      case 9:
        return settle_one();
      default:
        return take(any(), 1 + below(5));
    }
  }

  /// At rest all of each limit is there again.
  void finish() {
    while (!running_.empty()) settle_one();
    for (int i = 0; i < 12; ++i) {
      for (int k = 0; k < 9; ++k) push_one(*s_.queue, "t" + std::to_string(i), "x");
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (running_.size() < of_queue_ && std::chrono::steady_clock::now() < end) take(any(), 20);
    CHECK(running_.size() == of_queue_);
    CHECK(is_well(*s_.queue));
    CHECK(answered(s_.queue->stats({})).rows.at(0).leased == running_.size());
  }

  std::mt19937_64 random_;
  Sharded s_;
  Client dies_;
  std::vector<std::unique_ptr<Queue>> clients_;
  std::vector<Delivery> running_;
  std::set<std::string> in_pool_;
  size_t of_queue_ = 0, of_pool_ = 0;
  uint64_t inode_ = 0;
  std::string log_;
};

}  // namespace

TEST_CASE("random clients never run more than the queue and a pool may, and nothing of either is lost") {
  const uint64_t only = number_of("FQ_SEED", 0);
  const uint64_t count = only != 0 ? 1 : number_of("FQ_HISTORIES", 12);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t seed = only != 0 ? only : i + 1;
    INFO("FQ_SEED=" << seed);
    RandomClients(seed, uint32_t{4} << (seed % 3)).run();
  }
}

}  // namespace fq::test
