#include "core/redis/redis_queue.h"

// fq, this room.
#include "core/redis/argument_list.h"
#include "core/redis/not_built.h"

namespace fq {

std::string RedisQueue::draw_nonce() { return draw_base32(kNonceBytes); }

Caps RedisQueue::caps() const {
  return {.exact_global_order = true,
          .wake_latency_bound_ms = 1'000,
          .tells_timers = true,
          .event_horizon_ms = kEventHorizonMs};
}

Result<PushReply> RedisQueue::push(std::span<const NewMessage> messages, const PushOptions&) {
  return push_.push(messages);
}

Result<MutateReply> RedisQueue::mutate(std::span<const MessageId> ids, Action action) {
  MutateReply reply;
  for (size_t from = 0; from < ids.size(); from += kIdsPerCall) {
    ArgumentList arguments;
    arguments.borrow(action == Action::cancel ? "cancel" : "kick");
    const auto piece = ids.subspan(from, std::min(kIdsPerCall, ids.size() - from));
    // What is no id of any engine is none of a message here, either: 0 stands for it.
    for (const MessageId id : piece)
      arguments.add(std::to_string(number(id) > kMessageIdMax ? 0 : number(id)));
    FQ_TRY_SET(const Reply answer, shard_.change("change", arguments.words()));
    for (size_t i = 0; i < piece.size(); ++i) {
      const std::string& said = answer.at(1).at(i).text;
      reply.items.push_back(said == "ok"      ? SettleStatus::ok
                            : said == "stale" ? SettleStatus::stale
                            : said == "gone"  ? SettleStatus::gone
                                              : SettleStatus::unknown);
      reply.changed += said == "ok" ? 1U : 0U;
    }
  }
  return reply;
}

Result<StatsReply> RedisQueue::stats(const StatsRequest& request) {
  if (request.tenants) return not_built::refusal(not_built::kTenantStats);
  StatsReply reply;
  FQ_TRY_SET(reply.rows.emplace_back(), look_.sums());
  reply.as_of_wall_ms = system_clock().wall_ms();
  return reply;
}

Result<void> RedisQueue::maintain(int64_t) {
  FQ_TRY(shard_.look({"sums"}));  // what is due is done before it looks
  return {};
}

Result<IdPage> RedisQueue::select(const Filter&, const Cursor&, size_t) {
  return not_built::refusal(not_built::kSelect);
}
Result<MessagePage> RedisQueue::ended(const Filter&, const Cursor&, size_t) {
  return not_built::refusal(not_built::kRetention);
}
Result<std::optional<JobOutput>> RedisQueue::output(MessageId) {
  return not_built::refusal(not_built::kOutput);
}
Result<CallId> RedisQueue::begin_call() { return not_built::refusal(not_built::kFollow); }
Result<std::shared_ptr<RunOutput>> RedisQueue::run_output(const Delivery&, const RunTerms&) {
  return not_built::refusal(not_built::kFollow);
}
Result<std::unique_ptr<OutputFollower>> RedisQueue::follow(MessageId, std::optional<CallId>) {
  return not_built::refusal(not_built::kFollow);
}
Result<std::optional<int>> RedisQueue::hold_for_job(std::span<const MessageId>, std::optional<int64_t>) {
  return not_built::refusal(not_built::kHold);
}
Result<void> RedisQueue::attend(const Attendance&) { return not_built::refusal(not_built::kWorkers); }
Result<std::vector<Attendee>> RedisQueue::attendees() { return not_built::refusal(not_built::kWorkers); }
Result<MutateReply> RedisQueue::mutate(const Filter&, Action, const Cursor&, size_t) {
  return not_built::refusal(not_built::kSelect);
}
Result<SettleStatus> RedisQueue::edit(MessageId, const MessagePatch&) {
  return not_built::refusal(not_built::kEdit);
}
Result<OverridePage> RedisQueue::policy_overrides(const Cursor&, size_t) {
  return not_built::refusal(not_built::kOverrides);
}
Result<ExplainReply> RedisQueue::explain(const ExplainRequest&) {
  return not_built::refusal(not_built::kExplain);
}
Result<CheckReport> RedisQueue::check(bool) { return not_built::refusal(not_built::kCheck); }
Result<CompactReport> RedisQueue::compact() { return not_built::refusal(not_built::kCheck); }

}  // namespace fq
