// import_test - messages come into a queue on a server many at a time, and as if each had come alone.
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

using Became = ImportResult::What;

constexpr size_t kMany = 200;  // several calls full

std::vector<ExportedMessage> exported(size_t count, size_t tenants = 1) {
  std::vector<ExportedMessage> messages(count);
  for (size_t i = 0; i < count; ++i) {
    messages[i].id = MessageId{i + 1};
    messages[i].tenant = "t" + std::to_string(i % tenants);
    messages[i].payload = "payload " + std::to_string(i);
  }
  return messages;
}

std::vector<Became> whats_of(const ImportReply& reply) {
  std::vector<Became> found;
  for (const ImportResult& each : reply.items) found.push_back(each.what);
  return found;
}

void limit(Queue& queue, int64_t messages) {
  REQUIRE(queue.policy_set("t0", {{{PolicyKey::max_messages, messages, 0, {}}}, {}}).ok());
}

}  // namespace

TEST_CASE("an import waits for the server once for many messages, and they keep their order") {
  const uint32_t shards = GENERATE(1U, 4U);
  CAPTURE(shards);
  const Sharded s(shards);
  const Relay relay(s.server);
  const auto queue = open_on(real_time_engine(), relay.spool("?poll=10s"));
  push_one(*queue, "warm", "x");
  const std::vector<ExportedMessage> messages = exported(kMany, 5);
  const size_t before = relay.round_trips();
  const ImportReply reply = answered(queue->import_messages(messages, "elsewhere"));
  CHECK(relay.round_trips() - before <= kMany / 64 + 2 * shards + 1);
  REQUIRE(reply.items.size() == kMany);
  CHECK_FALSE(reply.error);
  CHECK(whats_of(reply) == std::vector<Became>(kMany, Became::imported));
  for (size_t i = 5; i < kMany; ++i) CHECK(number(reply.items[i].id) > number(reply.items[i - 5].id));
  for (size_t i = 0; i < kMany; i += 37) {
    const std::optional<MessageInfo> info = answered(queue->get(reply.items[i].id));
    REQUIRE(info);
    CHECK((info->tenant == messages[i].tenant && info->payload == messages[i].payload));
  }
  const ImportReply again = answered(queue->import_messages(messages, "elsewhere"));
  CHECK(whats_of(again) == std::vector<Became>(kMany, Became::known));
  for (size_t i = 0; i < kMany; ++i) CHECK(again.items.at(i).id == reply.items[i].id);
  CHECK(answered(queue->check()).findings.empty());
}

TEST_CASE("where there is no room for one of many the answer ends with those before it") {
  const uint32_t shards = GENERATE(1U, 4U);
  CAPTURE(shards);
  const Sharded s(shards);
  const size_t fits = GENERATE(size_t{0}, size_t{1}, size_t{70});
  limit(*s.queue, static_cast<int64_t>(fits));
  const std::vector<ExportedMessage> messages = exported(kMany, 2);  // the first and each other one of t0
  const ImportReply reply = answered(s.queue->import_messages(messages, "elsewhere"));
  CHECK(whats_of(reply) == std::vector<Became>(2 * fits, Became::imported));
  REQUIRE(reply.error);
  CHECK(reply.error->kind == ErrorKind::later);
  CHECK(answered(s.queue->check()).findings.empty());
  limit(*s.queue, kMany);
  const ImportReply rest = answered(s.queue->import_messages(messages, "elsewhere"));
  REQUIRE(rest.items.size() == kMany);
  for (size_t i = 0; i < kMany; ++i) {
    const bool was_taken = i < 2 * fits;
    CHECK((rest.items[i].what == Became::known || (!was_taken && rest.items[i].what == Became::imported)));
  }
  CHECK(answered(s.queue->check()).findings.empty());
}

TEST_CASE("one of many whose key is in use stays out alone") {
  const Sharded s(GENERATE(1U, 4U));
  std::vector<ExportedMessage> messages = exported(5);
  messages[1].unique = messages[3].unique = "key";
  messages[2].key = "of an order that is not this queue's";
  const ImportReply reply = answered(s.queue->import_messages(messages, "elsewhere"));
  const std::vector<Became> expected = {Became::imported, Became::imported, Became::refused, Became::refused,
                                        Became::imported};
  CHECK(whats_of(reply) == expected);
  CHECK(reply.items.at(3).why == "its unique key is in use in this queue");
  CHECK(answered(s.queue->check()).findings.empty());
}

TEST_CASE("a dead one is taken in also where what it died with lies on another shard; one that waits is not") {
  Sharded s;
  std::string other;
  const MessageId first = two_apart(*s.queue, other).first;
  std::vector<ExportedMessage> messages = exported(2);
  for (ExportedMessage& each : messages) each.tenant = other, each.after = {{first, false, false}};
  messages[0].state = State::dead;
  messages[1].state = State::held;
  const ImportReply reply = answered(s.queue->import_messages(messages, "elsewhere"));
  CHECK(whats_of(reply) == std::vector<Became>{Became::imported, Became::refused});
  const MessageId dead = reply.items.at(0).id;
  CHECK(answered(s.queue->mutate({&dead, 1}, Action::kick)).changed == 1);
  CHECK(answered(s.queue->get(dead)).value().state == State::ready);
  CHECK(answered(s.queue->check()).findings.empty());
}

TEST_CASE("long ones, and ones with many steps, go in calls of their own") {
  const Sharded s(1);
  std::vector<ExportedMessage> messages = exported(6);
  for (size_t i = 0; i < 3; ++i) messages[i].payload = std::string(500'000, 'x');
  for (size_t i = 3; i < 6; ++i) {
    for (int k = 0; k < 200; ++k) {
      ExportedStep& step = messages[i].steps.emplace_back();
      step.name = "s" + std::to_string(k);
      step.output = "output";
    }
  }
  const ImportReply reply = answered(s.queue->import_messages(messages, "elsewhere"));
  for (const ImportResult& each : reply.items) UNSCOPED_INFO(each.why);
  CHECK(whats_of(reply) == std::vector<Became>(6, Became::imported));
  for (size_t i = 3; i < 6; ++i)
    CHECK(answered(s.queue->steps()->list(reply.items.at(i).id)).value().size() == 200);
  CHECK(answered(s.queue->check()).findings.empty());
}

}  // namespace fq::test
