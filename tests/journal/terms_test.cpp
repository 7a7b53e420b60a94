// terms_test - what a push says about when its message holds comes back as it was written.
#include "core/journal/codec.h"

// fq, below us.
#include "tests/catch.h"

namespace fq::test {

TEST_CASE("terms come back, and what is none is refused") {
  CHECK(encode_terms({}).empty());
  const std::vector<std::byte> after(16, std::byte{1});
  const std::string bytes =
      encode_terms({.ttl_ms = 7, .expired = true, .key = "k", .key_for_ms = 9, .after = after});
  const auto terms = decode_terms(bytes);
  REQUIRE(terms);
  CHECK(terms->ttl_ms == 7);
  CHECK(terms->expired);
  CHECK(terms->key == "k");
  CHECK(terms->key_for_ms == 9);
  CHECK(terms->after.size() == 16);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    const bool between_ids = cut == bytes.size() - 8 || cut == bytes.size() - 16;
    CHECK(decode_terms(bytes.substr(0, cut)).has_value() == between_ids);
  }
  CHECK_FALSE(decode_terms(bytes + '\0'));
  for (const size_t at : {0U, 1U, 2U, 7U, 15U}) {
    std::string wrong = bytes;
    wrong[at] = static_cast<char>(wrong[at] | 0x80);
    CHECK_FALSE(decode_terms(wrong));
  }
}

TEST_CASE("the schedule that made a message is a part of its terms") {
  const std::string bytes =
      encode_terms({.key = "k", .schedule = "nightly", .scheduled_wall_ms = 7, .next_wall_ms = 8});
  const auto terms = decode_terms(bytes);
  REQUIRE(terms);
  CHECK(terms->key == "k");
  CHECK(terms->schedule == "nightly");
  CHECK(terms->scheduled_wall_ms == 7);
  CHECK(terms->next_wall_ms == 8);
  for (size_t cut = 0; cut < bytes.size(); ++cut) CHECK_FALSE(decode_terms(bytes.substr(0, cut)));
}

TEST_CASE("terms tell from where a message comes or where it goes, and refuse what is no way") {
  Transit transit{
      .token = 1, .queue = "slow", .mark = "bcdf", .id = 2, .then = SlotState::dead, .then_wall_ms = 3};
  for (const bool leaving : {true, false}) {
    transit.leaving = leaving;
    const std::string bytes = encode_terms({.ttl_ms = 9, .transit = transit});
    const auto terms = decode_terms(bytes);
    REQUIRE(terms);
    REQUIRE(terms->transit);
    CHECK(terms->transit->leaving == leaving);
    CHECK(terms->transit->token == 1);
    CHECK(terms->transit->queue == "slow");
    CHECK(terms->transit->mark == "bcdf");
    CHECK(terms->transit->id == 2);
    CHECK(terms->transit->then == SlotState::dead);
    CHECK(terms->transit->then_wall_ms == 3);
    CHECK(terms->ttl_ms == 9);
    for (size_t cut = 0; cut < bytes.size(); ++cut) CHECK_FALSE(decode_terms(bytes.substr(0, cut)));
  }
  transit.then = SlotState::leased;
  CHECK_FALSE(decode_terms(encode_terms({.transit = transit})));
  transit.then = SlotState::ready;
  transit.queue = "";
  CHECK_FALSE(decode_terms(encode_terms({.transit = transit})));
}

}  // namespace fq::test
