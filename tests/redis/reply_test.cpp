// reply_test - what a server answers has its limits before memory is taken for it.
#include "core/redis/wire/reply.h"

// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

std::string list_of(size_t items, std::string_view each) {
  std::string bytes = "*" + std::to_string(items) + "\r\n";
  bytes.reserve(bytes.size() + items * each.size());
  for (size_t i = 0; i < items; ++i) bytes += each;
  return bytes;
}

bool is_taken(const std::string& bytes) {
  ReplyParser parser;
  if (!parser.feed(bytes).ok()) return false;
  const Result<std::optional<Reply>> reply = parser.next();
  return reply.ok();
}

}  // namespace

TEST_CASE("a list has so many items at most, and so have all lists of a reply together") {
  CHECK(is_taken(list_of(kReplyItemsMax, ":1\r\n")));
  CHECK_FALSE(is_taken("*" + std::to_string(kReplyItemsMax + 1) + "\r\n"));
  const std::string full = list_of(kReplyItemsMax, "$-1\r\n");
  const size_t lists = kReplyItemsInAllMax / (kReplyItemsMax + 1);
  CHECK(is_taken(list_of(lists, full)));
  CHECK_FALSE(is_taken(list_of(lists + 1, full)));
}

TEST_CASE("items are counted anew for each reply") {
  ReplyParser parser;
  const std::string large = list_of(10, list_of(kReplyItemsMax, ":1\r\n"));
  for (int i = 0; i < 2; ++i) {
    REQUIRE(parser.feed(large).ok());
    const Result<std::optional<Reply>> reply = parser.next();
    REQUIRE(reply.ok());
    REQUIRE(reply->has_value());
    CHECK((**reply).items.size() == 10);
  }
}

TEST_CASE("a line has so many bytes at most, a text more, and what is refused costs no more than that") {
  for (const char kind : {'+', '-', ':', '$', '*'}) {
    for (const char each : {'1', '\r'}) {
      ReplyParser parser;
      const std::string piece(16 * 1024, each);
      size_t taken = 0;
      bool is_refused = !parser.feed(std::string(1, kind)).ok();
      while (!is_refused && taken < kReplyBytesMax) {
        is_refused = !parser.feed(piece).ok() || !parser.next().ok();
        taken += piece.size();
      }
      CAPTURE(kind, each);
      CHECK(is_refused);
      CHECK(taken <= kReplyLineMax + piece.size());
    }
  }
  ReplyParser parser;
  const std::string text(4 * kReplyLineMax, 'a');
  const std::string bytes = "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  for (size_t at = 0; at < bytes.size(); at += 1000) {
    REQUIRE(parser.feed(std::string_view(bytes).substr(at, 1000)).ok());
    const Result<std::optional<Reply>> reply = parser.next();
    REQUIRE(reply.ok());
    REQUIRE(reply->has_value() == (at + 1000 >= bytes.size()));
    if (*reply) CHECK((**reply).text == text);
  }
}

}  // namespace fq::test
