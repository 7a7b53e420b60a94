// payload - the bytes of a message that was leased, and the memory that those of one reply share.
#pragma once

// System.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
// fq, below us.
#include "core/base/result.h"

namespace fq {

/// A payload is held in memory, or stays in a file that `descriptor` reads (closed with the Delivery).
class Payload {
 public:
  Payload() = default;
  /// A copy of these bytes.
  explicit Payload(std::string_view bytes);
  Payload(int descriptor, uint64_t size) : size_(size), descriptor_(descriptor) {}
  Payload(Payload&& other) noexcept
      : memory_(std::move(other.memory_)),
        bytes_(other.bytes_),
        size_(other.size_),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  Payload& operator=(Payload&& other) noexcept {
    memory_ = std::move(other.memory_);
    bytes_ = other.bytes_;
    size_ = other.size_;
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Payload() {
    if (descriptor_ >= 0) close();
  }

  uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }  // -1: in memory
  /// The bytes in memory. Needs: descriptor() == -1.
  std::string_view bytes() const { return bytes_; }
  /// The whole payload, read from the file where it lies in one.
  Result<std::string> read_all() const;

 private:
  friend class PayloadMemory;
  void close();

  std::shared_ptr<const char[]> memory_;  // which others own too
  std::string_view bytes_;
  uint64_t size_ = 0;
  int descriptor_ = -1;
};

/// Memory for the payloads of one reply, which own it together: one allocation for all of them.
class PayloadMemory {
 public:
  explicit PayloadMemory(size_t bytes);
  /// Puts a copy of `bytes` into a payload that has none yet, here as long as there is room.
  void add(std::string_view bytes, Payload& into);

 private:
  std::shared_ptr<char[]> memory_;
  size_t used_ = 0;
  size_t size_ = 0;
};

}  // namespace fq
