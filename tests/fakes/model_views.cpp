// model_views - what the model queue shows of itself, and changes of many messages at once.
//
// A cursor is a number: how many were shown, or (mutate) the last id that was looked at. Of peek see there.
#include "tests/fakes/model_queue.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
// fq, below us.
#include "core/api/policy_checks.h"
#include "core/base/host_name.h"
#include "core/engine/message_checks.h"

namespace fq::test {

namespace {

uint64_t number_in(const Cursor& cursor) { return cursor.text.empty() ? 0 : std::stoull(cursor.text); }

template <class T>
Cursor cut_page(std::vector<T>& all, const Cursor& from, size_t n) {
  const size_t start = std::min<size_t>(number_in(from), all.size());
  const size_t end = std::min(start + n, all.size());
  const bool more = end < all.size();
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(start));
  return {more ? std::to_string(end) : std::string()};
}

bool has_reason(const MessageInfo& info, const std::string& part) {
  return part.empty() || (info.last_error && info.last_error->reason.find(part) != std::string::npos);
}

}  // namespace

std::vector<const Model::Message*> ModelQueue::matching(const Filter& filter) const {
  std::vector<const Model::Message*> found;
  const auto fits = [&](const Model::Message& message) {
    if (!is_below(message.info.tenant, filter.tenant)) return false;
    if (filter.state ? message.info.state != *filter.state : is_finished(message.info.state)) return false;
    if (!has_reason(message.info, filter.reason)) return false;
    const auto& tags = message.info.tags;
    return !filter.tag || std::find(tags.begin(), tags.end(), *filter.tag) != tags.end();
  };
  // Ready ones in the order of turns; then the others, by timer and id; the dead, by when they died, and id.
  const bool shows_ready = filter.state.value_or(State::ready) == State::ready;
  for (const MessageId id : shows_ready ? store_->model.ready(filter.tenant) : std::vector<MessageId>()) {
    const Model::Message& message = *store_->model.find(id);
    if (fits(message)) found.push_back(&message);
  }
  const auto ready_count = static_cast<std::ptrdiff_t>(found.size());
  for (const Model::Message& message : store_->model.messages) {
    if (message.info.state != State::ready && fits(message)) found.push_back(&message);
  }
  std::stable_sort(found.begin() + ready_count, found.end(), [](const auto* a, const auto* b) {
    const auto place = [](const Model::Message& each) {
      const bool dead = each.info.state == State::dead;
      return std::pair(dead, dead ? each.since_ms : each.timer.value_or(kNever));
    };
    return place(*a) < place(*b);
  });
  return found;
}

MessageInfo ModelQueue::info_of(const Model::Message& message) const {
  MessageInfo info = message.info;
  info.attempts_max = store_->model.attempts_max(message);
  const int64_t offset_ms = store_->model.clock.wall_ms() - store_->model.clock.boot_ms();
  const bool delayed = info.state == State::delayed;
  const bool waits = delayed || info.state == State::ready;
  if (message.ttl_ms && message.timer && waits && info.deliveries == 0)
    info.expires_at_wall_ms = *message.timer + offset_ms + (delayed ? *message.ttl_ms : 0);
  if (is_finished(info.state))
    info.payload.reset();
  else
    info.ttl_ms = message.ttl_ms;
  if (info.state == State::dead) info.ended_at_wall_ms = message.since_ms + offset_ms;
  if (info.state != State::dead && info.state != State::leased) return info;
  info.started_at_wall_ms = Model::started_at(message);
  if (info.state != State::dead || !info.last_error) return info;
  info.exit = info.last_error->exit;
  info.signal = info.last_error->signal;
  return info;
}

Result<MessagePage> ModelQueue::peek(const Filter& filter, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  store_->schedules.run_due();
  // What was there at its beginning, as far as it still is. A cursor is the number of the listing and a
  // place.
  const auto found = matching(filter);
  if (from.text.empty()) {
    std::vector<MessageId>& begun = store_->listings.emplace_back();
    for (const Model::Message* message : found) begun.push_back(message->info.id);
  }
  const size_t number = from.text.empty() ? store_->listings.size() - 1 : number_in(from);
  const std::vector<MessageId>& ids = store_->listings.at(number);
  MessagePage page;
  size_t at = from.text.empty() ? 0 : std::stoull(from.text.substr(from.text.find('.') + 1));
  for (; at < ids.size() && page.messages.size() < n; ++at) {
    const Model::Message* message = store_->model.find(ids[at]);
    if (std::find(found.begin(), found.end(), message) != found.end())
      page.messages.push_back(info_of(*message));
  }
  if (at < ids.size()) page.next.text = std::to_string(number) + "." + std::to_string(at);
  return page;
}

Result<IdPage> ModelQueue::select(const Filter& filter, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  store_->schedules.run_due();
  IdPage page;
  for (const Model::Message* message : matching(filter)) {
    if (number(message->info.id) > number_in(from)) page.ids.push_back(message->info.id);
  }
  std::sort(page.ids.begin(), page.ids.end());
  if (page.ids.size() <= n) return page;
  page.ids.resize(n);
  if (n > 0) page.next.text = std::to_string(number(page.ids.back()));
  return page;
}

