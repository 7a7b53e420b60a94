#include "core/redis/sharded/sharded_queue.h"

// System.
#include <map>
#include <vector>
// fq, below us.
#include "core/api/exported_ids.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/redis/waits/awaiting.h"

namespace fq {

Caps ShardedQueue::caps() const {
  return {.exact_global_order = false,
          .queue_scope = false,
          .ties_between_accounts = false,
          .wake_latency_bound_ms = leases_.look_ms(),
          .fairness_bound = kTurnsPerShard * static_cast<uint32_t>(shards_.count()),
          .turns_told = kTurnsTold,
          .moves = true,
          .exports = true,
          .tells_timers = true,
          .event_horizon_ms = shards_.events_ms(),
          .payload_bytes_max = kRedisPayloadBytesMax,
          .shards = static_cast<uint32_t>(shards_.count()),
          .pool_slack = static_cast<uint32_t>(shards_.count()),
          .level = shards_.level()};
}

Result<void> ShardedQueue::events(const EventRequest& request, EventPage& page) {
  if (request.id) return of(*request.id).events(request, page);
  if (!request.tenant.empty()) return shards_.at(shards_.of_tenant(request.tenant)).events(request, page);
  return events_.events(request, page);
}

Result<EndStatus> ShardedQueue::await_end(const EndRequest& request) {
  FQ_TRY(check_ends(request));
  Waiting waiting(request.wait_ms, request.interrupt);
  Awaiting awaiting;
  WholeLooks whole;
  for (;;) {
    std::optional<size_t> busy;
    Awaited what = {.what = Awaited::What::idle};
    bool ended = false;
    if (request.until_idle) {
      FQ_TRY_SET(ended, leases_.is_idle(busy));
    } else {
      FQ_TRY_SET(const std::optional<MessageId> open, lists_.unended(request, whole.is_due()));
      ended = !open;
      if (open) busy = shards_.of_id(*open), what = awaited_end(*open);
    }
    if (ended) return EndStatus::ended;
    const Waiting::End end = busy ? awaiting.next(waiting, shards_.at(*busy).shard(), what) : waiting.nap();
    if (end == Waiting::End::timed_out) return EndStatus::timed_out;
    if (end == Waiting::End::interrupted) return EndStatus::interrupted;
  }
}

Result<MoveReply> ShardedQueue::move(std::span<const MessageId> ids, const MoveRequest& request) {
  return RedisMover::move(ids, request, shards_.name(), shards_.open_target(),
                          [this](MessageId id) -> RedisMover& { return of(id).mover(); });
}

/// Which of what it waits for lies on another shard than it will; "": none does.
std::string ShardedQueue::tie_elsewhere(const ExportedMessage& message) const {
  const size_t shard = shards_.of_tenant(message.tenant);
  for (const MessageId id : needed_by(message)) {
    if (shards_.lies_elsewhere(id, shard))
      return "waits for message " + std::to_string(number(id)) + ", which lies on another shard";
  }
  return {};
}

/// To each shard those of its tenants, in their order. Where one refuses, the answer ends before its first
/// one that was not taken: those behind it that are in by then are known when they come again.
Result<ImportReply> ShardedQueue::import_messages(std::span<const ExportedMessage> messages,
                                                  std::string_view origin) {
  std::vector<std::optional<ImportResult>> results(messages.size());
  std::map<size_t, std::vector<size_t>> by_shard;
  for (size_t i = 0; i < messages.size(); ++i) {
    std::string why = tie_elsewhere(messages[i]);
    if (why.empty())
      by_shard[shards_.of_tenant(messages[i].tenant)].push_back(i);
    else
      results[i] = ImportResult{ImportResult::What::refused, {}, std::move(why)};
  }
  ImportReply reply;
  size_t first_left = messages.size();
  for (const auto& [shard, places] : by_shard) {
    std::vector<ExportedMessage> its;
    for (const size_t place : places) its.push_back(messages[place]);
    FQ_TRY_SET(ImportReply taken, shards_.at(shard).import_messages(its, origin));
    for (size_t i = 0; i < taken.items.size(); ++i) results[places[i]] = std::move(taken.items[i]);
    if (!taken.error || places.at(taken.items.size()) > first_left) continue;
    first_left = places[taken.items.size()];
    reply.error = std::move(taken.error);
  }
  for (size_t i = 0; i < first_left; ++i) reply.items.push_back(*std::move(results[i]));
  return reply;
}

Result<CompactReport> ShardedQueue::compact() {
  FQ_TRY(shards_.for_each([&](size_t shard) { return shards_.at(shard).forget_idle(); }));
  return compact_servers(shards_.access());
}

Result<void> ShardedQueue::maintain(int64_t budget_ms) {
  return shards_.for_each([&](size_t shard) { return shards_.at(shard).maintain(budget_ms); });
}

}  // namespace fq
