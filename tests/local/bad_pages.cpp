// bad_pages - see the header. The test program has a pread of its own, which the engine is linked with: both
// names that the C library has for it.
#include "tests/local/bad_pages.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace fq::test {

namespace {

constexpr uint64_t kPage = 4096;

struct Stretch {
  dev_t device = 0;
  ino_t inode = 0;
  uint64_t from = 0;
  uint64_t to = 0;  // 0: there is none
};
Stretch bad;
Stretch watched;
std::function<void()> act_before;

Stretch stretch_of(const std::string& path, uint64_t from, uint64_t to) {
  struct stat of {};
  if (::stat(path.c_str(), &of) != 0) return {};
  return {of.st_dev, of.st_ino, from, to};
}

bool lies_in(const Stretch& stretch, int fd) {
  struct stat of {};
  return stretch.to != 0 && ::fstat(fd, &of) == 0 && of.st_dev == stretch.device &&
         of.st_ino == stretch.inode;
}

}  // namespace

BadPages::BadPages(std::string path, uint64_t offset, uint64_t bytes) {
  bad = stretch_of(path, offset / kPage * kPage, (offset + bytes + kPage - 1) / kPage * kPage);
}

BadPages::~BadPages() { bad = {}; }

BeforeRead::BeforeRead(std::string path, uint64_t from, std::function<void()> act) {
  watched = stretch_of(path, from, UINT64_MAX);
  act_before = std::move(act);
}

BeforeRead::~BeforeRead() { watched = {}; }

/// What comes before the first bad page is read, as by the kernel.
ssize_t read_pages(int fd, void* to, size_t bytes, off_t offset) {
  const auto at = static_cast<uint64_t>(offset);
  if (at >= watched.from && lies_in(watched, fd)) {
    watched = {};
    act_before();
  }
  if (lies_in(bad, fd) && at < bad.to && bad.from < at + bytes) {
    if (at >= bad.from) {
      errno = EIO;
      return -1;
    }
    bytes = std::min<uint64_t>(bytes, bad.from - at);
  }
  return ::syscall(SYS_pread64, fd, to, bytes, offset);
}

}  // namespace fq::test

extern "C" {
ssize_t fq_test_pread(int fd, void* to, size_t bytes, off_t offset) __asm__("pread");
ssize_t fq_test_pread(int fd, void* to, size_t bytes, off_t offset) {
  return fq::test::read_pages(fd, to, bytes, offset);
}
ssize_t fq_test_pread64(int fd, void* to, size_t bytes, off_t offset) __asm__("pread64");
ssize_t fq_test_pread64(int fd, void* to, size_t bytes, off_t offset) {
  return fq::test::read_pages(fd, to, bytes, offset);
}
}
