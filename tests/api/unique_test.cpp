// unique_test - keys of --unique and --debounce: one message a key, whose it is, and when it is free again.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

PushResult put(QueueFixture& q, const NewMessage& message) {
  const Result<PushReply> reply = q.door().push({&message, 1});
  if (!reply.ok()) FAIL(reply.error().text);
  return reply->items.at(0);
}

PushResult unique(QueueFixture& q, const std::string& tenant, const std::string& payload,
                  const std::string& key, int64_t for_ms = 3'600'000) {
  NewMessage message = message_of(tenant, payload, {});
  message.unique = key;
  message.unique_for_ms = for_ms;
  return put(q, message);
}

PushResult debounce(QueueFixture& q, const std::string& payload, int64_t quiet_ms,
                    std::optional<int64_t> max_wait_ms = {}) {
  NewMessage message = message_of("t", payload, {});
  message.debounce = "k";
  message.quiet_ms = quiet_ms;
  message.max_wait_ms = max_wait_ms;
  return put(q, message);
}

bool is_second(const PushResult& second, const PushResult& first) {
  return second.status == PushStatus::duplicate && second.id == first.id;
}

}  // namespace

TEST_CASE("a second push with a key pushes nothing and tells the id of the first") {
  ON_EVERY_ENGINE(q);
  const PushResult first = unique(q, "t", "first", "k");
  CHECK(first.status == PushStatus::accepted);
  CHECK(is_second(unique(q, "t", "second", "k"), first));
  CHECK(unique(q, "t", "other", "K").status == PushStatus::accepted);
  CHECK(unique(q, "u", "theirs", "k").status == PushStatus::accepted);
  CHECK(unique(q, "t/k", "below", "k").status == PushStatus::accepted);
  CHECK(q.stats().pushed == 4);
  CHECK(q.in_turns(q.pop(5)) == q.in_turns("first theirs below other"));
}

