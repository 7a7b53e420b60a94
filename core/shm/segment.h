// segment - one file of shared memory, mapped once at a generous size.
//
// The mapping never moves and is never cut while any process may touch it; the file behind it grows at its
// end by fallocate, so that a full disk is an error code and never a SIGBUS. A new segment is made under a
// temporary name and renamed into place by the owner once it is whole. Knows nothing of its contents.
#pragma once

// System.
#include <memory>
// fq, below us.
#include "core/base/disk/disk.h"

namespace fq {

// Address space, not memory. Generous: the most that all arrays could ever take (core/local/shared/layout.h
// asserts it).
inline constexpr uint64_t kSegmentMapBytes = uint64_t{24} << 30;

/// Bytes that grow at their end: a mapped segment file, or private memory for a rebuild on the side.
class SegmentMemory {
 public:
  virtual ~SegmentMemory() = default;
  std::byte* base() const { return base_; }
  uint64_t mapped_bytes() const { return kSegmentMapBytes; }
  /// Makes [0, bytes) usable; new bytes are zero. Idempotent; a full disk is `later`.
  virtual Result<void> extend_to(uint64_t bytes) = 0;
  /// Has the pages of [0, bytes) mapped, to be read or written too, so that a thread that touches them next
  /// does not wait for that. A help only: where the kernel cannot (before 5.14), nothing happens.
  void populate(uint64_t bytes, bool to_write);
  /// A child that this process starts will not be able to touch it, nor hold its locks.
  virtual void keep_from_children() = 0;

 protected:
  std::byte* base_ = nullptr;
};

/// Maps an open segment file. `object` names it in errors.
Result<std::unique_ptr<SegmentMemory>> map_segment(std::unique_ptr<File> file, std::string_view object);

/// Private memory of the same shape, gone with the object.
Result<std::unique_ptr<SegmentMemory>> private_segment();

}  // namespace fq
