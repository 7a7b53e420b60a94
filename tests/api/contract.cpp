// contract - the fixture's verbs: each makes one call through the door and insists that it was answered.
#include "tests/api/contract.h"

// System.
#include <algorithm>
#include <sstream>

namespace fq::test {

namespace {

template <class T>
T answered(Result<T> result) {
  INFO((result.ok() ? std::string() : result.error().text));
  REQUIRE(result.ok());
  return std::move(result).value();
}

void append(std::string& words, std::string_view word) {
  if (!words.empty()) words += ' ';
  words += word;
}

}  // namespace

QueueFixture::QueueFixture(size_t engine, Time time) : engine_(make_engine(engine)), time_(time) {
  queue_ = another_handle();
}

std::unique_ptr<Queue> QueueFixture::another_handle() {
  return engine_->open(time_ == Time::fake ? static_cast<Clock&>(clock_) : system_clock());
}

void QueueFixture::needs_one_account() {
  const Caps caps = queue_->caps();
  if (!caps.exact_global_order || !caps.ties_between_accounts) account_ = "account/";
}

const std::string& QueueFixture::path(const std::string& tenant) {
  return *paths_.insert(tenant.empty() ? tenant : account_ + tenant).first;
}

std::string QueueFixture::named(const std::string& path) const {
  return path.starts_with(account_) ? path.substr(account_.size()) : path;
}

/// A shard hears of it with its next call, and a server has one clock: nobody calls it for this alone.
void QueueFixture::set_wall_ms(int64_t wall_ms) {
  clock_.set_wall_ms(wall_ms);
  if (queue_->caps().shards > 1) REQUIRE(queue_->maintain(10).ok());
}

std::unique_ptr<Queue> QueueFixture::other_queue() {
  std::unique_ptr<Queue> other =
      engine_->open_other(time_ == Time::fake ? static_cast<Clock&>(clock_) : system_clock());
  CHECK((other != nullptr) == queue_->caps().moves);
  return other;
}

NewMessage message_of(std::string_view tenant, std::string_view payload, const With& with) {
  NewMessage message;
  message.tenant = tenant;
  message.payload = as_bytes(payload);
  message.priority = with.priority;
  if (!with.key.empty()) message.key = with.key;
  message.delay_ms = with.delay_ms;
  message.at_wall_ms = with.at_wall_ms;
  message.attempts_max = with.attempts_max;
  message.tags = with.tags;
  message.ttl_ms = with.ttl_ms;
  return message;
}

std::string payload_of(const Delivery& delivery) { return answered(delivery.payload.read_all()); }

MessageId QueueFixture::push(const std::string& tenant, const std::string& payload, const With& with) {
  const NewMessage message = message_of(path(tenant), payload, with);
  const PushReply reply = answered(queue_->push({&message, 1}));
  REQUIRE(reply.items.size() == 1);
  INFO((reply.error ? reply.error->text : std::string()));
  REQUIRE(reply.items[0].status == PushStatus::accepted);
  return pushed_.emplace_back(reply.items[0].id);
}

void QueueFixture::push_many(const std::string& tenant, size_t count) {
  std::vector<std::string> payloads;
  for (size_t i = 1; i <= count; ++i) payloads.push_back(tenant + std::to_string(i));
  std::vector<NewMessage> messages;
  for (const std::string& payload : payloads) messages.push_back(message_of(path(tenant), payload, {}));
  for (size_t at = 0; at < count; at += kBatchMessagesMax) {
    const std::span batch = std::span(messages).subspan(at, std::min(kBatchMessagesMax, count - at));
    for (const PushResult& item : answered(queue_->push(batch)).items) {
      REQUIRE(item.status == PushStatus::accepted);
      pushed_.push_back(item.id);
    }
  }
}

bool QueueFixture::refuses(const std::string& tenant, const std::string& payload, const With& with) {
  const NewMessage message = message_of(path(tenant), payload, with);
  const uint64_t before = stats().pushed;
  const Result<PushReply> reply = queue_->push({&message, 1});
  const bool refused = !reply.ok() || reply->items.at(0).status == PushStatus::invalid;
  return refused && stats().pushed == before;
}

LeaseReply QueueFixture::lease_all(LeaseRequest request) {
  request.tenant = path(std::string(request.tenant));
  LeaseReply reply = answered(queue_->lease(request));
  for (Delivery& each : reply.deliveries) each.tenant = named(each.tenant);
  return reply;
}

Delivery QueueFixture::lease(const std::string& tenant) {
  LeaseRequest request = timed_lease();
  request.tenant = tenant;
  LeaseReply reply = lease_all(request);
  REQUIRE(reply.deliveries.size() == 1);
  return std::move(reply.deliveries[0]);
}

SettleStatus QueueFixture::settle(const Receipt& receipt, Verdict verdict, int64_t delay_ms,
                                  std::string reason) {
  Settle item;
  item.receipt = receipt;
  item.verdict = verdict;
  item.delay_ms = delay_ms;
  item.reason = reason;
  const SettleReply reply = answered(queue_->settle({&item, 1}));
  REQUIRE(reply.items.size() == 1);
  return reply.items[0];
}

ExtendResult QueueFixture::extend(const Delivery& d, int64_t ms) {
  return answered(queue_->extend({&d.receipt, 1}, ms)).at(0);
}

std::string QueueFixture::pop(size_t count) {
  std::string payloads;
  for (size_t i = 0; i < count; ++i) {
    const LeaseReply reply = lease_all(timed_lease());
    if (reply.deliveries.empty()) break;
    append(payloads, payload_of(reply.deliveries[0]));
    REQUIRE(ack(reply.deliveries[0]) == SettleStatus::ok);
  }
  return payloads;
}

std::string QueueFixture::served(size_t want) {
  std::string payloads;
  for (const Delivery& each : lease_all({.want = want}).deliveries) append(payloads, payload_of(each));
  return payloads;
}

std::string QueueFixture::in_turns(const std::string& payloads) {
  if (queue_->caps().exact_global_order) return payloads;
  std::istringstream text(payloads);
  std::multiset<std::string> words;
  for (std::string word; text >> word;) words.insert(word);
  std::string sorted;
  for (const std::string& word : words) append(sorted, word);
  return sorted;
}

std::string QueueFixture::peek(size_t n, const Filter& filter) {
  Filter there = filter;
  there.tenant = path(filter.tenant);
  std::string payloads;
  for (const MessageInfo& message : answered(queue_->peek(there, {}, n)).messages) {
    append(payloads, message.payload.value_or("?"));
  }
  return payloads;
}

MessageInfo QueueFixture::get(MessageId id) {
  std::optional<MessageInfo> found = answered(queue_->get(id));
  REQUIRE(found.has_value());
  found->tenant = named(found->tenant);
  return *std::move(found);
}

size_t QueueFixture::nth(MessageId id) const {
  const auto found = std::find(pushed_.begin(), pushed_.end(), id);
  return found == pushed_.end() ? 0 : static_cast<size_t>(found - pushed_.begin()) + 1;
}

std::string QueueFixture::events(MessageId id) {
  std::string names;
  Cursor cursor;
  do {
    const HistoryPage page = answered(queue_->history(id, cursor, 100));
    for (const HistoryEvent& event : page.events) append(names, event.event);
    cursor = page.next;
  } while (!cursor.text.empty());
  return names;
}

StatsRow QueueFixture::stats() { return answered(queue_->stats({})).rows.at(0); }

StatsRow QueueFixture::stats(const std::string& tenant) {
  for (const StatsRow& row : answered(queue_->stats({.tenants = true, .tenant = {}})).rows) {
    if (row.tenant == path(tenant)) return row;
  }
  return {};
}

void QueueFixture::set(const std::string& path, PolicyKey key, int64_t number, int64_t second) {
  REQUIRE(queue_->policy_set(this->path(path), {.set = {{key, number, second, {}}}, .unset = {}}).ok());
}

void QueueFixture::unset(const std::string& path, PolicyKey key) {
  REQUIRE(queue_->policy_set(this->path(path), {.set = {}, .unset = {key}}).ok());
}

void QueueFixture::set_policy(const std::function<void(Settings&)>& change) {
  Settings settings = answered(queue_->settings());
  change(settings);
  FileIdentity identity;
  identity.inode = ++policy_count_;
  const Result<void> loaded = queue_->policy_load({values_of(settings), {}, {}}, identity);
  REQUIRE(loaded.ok());
}

bool QueueFixture::set_scope_of_queue(Order order) {
  const auto change = [&](Settings& settings) { settings.scope = Scope::queue, settings.order = order; };
  if (queue_->caps().queue_scope) {
    set_policy(change);
    return true;
  }
  const Settings before = answered(queue_->settings());
  Settings settings = before;
  change(settings);
  const auto check_refused = [](const Result<void>& done) {
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().kind == ErrorKind::config);
    CHECK(done.error().text == "scope = queue: needs a queue of one shard, this one has more");
  };
  check_refused(queue_->policy_load({values_of(settings), {}, {}}, {.inode = ++policy_count_}));
  check_refused(queue_->policy_set("", {.set = values_of(settings), .unset = {}}));
  CHECK(values_of(answered(queue_->settings())) == values_of(before));
  return false;
}

MutateReply QueueFixture::mutate(const std::vector<MessageId>& ids, Action action) {
  return answered(queue_->mutate(ids, action));
}

uint64_t QueueFixture::mutate_all(const Filter& filter, Action action, size_t page) {
  Filter there = filter;
  there.tenant = path(filter.tenant);
  uint64_t changed = 0;
  Cursor cursor;
  size_t pages = 0;
  do {
    REQUIRE(++pages < 1'000);
    const MutateReply reply = answered(queue_->mutate(there, action, cursor, page));
    REQUIRE(reply.changed <= page);
    changed += reply.changed;
    cursor = reply.next;
  } while (!cursor.text.empty());
  return changed;
}

}  // namespace fq::test
