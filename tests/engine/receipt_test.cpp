// receipt_test - receipts as text: what is written is read again, and what is none is refused.
#include "core/api/receipt.h"

// System.
#include <cstdint>
#include <string>
// Tests.
#include "tests/catch.h"

namespace fq {

TEST_CASE("a receipt is read as it was written, whatever its numbers and its mark") {
  for (const uint64_t id : {uint64_t{0}, uint64_t{9}, uint64_t{10}, uint64_t{1234567}, UINT64_MAX}) {
    for (const std::string& mark : {std::string("b2cD"), std::string(64, 'z')}) {
      const std::string text = receipt_text(id, UINT64_MAX - id, mark);
      CHECK(text == std::to_string(id) + "." + std::to_string(UINT64_MAX - id) + "." + mark);
      const auto parts = parse_receipt(text);
      REQUIRE(parts);
      CHECK(parts->id == id);
      CHECK(parts->serial == UINT64_MAX - id);
      CHECK(parts->mark == mark);
    }
  }
}

TEST_CASE("a receipt is written into text that had another one") {
  std::string text = receipt_text(1234567, 7654321, "abcd");
  write_receipt(text, 1, 2, "wxyz");
  CHECK(text == "1.2.wxyz");
}

TEST_CASE("a receipt of numbers is the one that its text is") {
  const Receipt given(12, 7654321, {'b', '2', 'c', 'D'});
  const Receipt taken(given.text());
  CHECK(given.text() == "12.7654321.b2cD");
  CHECK(given == taken);
  CHECK(!(given == Receipt(12, 7654322, {'b', '2', 'c', 'D'})));
  for (const Receipt& each : {given, taken}) {
    const auto parts = each.parts();
    REQUIRE(parts);
    CHECK(parts->id == 12);
    CHECK(parts->serial == 7654321);
    CHECK(parts->mark == "b2cD");
  }
  CHECK(Receipt().text().empty());
  CHECK(!Receipt().parts());
  CHECK(!Receipt(std::string("what is none")).parts());
}

TEST_CASE("an older receipt has no mark") {
  const auto parts = parse_receipt("12.34");
  REQUIRE(parts);
  CHECK(parts->id == 12);
  CHECK(parts->serial == 34);
  CHECK(parts->mark.empty());
}

TEST_CASE("numbers with zeros before them are numbers, those that do not fit are none") {
  CHECK(parse_receipt("000000000000000000000000000012.1.abcd")->id == 12);
  CHECK(parse_receipt("18446744073709551615.1.abcd")->id == UINT64_MAX);
  CHECK(!parse_receipt("18446744073709551616.1.abcd"));
  CHECK(!parse_receipt("99999999999999999999.1.abcd"));
  CHECK(!parse_receipt("1.184467440737095516150.abcd"));
}

TEST_CASE("what is no receipt is refused") {
  for (const char* text : {"", ".", "1", "1.", "1.x", ".1.abcd", "1.2.", "1.2.abc", "1.2.ab_d", "1.2.ab.d",
                           "-1.2.abcd", "1.2.abcd ", "1 .2.abcd",
                           "1.2.\x80"
                           "bcd"}) {
    INFO(text);
    CHECK(!parse_receipt(text));
  }
  CHECK(!parse_receipt("1.2." + std::string(65, 'a')));
}

}  // namespace fq
