// packing - fields as Lua's struct packs them: little-endian, not aligned.
#pragma once

// System.
#include <array>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/bytes.h"

namespace fq {

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
  int64_t whole() { return static_cast<int64_t>(number<double>()); }
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
