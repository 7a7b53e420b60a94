#include "core/redis/redis_queue.h"

// System.
#include <unistd.h>
// fq, this room.
#include "core/redis/not_built.h"
#include "core/redis/redis_check.h"

namespace fq {

Caps RedisQueue::caps() const {
  return {.exact_global_order = true,
          .wake_latency_bound_ms = 1'000,
          .turns_told = kTurnsTold,
          .tells_timers = true,
          .event_horizon_ms = kEventHorizonMs};
}

Result<PushReply> RedisQueue::push(std::span<const NewMessage> messages, const PushOptions& options) {
  return push_.push(messages, options);
}

/// What a job's process holds open is nothing to a server: a worker that is stopped or dead is one that
/// nobody hears of.
Result<std::optional<int>> RedisQueue::hold_for_job(std::span<const MessageId>, std::optional<int64_t>) {
  return std::optional<int>();
}

Result<void> RedisQueue::attend(const Attendance& attendance) {
  FQ_TRY(shard_.change("change", {"attend", std::to_string(::getpid()), std::to_string(attendance.slots),
                                  std::to_string(attendance.messages)}));
  session_.keep_alive();
  return {};
}

Result<void> RedisQueue::maintain(int64_t) {
  FQ_TRY(shard_.look({"sums"}));  // what is due is done before it looks
  return {};
}

Result<CallId> RedisQueue::begin_call() { return not_built::refusal(not_built::kFollow); }
/// Nobody reads what a job writes before its end; what is kept of it comes with the verdict.
Result<std::shared_ptr<RunOutput>> RedisQueue::run_output(const Delivery&, const RunTerms&) {
  return std::shared_ptr<RunOutput>();
}
Result<std::unique_ptr<OutputFollower>> RedisQueue::follow(MessageId, std::optional<CallId>) {
  return not_built::refusal(not_built::kFollow);
}
Result<MoveReply> RedisQueue::move(std::span<const MessageId>, const MoveRequest&) {
  return not_built::refusal(not_built::kMove);
}
Result<CheckReport> RedisQueue::check(bool repair) {
  if (repair) return not_built::refusal(not_built::kRepair);
  return RedisCheck(shard_).run();
}
/// There is no journal: what nobody needs goes with the calls that find it.
Result<CompactReport> RedisQueue::compact() {
  FQ_TRY(shard_.tick());
  return CompactReport{};
}

}  // namespace fq
