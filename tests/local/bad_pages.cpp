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
#include <mutex>
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
std::mutex guard;  // threads read at once
Stretch bad;
Stretch watched;
std::function<void()> act_before;

void put(Stretch& stretch, const Stretch& now) {
  const std::lock_guard<std::mutex> hold(guard);
  stretch = now;
}

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

/// Whether it is the read that was waited for; no other one is then.
bool takes_watched(int fd, uint64_t at) {
  const std::lock_guard<std::mutex> hold(guard);
  const bool takes = at >= watched.from && lies_in(watched, fd);
  if (takes) watched = {};
  return takes;
}
/// How far it may read, from there on; 0: not a byte.
uint64_t good_bytes(int fd, uint64_t at, uint64_t bytes) {
  const std::lock_guard<std::mutex> hold(guard);
  if (at >= bad.to || bad.from >= at + bytes || !lies_in(bad, fd)) return bytes;
  return at >= bad.from ? 0 : std::min(bytes, bad.from - at);
}

}  // namespace

BadPages::BadPages(std::string path, uint64_t offset, uint64_t bytes) {
  put(bad, stretch_of(path, offset / kPage * kPage, (offset + bytes + kPage - 1) / kPage * kPage));
}

BadPages::~BadPages() { put(bad, {}); }

BeforeRead::BeforeRead(std::string path, uint64_t from, std::function<void()> act) {
  act_before = std::move(act);
  put(watched, stretch_of(path, from, UINT64_MAX));
}

BeforeRead::~BeforeRead() { put(watched, {}); }

/// What comes before the first bad page is read, as by the kernel.
ssize_t read_pages(int fd, void* to, size_t bytes, off_t offset) {
  const auto at = static_cast<uint64_t>(offset);
  if (takes_watched(fd, at)) act_before();
  const uint64_t good = good_bytes(fd, at, bytes);
  if (good == 0 && bytes != 0) {
    errno = EIO;
    return -1;
  }
  return ::syscall(SYS_pread64, fd, to, good, offset);
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
