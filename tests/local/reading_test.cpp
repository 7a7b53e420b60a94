// reading_test - payloads come back whole from the journal, in whatever order they are asked for.
//
// More is pushed than the ring and the reader's blocks hold, in lengths that cross pages and blocks.

// System.
#include <fstream>
#include <random>
// fq, below us.
#include "core/base/step_count.h"
// Tests.
#include "tests/knobs.h"
#include "tests/local/bad_pages.h"
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr size_t kMessages = 1500;

std::string payload_of(uint64_t id) {
  std::mt19937_64 random(id);
  std::string payload(random() % (id % 50 == 0 ? 50'000 : 6'000), '\0');
  for (char& c : payload) c = static_cast<char>(random() % 256);
  return payload;
}

/// Served in order, or as `priorities` say.
void fill(SpoolFixture& q, std::mt19937_64* priorities = nullptr) {
  for (uint64_t id = 1; id <= kMessages; ++id) {
    const std::string payload = payload_of(id);
    NewMessage message{.payload = as_bytes(payload)};
    if (priorities != nullptr) message.priority = static_cast<int32_t>((*priorities)() % 1'000);
    const auto pushed = q.door().push({&message, 1}, {.durability = Durability::lazy});
    REQUIRE(pushed.ok());
    REQUIRE(number(pushed->items.at(0).id) == id);
  }
  q.reopen();
}

void take_all(SpoolFixture& q) {
  for (size_t i = 0; i < kMessages; ++i) {
    const Delivery delivery = q.lease();
    REQUIRE(text_of(delivery) == payload_of(number(delivery.id)));
  }
}

/// That this process has read so far, files and all else.
uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string name;
  uint64_t bytes = 0;
  io >> name >> bytes;
  REQUIRE(name == "rchar:");
  return bytes;
}

}  // namespace

