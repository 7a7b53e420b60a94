// lost_answers_test - a call was done and its answer never came, and the server that is asked again refuses:
// nobody is told that nothing was done.

// System.
#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

/// A queue by a way on which the answer to one call of a function is lost, and what is asked from then on is
/// refused.
class Unheard {
 public:
  enum class Refused { functions, greetings };
  explicit Unheard(uint32_t shards = 1, std::string refusal = "-MISCONF it does\r\n",
                   Refused refused = Refused::functions)
      : s(shards), refusal_(std::move(refusal)), refused_(refused) {
    relay_ = std::make_unique<Relay>(s.server, [this](const std::string& asked) { return meddle(asked); });
    queue = another();
  }
  std::unique_ptr<Queue> another() const { return open_on(real_time_engine(), spool()); }
  std::string spool() const { return relay_->spool("?timeout=1s"); }
  void lose(std::string_view function) {
    const std::lock_guard held(mutex_);
    function_ = "_" + std::string(function) + "\r\n";
  }
  void answer_again() {
    const std::lock_guard held(mutex_);
    function_.clear(), is_lost_ = false;
  }
  StatsRow sums() const { return answered(s.queue->stats({})).rows.at(0); }

  Sharded s;
  std::unique_ptr<Queue> queue;

 private:
  std::string meddle(const std::string& asked) {
    const std::lock_guard held(mutex_);
    const bool is_function = !function_.empty() && asked.find(function_) != std::string::npos;
    if (is_lost_) return is_function || refused_ == Refused::greetings ? refusal_ : "";
    if (!is_function) return "";
    is_lost_ = true;
    do_unheard(s.server, asked);
    relay_->cut();
    return "";
  }

  const std::string refusal_;
  const Refused refused_;
  std::mutex mutex_;
  std::string function_;
  bool is_lost_ = false;
  std::unique_ptr<Relay> relay_;
};

/// What was done all the same, and nobody is to do twice.
void is_unknown(const Error& error) {
  INFO(error.text);
  CHECK(error.kind == ErrorKind::io);
  CHECK(error.passes);
  CHECK(error.text.find("the outcome is unknown; asked again, ") != std::string::npos);
  CHECK(error.text.find("try again") == std::string::npos);
}

std::vector<Settle> acks_of(const LeaseReply& leased) {
  std::vector<Settle> acks;
  for (const Delivery& each : leased.deliveries) acks.emplace_back().receipt = each.receipt;
  return acks;
}

std::vector<NewMessage> one_of_each(const std::vector<std::string>& names) {
  std::vector<NewMessage> messages;
  for (const std::string& name : names) messages.push_back(message_for(name, name));
  return messages;
}

}  // namespace

TEST_CASE("a push that was done is not told as not done, however the server refuses when it is asked again") {
  const auto* const refusal =
      GENERATE("-LOADING it does\r\n", "-BUSY it is\r\n", "-MISCONF it cannot save\r\n",
               "-READONLY it is\r\n", "-OOM it is\r\n", "-CLUSTERDOWN it is\r\n", "-NOREPLICAS it has\r\n");
  const auto refused = GENERATE(Unheard::Refused::functions, Unheard::Refused::greetings);
  CAPTURE(refusal, refused);
  Unheard u(1, refusal, refused);
  u.lose("push");
  const NewMessage message = message_for("t", "x");
  const Result<PushReply> pushed = u.queue->push({&message, 1});
  REQUIRE(pushed.ok());
  REQUIRE(pushed->error);
  is_unknown(*pushed->error);
  CHECK(pushed->items.at(0).status == PushStatus::unknown);
  CHECK(u.sums().ready == 1);
}

TEST_CASE("a verdict that was given is not told as not given, and can be given again") {
  const auto refused = GENERATE(Unheard::Refused::functions, Unheard::Refused::greetings);
  Unheard u(1, "-READONLY it is\r\n", refused);
  push_one(*u.queue, "t", "x");
  const std::vector<Settle> acks = acks_of(answered(u.queue->lease(for_a_minute())));
  u.lose("work");
  const SettleReply settled = answered(u.queue->settle(acks));
  REQUIRE(settled.error);
  is_unknown(*settled.error);
  CHECK(settled.items.at(0) == SettleStatus::unknown);
  CHECK((u.sums().ready == 0 && u.sums().leased == 0));
  u.answer_again();
  // By another client: this one goes by a refused greeting for as long as that took.
  CHECK(answered(u.another()->settle(acks)).items.at(0) == SettleStatus::gone);
}

