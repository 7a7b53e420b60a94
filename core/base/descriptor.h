// descriptor - a file descriptor that closes itself.
#pragma once

// System.
#include <unistd.h>

#include <utility>

namespace fq {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(release());
  }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace fq