TEST_CASE("messages of 2 KiB that are read here and there are not read with all that lies around them") {
  SpoolFixture q;
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  const std::string payload(2'000, 'x');
  for (size_t i = 0; i < kMessages; ++i) {
    NewMessage message{.payload = as_bytes(payload)};
    message.priority = static_cast<int32_t>(random() % 1'000);
    REQUIRE(q.door().push({&message, 1}, {.durability = Durability::lazy}).ok());
  }
  q.reopen();
  const uint64_t before = bytes_read();
  for (size_t i = 0; i < kMessages; ++i) REQUIRE(text_of(q.lease()) == payload);
  const uint64_t each = (bytes_read() - before) / kMessages;
  INFO(each << " bytes read for each message");
  CHECK(each > 1'000);  // most of them were no longer in memory
  CHECK(each < 5 * payload.size());
}

TEST_CASE("messages are read in any order") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (std::mt19937_64* const priorities : {static_cast<std::mt19937_64*>(nullptr), &random}) {
    SpoolFixture q;
    fill(q, priorities);
    take_all(q);
  }
}

TEST_CASE("what is written behind a page that was read is seen") {
  SpoolFixture q;
  fill(q);
  // The last block is read while it grows: by two, so that one's cache is old.
  const std::unique_ptr<Queue> other = q.open();
  for (uint64_t id = kMessages + 1; id <= kMessages + 200; ++id) {
    REQUIRE(q.push(payload_of(id), Durability::always) == id);
    for (Queue* queue : {&q.door(), other.get()}) {
      const auto page = queue->peek({}, {}, 1);
      REQUIRE(page.ok());
    }
  }
  for (uint64_t id = 1; id <= kMessages + 200; ++id) {
    const LeaseReply reply =
        q.lease_from(id % 3 == 0 ? *other : q.door(), {.hold = Hold::duration, .hold_ms = 60'000});
    REQUIRE(reply.deliveries.size() == 1);
    REQUIRE(text_of(reply.deliveries[0]) == payload_of(number(reply.deliveries[0].id)));
  }
}

TEST_CASE("a message whose file is written anew while it is read is never another one") {
  SpoolFixture q;
  const auto numbered = [](uint64_t of) {
    std::string payload(20'000, 'x');
    payload.replace(0, 4, std::to_string(1'000 + of));
    return payload;
  };
  std::vector<MessageId> ids;
  for (uint64_t i = 1; i <= 60; ++i) ids.push_back(MessageId{q.push(numbered(i))});
  // Those of the second file, where one begins the next: records of one size lie in the same places of any
  // file.
  std::ifstream file(q.path("journal/2.fqj"), std::ios::binary);
  const std::string second{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::erase_if(ids, [&](MessageId id) { return second.find(numbered(number(id))) == std::string::npos; });
  REQUIRE(ids.size() > 20);
  const MessageId read = ids[2];
  const std::unique_ptr<Queue> other = q.open();
  REQUIRE(other->get(ids.back()).ok());  // opens the file
  const BeforeRead meanwhile(q.path("journal/2.fqj"), 4096, [&] {
    std::vector<MessageId> others;
    for (uint64_t i = 1; i <= 60; ++i)
      if (MessageId{i} != read) others.push_back(MessageId{i});
    REQUIRE(q.door().mutate(others, Action::cancel).ok());
    REQUIRE(q.door().compact().ok());
    for (uint64_t i = 101; i <= 200; ++i) q.push(numbered(i));
    REQUIRE_FALSE(std::filesystem::exists(q.path("journal/2.fqj")));
  });
  const auto got = other->get(read);
  REQUIRE(got.ok());
  CHECK((**got).payload.value().substr(0, 4) == std::to_string(1'000 + number(read)));
}

TEST_CASE("a long queue is not walked through for a state that no message is in") {
  SpoolFixture q;
  std::vector<NewMessage> messages(1000, NewMessage{.tenant = "acme", .payload = as_bytes("x")});
  for (int batch = 0; batch < 5; ++batch)
    REQUIRE(q.door().push(messages, {.durability = Durability::lazy}).ok());
  const auto steps_to_list = [&](State state) {
    const uint64_t from = StepCount::steps;
    CHECK(q.door().peek({.state = state}, {}, 9).value().messages.empty());
    return StepCount::steps - from;
  };
  for (const State state : {State::leased, State::delayed, State::held, State::dead})
    CHECK(steps_to_list(state) < 100);
}

TEST_CASE("a long queue is not walked through for the few that are in a state") {
  SpoolFixture q;
  std::vector<NewMessage> messages(1000, NewMessage{.tenant = "acme", .payload = as_bytes("x")});
  for (int batch = 0; batch < 20; ++batch)
    REQUIRE(q.door().push(messages, {.durability = Durability::lazy}).ok());
  const std::vector<NewMessage> later(2, {.tenant = "acme", .delay_ms = 60'000});
  REQUIRE(q.door().push(later, {.durability = Durability::lazy}).ok());
  const Delivery timed = q.lease();
  LeaseReply held = q.lease_from(q.door(), {.want = 2});
  REQUIRE(q.settle(q.door(), {.receipt = held.deliveries.at(1).receipt, .verdict = Verdict::bury}) ==
          SettleStatus::ok);
  const auto steps_to_list = [&](State state, size_t there) {
    const uint64_t from = StepCount::steps;
    CHECK(q.door().peek({.state = state}, {}, 9).value().messages.size() == there);
    return StepCount::steps - from;
  };
  CHECK(steps_to_list(State::delayed, 2) < 1'000);
  CHECK(steps_to_list(State::leased, 2) < 1'000);
  CHECK(steps_to_list(State::dead, 1) < 1'000);
}

TEST_CASE("a page that stays empty ends before all of a long queue was looked at") {
  SpoolFixture q;
  const State state = GENERATE(State::ready, State::delayed);
  NewMessage message{.tenant = "acme", .payload = as_bytes("x")};
  if (state == State::delayed) message.delay_ms = 60'000;
  const std::vector<NewMessage> messages(1000, message);
  for (int batch = 0; batch < 6; ++batch)
    REQUIRE(q.door().push(messages, {.durability = Durability::lazy}).ok());
  const Tag tag{"team", "blue"};
  message.payload = as_bytes("last");
  message.tags = {tag};
  REQUIRE(q.door().push({&message, 1}, {.durability = Durability::lazy}).ok());
  const Filter tagged{.state = state, .tag = tag};
  const MessagePage first = q.door().peek(tagged, {}, 10).value();
  CHECK(first.messages.empty());
  REQUIRE_FALSE(first.next.text.empty());
  CHECK(q.door().peek(tagged, first.next, 10).value().messages.at(0).payload.value() == "last");
}

}  // namespace fq::test
