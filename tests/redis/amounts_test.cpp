// amounts_test - limits of messages and bytes on a server, and an order that becomes another one under way.
#include "tests/redis/relay.h"

// System.
#include <algorithm>
#include <utility>
#include <vector>

namespace fq::test {

namespace {

class AmountsFixture {
 public:
  AmountsFixture() : queue_(open_on(told_time_engine(), server_.spool(), &clock_)) {}

  Queue& door() { return *queue_; }
  Result<PushReply> put(const std::vector<std::pair<std::string, std::string>>& items,
                        const PushOptions& options = {}) {
    std::vector<NewMessage> batch(items.size());
    for (size_t i = 0; i < items.size(); ++i)
      batch[i].tenant = items[i].first, batch[i].payload = as_bytes(items[i].second);
    return queue_->push(batch, options);
  }
  /// Why it is refused; "": it is not.
  std::string refusal(const std::vector<std::pair<std::string, std::string>>& items) {
    const uint64_t before = pushed();
    const Result<PushReply> reply = put(items);
    const bool never_fits = reply.ok() && reply->error;
    if (reply.ok() && !never_fits) return "";
    if (never_fits) CHECK(reply->items.at(0).status == PushStatus::full);
    const Error& error = never_fits ? *reply->error : reply.error();
    CHECK(error.kind == ErrorKind::later);
    CHECK(pushed() == before);
    return error.text;
  }
  void set(std::string_view path, PolicyKey key, int64_t number) {
    REQUIRE(queue_->policy_set(path, {{{key, number, 0, {}}}, {}}).ok());
  }
  void unset(std::string_view path, PolicyKey key) { REQUIRE(queue_->policy_set(path, {{}, {key}}).ok()); }
  Delivery take() {
    LeaseReply reply = answered(queue_->lease(for_a_minute()));
    REQUIRE(reply.deliveries.size() == 1);
    return std::move(reply.deliveries[0]);
  }
  SettleStatus settle(const Delivery& delivery, Verdict verdict) {
    Settle item;
    item.receipt = delivery.receipt;
    item.verdict = verdict;
    return answered(queue_->settle({&item, 1})).items.at(0);
  }
  std::string served() {
    std::string text;
    for (const Delivery& each : answered(queue_->lease(for_a_minute(100))).deliveries)
      text += std::string(each.payload.bytes()) + " ";
    return text;
  }

 private:
  uint64_t pushed() { return answered(queue_->stats({})).rows.at(0).pushed; }

