// random_purses_test - clients that come, go and die while limits over all shards change and servers forget.
//
// FQ_SEED=n runs one history again, FQ_HISTORIES=n more of them.
#include "tests/redis/purses_fixture.h"

// System.
#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <random>
#include <set>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

namespace {

/// What the queue holds, as its limits count it.
struct Held {
  std::string tenant;
  size_t bytes = 0;
};

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
    set_room();
  }

  void run() {
    for (int i = 0; i < 120; ++i) step(), compare();
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
  /// Of both only one is near.
  void set_room() {
    room_ = 8 + below(24), room_bytes_ = below(2) == 0 ? 2 * room_ : 400;
    note("room " + std::to_string(room_) + " " + std::to_string(room_bytes_));
    const PolicyPatch patch{{{PolicyKey::max_messages, static_cast<int64_t>(room_), 0, {}},
                             {PolicyKey::max_bytes, static_cast<int64_t>(room_bytes_), 0, {}}},
                            {}};
    REQUIRE(any().policy_set("", patch).ok());
  }
  size_t bytes() const {
    return std::accumulate(held_.begin(), held_.end(), size_t{0},
                           [](size_t sum, const auto& each) { return sum + each.second.bytes; });
  }
  /// False: there is no room.
  bool push(Queue& queue, const std::string& tenant, size_t length) {
    const std::string payload(length, 'x');
    const NewMessage message = message_for(tenant, payload);
    const Result<PushReply> reply = queue.push({&message, 1});
    INFO(log_);
    if (!reply) {
      CAPTURE(reply.error().text);
      REQUIRE(reply.error().text.find("has ") != std::string::npos);
      note("full for " + tenant);
      return false;
    }
    held_[reply->items.at(0).id] = {tenant, length};
    note("push " + tenant + " " + std::to_string(length) + ": " + std::to_string(held_.size()) + " " +
         std::to_string(bytes()));
    REQUIRE(held_.size() <= room_);
    REQUIRE(bytes() <= room_bytes_);
    return true;
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
    const bool is_buried = below(3) == 0;
    const MessageId id = running_.back().id;
    Settle verdict;
    verdict.receipt = running_.back().receipt;
    verdict.verdict = is_buried ? Verdict::bury : Verdict::ack;
    REQUIRE(answered(any().settle({&verdict, 1})).items.at(0) == SettleStatus::ok);
    running_.pop_back();
    note(is_buried ? "buried" : "acked");
    if (is_buried) dead_[id] = held_.at(id);
    held_.erase(id);
  }
  /// Of those that do not run.
  void cancel_one() {
    for (const auto& [id, held] : held_) {
      const auto is_it = [&, id = id](const Delivery& each) { return each.id == id; };
      if (below(3) != 0 || std::any_of(running_.begin(), running_.end(), is_it)) continue;
      REQUIRE(answered(any().mutate({&id, 1}, Action::cancel)).changed == 1);
      note("cancelled");
      held_.erase(id);
      return;
    }
  }
  /// Whether there is room or not.
  void kick_one() {
    if (dead_.empty()) return;
    const auto [id, held] = *dead_.begin();
    REQUIRE(answered(any().mutate({&id, 1}, Action::kick)).changed == 1);
    note("kicked");
    held_[id] = held;
    dead_.erase(id);
  }
  void edit_one() {
    for (auto& [id, held] : held_) {
      const auto is_it = [&, id = id](const Delivery& each) { return each.id == id; };
      if (below(3) != 0 || std::any_of(running_.begin(), running_.end(), is_it)) continue;
      const size_t length = 1 + below(6);
      const std::string payload(length, 'y');
      MessagePatch patch;
      patch.payload = as_bytes(payload);
      const Result<SettleStatus> edited = any().edit(id, patch);
      note("edit to " + std::to_string(length) + (edited ? "" : ": full"));
      if (!edited) return;
      const bool has_grown = length > held.bytes;
      held.bytes = length;
      INFO(log_);
      if (has_grown) REQUIRE(bytes() <= room_bytes_);
      return;
    }
  }
  void lose_purse(bool is_pool) {
    for (const char* const name : {is_pool ? "*pu:c:p" : "*pu:c:", is_pool ? "*pu:m:" : "*pu:b:"}) {
      const Reply found = command(s_.server, {"KEYS", name});
      if (!found.items.empty()) command(s_.server, {"DEL", found.items[0].text});
    }
  }
  /// A client dies with what it was lent, or is only slow.
  void borrow() {
    const size_t shard = below(dies_.shards.count());
    const std::string_view name = below(2) == 0 ? kMessages : kBytes;
    late_.emplace_back(shard, dies_.fetch(s_.server, shard, 1 + below(4)));
    late_.emplace_back(shard, dies_.borrow(s_.server, name, shard, static_cast<double>(1 + below(4))));
    note("borrow for " + std::to_string(shard) + ", " + std::to_string(late_.back().second.size()));
  }
  void come_late() {
    if (late_.empty()) return;
    const auto& [shard, loans] = late_[below(late_.size())];
    note("late for " + std::to_string(shard));
    dies_.bring(shard, loans);
  }
  void compare() {
    const StatsRow row = answered(any().stats({})).rows.at(0);
    INFO(log_);
    REQUIRE(row.ready + row.leased == held_.size());
    REQUIRE(row.leased == running_.size());
    REQUIRE(row.dead == dead_.size());
    REQUIRE(row.bytes == bytes());
  }

  void step() {
    switch (below(20)) {
      case 0:
        return set_limits();
      case 1:
        note("purse lost");
        return lose_purse(below(2) == 0);
      case 2:
        note("restart");
        return restart_of(s_.server, below(dies_.shards.count()));
      case 3:
        return below(2) == 0 ? borrow() : come_late();
      case 4:
      case 5:
      case 6:
        for (uint64_t i = below(6); i > 0; --i) push(any(), "t" + std::to_string(below(12)), 1 + below(4));
        return;
      case 7:
      case 8:
      case 9:
        return settle_one();
      case 19:
        return borrow();
      case 10:
        return set_room();
      case 11:
        return cancel_one();
      case 12:
        return kick_one();
      case 13:
        return edit_one();
      default:
        return take(any(), 1 + below(5));
    }
  }

  /// At rest all of each limit is there again.
  void finish() {
    while (!running_.empty()) settle_one();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto is_full = [&] { return held_.size() >= room_ || bytes() >= room_bytes_; };
    for (uint64_t i = 0; !is_full() && std::chrono::steady_clock::now() < end; ++i)
      push(any(), "t" + std::to_string(i % 12), 1);
    CHECK(is_full());
    CHECK(!push(any(), "t" + std::to_string(below(12)), 1));
    CHECK(is_well(*s_.queue));
    REQUIRE(any().policy_set("", {{}, {PolicyKey::max_messages, PolicyKey::max_bytes}}).ok());
    room_ = room_bytes_ = SIZE_MAX;
    for (int i = 0; i < 12; ++i) {
      for (int k = 0; k < 9; ++k) push(*s_.queue, "t" + std::to_string(i), 1);
    }
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
  std::map<MessageId, Held> held_, dead_;
  std::vector<std::pair<size_t, std::string>> late_;
  size_t of_queue_ = 0, of_pool_ = 0, room_ = 0, room_bytes_ = 0;
  uint64_t inode_ = 0;
  std::string log_;
};

}  // namespace

TEST_CASE("random clients never run or push more than the queue and a pool may, and nothing of it is lost") {
  const uint64_t one = number_of("FQ_SEED", 0);
  const uint64_t first = one != 0 ? one : std::random_device{}();
  const uint64_t count = number_of("FQ_HISTORIES", one != 0 ? 1 : 12);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    INFO("FQ_SEED=" << seed);
    RandomClients(seed, uint32_t{4} << (seed % 3)).run();
  }
}

}  // namespace fq::test
