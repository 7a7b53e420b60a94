// crc32c_test - known sums, chaining, and that both paths always agree.
#include "core/base/crc32c.h"

// System.
#include <random>
#include <vector>
// fq, below us.
#include "tests/catch.h"

using namespace fq;

namespace {

std::vector<std::byte> random_bytes(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> result(bytes);
  for (std::byte& byte : result) byte = static_cast<std::byte>(random() & 0xff);
  return result;
}

}  // namespace

TEST_CASE("the sums of RFC 3720 come out") {
  CHECK(crc32c(0, as_bytes("123456789")) == 0xe3069283u);
  CHECK(crc32c(0, {}) == 0);
  const std::vector<std::byte> zeros(32);
  CHECK(crc32c(0, zeros) == 0x8a9136aau);
  const std::vector<std::byte> ones(32, std::byte{0xff});
  CHECK(crc32c(0, ones) == 0x62a8ab43u);
}

TEST_CASE("a sum goes on where another ended") {
  const auto bytes = random_bytes(5000, 1);
  const Bytes all(bytes);
  for (size_t cut = 0; cut <= all.size(); cut += 7)
    CHECK(crc32c(crc32c(0, all.first(cut)), all.subspan(cut)) == crc32c(0, all));
}

TEST_CASE("a sum is gone back over the bytes that gave it") {
  const auto bytes = random_bytes(300, 3);
  for (size_t length = 0; length <= bytes.size(); ++length) {
    const Bytes part = Bytes(bytes).first(length);
    const auto seed = static_cast<uint32_t>(length * 2654435761u);
    CHECK(crc32c_seed(crc32c(seed, part), part) == seed);
  }
}

TEST_CASE("the processor and the tables agree at every length and alignment") {
  if (!crc32c_has_hardware()) return;
  const auto bytes = random_bytes(8192, 2);
  const Bytes all(bytes);
  for (size_t begin = 0; begin < 9; ++begin)
    for (size_t length = 0; length <= 2400; ++length) {
      const Bytes part = all.subspan(begin, length);
      const auto seed = static_cast<uint32_t>(length * 2654435761u);
      if (crc32c_by_hardware(seed, part) != crc32c_by_tables(seed, part))
        FAIL("at " << begin << " + " << length);
    }
  CHECK(crc32c_by_hardware(7, all) == crc32c_by_tables(7, all));
}
