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
    CHECK(encoded(in_order[i - 1]) < encoded(in_order[i]));
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

TEST_CASE("another spelling of a number stands beside it") {
  CHECK(encoded("1") < encoded("1.0"));
  CHECK(encoded("1.0") < encoded("1.0000001"));
  CHECK(encoded("-1.0") < encoded("-0.9999999"));
  CHECK(encoded("-1.0000001") < encoded("-1.0"));
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
    for (size_t cut = 1; cut < bytes.size(); ++cut) decode_sort_key(bytes.substr(0, cut));
  }
  CHECK_FALSE(decode_sort_key("\x10"));
  CHECK_FALSE(
      decode_sort_key("\x20"
                      "1234"));
  CHECK_FALSE(decode_sort_key("\xff"));
}
