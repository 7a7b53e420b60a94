// overhead_test - what a message takes in the journal, rounded to a byte of its entry.

// fq, below us.
#include "core/schedule/memory/overhead.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

TEST_CASE("what a message takes in the journal is never rounded down, and up by a sixteenth at most") {
  for (uint64_t bytes = 65; bytes < 4'000'000; bytes += 1 + bytes / 97) {
    const uint64_t told = overhead_bytes(overhead_code(bytes));
    INFO(bytes);
    REQUIRE(told >= bytes);
    REQUIRE(told <= bytes + bytes / 16 + 1);
  }
}

TEST_CASE("every code stands for more than the one before it, and is its own rounding") {
  for (uint32_t code = 0; code <= UINT8_MAX; ++code) {
    const auto one = static_cast<uint8_t>(code);
    CHECK(overhead_code(overhead_bytes(one)) == one);
    if (code > 0) CHECK(overhead_bytes(one) > overhead_bytes(static_cast<uint8_t>(code - 1)));
  }
}

}  // namespace fq::test
