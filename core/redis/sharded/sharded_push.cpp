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

/// That the outcome of some is not known is the news where others were refused.
void ShardedPush::Outcome::add(const std::vector<size_t>& places, Result<PushReply> pushed) {
  says_of_each = says_of_each || pushed;
  for (size_t i = 0; pushed && i < places.size(); ++i) reply.items[places[i]] = pushed->items.at(i);
  std::optional<Error> error = pushed ? std::move(pushed->error) : std::optional(std::move(pushed).error());
  if (error && (!fault || (error->kind == ErrorKind::io && fault->kind != ErrorKind::io)))
    fault = std::move(error);
}

/// Who waits for room gets in by parts what is more than a limit by itself: others of the batch are in
/// already.
Result<PushReply> ShardedPush::put(RedisPush& shard, std::span<const NewMessage> messages,
                                   const PushOptions& options, const std::optional<RedisPush::Sent>& sent) {
  Result<PushReply> pushed = shard.push_checked(messages, options, sent);
  const bool never_fits = pushed && pushed->items.at(0).status == PushStatus::full;
  if (!never_fits || !options.block || messages.size() == 1) return pushed;
  const std::span<const NewMessage> first = messages.first(messages.size() / 2);
  FQ_TRY_SET(PushReply reply, put(shard, first, options));
  if (reply.error) {
    while (reply.items.size() < messages.size()) reply.items.push_back({PushStatus::invalid, {}});
    return reply;
  }
  Result<PushReply> rest = put(shard, messages.subspan(first.size()), options);
  for (size_t i = first.size(); i < messages.size(); ++i)
    reply.items.push_back(rest ? rest->items.at(i - first.size()) : PushResult{PushStatus::invalid, {}});
  reply.error = rest ? std::move(rest->error) : std::optional(std::move(rest).error());
  return reply;
}

Result<PushReply> ShardedPush::push(std::span<const NewMessage> messages, const PushOptions& options) {
  if (messages.empty()) return PushReply();
  FQ_TRY(shards_.at(shards_.of_tenant(messages[0].tenant)).pusher().check(messages));
  for (const NewMessage& message : messages) FQ_TRY(check_ties(message));
  auto groups = by_shard(messages, [this](const NewMessage& each) { return shards_.of_tenant(each.tenant); });
  if (groups.size() == 1) return shards_.at(groups[0].first).pusher().push_checked(messages, options);
  // Those first, and one by one, that may be refused for what only their shard knows.
  const auto others = std::stable_partition(groups.begin(), groups.end(), [&](const auto& group) {
    return std::any_of(group.second.begin(), group.second.end(), [&](size_t i) {
      return !messages[i].after.empty() || !messages[i].after_any.empty();
    });
  });
  Outcome outcome;
  outcome.reply.items.assign(messages.size(), PushResult{PushStatus::invalid, {}});
  const auto messages_of = [&](const std::vector<size_t>& places) {
    std::vector<NewMessage> some;
    for (const size_t place : places) some.push_back(messages[place]);
    return some;
  };
  for (auto group = groups.begin(); group != others && !outcome.fault; ++group)
    outcome.add(group->second, put(shards_.at(group->first).pusher(), messages_of(group->second), options));
  if (!outcome.fault) {
    CallsAtOnce calls(shards_.link());
    std::vector<std::vector<NewMessage>> batches;
    std::vector<std::optional<RedisPush::Sent>> sent;
    for (auto group = others; group != groups.end(); ++group) {
      batches.push_back(messages_of(group->second));
      const Result<RedisPush::Sent> added = shards_.at(group->first).pusher().add_to(calls, batches.back());
      sent.push_back(added ? std::optional(*added) : std::nullopt);  // why not, is said below
    }
    calls.send();
    for (auto group = others; group != groups.end(); ++group) {
      const auto i = static_cast<size_t>(group - others);
      outcome.add(group->second, put(shards_.at(group->first).pusher(), batches[i], options, sent[i]));
    }
  }
  if (outcome.fault && !outcome.says_of_each) return std::move(*outcome.fault);
  outcome.reply.error = std::move(outcome.fault);
  return std::move(outcome.reply);
}

}  // namespace fq
