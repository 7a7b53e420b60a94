// page_cache - see the header.
#include "tests/process/page_cache.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace fq::test {

namespace {

std::atomic<PageCache*> the_active{nullptr};
thread_local int this_thread = PageCache::kAnyThread;

std::string content_of(int file, uint64_t bytes) {
  std::string content(bytes, '\0');
  content.resize(static_cast<size_t>(std::max<ssize_t>(0, ::pread(file, content.data(), bytes, 0))));
  return content;
}

}  // namespace

PageCache::PageCache(std::string directory, const Fault& fault)
    : directory_(std::move(directory)), fault_(fault) {
  the_active = this;
}
PageCache::~PageCache() { the_active = nullptr; }

PageCache* PageCache::active() { return the_active; }
void PageCache::this_thread_is(int thread) { this_thread = thread; }

void PageCache::heal() {
  const std::scoped_lock locked(lock_);
  fault_.call = Fault::Call::none;
}

uint64_t PageCache::inode_of(int file) {
  struct stat about {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
  const auto known = known_.find(about.st_ino);
  if (known != known_.end()) {
    platter_.lengthen(known->second.inode, static_cast<uint64_t>(about.st_size));
    return known->second.inode;
  }
  std::error_code failed;
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const auto path = std::filesystem::read_symlink(link, failed).string();
  if (!path.starts_with(directory_ + "/")) return 0;
  const std::string name = std::to_string(about.st_ino);
  platter_.put(name, content_of(file, static_cast<uint64_t>(about.st_size)));
  const uint64_t inode = *platter_.find(name);
  known_[about.st_ino] = {inode, Descriptor(::open(link.c_str(), O_PATH | O_CLOEXEC))};
  return inode;
}

bool PageCache::fails(Fault::Call call) {
  if (fault_.call != call) return false;
  if (fault_.thread != kAnyThread && fault_.thread != this_thread) return false;
  const int since = ++calls_ - fault_.n;
  const bool failing =
      since >= 0 && (fault_.pattern == kFromThenOn || (since < 64 && (fault_.pattern >> since & 1)));
  if (failing) ++failures_;
  return failing;
}

ssize_t PageCache::write(int file, const void* from, size_t bytes, off_t at) {
  std::unique_lock locked(lock_);
  const uint64_t inode = inode_of(file);
  const bool failing = inode != 0 && fails(Fault::Call::write);
  if (failing) bytes = std::min(bytes, fault_.bytes_written);
  const ssize_t done = ::syscall(SYS_pwrite64, file, from, bytes, at);
  if (inode != 0 && done > 0) {
    platter_.write(inode, static_cast<uint64_t>(at),
                   {static_cast<const char*>(from), static_cast<size_t>(done)});
  }
  if (!failing) return done;
  locked.unlock();
  if (fault_.meanwhile) fault_.meanwhile();
  if (fault_.dies) ::syscall(SYS_exit, 0);
  errno = fault_.sys;
  return -1;
}

int PageCache::sync(int file) {
  std::unique_lock locked(lock_);
  const uint64_t inode = inode_of(file);
  const bool failing = inode != 0 && fails(Fault::Call::sync);
  if (inode != 0) platter_.sync(inode, !failing);
  if (!failing) return 0;
  locked.unlock();
  if (fault_.meanwhile) fault_.meanwhile();
  if (fault_.dies) ::syscall(SYS_exit, 0);
  errno = fault_.sys;
  return -1;
}

void PageCache::cut(const std::string& to, std::mt19937_64* random) {
  namespace fs = std::filesystem;
  const std::scoped_lock locked(lock_);
  const std::vector<Platter::Open> open = platter_.open();
  std::vector<uint32_t> outcomes(open.size(), 0);
  const uint64_t chance = random == nullptr ? 0 : (*random)() % 101;
  for (size_t i = 0; i < open.size() && random != nullptr; ++i) {
    if ((*random)() % 100 < chance)
      outcomes[i] = 1 + static_cast<uint32_t>((*random)() % (open[i].outcomes - 1));
  }
  const Platter left = platter_.after_cut(open, outcomes, Platter::kSectorBytes);
  fs::create_directory(to);
  fs::permissions(to, fs::perms::owner_all);
  for (const auto& item : fs::recursive_directory_iterator(directory_)) {
    const fs::path target = fs::path(to) / fs::relative(item.path(), directory_);
    if (item.is_directory()) fs::create_directory(target), fs::permissions(target, fs::perms::owner_all);
    if (item.is_directory() || item.path().filename().string().starts_with("segment")) continue;
    struct stat about {};
    if (::stat(item.path().c_str(), &about) != 0) continue;
    const auto known = known_.find(about.st_ino);
    if (known == known_.end()) {
      fs::copy_file(item.path(), target);
    } else {
      std::ofstream(target, std::ios::binary) << left.content(known->second.inode);
    }
  }
}

}  // namespace fq::test

// What the engine calls. Where nobody looks on, the kernel is asked directly.
extern "C" {
ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
  fq::test::PageCache* cache = fq::test::PageCache::active();
  return cache != nullptr ? cache->write(file, from, bytes, at)
                          : ::syscall(SYS_pwrite64, file, from, bytes, at);
}
ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t at) {
  return pwrite(file, from, bytes, at);
}
int fdatasync(int file) {
  fq::test::PageCache* cache = fq::test::PageCache::active();
  return cache != nullptr ? cache->sync(file) : static_cast<int>(::syscall(SYS_fdatasync, file));
}
int fsync(int file) {
  fq::test::PageCache* cache = fq::test::PageCache::active();
  return cache != nullptr ? cache->sync(file) : static_cast<int>(::syscall(SYS_fsync, file));
}
}