TEST_CASE("a batch over many shards that was pushed, or acked, is not told as not done") {
  Unheard u(4);
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) names.push_back("t" + std::to_string(i));
  const std::vector<NewMessage> messages = one_of_each(names);
  answered(u.queue->push(messages));
  const std::vector<Settle> acks = acks_of(answered(u.queue->lease(for_a_minute(16))));
  REQUIRE(acks.size() == names.size());
  SECTION("pushed") {
    u.lose("push");
    const PushReply pushed = answered(u.queue->push(messages));
    REQUIRE(pushed.error);
    is_unknown(*pushed.error);
    for (const PushResult& each : pushed.items) CHECK(each.status == PushStatus::unknown);
    CHECK(u.sums().ready == names.size());
  }
  SECTION("acked") {
    u.lose("work");
    const SettleReply settled = answered(u.queue->settle(acks));
    REQUIRE(settled.error);
    is_unknown(*settled.error);
    for (const SettleStatus each : settled.items) CHECK(each == SettleStatus::unknown);
    CHECK(u.sums().leased == 0);
  }
}

TEST_CASE("a move whose message is on its way, or there, is not told as not made") {
  const auto& [shards, step] =
      GENERATE(std::pair(1U, "move"), std::pair(4U, "crossing"), std::pair(4U, "take"));
  CAPTURE(shards, step);
  Unheard u(shards);
  REQUIRE(answered(real_time_engine().create({u.spool(), "to"}, {.shards = shards})));
  const MessageId id = push_one(*u.queue, "t", "x");
  u.lose(step);
  const Result<MoveReply> moved = u.queue->move({&id, 1}, {"to", {}});
  const std::optional<Error> error = moved ? moved->error : std::optional(moved.error());
  REQUIRE(error);
  INFO(error->text);
  CHECK(error->kind == ErrorKind::io);
  CHECK(u.sums().ready == 0);
}

TEST_CASE("a cancel whose answer was lost is not told as not done") {
  Unheard u;
  const MessageId id = push_one(*u.queue, "t", "x");
  u.lose("order");
  const Result<MutateReply> cancelled = u.queue->mutate({&id, 1}, Action::cancel);
  REQUIRE(!cancelled.ok());
  CHECK(cancelled.error().kind == ErrorKind::io);
  CHECK(u.sums().ready == 0);
}

TEST_CASE("a queue that was made is not told as not made") {
  Unheard u;
  u.lose("make");
  const Result<bool> made = real_time_engine().create({u.spool(), "other"}, {});
  REQUIRE(!made.ok());
  is_unknown(made.error());
}

TEST_CASE("a push that is asked for again with its token is the same push, by parts too") {
  const Sharded s(GENERATE(1U, 4U));
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("t" + std::to_string(i % 6));
  std::vector<NewMessage> batch;
  for (const std::string& each : names) batch.push_back(message_for(each));
  const auto pushed = [&](const std::string& token) {
    PushOptions options;
    options.token = token;
    std::vector<uint64_t> ids;
    for (const PushResult& each : answered(s.another()->push(batch, options)).items)
      ids.push_back(number(each.id));
    return ids;
  };
  const std::vector<uint64_t> first = pushed("one");
  CHECK(pushed("one") == first);
  CHECK(answered(s.queue->stats({})).rows.at(0).ready == 12);
  CHECK(pushed("other") != first);
  CHECK(answered(s.queue->stats({})).rows.at(0).ready == 24);
}

TEST_CASE("a push that waits for room by halves is in once, also where it is asked for again") {
  const Sharded s(4);
  REQUIRE(s.queue->policy_set("t", {{{PolicyKey::max_messages, 2, 0, {}}}, {}}).ok());
  std::vector<NewMessage> batch(4, message_for("t"));
  const std::string_view payloads[] = {"1", "2", "3", "4"};
  for (size_t i = 0; i < batch.size(); ++i) batch[i].payload = as_bytes(payloads[i]);
  // So many that they are not all in one shard, which would take all of them or none.
  std::vector<std::string> others;
  for (int i = 0; i < 16; ++i) others.push_back("u" + std::to_string(i));
  for (const std::string& each : others) batch.push_back(message_for(each));
  PushOptions options;
  options.token = "one";
  options.block = true;
  options.wait_ms = 0;
  const auto items = answered(s.queue->push(batch, options)).items;
  const auto accepted = std::count_if(items.begin(), items.end(),
                                      [](const PushResult& each) { return is_accepted(each.status); });
  const uint64_t ready = answered(s.queue->stats({})).rows.at(0).ready;
  CHECK(static_cast<uint64_t>(accepted) == ready);
  // There is room again: only that they are known keeps those out that were in.
  const LeaseReply taken = answered(s.queue->lease(for_a_minute(batch.size())));
  REQUIRE(taken.deliveries.size() == ready);
  std::multiset<std::string> all, served;
  for (const NewMessage& each : batch) all.emplace(as_text(each.payload));
  for (const Delivery& each : taken.deliveries) {
    served.emplace(each.payload.bytes());
    REQUIRE(ack(*s.queue, each) == SettleStatus::ok);
  }
  static_cast<void>(s.another()->push(batch, options));
  // Which of them fit in by then is a matter of who shares a shard.
  for (const Delivery& each : answered(s.queue->lease(for_a_minute(batch.size()))).deliveries)
    served.emplace(each.payload.bytes());
  CHECK(served.size() > ready);
  CHECK(std::includes(all.begin(), all.end(), served.begin(), served.end()));
}

}  // namespace fq::test
