// model_queue - a queue in plain maps, so simple that one can see that it is right.
//
// The oracle of the random-history tests and the first engine that passes the contract suite in
// tests/api. It keeps everything in memory, remembers everything, and looks through all of it where a
// real engine may not. Several handles may share one ModelStore, from several threads.
#pragma once

// System.
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
// fq, below us.
#include "core/api/queue.h"

namespace fq::test {

/// Where a message stands inside its tenant: with a sort key first, then higher priority, then older.
struct Place {
  std::string key;
  int32_t priority = 0;
  uint64_t id = 0;
  bool operator<(const Place& other) const;
};

/// Who is next. Each node has a ring of those children that have work; its own messages are one more
/// child, which stands in the ring under the node's own path.
class ModelTree {
 public:
  void put(const std::string& tenant, Place place);
  void remove(const std::string& tenant, const Place& place);
  /// The place whose turn it is at `path` and below ("" is everything); none when there is no work.
  std::optional<uint64_t> next(const std::string& path) const;
  /// The same, and its turn is over.
  std::optional<uint64_t> take(const std::string& path);

 private:
  struct Node {
    std::set<Place> own;
    std::deque<std::string> ring;
  };
  uint64_t take_below(const std::string& path);
  bool has_work(const std::string& path, const std::string& child) const;
  void leave_if_idle(std::string path);
  std::map<std::string, Node> nodes_;
};

struct ModelMessage {
  MessageInfo info;  // state, attempts, deliveries, tags and so on
  Place place;
  std::optional<uint32_t> attempts_max;  // its own
  std::optional<int64_t> timer;          // boot_ms of due time or lease end
  uint64_t serial = 0;
  std::vector<HistoryEvent> history;
};

/// All that a queue is; handles lock it for each call.
struct ModelStore {
  explicit ModelStore(Clock& c) : clock(c) {}

  std::mutex mutex;
  Clock& clock;
  Settings settings;
  FileIdentity policy;
  std::map<uint64_t, ModelMessage> messages;  // also finished ones
  std::set<std::pair<int64_t, uint64_t>> timers;
  ModelTree tree;
  std::map<std::string, StatsRow> counters;  // by tenant; "" is the queue
  uint64_t next_id = 1;
  uint64_t next_serial = 1;
};

class ModelQueue final : public Queue {
 public:
  explicit ModelQueue(std::shared_ptr<ModelStore> store) : store_(std::move(store)) {}

  Caps caps() const override;
  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options) override;
  Result<LeaseReply> lease(const LeaseRequest& request) override;
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override;
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms) override;
  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n) override;
  Result<std::optional<MessageInfo>> get(MessageId id) override;
  Result<HistoryPage> history(MessageId id, const Cursor& from, size_t n) override;
  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action) override;
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) override;
  Result<Settings> settings() override;
  Result<bool> policy_is_current(const FileIdentity& identity) override;
  Result<void> policy_load(const Settings& settings, const FileIdentity& identity) override;
  Result<StatsReply> stats(const StatsRequest& request) override;
  Result<CheckReport> check() override;
  Result<void> maintain(int64_t budget_ms) override;

 private:
  // All of these need the store's mutex.
  void fire_timers();
  void add(const NewMessage& message, MessageId id);
  LeaseReply take(const LeaseRequest& request);
  Delivery deliver(ModelMessage& message, const LeaseRequest& request);
  SettleStatus settle_one(const Settle& item);
  /// The message that a receipt holds, or why there is none.
  ModelMessage* held_by(const Receipt& receipt, SettleStatus& status);
  /// Moves a message to a state, out of whatever it was in. Not ready: with a timer, or without.
  void move(ModelMessage& message, State state, std::optional<int64_t> timer = {});
  void come_back(ModelMessage& message, int64_t delay_ms);
  void attempt_failed(ModelMessage& message);
  void note(ModelMessage& message, std::string_view event, std::string_view reason = {});
  void count(const ModelMessage& message, uint64_t StatsRow::*counter);
  bool act(ModelMessage& message, Action action);
  uint32_t attempts_max(const ModelMessage& message) const;
  std::vector<const ModelMessage*> matching(const Filter& filter) const;

  std::shared_ptr<ModelStore> store_;
};

/// Why this message cannot be taken, or "".
std::string_view problem_with(const NewMessage& message, const Settings& settings);

}  // namespace fq::test
