// random_rates_test - clients that come, go and die while starts are limited over all shards and servers
// forget: in any time no more start than from one bucket.
//
// FQ_SEED=n runs one history again, FQ_HISTORIES=n more of them.
#include "tests/redis/shared_rate.h"

// System.
#include <array>
#include <random>
#include <set>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

namespace {

/// In any time; clocks of servers are apart by so much.
void check_bound(const std::vector<int64_t>& starts, int64_t per_second, int64_t burst, int64_t apart_ms) {
  for (size_t from = 0; from < starts.size(); ++from) {
    for (size_t to = from; to < starts.size(); ++to) {
      const int64_t ms = starts[to] - starts[from] + apart_ms;
      REQUIRE(static_cast<int64_t>(to - from + 1) <= burst + per_second * ms / 1'000);
    }
  }
}

/// What several clients do, and what may happen to them and to servers meanwhile.
class RatedClients {
 public:
  explicit RatedClients(uint64_t seed)
      : random_(seed), q_(uint32_t{4} << below(3)), dies_(made(), &q_.clock) {
    ahead_.advance(ahead_ms_);
    if (below(2) == 0) REQUIRE(q_.s.queue->policy_set("", concurrency(3)).ok());
    q_.fill(24, 8);
    if (below(2) == 0) set_pool();
  }

  void run() {
    for (int i = 0; i < 150; ++i) {
      step();
      for (; !running_.empty() && below(2) == 0; running_.pop_back()) settled(any(), running_.back());
      advance(static_cast<int64_t>(below(8) == 0 ? below(7'000) : below(400)));
    }
    CHECK(starts_.size() > 10);
    check_bound(starts_, per_second_, burst_, ahead_ms_);
    check_bound(of_pool_, 2, 3, ahead_ms_);
    CHECK(is_well(*q_.s.queue));
    finish();
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  const TestServer& made() {
    REQUIRE(q_.s.queue->policy_set("", rate(per_second_, 1'000, burst_)).ok());
    return q_.s.server;
  }
  Queue& any() { return *std::array{q_.s.queue.get(), other_.get(), third_.get()}.at(below(3)); }
  void advance(int64_t ms) {
    q_.clock.advance(ms);
    ahead_.advance(ms);
  }
  void set_pool() {
    REQUIRE(q_.s.queue->policy_load(rated_pool(2, 1'000, 3), {.inode = 1}).ok());
    for (int i = 0; i < 24; i += 3) in_pool_.insert(tenant(i));
    for (const std::string& each : in_pool_) REQUIRE(q_.s.queue->policy_set(each, in_pool("p")).ok());
  }
  void note(std::vector<Delivery> deliveries) {
    for (Delivery& each : deliveries) {
      starts_.push_back(q_.clock.boot_ms());
      if (in_pool_.contains(each.tenant)) of_pool_.push_back(q_.clock.boot_ms());
      running_.push_back(std::move(each));
    }
  }
  void come_late() {
    if (late_.empty()) return;
    std::swap(late_[below(late_.size())], late_.back());
    note(dies_.brought(late_.back().first, late_.back().second, 1 + below(5)));
  }
  void lose_purses() {
    for (const Reply& each : command(q_.s.server, {"KEYS", "*pu:r:*"}).items) {
      if (below(4) == 0) command(q_.s.server, {"DEL", each.text});
    }
  }
  void step() {
    const size_t shard = below(dies_.shards.count());
    switch (below(12)) {
      case 0:
        late_.emplace_back(shard, dies_.fetch(q_.s.server, shard, 1 + below(5)));
        return;
      case 1:
        return come_late();
      case 2:
        if (below(4) == 0) restart_of(q_.s.server, shard);
        return;
      case 3:
        return lose_purses();
      default:
        note(taken(any(), 1 + below(6)));
    }
  }
  /// At rest all of it is there again.
  void finish() {
    for (; !running_.empty(); running_.pop_back()) settled(*q_.s.queue, running_.back());
    REQUIRE(q_.s.queue->policy_set("", {{}, {PolicyKey::concurrency}}).ok());
    q_.started();
    advance(5'001);
    q_.started();
    q_.fill(24, 1);
    advance(10'000);
    CHECK(q_.started() == static_cast<size_t>(burst_));
  }

  std::mt19937_64 random_;
  const int64_t per_second_ = static_cast<int64_t>(1 + below(8)), burst_ = static_cast<int64_t>(1 + below(6));
  /// One client's clock goes ahead of the others', as a server's may.
  const int64_t ahead_ms_ = static_cast<int64_t>(below(2) * below(300));
  FakeClock ahead_;
  Rated q_;
  Client dies_;
  const std::unique_ptr<Queue> other_ = q_.s.another(&q_.clock), third_ = q_.s.another(&ahead_);
  std::vector<std::pair<size_t, std::string>> late_;
  std::vector<int64_t> starts_, of_pool_;
  std::vector<Delivery> running_;
  std::set<std::string> in_pool_;
};

}  // namespace

TEST_CASE(
    "in whatever time, a rate over shards is kept: clients come, die and come late, and servers forget") {
  const uint64_t only = number_of("FQ_SEED", 0);
  const uint64_t count = only != 0 ? 1 : number_of("FQ_HISTORIES", 6);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t seed = only != 0 ? only : i + 1;
    INFO("FQ_SEED=" << seed);
    RatedClients(seed).run();
  }
}

}  // namespace fq::test
