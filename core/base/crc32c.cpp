// crc32c - eight bytes a step by tables, or by the processor's instruction in three lanes.
//
// The instruction gives a result after three cycles but can be started each cycle. So long inputs are cut
// into three lanes that run at once; a lane's sum is carried over the bytes behind it by a table of "this
// sum after kLaneBytes zero bytes" (the sum is linear). Tables are made by the compiler.
#include "core/base/crc32c.h"

// System.
#include <array>
#if defined(__x86_64__)
#include <nmmintrin.h>
#include <sys/platform/x86.h>
#endif
// fq, this room.
#include "core/base/assert.h"

namespace fq {

namespace {

using Table = std::array<uint32_t, 256>;

constexpr size_t kLaneBytes = 256;  // chosen: joining lanes costs about a tenth of running them

constexpr std::array<Table, 8> make_step_tables() {
  std::array<Table, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f63b78u : 0u);
    tables[0][byte] = sum;
  }
  for (size_t ahead = 1; ahead < 8; ++ahead)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t sum = tables[ahead - 1][byte];
      tables[ahead][byte] = (sum >> 8) ^ tables[0][sum & 0xff];
    }
  return tables;
}
constexpr std::array<Table, 8> kStep = make_step_tables();

uint32_t tables_raw(uint32_t sum, const std::byte* at, size_t bytes) {
  for (; bytes >= 8; at += 8, bytes -= 8) {
    const uint64_t word = get_number<uint64_t>(at) ^ sum;
    sum = kStep[7][word & 0xff] ^ kStep[6][(word >> 8) & 0xff] ^ kStep[5][(word >> 16) & 0xff] ^
          kStep[4][(word >> 24) & 0xff] ^ kStep[3][(word >> 32) & 0xff] ^ kStep[2][(word >> 40) & 0xff] ^
          kStep[1][(word >> 48) & 0xff] ^ kStep[0][word >> 56];
  }
  for (; bytes > 0; ++at, --bytes) sum = (sum >> 8) ^ kStep[0][(sum ^ std::to_integer<uint32_t>(*at)) & 0xff];
  return sum;
}

#if defined(__x86_64__)

// A sum carried over kLaneBytes zero bytes, by each of its four bytes.
constexpr std::array<Table, 4> make_lane_tables() {
  std::array<uint32_t, 32> of_bit{};
  for (uint32_t bit = 0; bit < 32; ++bit) {
    uint32_t sum = uint32_t{1} << bit;
    for (size_t zero = 0; zero < kLaneBytes; ++zero) sum = (sum >> 8) ^ kStep[0][sum & 0xff];
    of_bit[bit] = sum;
  }
  std::array<Table, 4> tables{};
  for (uint32_t place = 0; place < 4; ++place)
    for (uint32_t byte = 0; byte < 256; ++byte)
      for (uint32_t bit = 0; bit < 8; ++bit)
        if ((byte >> bit & 1) != 0) tables[place][byte] ^= of_bit[place * 8 + bit];
  return tables;
}
constexpr std::array<Table, 4> kOverLane = make_lane_tables();

uint64_t over_lane(uint64_t sum) {
  return kOverLane[0][sum & 0xff] ^ kOverLane[1][(sum >> 8) & 0xff] ^ kOverLane[2][(sum >> 16) & 0xff] ^
         kOverLane[3][(sum >> 24) & 0xff];
}

__attribute__((target("sse4.2"))) uint32_t hardware_raw(uint32_t start, const std::byte* at, size_t bytes) {
  uint64_t sum = start;
  for (; bytes >= 3 * kLaneBytes; at += 3 * kLaneBytes, bytes -= 3 * kLaneBytes) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (const std::byte* word = at; word < at + kLaneBytes; word += 8) {
      sum = _mm_crc32_u64(sum, get_number<uint64_t>(word));
      second = _mm_crc32_u64(second, get_number<uint64_t>(word + kLaneBytes));
      third = _mm_crc32_u64(third, get_number<uint64_t>(word + 2 * kLaneBytes));
    }
    sum = over_lane(over_lane(sum) ^ second) ^ third;
  }
  for (; bytes >= 32;
       at += 32, bytes -= 32) {  // most messages are counted here: four words a look at the end
    for (size_t word = 0; word < 32; word += 8) sum = _mm_crc32_u64(sum, get_number<uint64_t>(at + word));
  }
  for (; bytes >= 8; at += 8, bytes -= 8) sum = _mm_crc32_u64(sum, get_number<uint64_t>(at));
  auto rest = static_cast<uint32_t>(sum);
  if (bytes >= 4) {
    rest = _mm_crc32_u32(rest, get_number<uint32_t>(at));
    at += 4;
    bytes -= 4;
  }
  for (; bytes > 0; ++at, --bytes) rest = _mm_crc32_u8(rest, std::to_integer<uint8_t>(*at));
  return rest;
}

#endif

}  // namespace

bool crc32c_has_hardware() {
#if defined(__x86_64__)
  // libc has asked the processor already. To ask again, as the compiler's builtin does, costs a virtual
  // machine 60 us at each start.
  return CPU_FEATURE_ACTIVE(SSE4_2) != 0;
#else
  return false;
#endif
}

uint32_t crc32c_by_tables(uint32_t seed, Bytes bytes) {
  return ~tables_raw(~seed, bytes.data(), bytes.size());
}

uint32_t crc32c_by_hardware(uint32_t seed, Bytes bytes) {
#if defined(__x86_64__)
  return ~hardware_raw(~seed, bytes.data(), bytes.size());
#else
  FQ_ASSERT(crc32c_has_hardware());
  return crc32c_by_tables(seed, bytes);
#endif
}

// Chosen once, at the start; a caller before that goes by the tables and gets the same sum.
static const bool kHardware = crc32c_has_hardware();

uint32_t crc32c_seed(uint32_t sum, Bytes bytes) {
  uint32_t raw = ~sum;
  for (size_t left = bytes.size(); left-- > 0;) {
    // No two entries of the table have the same highest byte, and nothing else has gone into it.
    uint32_t step = 0;
    while (kStep[0][step] >> 24 != raw >> 24) ++step;
    raw = (raw ^ kStep[0][step]) << 8 | (step ^ std::to_integer<uint32_t>(bytes[left]));
  }
  return ~raw;
}

uint32_t crc32c(uint32_t seed, Bytes bytes) {
  return kHardware ? crc32c_by_hardware(seed, bytes) : crc32c_by_tables(seed, bytes);
}

}  // namespace fq
