// random_tolls_test - accounts of random weights and costs in shards of their own, and clients that take
// turns.
//
// FQ_SEED=n runs one history again, FQ_HISTORIES=n more of them.
#include "tests/redis/tolls_fixture.h"

// System.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <utility>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

namespace {

class TollHistory {
 public:
  TollHistory(uint64_t seed, FairBy by) : random_(seed), by_(by) {
    set_fair_by(s_.queue(), by);
    for (const std::string& name : names_apart(s_.queue(), 2 + below(3))) {
      Account& one = accounts_[name];
      one.weight = 1'000 + static_cast<int64_t>(below(2'001));
      one.most = accounts_.size() <= 2 ? 1 + (kMost - 1) * (accounts_.size() - 1) : 1 + below(kMost);
      set_for(s_.queue(), name, PolicyKey::weight, one.weight);
    }
    const size_t clients = 1 + below(3);
    for (size_t i = 0; i < clients; ++i) clients_.push_back(s_.another());
  }

  /// How far apart accounts come in what they are given by weight, once they are level: a visit of each for
  /// each client, and of time what the average is behind.
  std::string run() {
    const double visit = kWant * kMost * kPart;
    const double promised = 2 * visit * static_cast<double>(clients_.size()) +
                            (by_ == FairBy::time ? (8 + kRunning) * kMost * kPart : 0);
    while (least() < visit) turn();
    for (auto& [name, each] : accounts_) each.before = each.given;
    while (most() < 2 * promised) {
      turn();
      if (most() - least() > promised)
        return "apart by " + std::to_string(most() - least()) + " of " + std::to_string(promised);
    }
    return "";
  }

 private:
  static constexpr size_t kWant = 3, kMost = 10, kRunning = 4;
  static constexpr double kPart = 640;  // bytes, or as many us
  struct Account {
    int64_t weight = 0;
    size_t most = 0, ready = 0;
    double given = 0, before = 0;
    double by_weight() const { return (given - before) * 1'000 / static_cast<double>(weight); }
  };

  uint64_t below(uint64_t n) { return random_() % n; }
  double most() const { return extreme(true); }
  double least() const { return extreme(false); }
  double extreme(bool is_most) const {
    std::vector<double> all;
    for (const auto& [name, each] : accounts_) all.push_back(each.by_weight());
    return is_most ? *std::max_element(all.begin(), all.end()) : *std::min_element(all.begin(), all.end());
  }

  /// An eighth of what is drawn is dear, the rest is not.
  double cost_of(const Account& account) {
    return kPart * static_cast<double>(below(8) == 0 ? account.most : 1 + below((account.most + 1) / 2));
  }

  void turn() {
    for (auto& [name, each] : accounts_) {
      std::vector<std::string> payloads;
      for (; each.ready < 4 * kWant; ++each.ready)
        payloads.emplace_back(by_ == FairBy::bytes ? static_cast<size_t>(cost_of(each)) : 1, 'x');
      std::vector<NewMessage> batch;
      for (const std::string& payload : payloads) batch.push_back(message_for(name, payload));
      if (!batch.empty()) REQUIRE(s_.queue().push(batch).ok());
    }
    Queue& queue = *clients_[below(clients_.size())];
    const LeaseReply reply = answered(queue.lease(for_a_minute(1 + below(kWant))));
    for (const Delivery& each : reply.deliveries) {
      Account& account = accounts_.at(each.tenant);
      --account.ready;
      const double cost =
          by_ == FairBy::bytes ? static_cast<double>(each.payload.bytes().size()) : cost_of(account);
      account.given += cost;
      running_.push_back({each.receipt, cost});
    }
    while (running_.size() > below(kRunning + 1)) {
      end_run(*clients_[below(clients_.size())], running_.front().first,
              static_cast<uint64_t>(running_.front().second));
      running_.pop_front();
    }
  }

  std::mt19937_64 random_;
  FairBy by_;
  ToldShards s_;
  std::map<std::string, Account> accounts_;
  std::vector<std::unique_ptr<Queue>> clients_;
  std::deque<std::pair<Receipt, double>> running_;
};

}  // namespace

TEST_CASE("whatever accounts of other shards cost, none is further from its share than is promised") {
  const uint64_t one = number_of("FQ_SEED", 0);
  const uint64_t first = one != 0 ? one : std::random_device{}() | 1U;
  const uint64_t count = number_of("FQ_HISTORIES", 1);
  const FairBy by = GENERATE(FairBy::bytes, FairBy::time);
  std::printf("tolls: FQ_SEED=%llu, %llu histories\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(count));
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string fault = TollHistory(seed, by).run();
    if (!fault.empty()) FAIL("FQ_SEED=" << seed << ", fair_by " << static_cast<int>(by) << ": " << fault);
  }
}

}  // namespace fq::test
