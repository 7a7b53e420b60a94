// inflated - a segment that is larger than what lives in it, as one is whose queue once held more.
#pragma once

// System.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
// fq, below us.
#include "core/local/shared/layout.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

/// Needs: nobody is attached. The bytes behind its last chunk are nobody's.
inline void inflate(const std::string& segment, uint64_t bytes) {
  const int file = ::open(segment.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  REQUIRE(::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0);
  void* const mapped = ::mmap(nullptr, sizeof(SegmentHeader), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(mapped != MAP_FAILED);
  auto& header = *static_cast<SegmentHeader*>(mapped);
  UndoLog noted{};
  Txn txn(Txn::Private{}, static_cast<std::byte*>(mapped), noted);
  REQUIRE(header.segment_bytes < bytes);
  txn.set(header.segment_bytes, bytes);
  txn.commit();
  ::munmap(mapped, sizeof(SegmentHeader));
  ::close(file);
}

}  // namespace fq::test