TEST_CASE("a key is held while its message is delayed, leased, retried and for a while after the ack") {
  ON_EVERY_ENGINE(q);
  const PushResult first = unique(q, "t", "m", "k", 10'000);
  CHECK(q.retry(q.lease(), 5'000) == SettleStatus::ok);
  CHECK(is_second(unique(q, "t", "x", "k"), first));
  q.clock().advance(5'000);
  const Delivery again = q.lease();
  CHECK(is_second(unique(q, "t", "x", "k"), first));
  CHECK(q.ack(again) == SettleStatus::ok);
  CHECK(is_second(unique(q, "t", "x", "k"), first));
  q.clock().advance(9'999);
  CHECK(is_second(unique(q, "t", "x", "k"), first));
  q.clock().advance(1);
  CHECK(unique(q, "t", "next", "k").status == PushStatus::accepted);
}

TEST_CASE("a window of nothing frees the key with the ack") {
  ON_EVERY_ENGINE(q);
  unique(q, "t", "m", "k", 0);
  q.pop();
  CHECK(unique(q, "t", "next", "k", 0).status == PushStatus::accepted);
}

TEST_CASE("dead and cancelled messages hold no key") {
  ON_EVERY_ENGINE(q);
  const PushResult buried = unique(q, "t", "1", "k");
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  const PushResult cancelled = unique(q, "t", "2", "k");
  CHECK(cancelled.status == PushStatus::accepted);
  CHECK(q.mutate({cancelled.id}, Action::cancel).changed == 1);
  NewMessage expiring = message_of("t", "3", {.ttl_ms = 1'000});
  expiring.unique = "k";
  CHECK(put(q, expiring).status == PushStatus::accepted);
  q.clock().advance(1'000);
  const PushResult last = unique(q, "t", "4", "k");
  CHECK(last.status == PushStatus::accepted);
  // Back from the dead it finds its key taken, and does without.
  CHECK(q.mutate({buried.id}, Action::kick).changed == 1);
  CHECK(is_second(unique(q, "t", "5", "k"), last));
  CHECK(q.pop(3) == "1 4");
}

TEST_CASE("a kicked message has its key again when nobody took it") {
  ON_EVERY_ENGINE(q);
  const PushResult first = unique(q, "t", "m", "k");
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(q.mutate({first.id}, Action::kick).changed == 1);
  CHECK(is_second(unique(q, "t", "x", "k"), first));
}

TEST_CASE("in a batch a key counts from line to line, and what is new is one record") {
  ON_EVERY_ENGINE(q);
  const PushResult there = unique(q, "t", "there", "a");
  const char* const keys[] = {"a", "b", "", "b", "c"};
  std::vector<std::string> payloads = {"0", "1", "2", "3", "4"};
  std::vector<NewMessage> batch;
  for (size_t i = 0; i < payloads.size(); ++i) {
    batch.push_back(message_of("t", payloads[i], {}));
    batch.back().unique = keys[i];
  }
  const PushReply reply = q.door().push(batch).value();
  CHECK(is_second(reply.items.at(0), there));
  CHECK(reply.items.at(1).status == PushStatus::accepted);
  CHECK(reply.items.at(2).status == PushStatus::accepted);
  CHECK(is_second(reply.items.at(3), reply.items.at(1)));
  CHECK(reply.items.at(4).status == PushStatus::accepted);
  CHECK(q.pop(9) == "there 1 2 4");
}

TEST_CASE("in a batch behind what runs one message is held, whoever keeps what runs comes before") {
  ON_EVERY_ENGINE(q);
  const PushResult first = unique(q, "t", "first", "k");
  REQUIRE(q.lease_all({.want = 1}).deliveries.size() == 1);
  std::vector<NewMessage> batch(4, message_of("t", "second", {}));
  const UniqueMode modes[] = {UniqueMode::keep, UniqueMode::replace, UniqueMode::keep, UniqueMode::replace};
  for (size_t i = 0; i < batch.size(); ++i) batch[i].unique = "k", batch[i].unique_mode = modes[i];
  const Answers<PushResult> items = q.door().push(batch).value().items;
  CHECK(is_second(items.at(0), first));
  CHECK(items.at(1).status == PushStatus::accepted);
  CHECK(is_second(items.at(2), first));
  CHECK(items.at(3).status == PushStatus::replaced);
  CHECK(items.at(3).id == items.at(1).id);
}

TEST_CASE("a thousand keys in a batch are a thousand messages, and the same again none") {
  ON_EVERY_ENGINE(q);
  std::vector<std::string> keys;
  std::vector<NewMessage> batch;
  for (size_t i = 0; i < kBatchMessagesMax; ++i) keys.push_back("key" + std::to_string(i));
  for (const std::string& key : keys) batch.push_back(message_of("t", key, {})), batch.back().unique = key;
  const PushReply first = q.door().push(batch).value();
  const PushReply second = q.door().push(batch).value();
  for (size_t i = 0; i < batch.size(); ++i) REQUIRE(is_second(second.items.at(i), first.items.at(i)));
  CHECK(q.stats().ready == kBatchMessagesMax);
}

TEST_CASE("pushes with one debounce key are one message with the last payload") {
  ON_EVERY_ENGINE(q);
  const PushResult first = debounce(q, "1", 1'000);
  CHECK(first.status == PushStatus::accepted);
  for (const char* payload : {"2", "3"}) {
    q.clock().advance(900);
    const PushResult next = debounce(q, payload, 1'000);
    CHECK(next.status == PushStatus::debounced);
    CHECK(next.id == first.id);
  }
  CHECK(q.get(first.id).due_at_wall_ms == q.clock().wall_ms() + 1'000);
  q.clock().advance(999);
  CHECK(q.pop() == "");
  q.clock().advance(1);
  CHECK(q.get(first.id).state == State::ready);
  // It is due: the next push begins anew.
  const PushResult anew = debounce(q, "4", 1'000);
  CHECK(anew.status == PushStatus::accepted);
  CHECK(q.pop(2) == "3");
  CHECK(q.stats().delayed == 1);
}

TEST_CASE("a debounced message waits no longer than max_wait from its first push") {
  ON_EVERY_ENGINE(q);
  const PushResult first = debounce(q, "0", 1'000, 2'500);
  for (const char* payload : {"1", "2", "3"}) {
    q.clock().advance(800);
    CHECK(debounce(q, payload, 1'000, 2'500).id == first.id);
  }
  q.clock().advance(99);
  CHECK(q.get(first.id).state == State::delayed);
  q.clock().advance(1);
  CHECK(q.pop() == "3");
}

TEST_CASE("a debounced payload keeps tags of the last push and may be large") {
  ON_EVERY_ENGINE(q);
  const std::string large(100 * 1024, 'x');
  NewMessage message = message_of("t", large, {.tags = {{"n", "1"}}});
  message.debounce = "k";
  message.quiet_ms = 1'000;
  const PushResult first = put(q, message);
  const std::string larger(200 * 1024, 'y');
  message.payload = as_bytes(larger);
  message.tags = {{"n", "2"}};
  CHECK(put(q, message).id == first.id);
  CHECK(q.stats().bytes == larger.size());
  q.clock().advance(1'000);
  const Delivery delivery = q.lease();
  CHECK(payload_of(delivery) == larger);
  CHECK(delivery.tags == std::vector<Tag>{{"n", "2"}});
}

TEST_CASE("a kicked or cancelled debounced message is over, the next push begins anew") {
  ON_EVERY_ENGINE(q);
  const PushResult kicked = debounce(q, "1", 1'000);
  CHECK(q.mutate({kicked.id}, Action::kick).changed == 1);
  const PushResult cancelled = debounce(q, "2", 1'000);
  CHECK(cancelled.status == PushStatus::accepted);
  CHECK(q.mutate({cancelled.id}, Action::cancel).changed == 1);
  CHECK(debounce(q, "3", 1'000).status == PushStatus::accepted);
}

TEST_CASE("keys that are too long and debounces that make no sense are refused") {
  ON_EVERY_ENGINE(q);
  const auto refuses = [&](const NewMessage& message) {
    const Result<PushReply> reply = q.door().push({&message, 1});
    return !reply.ok() || reply->items.at(0).status == PushStatus::invalid;
  };
  const std::string longest(kUniqueKeyBytesMax, 'k');
  CHECK(unique(q, "t", "x", longest).status == PushStatus::accepted);
  const std::string longer = longest + "k";
  NewMessage message = message_of("t", "x", {});
  message.unique = longer;
  CHECK(refuses(message));
  message.unique = {};
  message.debounce = "k";
  CHECK(refuses(message));
  message.quiet_ms = 1;
  message.unique = "k";
  CHECK(refuses(message));
  message.unique = {};
  message.delay_ms = 1;
  CHECK(refuses(message));
  message.delay_ms.reset();
  CHECK_FALSE(refuses(message));
}

}  // namespace fq::test
