// sharded_queue - a queue of many shards on a server: the door's calls, handed on to the shards that they are
// for.
#pragma once

// fq, this room.
#include "core/redis/sharded/sharded_events.h"
#include "core/redis/sharded/sharded_leases.h"
#include "core/redis/sharded/sharded_lists.h"
#include "core/redis/sharded/sharded_policy.h"
#include "core/redis/sharded/sharded_push.h"
#include "core/redis/sharded/sharded_schedules.h"
#include "core/redis/sharded/sharded_steps.h"
#include "core/redis/sharded/sharded_sums.h"

namespace fq {

class ShardedQueue final : public Queue {
 public:
  /// Needs: an entry of several shards.
  ShardedQueue(QueueEntry entry, ServerAccess access) : shards_(std::move(entry), std::move(access)) {}

  Caps caps() const override;
  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options) override {
    return push_.push(messages, options);
  }
  Result<LeaseReply> lease(const LeaseRequest& request) override { return leases_.lease(request); }
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override {
    return leases_.settle(items, next);
  }
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms) override {
    return leases_.extend(receipts, duration_ms);
  }
  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n) override {
    return lists_.peek(filter, from, n);
  }
  Result<IdPage> select(const Filter& filter, const Cursor& from, size_t n) override {
    return lists_.select(filter, from, n);
  }
  Result<std::optional<MessageInfo>> get(MessageId id) override { return of(id).get(id); }
  Result<MessagePage> ended(const Filter& filter, const Cursor& from, size_t n) override {
    return lists_.ended(filter, from, n);
  }
  Result<HistoryPage> history(MessageId id, const Cursor& from, size_t n) override {
    return of(id).history(id, from, n);
  }
  Result<void> events(const EventRequest& request, EventPage& page) override;
  Result<std::optional<JobOutput>> output(MessageId id) override { return of(id).output(id); }
  Result<CallId> begin_call(std::string_view tenant) override {
    return shards_.at(shards_.of_tenant(tenant)).begin_call(tenant);
  }
  Result<std::shared_ptr<RunOutput>> run_output(const Delivery& delivery, const RunTerms& terms) override {
    return of(delivery.id).run_output(delivery, terms);
  }
  Result<std::unique_ptr<OutputFollower>> follow(MessageId id, std::optional<CallId> call) override {
    return of(id).follow(id, call);
  }
  Result<EndStatus> await_end(const EndRequest& request) override;
  Result<std::optional<int>> hold_for_job(std::span<const MessageId> ids,
                                          std::optional<int64_t> limit_ms) override {
    return shards_.guard().hold_for_job(ids, limit_ms);
  }
  Result<void> attend(const Attendance& attendance) override {
    shards_.attend();
    return shards_.first_there([&](RedisQueue& queue) { return queue.attend(attendance); });
  }
  std::vector<std::string> take_notices() override { return shards_.take_notices(); }
  Result<std::vector<Attendee>> attendees() override { return sums_.attendees(); }
  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action) override {
    return lists_.mutate(ids, action);
  }
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) override {
    return lists_.mutate(filter, action, from, n);
  }
  Result<SettleStatus> edit(MessageId id, const MessagePatch& patch) override {
    return of(id).edit(id, patch);
  }
  Result<MoveReply> move(std::span<const MessageId> ids, const MoveRequest& request) override;
  Result<std::string> origin() override { return shards_.at(0).origin(); }
  Result<std::optional<ExportedMessage>> exported(MessageId id) override { return of(id).exported(id); }
  Result<ImportReply> import_messages(std::span<const ExportedMessage> messages,
                                      std::string_view origin) override;
  Result<Settings> settings() override {
    return shards_.first_there([](RedisQueue& queue) { return queue.settings(); });
  }
  Result<bool> policy_is_current(const FileIdentity& identity) override {
    return policy_.is_current(identity);
  }
  Result<std::string> policy_version() override { return shards_.at(0).policy_version(); }
  Result<void> policy_check(const Policy& policy) override { return policy_.check(policy); }
  Result<void> policy_load(const Policy& policy, const FileIdentity& identity,
                           const std::string* /*text*/) override {
    return policy_.load(policy, identity);
  }
  Result<std::string> policy_kept() override { return std::string(); }  // as of one of its shards
  Result<void> policy_set(std::string_view path, const PolicyPatch& patch) override {
    return policy_.set(path, patch);
  }
  Result<OverridePage> policy_overrides(const Cursor& from, size_t n) override {
    return policy_.overrides(from, n);
  }
  Result<StatsReply> stats(const StatsRequest& request) override { return sums_.stats(request); }
  Result<ExplainReply> explain(const ExplainRequest& request) override { return sums_.explain(request); }
  Result<CheckReport> check(const CheckRequest& request) override { return sums_.check(request); }
  Result<CompactReport> compact() override;
  Result<void> maintain(int64_t budget_ms) override;
  Steps* steps() override { return &steps_; }
  Schedules* schedules() override { return &schedules_; }

  /// Where those of a tenant lie.
  Shard& shard_of(std::string_view tenant) { return shards_.at(shards_.of_tenant(tenant)).shard(); }

 private:
  RedisQueue& of(MessageId id) { return shards_.at(shards_.of_id(id)); }
  std::string tie_elsewhere(const ExportedMessage& message) const;

  Shards shards_;
  ShardedPush push_{shards_};
  Purses purses_{shards_};
  ShardedLeases leases_{shards_, purses_};
  ShardedLists lists_{shards_};
  ShardedEvents events_{shards_};
  ShardedSums sums_{shards_, purses_};
  ShardedPolicy policy_{shards_, purses_};
  ShardedSchedules schedules_{shards_};
  ShardedSteps steps_{shards_};
};

}  // namespace fq
