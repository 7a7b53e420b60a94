// reading_test - payloads come back whole from the journal, in whatever order they are asked for.
//
// More is pushed than the ring and the reader's blocks hold, in lengths that cross pages and blocks.

// System.
#include <fstream>
#include <random>
// Tests.
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

enum class Served { in_order, anyhow };

void fill(SpoolFixture& q, Served served) {
  std::mt19937_64 random(7);
  for (uint64_t id = 1; id <= kMessages; ++id) {
    const std::string payload = payload_of(id);
    NewMessage message{.payload = as_bytes(payload)};
    if (served == Served::anyhow) message.priority = static_cast<int32_t>(random() % 1'000);
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
  std::mt19937_64 random(7);
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
  for (const Served served : {Served::in_order, Served::anyhow}) {
    SpoolFixture q;
    fill(q, served);
    take_all(q);
  }
}

TEST_CASE("what is written behind a page that was read is seen") {
  SpoolFixture q;
  fill(q, Served::in_order);
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

}  // namespace fq::test