Result<std::optional<MessageInfo>> ModelQueue::get(MessageId id) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  store_->schedules.run_due();
  const Model::Message* found = store_->model.find(id);
  return found == nullptr ? std::optional<MessageInfo>() : std::optional(info_of(*found));
}

Result<MessagePage> ModelQueue::ended(const Filter& filter, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  store_->schedules.run_due();
  MessagePage page;
  for (const Model::Message& message : store_->model.messages) {
    const MessageInfo info = info_of(message);
    const bool told = info.state == State::dead ||
                      (is_finished(info.state) && message.told_until_wall_ms > store_->model.clock.wall_ms());
    const bool wanted = (!filter.state || *filter.state == info.state) &&
                        (!filter.tag || std::count(info.tags.begin(), info.tags.end(), *filter.tag) != 0) &&
                        has_reason(info, filter.reason) && is_below(info.tenant, filter.tenant);
    if (told && wanted) page.messages.push_back(info);
  }
  std::sort(page.messages.begin(), page.messages.end(), [](const MessageInfo& a, const MessageInfo& b) {
    return a.ended_at_wall_ms != b.ended_at_wall_ms ? a.ended_at_wall_ms > b.ended_at_wall_ms : a.id > b.id;
  });
  page.next = cut_page(page.messages, from, n);
  return page;
}

Result<HistoryPage> ModelQueue::history(MessageId id, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  HistoryPage page;
  const Model::Message* found = store_->model.find(id);
  if (found != nullptr) page.events = found->history;
  page.next = cut_page(page.events, from, n);
  return page;
}

namespace {

void tell_setting(const EventRequest& request, const Model::Setting& setting, EventPage& page) {
  const bool is_of_messages = request.id || request.tag;
  if (is_of_messages || !is_below(setting.path, request.tenant)) return;
  if (request.since_wall_ms.value_or(setting.at_wall_ms) > setting.at_wall_ms) return;
  Event& event = page.events.emplace_back();
  event.event = "set";
  event.at_wall_ms = setting.at_wall_ms;
  event.tenant = setting.path;
  event.set = &setting.patch;
}

}  // namespace

bool ModelQueue::read_events(const EventRequest& request, size_t& at, EventPage& page) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  for (; at < store_->model.log.size() && page.events.size() < request.n; ++at) {
    const auto& [id, index] = store_->model.log[at];
    if (number(id) == 0) {
      tell_setting(request, store_->model.settings_log[index], page);
      continue;
    }
    const Model::Message& message = *store_->model.find(id);
    const HistoryEvent& told = message.history[index];
    const auto& tags = message.info.tags;
    const bool tagged = !request.tag || std::find(tags.begin(), tags.end(), *request.tag) != tags.end();
    const bool wanted = tagged && is_below(message.info.tenant, request.tenant) &&
                        request.id.value_or(id) == id &&
                        request.since_wall_ms.value_or(told.at_wall_ms) <= told.at_wall_ms;
    if (!wanted) continue;
    Event& event = page.events.emplace_back();
    event.event = told.event;
    event.at_wall_ms = told.at_wall_ms;
    event.id = id;
    event.tenant = message.info.tenant;
    event.reason = told.reason;
    event.due_wall_ms = told.due_wall_ms;
  }
  page.at_end = at == store_->model.log.size();
  return !page.events.empty();
}

Result<void> ModelQueue::events(const EventRequest& request, EventPage& page) {
  page.events.clear();
  size_t at = number_in(request.from);
  Clock& clock = store_->model.clock;
  const int64_t start_ms = clock.boot_ms();
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {  // between two looks: it has no word
    if (read_events(request, at, page) || !request.wait) break;
    if (request.interrupt != nullptr && request.interrupt->raised()) break;
    if (request.wait_ms && clock.boot_ms() - start_ms >= *request.wait_ms) break;
  }
  page.next.text = std::to_string(at);
  return {};
}

/// What is held by living counts as held through this handle.
Result<std::vector<Attendee>> ModelQueue::attendees() {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  Attendee one;
  one.kind = attendance_.slots == 0 ? Attendee::Kind::holder : Attendee::Kind::worker;
  one.pid = ::getpid();
  one.host = host_name();
  one.slots = attendance_.slots;
  one.since_wall_ms = store_->model.clock.wall_ms();
  for (const Model::Message& message : store_->model.messages) {
    if (message.info.state == State::leased && !message.timer) one.ids.push_back(message.info.id);
  }
  const size_t of_one = std::max(attendance_.messages, 1U);
  one.busy = static_cast<uint32_t>(std::min<size_t>(one.slots, (one.ids.size() + of_one - 1) / of_one));
  if (one.slots == 0 && one.ids.empty()) return std::vector<Attendee>();
  return std::vector<Attendee>{std::move(one)};
}

