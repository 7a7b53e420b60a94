// moving shard - a shard that goes from one server of a cluster to another, a few keys at a time; and who
// asks for something of it meanwhile.
#pragma once

// System.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

class MovingShard {
 public:
  /// `tag`: what its keys begin with. It goes to any of the others.
  MovingShard(TestCluster& cluster, std::string tag, std::mt19937_64& random)
      : cluster_(cluster),
        random_(random),
        tag_(std::move(tag)),
        from_(cluster.owner_of(tag_)),
        to_((from_ + 1 + random() % (cluster.size() - 1)) % cluster.size()) {
    cluster_.begin_move(tag_, from_, to_);
  }
  MovingShard(const MovingShard&) = delete;
  MovingShard& operator=(const MovingShard&) = delete;

  /// None of its keys, all of them, or anything in between, whichever they are.
  void move_some() {
    std::vector<std::string> keys = cluster_.keys_of(tag_, from_);
    std::shuffle(keys.begin(), keys.end(), random_);
    keys.resize(random_() % (keys.size() + 1));
    cluster_.move_keys(keys, from_, to_);
  }
  void finish() {
    cluster_.move_keys(cluster_.keys_of(tag_, from_), from_, to_);
    cluster_.end_move(tag_, to_);
  }

 private:
  TestCluster& cluster_;
  std::mt19937_64& random_;
  std::string tag_;
  size_t from_, to_;
};

/// A client that waits for a moment only. All that it asks for is refused.
class Hasty {
 public:
  Hasty(const Location& location, FakeClock& clock, std::mt19937_64& random)
      : random_(random), queue_(open_on(told_time_engine(), location.spool + "&timeout=50ms", &clock)) {}

  /// What was done of what it asked for, which is something of this account, of this message or with this
  /// receipt; "": nothing.
  std::string done(const std::string& account, MessageId id, const std::optional<Receipt>& receipt) {
    switch (random_() % (receipt ? 5 : 3)) {
      case 0:
        return has_pushed(account) ? "push" : "";
      case 1:
        return has_leased(account) ? "lease" : "";
      case 2:
        return queue_->mutate({&id, 1}, Action::cancel).ok() ? "cancel" : "";
      case 3:
        return has_acked(*receipt) ? "ack" : "";
      default:
        return has_extended(*receipt) ? "extend" : "";
    }
  }

 private:
  bool has_pushed(const std::string& account) {
    const NewMessage message = message_for(account);
    const Result<PushReply> pushed = queue_->push({&message, 1});
    return pushed && !pushed->error;
  }
  bool has_leased(const std::string& account) {
    LeaseRequest request = for_a_minute();
    request.tenant = account;
    const Result<LeaseReply> leased = queue_->lease(request);
    return leased && !leased->deliveries.empty();
  }
  bool has_acked(const Receipt& receipt) {
    Settle ack;
    ack.receipt = receipt;
    const Result<SettleReply> settled = queue_->settle({&ack, 1});
    return settled && settled->items.at(0) != SettleStatus::unknown;
  }
  bool has_extended(const Receipt& receipt) {
    const Result<std::vector<ExtendResult>> extended = queue_->extend({&receipt, 1}, 60'000);
    return extended && extended->at(0).status != SettleStatus::unknown;
  }

  std::mt19937_64& random_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace fq::test
