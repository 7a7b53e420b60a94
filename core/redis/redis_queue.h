// redis_queue - a queue on a server: the door's calls, handed on to the objects that speak with the server's
// program.
#pragma once

// fq, this room.
#include "core/redis/catalog/catalog.h"
#include "core/redis/redis_change.h"
#include "core/redis/views/redis_events.h"
#include "core/redis/redis_exchange.h"
#include "core/redis/views/redis_explain.h"
#include "core/redis/guard/worker_guard.h"
#include "core/redis/leases/redis_leases.h"
#include "core/redis/views/old_libraries.h"
#include "core/redis/views/redis_look.h"
#include "core/redis/moves/redis_mover.h"
#include "core/redis/views/redis_peek.h"
#include "core/redis/policy/redis_policy.h"
#include "core/redis/redis_push.h"
#include "core/redis/redis_schedules.h"
#include "core/redis/redis_steps.h"
#include "core/redis/output/run_outputs.h"
#include "core/redis/records/base32.h"

namespace fq {

class RedisQueue final : public Queue {
 public:
  RedisQueue(const QueueEntry& entry, const ServerAccess& access)
      : signer_(access.command_key, entry.name, access.clock()),
        nonce_(access.shared ? access.shared->nonce : draw_base32(kNonceBytes)),
        guard_(access, nonce_, {entry.tag}),
        session_(access, entry.tag, nonce_),
        shard_(access, entry.tag, session_.nonce()),
        runs_(access.beside(), entry.tag, session_.nonce(), session_.shared_holdings()),
        leases_(shard_, session_, {signer_, policy_}, entry.mark),
        exchange_(shard_, look_, policy_, signer_, entry.mark),
        name_(entry.name),
        access_(access),
        events_ms_(entry.events_ms),
        open_target_(access.open_target),
        mover_(shard_, access, entry.name, signer_, session_.nonce()) {
    shard_.when_schedules_are_due([this] { return schedules_.run_due(); });
    shard_.when_crossings_are_due([this] { return mover_.finish_due(); });
  }