Result<MutateReply> ModelQueue::mutate(std::span<const MessageId> ids, Action action) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  store_->schedules.run_due();
  MutateReply reply;
  for (const MessageId id : ids) {
    reply.items.push_back(store_->model.mutate(id, action));
    reply.changed += reply.items.back() == SettleStatus::ok ? 1U : 0U;
  }
  store_->model.settle_held();
  return reply;
}

Result<MutateReply> ModelQueue::mutate(const Filter& filter, Action action, const Cursor& from, size_t n) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  Filter exact = filter;
  if (action != Action::cancel && !filter.state) exact.state = State::dead;
  std::vector<uint64_t> ids;
  for (const Model::Message* message : matching(exact)) {
    if (number(message->info.id) > number_in(from)) ids.push_back(number(message->info.id));
  }
  std::sort(ids.begin(), ids.end());
  MutateReply reply;
  for (const uint64_t id : ids) {
    if (reply.changed == n) {
      reply.next.text = std::to_string(id - 1);
      break;
    }
    reply.changed += store_->model.mutate(MessageId{id}, action) == SettleStatus::ok ? 1U : 0U;
  }
  store_->model.settle_held();
  return reply;
}

Result<std::optional<JobOutput>> ModelQueue::output(MessageId id) {
  const std::lock_guard lock(store_->mutex);
  const auto found = store_->outputs.find(std::to_string(number(id)));
  const int64_t now_ms = store_->model.clock.wall_ms();
  if (found == store_->outputs.end() || found->second.keep_ms <= now_ms) return std::optional<JobOutput>();
  JobOutput output = found->second;
  output.keep_ms -= now_ms;
  return std::optional<JobOutput>(std::move(output));
}

ModelQueue::~ModelQueue() {
  const std::lock_guard lock(store_->runs->mutex);
  for (const uint64_t call : calls_) store_->runs->calls.erase(call);
}

Result<CallId> ModelQueue::begin_call(std::string_view /*tenant*/) {
  const std::lock_guard lock(store_->runs->mutex);
  calls_.push_back(store_->runs->calls.empty() ? 1 : *store_->runs->calls.rbegin() + 1);
  store_->runs->calls.insert(calls_.back());
  return CallId{calls_.back()};
}

bool ModelQueue::have_ended(const EndRequest& request) {
  const std::lock_guard lock(store_->mutex);
  Model& model = store_->model;
  model.fire_timers();
  if (request.until_idle) return model.is_idle();
  bool all = true;
  for (size_t i = 0; i < request.ids.size(); ++i) {
    const bool noted = !request.ends.empty() && request.ends[i];
    const Model::Message* message = noted ? nullptr : model.find(request.ids[i]);
    if (message == nullptr) continue;
    const bool ended = message->info.state == State::dead || is_finished(message->info.state);
    if (ended && !request.ends.empty()) request.ends[i] = message->info.state;
    all = all && ended;
  }
  return all;
}

Result<EndStatus> ModelQueue::await_end(const EndRequest& request) {
  FQ_TRY(check_ends(request));
  Clock& clock = store_->model.clock;
  const int64_t start_ms = clock.boot_ms();
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {  // between two looks: it has no word
    if (have_ended(request)) return EndStatus::ended;
    if (request.interrupt != nullptr && request.interrupt->raised()) return EndStatus::interrupted;
    if (request.wait_ms && clock.boot_ms() - start_ms >= *request.wait_ms) return EndStatus::timed_out;
  }
}

Result<Settings> ModelQueue::settings() {
  const std::lock_guard lock(store_->mutex);
  return store_->model.settings;
}

Result<bool> ModelQueue::policy_is_current(const FileIdentity& identity) {
  const std::lock_guard lock(store_->mutex);
  return store_->policy == identity;
}

Result<void> ModelQueue::policy_check(const Policy& policy) { return check_policy_values(policy); }

Result<void> ModelQueue::policy_load(const Policy& policy, const FileIdentity& identity,
                                     const std::string* text) {
  FQ_TRY(policy_check(policy));
  const std::lock_guard lock(store_->mutex);
  if (text != nullptr) kept_policy_ = *text;
  Settings settings;
  take_over(settings, policy.queue);
  store_->model.load(settings);
  store_->model.set_pools(policy.pools);
  store_->model.set_rules(policy.tenants);
  store_->policy = identity;
  return {};
}

Result<CheckReport> ModelQueue::check(const CheckRequest&) {
  const std::lock_guard lock(store_->mutex);
  CheckReport report;
  for (const Model::Message& message : store_->model.messages) {
    report.messages += is_finished(message.info.state) ? 0U : 1U;
  }
  return report;
}

Result<void> ModelQueue::maintain(int64_t) {
  const std::lock_guard lock(store_->mutex);
  store_->model.fire_timers();
  store_->schedules.run_due();
  return {};
}

}  // namespace fq::test
