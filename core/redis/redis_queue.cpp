#include "core/redis/redis_queue.h"

// System.
#include <unistd.h>

#include <random>
// fq, below us.
#include "core/engine/interruption.h"
// fq, this room.
#include "core/redis/views/redis_check.h"
#include "core/redis/views/redis_repair.h"
#include "core/redis/output/redis_follower.h"

namespace fq {

Caps RedisQueue::caps() const {
  return {.exact_global_order = true,
          .queue_scope = true,
          .ties_between_accounts = true,
          .wake_latency_bound_ms = shard_.look_ms(),
          .turns_told = kTurnsTold,
          .moves = true,
          .exports = true,
          .tells_timers = true,
          .event_horizon_ms = events_ms_,
          .payload_bytes_max = kRedisPayloadBytesMax,
          .level = shard_.level()};
}

Result<PushReply> RedisQueue::push(std::span<const NewMessage> messages, const PushOptions& options) {
  return push_.push(messages, options);
}

Result<void> RedisQueue::attend(const Attendance& attendance) { return session_.attend(shard_, attendance); }

Result<void> RedisQueue::maintain(int64_t) {
  FQ_TRY(shard_.look({"sums"}));  // what is due is done before it looks
  return {};
}

CallId RedisQueue::drawn_call() {
  std::random_device random;
  return CallId{1 + (uint64_t{random()} << 20 ^ random()) % kMessageIdMax};
}

ArgumentList RedisQueue::begin(CallId call) {
  ArgumentList words;
  words.borrow("call");
  words.add(std::to_string(number(call)));
  session_.holdings().begin_call(std::string(words.words().back()));
  words.add(std::to_string(::getpid()));
  return words;
}

bool RedisQueue::is_begun(const Reply& reply) {
  session_.keep_alive();
  return reply.at(1).at(0).number == 1;
}

Result<CallId> RedisQueue::begin_call(std::string_view /*tenant*/) {
  for (;;) {
    const CallId call = drawn_call();
    FQ_TRY_SET(const Reply begun, shard_.change("change", begin(call).words(), Shard::Lost::is_repeated));
    if (is_begun(begun)) return call;
  }
}

Result<std::shared_ptr<RunOutput>> RedisQueue::run_output(const Delivery& delivery, const RunTerms& terms) {
  session_.keep_alive();  // should we die, whoever follows is told
  return runs_.make(delivery, terms);
}

Result<std::unique_ptr<OutputFollower>> RedisQueue::follow(MessageId id, std::optional<CallId> call) {
  return std::unique_ptr<OutputFollower>(
      std::make_unique<RedisFollower>(*this, shard_, session_.holdings(), id, call));
}

Result<CheckReport> RedisQueue::check(const CheckRequest& request) {
  if (!request.repair) return RedisCheck(shard_, request.interrupt).run();
  return RedisRepair(shard_, request.interrupt, repaired_).run();
}

std::vector<std::string> RedisQueue::take_notices() {
  std::vector<std::string> notices = leases_.take_notices();
  for (std::string& each : notices_of(take_repaired())) notices.push_back(std::move(each));
  return notices;
}

/// Of tenants that have nothing each call finds a few only.
Result<void> RedisQueue::forget_idle() {
  for (bool more = true; more;) {
    FQ_TRY_SET(const Reply reply, shard_.change("change", {"forget"}));
    more = reply.at(1).at(0).number > 0;
  }
  return {};
}

/// There is no journal: what nobody needs goes with the calls that find it, but for these.
Result<CompactReport> RedisQueue::compact() {
  FQ_TRY(forget_idle());
  return compact_servers(access_);
}

}  // namespace fq
