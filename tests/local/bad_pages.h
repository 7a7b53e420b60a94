// bad_pages - pages of a real file that the disk does not give back: reads of them answer EIO, as the kernel
// does when a block cannot be read.
#pragma once

// System.
#include <cstdint>
#include <string>

namespace fq::test {

/// While it lives; one at a time.
class BadPages {
 public:
  BadPages(std::string path, uint64_t offset, uint64_t bytes);
  ~BadPages();
  BadPages(const BadPages&) = delete;
  BadPages& operator=(const BadPages&) = delete;
};

}  // namespace fq::test