  Caps caps() const override;
  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options) override;
  Result<LeaseReply> lease(const LeaseRequest& request) override { return leases_.lease(request); }
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override {
    return leases_.settle(items, next);
  }
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms) override {
    return leases_.extend(receipts, duration_ms);
  }
  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n) override {
    return peek_.peek(filter, from, n);
  }
  Result<IdPage> select(const Filter& filter, const Cursor& from, size_t n) override {
    return change_.select(filter, from, n);
  }
  Result<std::optional<MessageInfo>> get(MessageId id) override { return look_.get(id); }
  Result<MessagePage> ended(const Filter& filter, const Cursor& from, size_t n) override {
    return look_.ended(filter, from, n);
  }
  Result<HistoryPage> history(MessageId id, const Cursor& from, size_t n) override {
    return events_.history(id, from, n);
  }
  Result<void> events(const EventRequest& request, EventPage& page) override {
    return events_.events(request, page);
  }
  Result<std::optional<JobOutput>> output(MessageId id) override { return look_.output(id); }
  Result<CallId> begin_call(std::string_view tenant) override;
  /// By chance: no count of a server that lost its last writes gives a number twice.
  static CallId drawn_call();
  /// What tells a shard of one that begins, and whether its answer says that no other has that number: then
  /// the caller is one that is heard of.
  ArgumentList begin(CallId call);
  bool is_begun(const Reply& reply);
  Result<std::shared_ptr<RunOutput>> run_output(const Delivery& delivery, const RunTerms& terms) override;
  Result<std::unique_ptr<OutputFollower>> follow(MessageId id, std::optional<CallId> call) override;
  Result<EndStatus> await_end(const EndRequest& request) override { return look_.await_end(request); }
  Result<std::optional<int>> hold_for_job(std::span<const MessageId> ids,
                                          std::optional<int64_t> limit_ms) override {
    return guard_.hold_for_job(ids, limit_ms);
  }
  Result<void> attend(const Attendance& attendance) override;
  Result<std::vector<Attendee>> attendees() override { return look_.attendees(); }
  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action) override {
    return change_.mutate(ids, action);
  }
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) override {
    return change_.mutate(filter, action, from, n);
  }
  Result<SettleStatus> edit(MessageId id, const MessagePatch& patch) override {
    return change_.edit(id, patch);
  }
  Result<MoveReply> move(std::span<const MessageId> ids, const MoveRequest& request) override {
    return RedisMover::move(ids, request, name_, *open_target_,
                            [this](MessageId) -> RedisMover& { return mover_; });
  }
  Result<std::string> origin() override { return exchange_.origin(); }
  Result<std::optional<ExportedMessage>> exported(MessageId id) override { return exchange_.exported(id); }
  Result<ImportReply> import_messages(std::span<const ExportedMessage> messages,
                                      std::string_view origin) override {
    return exchange_.import_messages(messages, origin);
  }
  Result<Settings> settings() override { return policy_.settings(); }
  Result<bool> policy_is_current(const FileIdentity& identity) override {
    return policy_.is_current(identity);
  }
  Result<std::string> policy_version() override { return shard_.policy_version(); }
  Result<void> policy_check(const Policy& policy) override { return policy_.check(policy); }
  Result<void> policy_load(const Policy& policy, const FileIdentity& identity,
                           const std::string* /*text*/) override {
    return policy_.load(policy, identity);
  }
  /// The values lie with all else that a queue has: they are lost with that only.
  Result<std::string> policy_kept() override { return std::string(); }
  Result<void> policy_set(std::string_view path, const PolicyPatch& patch) override {
    return policy_.set(path, patch);
  }
  Result<OverridePage> policy_overrides(const Cursor& from, size_t n) override {
    return policy_.overrides(from, n);
  }
  Result<StatsReply> stats(const StatsRequest& request) override { return look_.stats(request); }
  Result<ExplainReply> explain(const ExplainRequest& request) override { return explain_.explain(request); }
  Result<CheckReport> check(const CheckRequest& request) override;
  Result<CompactReport> compact() override;
  Result<void> maintain(int64_t budget_ms) override;
  Steps* steps() override { return &steps_; }
  Schedules* schedules() override { return &schedules_; }
  std::vector<std::string> take_notices() override;

  // What it is made of, for a queue of which it is one shard.
  Result<void> forget_idle();
  CountedLines take_repaired() { return std::exchange(repaired_, {}); }
  Shard& shard() { return shard_; }
  RedisSession& session() { return session_; }
  RedisPush& pusher() { return push_; }
  RedisLeases& leases() { return leases_; }
  RedisChange& changer() { return change_; }
  RedisLook& looker() { return look_; }
  RedisPolicy& policy() { return policy_; }
  RedisMover& mover() { return mover_; }

 private:
  const CommandSigner signer_;
  const std::string nonce_;
  WorkerGuard guard_;  // which hears of the end when the session has left
  RedisSession session_;
  Shard shard_;
  RedisRunOutputs runs_;
  RedisPolicy policy_{shard_};
  RedisPush push_{shard_, signer_};
  RedisLeases leases_;
  RedisChange change_{shard_, policy_, signer_};
  RedisLook look_{shard_, leases_};
  RedisPeek peek_{shard_, look_};
  RedisEvents events_{shard_, leases_};
  RedisExplain explain_{shard_};
  RedisSchedules schedules_{shard_, policy_, signer_};
  RedisExchange exchange_;
  const std::string name_;
  CountedLines repaired_;  // by a repair that failed then
  const ServerAccess access_;
  const int64_t events_ms_;
  const std::shared_ptr<const OpenMoveTarget> open_target_;
  RedisMover mover_;
  RedisSteps steps_{shard_, session_, leases_, policy_, signer_};
};

}  // namespace fq
