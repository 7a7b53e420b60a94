// bytes_test - views of bytes and little-endian numbers.
#include "core/base/bytes.h"

// System.
#include <array>
#include <string>
// Tests.
#include "tests/catch.h"

namespace fq {

TEST_CASE("text and bytes are views of the same") {
  const std::string text("a\0b", 3);
  CHECK(as_bytes(text).size() == 3);
  CHECK(as_text(as_bytes(text)) == text);
}

TEST_CASE("numbers are little-endian at any alignment") {
  std::array<std::byte, 16> room{};
  put_number<uint32_t>(room.data() + 1, 0x01020304);
  CHECK(as_text({room.data(), 6}) == std::string_view("\0\x04\x03\x02\x01\0", 6));
  CHECK(get_number<uint32_t>(room.data() + 1) == 0x01020304);
}

TEST_CASE("the extremes of each width come back") {
  std::array<std::byte, 8> room{};
  put_number<uint64_t>(room.data(), UINT64_MAX);
  CHECK(get_number<uint64_t>(room.data()) == UINT64_MAX);
  put_number<int64_t>(room.data(), INT64_MIN);
  CHECK(get_number<int64_t>(room.data()) == INT64_MIN);
  put_number<uint16_t>(room.data(), 65535);
  CHECK(get_number<uint16_t>(room.data()) == 65535);
}

}  // namespace fq
