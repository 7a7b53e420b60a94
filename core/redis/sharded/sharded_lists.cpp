#include "core/redis/sharded/sharded_lists.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

std::optional<size_t> ShardedLists::only_shard(const Filter& filter) const {
  if (filter.tenant.empty()) return std::nullopt;
  return shards_.of_tenant(filter.tenant);
}

/// A cursor is a shard and, behind a colon, one of it.
Result<MessagePage> ShardedLists::peek(const Filter& filter, const Cursor& from, size_t n) {
  std::string_view rest = from.text;
  const std::optional<uint64_t> begin = from.text.empty() ? 0 : take_decimal(rest);
  if (!begin || *begin >= shards_.count() || (!from.text.empty() && !rest.starts_with(":")))
    return Error{ErrorKind::usage, "cursor: is none of this queue", 0};
  const std::optional<size_t> only = only_shard(filter);
  Cursor inner{std::string(rest.substr(rest.empty() ? 0 : 1))};
  MessagePage page;
  for (size_t shard = only.value_or(*begin); shard < shards_.count(); ++shard) {
    Result<MessagePage> peeked = shards_.at(shard).peek(filter, inner, n - page.messages.size());
    if (!peeked && (only || !serves_nothing(peeked.error()))) return peeked;
    if (!peeked) shards_.note_away(shard, peeked.error());
    MessagePage some = peeked ? std::move(peeked).value() : MessagePage();
    std::move(some.messages.begin(), some.messages.end(), std::back_inserter(page.messages));
    const bool is_last = only || shard + 1 == shards_.count();
    if (!some.next.text.empty()) page.next.text = std::to_string(shard) + ":" + some.next.text;
    if (some.next.text.empty() && page.messages.size() >= n && !is_last)
      page.next.text = std::to_string(shard + 1) + ":";
    if (!page.next.text.empty() || is_last) return page;
    inner = {};
  }
  return page;
}

/// The least of what each has behind the cursor: of as many from each none is passed over.
Result<IdPage> ShardedLists::select(const Filter& filter, const Cursor& from, size_t n) {
  if (const std::optional<size_t> only = only_shard(filter)) return shards_.at(*only).select(filter, from, n);
  IdPage page;
  bool is_more = false;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    FQ_TRY_SET(const IdPage some, shards_.at(shard).select(filter, from, n));
    page.ids.insert(page.ids.end(), some.ids.begin(), some.ids.end());
    is_more = is_more || !some.next.text.empty();
    return {};
  }));
  std::sort(page.ids.begin(), page.ids.end());
  is_more = is_more || page.ids.size() > n;
  page.ids.resize(std::min(n, page.ids.size()));
  if (is_more && !page.ids.empty()) page.next.text = std::to_string(number(page.ids.back()));
  return page;
}

Result<MessagePage> ShardedLists::ended(const Filter& filter, const Cursor& from, size_t n) {
  if (const std::optional<size_t> only = only_shard(filter)) return shards_.at(*only).ended(filter, from, n);
  MessagePage page;
  bool is_more = false;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    FQ_TRY_SET(MessagePage some, shards_.at(shard).ended(filter, from, n));
    std::move(some.messages.begin(), some.messages.end(), std::back_inserter(page.messages));
    is_more = is_more || !some.next.text.empty();
    return {};
  }));
  const auto time_of = [](const MessageInfo& info) { return info.ended_at_wall_ms.value_or(0); };
  std::stable_sort(page.messages.begin(), page.messages.end(),
                   [&](const MessageInfo& a, const MessageInfo& b) {
                     return time_of(a) != time_of(b) ? time_of(a) > time_of(b) : number(a.id) > number(b.id);
                   });
  is_more = is_more || page.messages.size() > n;
  if (page.messages.size() > n) page.messages.resize(n);
  if (!is_more || page.messages.empty()) return page;
  const MessageInfo& last = page.messages.back();
  page.next.text =
      std::to_string(shards_.at(0).shard().server_of(time_of(last))) + "." + std::to_string(number(last.id));
  return page;
}

Result<MutateReply> ShardedLists::mutate(std::span<const MessageId> ids, Action action,
                                         std::optional<State> state) {
  MutateReply reply;
  reply.items.assign(ids.size(), SettleStatus::unknown);
  const auto groups = by_shard(ids, [this](MessageId id) { return shards_.of_id(id); });
  for (const auto& [shard, places] : groups) {
    std::vector<MessageId> some;
    for (const size_t place : places) some.push_back(ids[place]);
    const Result<MutateReply> said = shards_.at(shard).changer().mutate(some, action, state);
    if (!said) reply.error = said.error();
    if (!said) continue;
    for (size_t i = 0; i < places.size(); ++i) reply.items[places[i]] = said->items.at(i);
    reply.changed += said->changed;
    if (said->error) reply.error = said->error;
  }
  if (reply.error && reply.changed == 0) return *reply.error;
  return reply;
}

Result<std::optional<MessageId>> ShardedLists::unended(const EndRequest& request, bool all) {
  const auto groups = by_shard(request.ids, [this](MessageId id) { return shards_.of_id(id); });
  std::optional<MessageId> open;
  for (const auto& [shard, places] : groups) {
    std::vector<MessageId> some;
    std::vector<std::optional<State>> ends;
    for (const size_t place : places) some.push_back(request.ids[place]);
    if (!request.ends.empty())
      for (const size_t place : places) ends.push_back(request.ends[place]);
    EndRequest of_shard;
    of_shard.ids = some;
    of_shard.ends = ends;
    FQ_TRY_SET(const std::optional<MessageId> there, shards_.at(shard).looker().unended(of_shard, all));
    for (size_t i = 0; i < ends.size(); ++i) request.ends[places[i]] = ends[i];
    if (!open) open = there;
    if (open && !all) break;
  }
  return open;
}

}  // namespace fq
