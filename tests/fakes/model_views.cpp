// model_views - what the model queue shows of itself, and changes of many messages at once.
//
// A cursor is a number: how many were shown, or (mutate) the last id that was looked at.
#include "tests/fakes/model_queue.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

uint64_t number_in(const Cursor& cursor) { return cursor.text.empty() ? 0 : std::stoull(cursor.text); }

bool is_below(const std::string& tenant, const std::string& path) {
  return path.empty() || tenant == path || tenant.starts_with(path + "/");
}

bool is_finished(State state) { return state == State::acked || state == State::cancelled; }

template <class T>
Cursor cut_page(std::vector<T>& all, const Cursor& from, size_t n) {
  const size_t start = std::min<size_t>(number_in(from), all.size());
  const size_t end = std::min(start + n, all.size());
  const bool more = end < all.size();
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(start));
  return {more ? std::to_string(end) : std::string()};
}

void count_state(StatsRow& row, const ModelMessage& message) {
  switch (message.info.state) {
    case State::ready:
      row.ready += 1;
      break;
    case State::delayed:
      row.delayed += 1;
      break;
    case State::leased:
      row.leased += 1;
      break;
    case State::held:
      row.held += 1;
      break;
    case State::dead:
      row.dead += 1;
      break;
    case State::acked:
    case State::cancelled:
      return;
  }
  row.bytes += message.info.payload->size();
}

}  // namespace

std::vector<const ModelMessage*> ModelQueue::matching(const Filter& filter) const {
  std::vector<const ModelMessage*> found;
  const auto fits = [&](const ModelMessage& message) {
    if (!is_below(message.info.tenant, filter.tenant)) return false;
    if (filter.state ? message.info.state != *filter.state : is_finished(message.info.state)) return false;
    const auto& tags = message.info.tags;
    return !filter.tag || std::find(tags.begin(), tags.end(), *filter.tag) != tags.end();
  };
  // Ready ones in the order of turns, on a copy; then the others, by timer and id.
  ModelTree turns = store_->tree;
  while (const std::optional<uint64_t> id = turns.take(filter.tenant)) {
    const ModelMessage& message = store_->messages.at(*id);
    if (fits(message)) found.push_back(&message);
  }
  const auto ready_count = static_cast<std::ptrdiff_t>(found.size());
  for (const auto& [id, message] : store_->messages) {
    if (message.info.state != State::ready && fits(message)) found.push_back(&message);
  }
  std::stable_sort(found.begin() + ready_count, found.end(), [](const auto* a, const auto* b) {
    return a->timer.value_or(kNever) < b->timer.value_or(kNever);
  });
  return found;
}

Result<MessagePage> ModelQueue::peek(const Filter& filter, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  MessagePage page;
  for (const ModelMessage* message : matching(filter)) {
    page.messages.push_back(message->info);
    page.messages.back().attempts_max = attempts_max(*message);
  }
  page.next = cut_page(page.messages, from, n);
  return page;
}

Result<std::optional<MessageInfo>> ModelQueue::get(MessageId id) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  const auto found = store_->messages.find(number(id));
  if (found == store_->messages.end()) return std::optional<MessageInfo>();
  MessageInfo info = found->second.info;
  info.attempts_max = attempts_max(found->second);
  if (is_finished(info.state)) info.payload.reset();
  return std::optional(info);
}

Result<HistoryPage> ModelQueue::history(MessageId id, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  HistoryPage page;
  const auto found = store_->messages.find(number(id));
  if (found != store_->messages.end()) page.events = found->second.history;
  page.next = cut_page(page.events, from, n);
  return page;
}

Result<MutateReply> ModelQueue::mutate(std::span<const MessageId> ids, Action action) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  MutateReply reply;
  for (const MessageId id : ids) {
    const auto found = store_->messages.find(number(id));
    const bool gone = found == store_->messages.end() || is_finished(found->second.info.state);
    const bool done = !gone && act(found->second, action);
    reply.changed += done ? 1U : 0U;
    reply.items.push_back(gone ? SettleStatus::gone : done ? SettleStatus::ok : SettleStatus::stale);
  }
  return reply;
}

Result<MutateReply> ModelQueue::mutate(const Filter& filter, Action action, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  Filter exact = filter;
  if (action == Action::kick && !filter.state) exact.state = State::dead;
  std::vector<uint64_t> ids;
  for (const ModelMessage* message : matching(exact)) {
    if (number(message->info.id) > number_in(from)) ids.push_back(number(message->info.id));
  }
  std::sort(ids.begin(), ids.end());
  MutateReply reply;
  for (const uint64_t id : ids) {
    if (reply.changed == n) {
      reply.next.text = std::to_string(id - 1);
      break;
    }
    reply.changed += act(store_->messages.at(id), action) ? 1U : 0U;
  }
  return reply;
}

Result<Settings> ModelQueue::settings() {
  const std::lock_guard lock(store_->mutex);
  return store_->settings;
}

Result<bool> ModelQueue::policy_is_current(const FileIdentity& identity) {
  const std::lock_guard lock(store_->mutex);
  return store_->policy == identity;
}

Result<void> ModelQueue::policy_load(const Settings& settings, const FileIdentity& identity) {
  const std::lock_guard lock(store_->mutex);
  store_->settings = settings;
  store_->policy = identity;
  return {};
}

Result<StatsReply> ModelQueue::stats(const StatsRequest& request) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  std::map<std::string, StatsRow> rows = store_->counters;
  rows[""];
  for (const auto& [id, message] : store_->messages) {
    count_state(rows[""], message);
    count_state(rows[message.info.tenant], message);
  }
  StatsReply reply;
  reply.as_of_wall_ms = store_->clock.wall_ms();
  for (auto& [tenant, row] : rows) {
    if (tenant.empty() == request.tenants) continue;
    if (request.tenants && !is_below(tenant, request.tenant)) continue;
    row.tenant = tenant;
    reply.rows.push_back(row);
  }
  return reply;
}

Result<CheckReport> ModelQueue::check() {
  const std::lock_guard lock(store_->mutex);
  CheckReport report;
  for (const auto& [id, message] : store_->messages) {
    report.messages += is_finished(message.info.state) ? 0U : 1U;
  }
  return report;
}

Result<void> ModelQueue::maintain(int64_t) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  return {};
}

}  // namespace fq::test
