// push_test - putting in: ids, batches, delays, and what is refused at each limit and just over it.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

std::string levels(size_t count) {
  std::string path = "a";
  for (size_t i = 1; i < count; ++i) path += "/a";
  return path;
}

Result<PushReply> push_batch(QueueFixture& q, const std::vector<NewMessage>& messages) {
  return q.door().push(messages);
}

}  // namespace

TEST_CASE("ids rise and stay below 2^53") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId first = q.push("t", "1");
  const MessageId second = q.push("u", "2");
  CHECK(number(first) >= 1);
  CHECK(number(second) > number(first));
  CHECK(number(second) <= kMessageIdMax);
}

TEST_CASE("a batch keeps its order and gives an id to each") {
  ON_EVERY_ENGINE(q);
  const NewMessage one = message_of("t", "one", {});
  const NewMessage two = message_of("t", "two", {});
  const Result<PushReply> reply = push_batch(q, {one, two});
  REQUIRE(reply.ok());
  REQUIRE(reply->items.size() == 2);
  CHECK(number(reply->items[0].id) < number(reply->items[1].id));
  CHECK(q.pop(2) == "one two");
}

TEST_CASE("a batch with one bad message pushes nothing and names it") {
  ON_EVERY_ENGINE(q);
  const NewMessage good = message_of("t", "good", {});
  const NewMessage bad = message_of("a//b", "bad", {});
  const Result<PushReply> reply = push_batch(q, {good, bad, good});
  if (reply.ok()) {
    CHECK(reply->items.at(1).status == PushStatus::invalid);
    CHECK(reply->error.has_value());
    for (const PushResult& item : reply->items) CHECK(item.status != PushStatus::accepted);
  } else {
    CHECK(reply.error().item == 1u);
  }
  CHECK(q.stats().ready == 0);
  CHECK(q.stats().pushed == 0);
}

TEST_CASE("an empty batch is no error and no message") {
  ON_EVERY_ENGINE(q);
  const Result<PushReply> reply = push_batch(q, {});
  REQUIRE(reply.ok());
  CHECK(reply->items.empty());
  CHECK(q.stats().pushed == 0);
}

TEST_CASE("a batch of 1024 is taken and one of 1025 is refused whole") {
  ON_EVERY_ENGINE(q);
  std::vector<NewMessage> batch(kBatchMessagesMax, message_of("t", "x", {}));
  const Result<PushReply> taken = push_batch(q, batch);
  REQUIRE(taken.ok());
  CHECK(taken->items.size() == kBatchMessagesMax);
  batch.push_back(batch[0]);
  const Result<PushReply> refused = push_batch(q, batch);
  if (refused.ok()) {
    for (const PushResult& item : refused->items) CHECK(item.status == PushStatus::invalid);
  }
  CHECK(q.stats().ready == kBatchMessagesMax);
}

