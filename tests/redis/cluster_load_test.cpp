// cluster_load_test - a queue on a cluster is worked on while its servers die, stand still, and move shards:
// what was accepted is served, and what was acked is not served again, but where a server died with an ack.
// No ack that was answered before the first death is among those: a replica had it.
//
// The rounds are short here; FQ_ROUNDS says how many, see tests/torture/cluster.sh.
#include "tests/redis/on_cluster.h"

// System.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>
// fq, below us.
#include "core/base/clock.h"

namespace fq::test {

namespace {

int rounds(int usual) {
  const char* const asked = std::getenv("FQ_ROUNDS");
  return asked == nullptr ? usual : std::atoi(asked);
}

unsigned seed() {
  const char* const asked = std::getenv("FQ_SEED");
  const unsigned drawn = asked == nullptr ? std::random_device{}() : static_cast<unsigned>(std::atoi(asked));
  WARN("FQ_SEED=" << drawn);
  return drawn;
}

// Of all that the worker runs at once, and of what it runs of one half of the tenants.
constexpr size_t kRunsAtOnce = 8, kPooledRuns = 3;
constexpr int kTenants = 50;

/// A limit, a pool and a rate that count over all shards.
void set_limits(const Location& location) {
  const auto queue = answered(real_time_engine().open(location, {}));
  const PolicyValue pooled{PolicyKey::concurrency, kPooledRuns, 0, {}};
  const PolicyValue all{PolicyKey::concurrency, kRunsAtOnce, 0, {}}, rate{PolicyKey::rate, 5'000, 1'000, {}};
  answered(queue->policy_load({{all, rate}, {}, {{"p", {pooled}}}}, {.inode = 1}));
  for (int i = 0; i < kTenants / 2; ++i)
    answered(queue->policy_set("t" + std::to_string(i), {{{PolicyKey::pool, 0, 0, "p"}}, {}}));
}
bool is_pooled(const Delivery& each) { return std::stoi(each.tenant.substr(1)) < kTenants / 2; }

/// Two clients, one that pushes and one that works, each with a queue of its own, until it is ended.
class Load {
 public:
  explicit Load(const Location& location) : location_(location) {
    pusher_ = std::thread([this] { push(); });
    worker_ = std::thread([this] { work(); });
  }
  /// Of a test that failed: nobody waits for what may never be served any more.
  ~Load() {
    is_given_up_ = true;
    end();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// No more is pushed, and what is there is served.
  void end() {
    is_over_ = true;
    if (pusher_.joinable()) pusher_.join();
    is_all_pushed_ = true;
    if (worker_.joinable()) worker_.join();
  }
  size_t accepted() {
    const std::lock_guard lock(mutex_);
    return accepted_.size();
  }
  std::set<uint64_t> lost() {
    std::set<uint64_t> ids = accepted_;
    for (const uint64_t id : served_) ids.erase(id);
    return ids;
  }
  /// Acked, as its answer said, and served later all the same; `in_peace`: with the answer before any death.
  const std::set<uint64_t>& revived(bool in_peace) const { return in_peace ? revived_of_peace_ : revived_; }
  /// From now on servers die.
  void end_of_peace() { is_peace_ = false; }
  size_t acked_in_peace() const { return acked_in_peace_.size(); }
  size_t most() const { return most_; }
  size_t most_pooled() const { return most_pooled_; }
  /// How often more ran at once than may; a server that dies may take with it what it has given.
  size_t over(bool in_peace) const { return in_peace ? over_in_peace_ : over_; }

 private:
  /// None where it was given up before.
  std::unique_ptr<Queue> open(AwayList* away = nullptr) {
    OpenOptions options;
    options.away = away;
    while (!is_given_up_) {
      Result<std::unique_ptr<Queue>> queue = real_time_engine().open(location_, options);
      if (queue) return std::move(queue).value();
    }
    return nullptr;
  }
  void push() {
    const std::unique_ptr<Queue> queue = open();
    for (int i = 0; queue && !is_over_; ++i) {
      // A shard whose keys grow and grow is never moved to its end.
      while (behind_ > kBehindMax && !is_over_) std::this_thread::yield();
      const std::string tenant = "t" + std::to_string(i % kTenants);
      const NewMessage message = message_for(tenant);
      const Result<PushReply> pushed = queue->push({&message, 1});
      if (!pushed || pushed->error) continue;
      const std::lock_guard lock(mutex_);
      accepted_.insert(number(pushed->items.at(0).id));
      ++behind_;
    }
  }
  /// Until nothing is left, once nothing comes any more; or what is left never comes, which check_all_done
  /// tells.
  void work() {
    AwayList away;
    const std::unique_ptr<Queue> queue = open(&away);
    if (!queue) return;
    LeaseRequest request = for_a_minute(16);
    request.hold = Hold::process;
    int64_t served_ms = system_clock().boot_ms();
    for (int empty = 0; empty < 3 && !is_given_up_;) {
      settle_again(*queue);
      const Result<LeaseReply> leased = queue->lease(request);
      const bool is_left = is_all_pushed_ && leased && leased->deliveries.empty();
      away.clear();
      empty = is_left && !anything_left(*queue) && away.is_empty() ? empty + 1 : 0;
      if (leased) judge(*queue, leased->deliveries);
      if (!is_left) served_ms = system_clock().boot_ms();
      if (system_clock().boot_ms() - served_ms > kNeverMs) return;
    }
  }
  static bool anything_left(Queue& queue) {
    const Result<StatsReply> counts = queue.stats({});
    return !counts || counts->rows.at(0).ready + counts->rows.at(0).leased > 0;
  }
  /// All that it has was given at once, and it has ended what it had before.
  void judge(Queue& queue, const std::vector<Delivery>& deliveries) {
    const auto pooled = static_cast<size_t>(std::count_if(deliveries.begin(), deliveries.end(), is_pooled));
    most_ = std::max(most_, deliveries.size());
    most_pooled_ = std::max(most_pooled_, pooled);
    if (deliveries.size() > kRunsAtOnce || pooled > kPooledRuns) ++(is_peace_ ? over_in_peace_ : over_);
    for (const Delivery& each : deliveries) {
      if (served_.insert(number(each.id)).second) --behind_;
      if (acked_.count(number(each.id)) != 0) revived_.insert(number(each.id));
      if (acked_in_peace_.count(number(each.id)) != 0) revived_of_peace_.insert(number(each.id));
      Settle ack;
      ack.receipt = each.receipt;
      settle(queue, ack, each.id);
    }
  }
  /// What is not known to be said is said again, as a worker does.
  void settle(Queue& queue, const Settle& ack, MessageId id) {
    const Result<SettleReply> settled = queue.settle({&ack, 1}, nullptr);
    if (!settled || settled->error) unsaid_.push_back({ack, id});
    if (!settled || settled->error || settled->items.at(0) != SettleStatus::ok) return;
    acked_.insert(number(id));
    if (is_peace_) acked_in_peace_.insert(number(id));  // looked at once the answer is there
  }
  void settle_again(Queue& queue) {
    for (const auto& [ack, id] : std::exchange(unsaid_, {})) settle(queue, ack, id);
  }

  static constexpr int64_t kBehindMax = 200;
  static constexpr int64_t kNeverMs = 60'000;  // leases of the dead come back after 15 s

  const Location location_;
  std::atomic<int64_t> behind_ = 0;  // accepted and not served yet, about
  std::atomic<bool> is_over_ = false, is_all_pushed_ = false, is_given_up_ = false;
  std::atomic<bool> is_peace_ = true;
  std::mutex mutex_;
  std::set<uint64_t> accepted_, served_, acked_, acked_in_peace_, revived_, revived_of_peace_;
  std::vector<std::pair<Settle, MessageId>> unsaid_;
  size_t most_ = 0, most_pooled_ = 0, over_ = 0, over_in_peace_ = 0;
  std::thread pusher_, worker_;
};

constexpr int64_t kStuckMs = 120'000;

void wait_for_more(Load& load, size_t more) {
  const size_t before = load.accepted();
  const int64_t begin_ms = system_clock().boot_ms();
  // How often it looks decides nothing, and the servers need the processors.
  while (load.accepted() < before + more) {
    if (system_clock().boot_ms() - begin_ms > kStuckMs) FAIL("nothing is accepted any more");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// What a queue knows of a message, for who has to find out where it went.
std::string story_of(Queue& queue, uint64_t id) {
  const auto message = answered(queue.get(MessageId{id}));
  std::string text = std::to_string(id) + ": " + (message ? std::string(name_of(message->state)) : "unknown");
  const HistoryPage page = answered(queue.history(MessageId{id}, {}, 100));
  for (const HistoryEvent& event : page.events)
    text.append(" ").append(event.event).append("@" + std::to_string(event.at_wall_ms));
  return text;
}

void check_all_done(const Location& location, Load& load, bool may_revive) {
  const auto queue = answered(real_time_engine().open(location, {}));
  for (const uint64_t id : load.lost()) FAIL_CHECK("lost: " << story_of(*queue, id));
  for (const uint64_t id : load.revived(may_revive))
    FAIL_CHECK("served after its ack: " << story_of(*queue, id));
  CHECK(load.acked_in_peace() > 0);
  if (may_revive) WARN("of " << load.accepted() << " acked and served again: " << load.revived(false).size());
  const StatsRow left = answered(queue->stats({})).rows.at(0);
  CHECK(left.ready == 0);
  CHECK(left.leased == 0);
  const CheckReport report = answered(queue->check({}));
  CHECK(report.findings.empty());
}

/// Each limit was reached.
void check_limits(const Load& load) {
  CHECK(load.over(true) == 0);
  CHECK(load.most() >= kRunsAtOnce);
  CHECK(load.most_pooled() >= kPooledRuns);
  WARN("more at once than may, where a server had died: " << load.over(false));
}

/// Of a queue that is removed, once nobody is taken for attached to it.
void check_nothing_left(TestCluster& cluster, const Location& location) {
  const int64_t end_ms = system_clock().boot_ms() + kTakenOverMs;
  while (!real_time_engine().remove(location).ok() && system_clock().boot_ms() < end_ms)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(all_keys(cluster, "fq") == std::set<std::string>{});
}

}  // namespace

/// Before the dead one comes back, which has nothing any more, another has to have taken its place; and that
/// has to have a replica again, before it dies in its turn.
TEST_CASE("servers of a cluster die under load: what was accepted is served", "[failovers]") {
  TestCluster cluster(3, 1);
  const Location location{cluster.spool("?timeout=2s&durability=replica"), "default"};
  answered(real_time_engine().create(location, {.shards = 16}));
  set_limits(location);
  std::mt19937 random(seed());
  Load load(location);
  for (int round = 0; round < rounds(1); ++round) {
    wait_for_more(load, 100);
    const std::string key = "{" + std::to_string(random()) + "}";
    const size_t victim = cluster.owner_of(key);
    load.end_of_peace();
    cluster.node(victim).kill();
    const size_t next = cluster.wait_for_another_owner(key, victim);
    wait_for_more(load, 10);
    cluster.node(victim).start();
    cluster.wait_until_whole();
    cluster.wait_for_replicas(next, 1);
  }
  load.end();
  check_all_done(location, load, true);
  check_limits(load);
  check_nothing_left(cluster, location);
}

TEST_CASE("shards move between servers under load, and nobody sees half of one", "[moves]") {
  TestCluster cluster(3);
  const Location location{cluster.spool("?timeout=10s"), "default"};
  answered(real_time_engine().create(location, {.shards = 4}));
  const std::string meta = "fq1:fq:{default}:meta";
  const std::vector<std::string> places =
      places_in(command(cluster.node(cluster.owner_of(meta)), {"HGET", meta, "places"}).text);
  std::mt19937 random(seed());
  Load load(location);
  for (int round = 0; round < rounds(6); ++round) {
    wait_for_more(load, 30);
    const std::string tag = "{" + places.at(random() % places.size()) + "}";
    const size_t from = cluster.owner_of(tag), to = (from + 1 + random() % 2) % 3;
    cluster.begin_move(tag, from, to);
    for (std::vector<std::string> keys; !(keys = cluster.keys_of(tag, from)).empty();)
      cluster.move_keys({keys[random() % keys.size()]}, from, to);
    cluster.end_move(tag, to);
  }
  load.end();
  check_all_done(location, load, false);
  check_nothing_left(cluster, location);
}

}  // namespace fq::test
