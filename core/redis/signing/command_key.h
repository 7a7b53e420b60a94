// command_key - the key that those share who push commands over a server and those who run them.
#pragma once

// System.
#include <string>
#include <string_view>
#include <utility>

namespace fq {

inline constexpr size_t kMacBytes = 32;
inline constexpr size_t kKeyNameBytes = 8;

class CommandKey {
 public:
  explicit CommandKey(std::string secret) : secret_(std::move(secret)) {}

  /// HMAC-SHA256.
  std::string mac(std::string_view text) const;
  /// Tells keys apart and tells nothing else of them.
  std::string name() const;

 private:
  std::string secret_;
};

/// SHA-256.
std::string hash_of(std::string_view text);
/// Takes as long whichever bytes differ.
bool are_same(std::string_view a, std::string_view b);

}  // namespace fq
