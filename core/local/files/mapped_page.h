// mapped_page - the first page of a file, in memory that every process shares that has it open.
//
// Its blocks are there before it is mapped, and no file of ours is ever cut: touching it does not fail but by
// a fault of the disk.
#pragma once

// System.
#include <memory>
#include <utility>
// fq, below us.
#include "core/base/disk/disk.h"

namespace fq {

class MappedPage {
 public:
  static constexpr size_t kBytes = 4096;

  /// Needs: it is writable, and no fake. A file shorter than a page is extended to one; new bytes are zero.
  static Result<MappedPage> map(File& file, const std::string& object);

  MappedPage(MappedPage&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  MappedPage& operator=(MappedPage&& other) noexcept {
    std::swap(base_, other.base_);
    return *this;
  }
  ~MappedPage();

  template <class T>
  T& as() const {
    static_assert(sizeof(T) <= kBytes);
    return *static_cast<T*>(base_);
  }

 private:
  explicit MappedPage(void* base) : base_(base) {}

  void* base_ = nullptr;
};

}  // namespace fq
