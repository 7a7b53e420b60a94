// bounded_keys_test - what a queue on a server keeps for a while, of messages that are over, is never more
// than so much.

// System.
#include <algorithm>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kWeek = 604'800'000;
constexpr int64_t kRecordsMost = 10'000, kBytesMost = 268'435'456;  // of told.lua
const std::string kBoundedTag = "fq1:fq:{default:0:0}:";

struct BoundedKeys {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);

  int64_t asked(std::string_view what, const std::string& key) {
    return command(server, {what, kBoundedTag + key}).number;
  }
  int64_t bytes_of_all() { return std::stoll(command(server, {"HGET", kBoundedTag + "zb", "all"}).text); }
  void say_bytes_of_all(int64_t bytes) {
    command(server, {"HSET", kBoundedTag + "zb", "all", std::to_string(bytes)});
  }
  std::vector<MessageId> push(const std::vector<NewMessage>& messages) {
    std::vector<MessageId> ids;
    for (const PushResult& each : answered(queue->push(messages)).items) ids.push_back(each.id);
    return ids;
  }
  void ack_all() {
    for (;;) {
      const LeaseReply taken = answered(queue->lease(for_a_minute(1'000)));
      if (taken.deliveries.empty()) return;
      std::vector<Settle> acks(taken.deliveries.size());
      for (size_t i = 0; i < acks.size(); ++i) acks[i].receipt = taken.deliveries[i].receipt;
      answered(queue->settle(acks));
    }
  }
  std::vector<MessageId> end_kept(size_t count) {
    NewMessage message = message_for("t");
    message.keep_ms = kWeek;
    const std::vector<MessageId> ids = push(std::vector<NewMessage>(count, message));
    ack_all();
    return ids;
  }
  bool is_told(MessageId id) { return asked("EXISTS", "m:" + std::to_string(number(id))) == 1; }
  void end_unique(const std::string& prefix, size_t count, int64_t held_ms) {
    std::vector<std::string> keys(count);
    std::vector<NewMessage> messages(count, message_for("t"));
    for (size_t i = 0; i < count; ++i) {
      keys[i] = prefix + std::to_string(i);
      messages[i].unique = keys[i];
      messages[i].unique_for_ms = held_ms;
    }
    push(messages);
    ack_all();
  }
};

}  // namespace

TEST_CASE("a server keeps so many records of messages that have ended, and the oldest go") {
  BoundedKeys kept;
  const MessageId first = kept.end_kept(1).at(0);
  const MessageId second = kept.end_kept(1).at(0);
  for (int i = 0; i < 10; ++i) {
    kept.clock.advance(1);
    kept.end_kept(1'000);
  }
  CHECK(kept.asked("ZCARD", "z") == kRecordsMost);
  CHECK(kept.asked("ZCARD", "zt") == kRecordsMost);
  CHECK(kept.asked("HLEN", "zb") == kRecordsMost + 1);
  CHECK((!kept.is_told(first) && !kept.is_told(second)));
  CHECK(answered(kept.queue->get(first)).value().state == State::acked);
  CHECK(kept.bytes_of_all() > 100 * kRecordsMost);
}

TEST_CASE("a server keeps so many bytes of messages that have ended, with what their jobs have put out") {
  BoundedKeys kept;
  const MessageId first = kept.end_kept(1).at(0);
  const int64_t each = kept.bytes_of_all();
  NewMessage message = message_for("t");
  message.keep_ms = kWeek;
  kept.push({message});
  const LeaseReply taken = answered(kept.queue->lease(for_a_minute()));
  Settle ack;
  ack.receipt = taken.deliveries.at(0).receipt;
  const std::string text(1'000, 'o');
  JobOutput output;
  output.out = text;
  output.keep_ms = kWeek;
  ack.output = &output;
  answered(kept.queue->settle({&ack, 1}));
  const MessageId second = taken.deliveries[0].id;
  CHECK(kept.bytes_of_all() >= 2 * each + 1'000);
  kept.say_bytes_of_all(kBytesMost - each);
  const MessageId third = kept.end_kept(1).at(0);
  CHECK((kept.is_told(first) && kept.is_told(second) && kept.is_told(third)));
  CHECK(kept.bytes_of_all() == kBytesMost);
  const MessageId fourth = kept.end_kept(1).at(0);
  CHECK((!kept.is_told(first) && kept.is_told(second) && kept.is_told(third) && kept.is_told(fourth)));
  CHECK(kept.bytes_of_all() == kBytesMost);
  kept.say_bytes_of_all(kBytesMost + 1);
  answered(kept.queue->compact());
  CHECK((!kept.is_told(second) && kept.is_told(third) && kept.is_told(fourth)));
  CHECK(kept.asked("EXISTS", "x:" + std::to_string(number(second))) == 0);
  kept.clock.advance(kWeek);
  push_one(*kept.queue, "t", "x");
  CHECK(kept.asked("EXISTS", "z") + kept.asked("EXISTS", "zt") + kept.asked("EXISTS", "zb") == 0);
}

TEST_CASE("unique keys go as fast as they come once their time is over, and compact leaves none") {
  BoundedKeys kept;
  for (int i = 0; i < 6; ++i) {
    kept.end_unique(std::to_string(i) + "-", 300, 1);
    kept.clock.advance(2);
    CHECK(kept.asked("HLEN", "u") <= 600);
  }
  kept.end_unique("long-", 3, 3'600'000);
  for (int i = 0; i < 3; ++i) kept.end_unique("short-" + std::to_string(i) + "-", 1'000, 1);
  kept.clock.advance(2);
  answered(kept.queue->compact());
  CHECK(kept.asked("HLEN", "u") == 3);
  CHECK(kept.asked("ZCARD", "ux") == 3);
}

TEST_CASE("what is remembered of imports goes as fast as it comes once its time is over") {
  BoundedKeys kept;
  for (uint64_t round = 0; round < 4; ++round) {
    std::vector<ExportedMessage> messages(300);
    for (size_t i = 0; i < messages.size(); ++i) {
      messages[i].id = MessageId{1'000 * round + i + 1};
      messages[i].tenant = "t";
    }
    REQUIRE_FALSE(answered(kept.queue->import_messages(messages, "elsewhere")).error);
    CHECK(kept.asked("HLEN", "u") <= 600);
    kept.clock.advance(kWeek + 1);
  }
}

}  // namespace fq::test
