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
      if (!shards_.lies_elsewhere(id, shards_.of_tenant(message.tenant))) continue;
      return Error{
          ErrorKind::usage,
          "after: message " + std::to_string(number(id)) +
              " lies on another shard; in this queue a message comes after others of its own account",
          0};
    }
  }
  return {};
}

/// That the outcome of some is not known is the news where others were refused.
void ShardedPush::Outcome::add(const std::vector<size_t>& places, Result<PushReply> pushed) {
  says_of_each = says_of_each || pushed;
  for (size_t i = 0; pushed && i < places.size(); ++i) reply.items[places[i]] = pushed->items.at(i);
  std::optional<Error> error = pushed ? std::move(pushed->error) : std::optional(std::move(pushed).error());
  if (error && error->item) error->item = places.at(*error->item);
  if (error && (!fault || (error->kind == ErrorKind::io && fault->kind != ErrorKind::io)))
    fault = std::move(error);
}

/// Who waits for room gets in by parts what is more than a limit by itself: others of the batch are in
/// already.
Result<PushReply> ShardedPush::put(RedisPush& shard, const BatchPart& part, const PushOptions& options,
                                   std::optional<Result<PushReply>> heard) {
  Result<PushReply> pushed = shard.push_checked(part, options, std::move(heard));
  const size_t count = part.messages.size();
  const bool never_fits = pushed && pushed->items.at(0).status == PushStatus::full;
  if (!never_fits || !options.block || count == 1) return pushed;
  const auto token = [&](const char* half) { return part.token.empty() ? part.token : part.token + half; };
  const BatchPart first{part.messages.first(count / 2), part.longest, token("a")};
  const BatchPart second{part.messages.subspan(count / 2), part.longest, token("b")};
  FQ_TRY_SET(PushReply reply, put(shard, first, options));
  const bool is_first_at_fault = reply.error.has_value();
  Result<PushReply> rest = is_first_at_fault ? Result<PushReply>(*reply.error) : put(shard, second, options);
  for (size_t i = 0; i < second.messages.size(); ++i)
    reply.items.push_back(rest ? rest->items.at(i) : PushResult{PushStatus::invalid, {}});
  reply.error = rest ? std::move(rest->error) : std::optional(std::move(rest).error());
  if (!is_first_at_fault && reply.error && reply.error->item) *reply.error->item += first.messages.size();
  return reply;
}

Result<PushReply> ShardedPush::push(std::span<const NewMessage> messages, const PushOptions& options) {
  if (messages.empty()) return PushReply();
  FQ_TRY(shards_.at(shards_.of_tenant(messages[0].tenant)).pusher().check(messages));
  for (size_t i = 0; i < messages.size(); ++i) {
    Result<void> checked = check_ties(messages[i]);
    if (!checked.ok()) return at_item(std::move(checked).error(), i);
  }
  auto groups = by_shard(messages, [this](const NewMessage& each) { return shards_.of_tenant(each.tenant); });
  const uint64_t longest = longest_payload(messages);
  if (groups.size() == 1)
    return shards_.at(groups[0].first).pusher().push_checked({messages, longest, options.token}, options);
  // Those first, and one by one, that may be refused for what only their shard knows.
  const auto untied = std::stable_partition(groups.begin(), groups.end(), [&](const auto& group) {
    return std::any_of(group.second.begin(), group.second.end(), [&](size_t i) {
      return !messages[i].after.empty() || !messages[i].after_any.empty();
    });
  });
  const auto tied_count = static_cast<size_t>(untied - groups.begin());
  std::vector<std::vector<NewMessage>> parts(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const size_t place : groups[i].second) parts[i].push_back(messages[place]);
  }
  Outcome outcome;
  outcome.reply.items.assign(messages.size(), PushResult{PushStatus::invalid, {}});
  const auto pusher = [&](size_t i) -> RedisPush& { return shards_.at(groups[i].first).pusher(); };
  const auto put_part = [&](size_t i, std::optional<Result<PushReply>> heard) {
    const BatchPart part{parts[i], longest, options.token};
    outcome.add(groups[i].second, put(pusher(i), part, options, std::move(heard)));
  };
  for (size_t i = 0; i < tied_count && !outcome.fault; ++i) put_part(i, {});
  if (!outcome.fault) {
    CallsAtOnce calls(shards_.link());
    std::vector<std::optional<RedisPush::Sent>> sent(groups.size());
    for (size_t i = tied_count; i < groups.size(); ++i) {
      const Result<RedisPush::Sent> added =
          pusher(i).add_to(calls, {parts[i], longest, options.token}, options);
      if (added) sent[i].emplace(*added);  // why not, is said below
    }
    calls.send();
    // Of all before any waits for room: a shard does not know for ever what it has pushed.
    std::vector<std::optional<Result<PushReply>>> heard(groups.size());
    for (size_t i = tied_count; i < groups.size(); ++i) {
      if (sent[i]) heard[i] = RedisPush::answer(*sent[i], parts[i].size());
    }
    for (size_t i = tied_count; i < groups.size(); ++i) put_part(i, std::move(heard[i]));
  }
  if (outcome.fault && !outcome.says_of_each) return std::move(*outcome.fault);
  outcome.reply.error = std::move(outcome.fault);
  return std::move(outcome.reply);
}

}  // namespace fq