  TestServer server_;
  FakeClock clock_;
  std::unique_ptr<Queue> queue_;
};

NewMessage with_priority(std::string_view tenant, std::string_view payload, int32_t priority) {
  NewMessage message;
  message.tenant = tenant, message.payload = as_bytes(payload), message.priority = priority;
  return message;
}

/// Two accounts whose limits one call cannot sum up, and a look at each call that sums.
class Crowded {
 public:
  Crowded() {
    for (const std::string account : {"a", "b"}) {
      REQUIRE(direct_->policy_set(account, {{{PolicyKey::max_messages, 100'000, 0, {}}}, {}}).ok());
      for (int page = 0; page < 3; ++page) {
        std::vector<std::string> names;
        for (int i = 0; i < 500; ++i) names.push_back(account + "/t" + std::to_string(500 * page + i));
        std::vector<NewMessage> messages;
        for (const std::string& name : names) messages.push_back(with_priority(name, "x", 0));
        REQUIRE(direct_->push(messages).ok());
      }
    }
  }
  CheckReport check(bool repair) { return answered(door_->check({.repair = repair})); }
  std::string kept() { return command(server_, {"HGET", kKept, "a"}).text; }
  /// It counts what stands for no limit of bytes.
  void damage() {
    const std::string whole = kept();
    command(server_, {"HSET", kKept, "a", whole.substr(0, 16) + whole.substr(8, 8) + whole.substr(24)});
  }
  /// Before each of so many more of these calls, a message comes for the tenant that is summed first.
  void disturb(int calls) { disturbed_ = calls; }
  /// The most that one of these calls has read since this was asked.
  int most_read() { return see(), most_.exchange(0); }

 private:
  static constexpr const char* kKept = "fq1:fq:{default:0:0}:am";
  void on_call(const std::string& asked) {
    see();
    is_seen_ = asked.find("limits\r\n") != std::string::npos;
    if (!is_seen_) return;
    if (disturbed_-- > 0) static_cast<void>(direct_->push(std::vector{with_priority("a/t0", "y", 0)}));
    command(server_, {"CONFIG", "RESETSTAT"});
  }
  void see() {
    if (!is_seen_.exchange(false)) return;
    const std::string all = command(server_, {"INFO", "commandstats"}).text, begin = "cmdstat_get:calls=";
    const size_t at = all.find(begin);
    if (at != std::string::npos) most_ = std::max(most_.load(), std::stoi(all.substr(at + begin.size())));
  }

  FakeClock clock_;
  TestServer server_;
  std::unique_ptr<Queue> direct_ = open_on(told_time_engine(), server_.spool(), &clock_);
  std::atomic<int> disturbed_{0}, most_{0};
  std::atomic<bool> is_seen_{false};
  Relay relay_{server_, [this](const std::string& asked) { return on_call(asked), std::string(); }};
  std::unique_ptr<Queue> door_ = open_on(told_time_engine(), relay_.spool(), &clock_);
};

}  // namespace

TEST_CASE("a batch above what a tenant may hold adds nothing, and says what is in the way") {
  AmountsFixture q;
  CHECK(q.refusal({{"a/x", "1"}}).empty());
  q.set("a", PolicyKey::max_messages, 3);  // of what is there already, too
  CHECK(q.refusal({{"a/x", "2"}, {"a", "3"}}).empty());
  CHECK(q.refusal({{"b", "4"}, {"a/y", "5"}}) ==
        "tenant 'a': has 3 messages, the limit is 3 (max_messages); try again when some are done");
  CHECK(q.refusal({{"b", "4"}}).empty());
  q.set("a", PolicyKey::max_messages, 1);  // below what is there: nothing is taken away
  CHECK_FALSE(q.refusal({{"a", "5"}}).empty());
  q.unset("a", PolicyKey::max_messages);
  CHECK(q.refusal({{"a", "5"}, {"a/z", "6"}}).empty());
  CHECK(answered(q.door().check()).findings.empty());
}

TEST_CASE("a queue holds no more bytes than it may, and what is dead takes no room") {
  AmountsFixture q;
  q.set("", PolicyKey::max_bytes, 4);
  CHECK(q.refusal({{"a", "1234"}}).empty());
  CHECK(q.refusal({{"b", "5"}}) ==
        "queue 'default': has 4 bytes, the limit is 4 (max_bytes); try again when some are done");
  const Delivery taken = q.take();
  CHECK_FALSE(q.refusal({{"b", "5"}}).empty());
  q.settle(taken, Verdict::bury);
  CHECK(q.refusal({{"b", "5"}}).empty());
  MessagePatch longer;
  longer.payload = as_bytes(std::string_view("12345"));
  CHECK_FALSE(q.door().edit(MessageId{2}, longer).ok());
  longer.payload = as_bytes(std::string_view("1234"));
  CHECK(answered(q.door().edit(MessageId{2}, longer)) == SettleStatus::ok);
  CHECK(answered(q.door().stats({})).rows.at(0).bytes == 4);
}

TEST_CASE("what is more than a limit by itself is refused at once, whoever would wait") {
  AmountsFixture q;
  q.set("a", PolicyKey::max_bytes, 3);
  q.set("b", PolicyKey::max_messages, 2);
  PushOptions options;
  options.block = true;
  const auto said = [&](const std::vector<std::pair<std::string, std::string>>& items) {
    const PushReply reply = answered(q.put(items, options));
    for (const PushResult& item : reply.items) CHECK(item.status == PushStatus::full);
    REQUIRE(reply.error);
    CHECK(reply.error->kind == ErrorKind::later);
    return reply.error->text;
  };
  CHECK(said({{"a", "1234"}}) == "tenant 'a': gets 4 bytes at once, the limit is 3 (max_bytes)");
  CHECK(said({{"b/x", "1"}, {"b/y", "2"}, {"b", "3"}}) ==
        "tenant 'b': gets 3 messages at once, the limit is 2 (max_messages)");
  q.set("", PolicyKey::max_messages, 1);
  CHECK(said({{"c", "1"}, {"d", "2"}}) ==
        "queue 'default': gets 2 messages at once, the limit is 1 (max_messages)");
  CHECK(answered(q.door().stats({})).rows.at(0).pushed == 0);
}

TEST_CASE(
    "a push that may wait for room is put when something has ended, or is refused when its time is over") {
  AmountsFixture q;
  q.set("a", PolicyKey::max_messages, 1);
  REQUIRE(q.put({{"a", "first"}}).ok());
  PushOptions options;
  options.block = true;
  options.wait_ms = 20;
  CHECK(q.put({{"a", "second"}}, options).error().kind == ErrorKind::later);
  const Delivery taken = q.take();
  q.settle(taken, Verdict::ack);
  options.wait_ms = 20'000;
  CHECK(q.put({{"a", "second"}}, options).ok());
}

TEST_CASE("turns go by ranks from the moment that scope says so, and by tenants again after it") {
  AmountsFixture q;
  const std::vector<NewMessage> batch = {with_priority("a", "a0", 0), with_priority("a/x", "ax5", 5),
                                         with_priority("b", "b9", 9), with_priority("b", "b1", 1),
                                         with_priority("c", "c2", 2)};
  REQUIRE(q.door().push(batch).ok());
  const auto set_scope = [&](Scope scope, uint64_t inode) {
    REQUIRE(
        q.door()
            .policy_load({{{PolicyKey::scope, static_cast<int64_t>(scope), 0, {}}}, {}, {}}, {.inode = inode})
            .ok());
  };
  set_scope(Scope::queue, 1);
  CHECK(std::string(q.take().payload.bytes()) == "b9");
  CHECK(std::string(q.take().payload.bytes()) == "ax5");
  REQUIRE(q.door().push(std::vector{with_priority("c", "c7", 7)}).ok());
  CHECK(std::string(q.take().payload.bytes()) == "c7");
  set_scope(Scope::tenant, 2);
  set_scope(Scope::queue, 3);
  CHECK(q.served() == "c2 b1 a0 ");
  CHECK(answered(q.door().check()).findings.empty());
}

TEST_CASE("check and repair look at the limits of many tenants in pages, and each is looked at") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr size_t kTenants = 1'000;
  const std::string amounts = "fq1:fq:{default:0:0}:am";
  REQUIRE(queue->policy_set("t0", {{{PolicyKey::max_messages, 10, 0, {}}}, {}}).ok());
  push_one(*queue, "t0", "x");
  const std::string of_one = command(server, {"HGET", amounts, "t0"}).text;
  // They have nothing, and count one.
  for (size_t i = 1; i < kTenants; ++i) command(server, {"HSET", amounts, "t" + std::to_string(i), of_one});
  command(server, {"CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "100000"});
  const auto calls_with = [&](const std::string& word) {
    size_t count = 0;
    for (const Reply& each : command(server, {"SLOWLOG", "GET", "-1"}).items) {
      for (const Reply& argument : each.at(3).items) {
        if (argument.text == word) ++count;
      }
    }
    return count;
  };
  CHECK(answered(queue->check()).findings.count == kTenants - 1);
  CHECK(calls_with("check_limits") > 2);
  answered(queue->check({.repair = true}));
  CHECK(calls_with("limits") > 2);
  CHECK(answered(queue->check()).findings.empty());
}

TEST_CASE("what is above many tenants is summed in several calls, each of which reads so many") {
  Crowded q;
  constexpr int kReadMost = 1'200;
  const std::string whole = q.kept();
  CHECK(q.check(false).findings.empty());
  const int read = q.most_read();
  CHECK(read > 500);
  CHECK(read <= kReadMost);
  q.damage();
  const CheckReport damaged = q.check(false);
  REQUIRE(damaged.findings.count == 1);
  CHECK(damaged.findings.lines[0] == "tenant a: its limit counts other messages or bytes than it has");
  q.most_read();
  CHECK(q.check(true).findings.empty());
  CHECK(q.kept() == whole);
  CHECK(q.most_read() <= kReadMost);
}

TEST_CASE("a sum that others come between is made again, and told where that goes on") {
  Crowded q;
  const std::string not_looked_at =
      "the queue was in use: what the limit of tenant a counts was not looked at";
  const bool goes_on = GENERATE(false, true);
  q.disturb(goes_on ? 1'000 : 4);
  CheckReport report = q.check(false);
  CHECK(report.findings.empty());
  CHECK(std::count(report.remarks.lines.begin(), report.remarks.lines.end(), not_looked_at) ==
        (goes_on ? 1 : 0));
  q.disturb(0);
  q.damage();
  q.disturb(goes_on ? 1'000 : 4);
  CHECK(q.check(false).findings.count == (goes_on ? 0 : 1));
}

}  // namespace fq::test
