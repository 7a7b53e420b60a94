#include "core/redis/sharded/sharded_push.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/engine/message_checks.h"

namespace fq {

/// An end is told in one shard only.
Result<void> ShardedPush::check_ties(const NewMessage& message) const {
  for (const std::vector<MessageId>* const list : {&message.after, &message.after_any}) {
    for (const MessageId id : *list) {
      if (shards_.of_id(id) == shards_.of_tenant(message.tenant)) continue;
      return Error{
          ErrorKind::usage,
          "after: message " + std::to_string(number(id)) +
              " lies on another shard; in this queue a message comes after others of its own account",
          0};
    }
  }
  return {};
}

/// In every shard: in which its message will be pushed, and by whom, nobody knows yet.
Result<CallId> ShardedPush::begin_call() {
  for (;;) {
    const CallId call = RedisQueue::drawn_call();
    bool is_ours = true;
    for (size_t shard = 0; is_ours && shard < shards_.count(); ++shard) {
      FQ_TRY_SET(is_ours, shards_.at(shard).begin_call(call));
    }
    if (is_ours) return call;
  }
}

Result<PushReply> ShardedPush::push(std::span<const NewMessage> messages, const PushOptions& options) {
  if (messages.empty()) return PushReply();
  FQ_TRY(shards_.at(shards_.of_tenant(messages[0].tenant)).pusher().check(messages));
  for (const NewMessage& message : messages) FQ_TRY(check_ties(message));
  auto groups = by_shard(messages, [this](const NewMessage& each) { return shards_.of_tenant(each.tenant); });
  if (groups.size() == 1) return shards_.at(groups[0].first).pusher().push_checked(messages, options);
  // Those first that may be refused for what only their shard knows.
  std::stable_partition(groups.begin(), groups.end(), [&](const auto& group) {
    return std::any_of(group.second.begin(), group.second.end(), [&](size_t i) {
      return !messages[i].after.empty() || !messages[i].after_any.empty();
    });
  });
  PushReply reply;
  reply.items.assign(messages.size(), PushResult{PushStatus::invalid, {}});
  bool is_any_pushed = false;
  for (const auto& [shard, places] : groups) {
    std::vector<NewMessage> some;
    for (const size_t place : places) some.push_back(messages[place]);
    Result<PushReply> pushed = shards_.at(shard).pusher().push_checked(some, options);
    if (!pushed && !is_any_pushed) return std::move(pushed).error();
    if (!pushed) reply.error = std::move(pushed).error();
    if (!pushed) return reply;
    for (size_t i = 0; i < places.size(); ++i) reply.items[places[i]] = pushed->items.at(i);
    reply.error = std::move(pushed->error);
    if (reply.error) return reply;
    is_any_pushed = true;
  }
  return reply;
}

}  // namespace fq
