// name_hash - a keyed hash of tenant names (SipHash-1-3).
//
// Names come from outside; without a secret key a person could choose names that share one bucket, or one
// shard, and make every push to them slow. The key is random and lies in the root of its table or queue.
#pragma once

// System.
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fq {

class SipState {
 public:
  SipState(uint64_t k0, uint64_t k1)
      : a_(k0 ^ 0x736f'6d65'7073'6575),
        b_(k1 ^ 0x646f'7261'6e64'6f6d),
        c_(k0 ^ 0x6c79'6765'6e65'7261),
        d_(k1 ^ 0x7465'6462'7974'6573) {}

  void add(uint64_t word) {
    d_ ^= word;
    round();
    a_ ^= word;
  }
  uint64_t finish() {
    c_ ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void round() {
    a_ += b_;
    b_ = std::rotl(b_, 13) ^ a_;
    a_ = std::rotl(a_, 32);
    c_ += d_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ += d_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ += b_;
    b_ = std::rotl(b_, 17) ^ c_;
    c_ = std::rotl(c_, 32);
  }

  uint64_t a_, b_, c_, d_;
};

inline uint64_t hash_name(uint64_t k0, uint64_t k1, std::string_view name) {
  SipState state(k0, k1);
  uint64_t word = 0;
  size_t at = 0;
  for (; at + 8 <= name.size(); at += 8) {
    std::memcpy(&word, name.data() + at, 8);
    state.add(word);
  }
  // The rest of up to 7 bytes, below the length. Of a longer name they are the end of its last 8.
  const size_t rest = name.size() - at;
  if (rest == 0) {
    word = 0;
  } else if (name.size() >= 8) {
    std::memcpy(&word, name.data() + name.size() - 8, 8);
    word >>= 8 * (8 - rest);
  } else {
    word = 0;
    for (size_t i = 0; i < rest; ++i) word |= uint64_t{static_cast<unsigned char>(name[i])} << (8 * i);
  }
  state.add(word | uint64_t{name.size()} << 56);
  return state.finish();
}

}  // namespace fq
