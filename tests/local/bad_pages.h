// bad_pages - pages of a real file that the disk does not give back: reads of them answer EIO, as the kernel
// does when a block cannot be read. And what others do between the look at a file and the read of it.
#pragma once

// System.
#include <cstdint>
#include <functional>
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

/// Does something once, just before the file is read at this byte or behind it; one at a time.
class BeforeRead {
 public:
  BeforeRead(std::string path, uint64_t from, std::function<void()> act);
  ~BeforeRead();
  BeforeRead(const BeforeRead&) = delete;
  BeforeRead& operator=(const BeforeRead&) = delete;
};

}  // namespace fq::test
