#include "core/base/text/size.h"

#include "tests/catch.h"

using namespace fq;

TEST_CASE("sizes are binary or decimal by their unit") {
  CHECK(parse_size("64KiB") == 65536);
  CHECK(parse_size("10MB") == 10'000'000);
  CHECK(parse_size("1.5KiB") == 1536);
  CHECK(parse_size("1GiB") == 1073741824);
  CHECK(parse_size("100B") == 100);
  CHECK(parse_size("18446744073709551615B") == UINT64_MAX);
}

TEST_CASE("what is no size, overflows or is no whole number of bytes is refused") {
  for (const char* text :
       {"", "5", "KiB", "5 KiB", "-5B", "1.5B", "5kib", "1..5KB", "1.KB", ".5KB", "18446744073709551616B",
        "99999999999TiB", "1.00000000000000000000000000000000001TiB"}) {
    INFO(text);
    CHECK_FALSE(parse_size(text));
  }
}

TEST_CASE("sizes are shown in the largest unit that fits") {
  CHECK(format_size(0) == "0B");
  CHECK(format_size(1023) == "1023B");
  CHECK(format_size(65536) == "64KiB");
  CHECK(format_size(1536) == "1.5KiB");
}
