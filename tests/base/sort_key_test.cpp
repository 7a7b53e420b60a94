#include "core/base/sort_key.h"

#include <vector>

#include "tests/catch.h"

using namespace fq;

namespace {

std::string encoded(std::string_view typed) {
  const SortKeyEncoding key = encode_sort_key(typed);
  INFO(typed);
  REQUIRE(key.fault == SortKeyFault::none);
  return key.bytes;
}
std::string order_of(std::string_view typed) { return std::string(order_of_sort_key(encoded(typed))); }

}  // namespace

TEST_CASE("numbers come first by value, then times, then text by bytes") {
  const std::vector<std::string> in_order = {"-1e9999",
                                             "-100000000000000000000",
                                             "-100",
                                             "-99.5",
                                             "-99",
                                             "-1.01",
                                             "-1",
                                             "-0.5",
                                             "-0.05",
                                             "-1e-9999",
                                             "0",
                                             "1e-9999",
                                             "0.05",
                                             "0.5",
                                             "0.51",
                                             "1",
                                             "1.01",
                                             "2",
                                             "9",
                                             "10",
                                             "11",
                                             "99",
                                             "99.5",
                                             "100",
                                             "1000",
                                             "18446744073709551616",
                                             "1e9999",
                                             "@-5",
                                             "1970-01-01T00:00:00Z",
                                             "1970-01-01T00:00:00.000000001Z",
                                             "@1",
                                             "2026-11-02T08:00:00+01:00",
                                             "2026-11-02T08:00:00Z",
                                             "!",
                                             "+5m",
                                             "1e",
                                             "1x",
                                             "A",
                                             "a",
                                             "aa",
                                             "b",
                                             "é",
                                             "测试"};
  for (size_t i = 1; i < in_order.size(); ++i) {
    INFO(in_order[i - 1] << " before " << in_order[i]);
    CHECK(order_of(in_order[i - 1]) < order_of(in_order[i]));
  }
}

TEST_CASE("decoding gives back exactly what was typed") {
  for (const char* typed : {"0",      "-0",       "+5",   "007",
                            "1.0",    "1.50",     "0.5",  ".5",
                            "-.5",    "1e3",      "1E+3", "12345.678",
                            "1e9999", "0.000001", "@1.5", "2026-11-02T08:00:00.123456789+01:00",
                            "x",      " ",        "--",   "1.",
                            "测试"}) {
    CHECK(decode_sort_key(encoded(typed)) == typed);
  }
}

TEST_CASE("a value stands in one place, however it is typed") {
  const std::vector<std::vector<std::string>> equals = {
      {"-1.50", "-1.5", "-15e-1", "-01.5"},
      {"0", "-0", "+0.00", "0e7"},
      {"1", "1.0", "+1", "1e0", "001", "0.1e1"},
      {"12.34", "+12.340"},
      {"2026-11-02T08:00:00+01:00", "2026-11-02T07:00:00Z", "2026-11-02T07:00:00.000Z"}};
  for (const std::vector<std::string>& all : equals) {
    for (const std::string& each : all) {
      INFO(each);
      CHECK(order_of(each) == order_of(all[0]));
      CHECK(decode_sort_key(encoded(each)) == each);
    }
  }
  CHECK(order_of("1.0") < order_of("1.0000001"));
  CHECK(order_of("-1.0") < order_of("-0.9999999"));
  CHECK(order_of("-1.0000001") < order_of("-1.0"));
}

TEST_CASE("keys have a limit, and must be UTF-8") {
  CHECK(encode_sort_key(std::string(63, 'x')).fault == SortKeyFault::none);
  CHECK(encode_sort_key(std::string(64, 'x')).fault == SortKeyFault::too_long);
  CHECK(encode_sort_key(std::string(63, '7')).fault == SortKeyFault::none);
  CHECK(encode_sort_key(std::string(5000, '7')).fault == SortKeyFault::too_long);
  CHECK(encode_sort_key("").fault == SortKeyFault::empty);
  CHECK(encode_sort_key("\xff").fault == SortKeyFault::not_utf8);
}

TEST_CASE("bytes that are no key decode to nothing and never run past their end") {
  CHECK(decode_sort_key("") == "");
  for (const std::string& typed : {std::string("-12.5e77"), std::string("1234567"), std::string("@5")}) {
    const std::string bytes = encoded(typed);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      decode_sort_key(bytes.substr(0, cut));
      CHECK(bytes.starts_with(order_of_sort_key(bytes.substr(0, cut))));
    }
  }
  CHECK_FALSE(decode_sort_key("\x10"));
  CHECK_FALSE(
      decode_sort_key("\x20"
                      "1234"));
  CHECK_FALSE(decode_sort_key("\xff"));
}
