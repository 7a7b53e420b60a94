// packing - fields as Lua's struct packs them: little-endian, not aligned.
#pragma once

// System.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/bytes.h"
#include "core/base/clock.h"

namespace fq {

/// A number of Lua's, which may be any where others wrote it: those that no time and no count can be are the
/// nearest of these, so that two of them can be added; what is no number is 0.
inline int64_t whole_of(double number) {
  constexpr auto kMost = static_cast<double>(kLatestMs);
  if (number != number) return 0;
  return static_cast<int64_t>(std::clamp(number, -kMost, kMost));
}

class Packer {
 public:
  template <class T>
  Packer& number(T value) {
    std::array<std::byte, sizeof value> bytes;
    put_number(bytes.data(), value);
    bytes_.append(as_text(bytes));
    return *this;
  }
  Packer& raw(std::string_view text) {
    bytes_.append(text);
    return *this;
  }
  /// With its length before it.
  Packer& text(std::string_view text) { return number(static_cast<uint16_t>(text.size())).raw(text); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what others wrote: behind the end are zeros, and ok() says so.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    const std::string_view bytes = raw(sizeof(T));
    return bytes.size() == sizeof(T) ? get_number<T>(as_bytes(bytes).data()) : T{};
  }
  int64_t whole() { return whole_of(number<double>()); }
  std::string_view raw(size_t size) {
    ok_ = ok_ && size <= rest_.size();
    const std::string_view bytes = ok_ ? rest_.substr(0, size) : std::string_view();
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace fq