TEST_CASE("a batch of more bytes than an engine takes at once is refused whole") {
  ON_EVERY_ENGINE(q);
  const std::string payload(2'000, 'x');
  const std::vector<NewMessage> batch(kBatchMessagesMax, message_of("t", payload, {}));
  const Result<PushReply> reply = push_batch(q, batch);
  CHECK(q.stats().ready == (reply.ok() ? kBatchMessagesMax : 0));
  if (!reply.ok()) CHECK(reply.error().text.find("batch: ") == 0);
  q.push("t", "after it");
  CHECK(q.stats().ready == (reply.ok() ? kBatchMessagesMax : 0) + 1);
}

TEST_CASE("tenant names at their limits are taken") {
  ON_EVERY_ENGINE(q);
  for (const std::string& tenant : {std::string(kTenantBytesMax, 'x'), levels(kTenantLevelsMax),
                                    std::string("测试/账户"), std::string("a b"), std::string("..."),
                                    std::string(".a/b."), std::string("-t"), std::string("a\"b'c\\d")}) {
    CAPTURE(tenant);
    q.push(tenant, tenant);
    CHECK(q.pop() == tenant);
  }
}

TEST_CASE("tenant names that break a rule are refused") {
  ON_EVERY_ENGINE(q);
  for (const std::string& tenant :
       {std::string(), std::string(kTenantBytesMax + 1, 'x'), levels(kTenantLevelsMax + 1), std::string("/"),
        std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."), std::string("a/../b"),
        std::string("a/."), std::string("a\nb"), std::string("a\0b", 3), std::string("a\x7f"),
        std::string("\xff"), std::string("\xc3"), std::string("\xed\xa0\x80"), std::string("\xc0\xaf")}) {
    CAPTURE(tenant);
    CHECK(q.refuses(tenant, "payload"));
  }
}

TEST_CASE("a payload at the limit is taken and one byte more is refused") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.payload_bytes_max = 1'000; });
  q.push("t", std::string(1'000, 'x'));
  CHECK(q.refuses("t", std::string(1'001, 'x')));
}

TEST_CASE("a payload as long as the engine takes is taken, and one byte more is refused") {
  ON_EVERY_ENGINE(q);
  const uint64_t most = q.door().caps().payload_bytes_max;
  if (most == UINT64_MAX) return;  // only the queue's own limit holds
  q.push("t", std::string(most, 'x'));
  const std::string longer(most + 1, 'x');
  const NewMessage message = message_of("t", longer, {});
  const Result<PushReply> reply = q.door().push({&message, 1});
  REQUIRE_FALSE(reply.ok());
  CHECK(reply.error().kind == ErrorKind::bad_data);
  CHECK(q.stats().pushed == 1);
}

TEST_CASE("a sort key at the limit is taken and one byte more is refused") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& s) { s.order = Order::key; });
  q.push("t", "fits", {.key = std::string(kSortKeyBytesMax, 'k')});
  CHECK(q.refuses("t", "long", {.key = std::string(kSortKeyBytesMax + 1, 'k')}));
}

TEST_CASE("attempts at their limits are taken and beyond them are refused") {
  ON_EVERY_ENGINE(q);
  q.push("t", "one", {.attempts_max = 1});
  q.push("t", "many", {.attempts_max = kAttemptsMax});
  CHECK(q.refuses("t", "none", {.attempts_max = 0}));
  CHECK(q.refuses("t", "more", {.attempts_max = kAttemptsMax + 1}));
}

TEST_CASE("tags come back as they were given") {
  ON_EVERY_ENGINE(q);
  const std::vector<Tag> tags = {{"team", "blue"}, {"empty", ""}};
  const MessageId id = q.push("t", "tagged", {.tags = tags});
  CHECK(q.get(id).tags == tags);
}

TEST_CASE("tags at the limit are taken and one more is refused") {
  ON_EVERY_ENGINE(q);
  std::vector<Tag> tags(kTagsMax, Tag{"k", "v"});
  q.push("t", "fits", {.tags = tags});
  tags.push_back({"k", "v"});
  CHECK(q.refuses("t", "more", {.tags = tags}));
}

TEST_CASE("a delayed message is served when it is due and not before") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "later", {.delay_ms = 10'000});
  CHECK(q.get(id).state == State::delayed);
  q.clock().advance(9'990);
  CHECK(q.pop() == "");
  q.clock().advance(20);
  CHECK(q.get(id).state == State::ready);
  CHECK(q.pop() == "later");
}

TEST_CASE("a message for a given time is served then") {
  ON_EVERY_ENGINE(q);
  q.push("t", "at", {.at_wall_ms = q.clock().wall_ms() + 10'000});
  q.clock().advance(9'990);
  CHECK(q.pop() == "");
  q.clock().advance(20);
  CHECK(q.pop() == "at");
}

TEST_CASE("a time in the past is now") {
  ON_EVERY_ENGINE(q);
  q.push("t", "past", {.at_wall_ms = q.clock().wall_ms() - 10'000});
  CHECK(q.pop() == "past");
}

TEST_CASE("a due message takes the place of its id") {
  ON_EVERY_ENGINE(q);
  q.push("t", "older", {.delay_ms = 1'000});
  q.push("t", "newer");
  q.clock().advance(1'100);
  CHECK(q.pop(2) == "older newer");
}

TEST_CASE("a step of the wall clock moves no delay") {
  ON_EVERY_ENGINE(q);
  q.push("t", "later", {.delay_ms = 10'000});
  q.clock().set_wall_ms(q.clock().wall_ms() + 3'600'000);
  CHECK(q.pop() == "");
  q.clock().set_wall_ms(q.clock().wall_ms() - 7'200'000);
  q.clock().set_boot_ms(q.clock().boot_ms() + 10'100);
  CHECK(q.pop() == "later");
}

TEST_CASE("lazy and always are both taken") {
  ON_EVERY_ENGINE(q);
  for (const Durability durability : {Durability::lazy, Durability::always}) {
    const NewMessage message = message_of("t", "x", {});
    const Result<PushReply> reply = q.door().push({&message, 1}, {durability});
    REQUIRE(reply.ok());
    CHECK(reply->items.at(0).status == PushStatus::accepted);
  }
  CHECK(q.pop(2) == "x x");
}

TEST_CASE("a batch of as many bytes as the door allows is taken whole") {
  ON_EVERY_ENGINE(q);
  const std::string payload(kInlinePayloadBytesMax, 'x');
  NewMessage message;
  message.payload = as_bytes(payload);
  std::vector<NewMessage> batch;
  while ((batch.size() + 1) * batch_bytes(message) <= kBatchBytesMax) batch.push_back(message);
  const std::string rest(kBatchBytesMax - batch.size() * batch_bytes(message) - batch_bytes(NewMessage{}),
                         'y');
  NewMessage last;
  last.payload = as_bytes(rest);
  batch.push_back(last);
  const Result<PushReply> reply = q.door().push(batch, {});
  REQUIRE(reply.ok());
  CHECK(reply->items.size() == batch.size());
}

}  // namespace fq::test
