#include "core/local/files/process_info.h"

// System.
#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/descriptor.h"
#include "core/base/process_state.h"

namespace fq {

namespace {

constexpr long kPidFs = 0x50494446;  // PID_FS_MAGIC; not in Debian 12's headers
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

Error no_proc() {
  return Error{ErrorKind::unusable, "/proc: does not show the boot and the namespaces; fq needs it mounted",
               0};
}

/// A process that may open no more files is told that, and not to mount anything.
Error cannot_read(const char* path, int sys) {
  return sys == ENOENT ? no_proc() : sys_error("read", path, sys);
}

/// Of a file of /proc that is one short line: one read gives it all.
Result<std::string> read_proc_line(const char* path) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return cannot_read(path, errno);
  char line[128];
  const ssize_t got = ::read(file.get(), line, sizeof line);
  if (got < 0) return cannot_read(path, errno);
  return std::string(line, static_cast<size_t>(got));
}

constexpr size_t kStartField = 19;

/// 0: the kernel knows no namespaces of that kind.
Result<uint64_t> namespace_inode(const char* path) {
  struct stat about {};
  if (::stat(path, &about) == 0) return uint64_t{about.st_ino};
  if (errno == ENOENT) return uint64_t{0};
  return sys_error("stat", path, errno);
}

/// The names in a directory of /proc that are numbers.
std::vector<std::string> numbers_in(const std::string& path) {
  std::vector<std::string> names;
  DIR* listing = ::opendir(path.c_str());
  if (listing == nullptr) return names;
  while (const dirent* item = ::readdir(listing)) {
    if (item->d_name[0] >= '0' && item->d_name[0] <= '9') names.emplace_back(item->d_name);
  }
  ::closedir(listing);
  return names;
}

/// From a descriptor's fdinfo: "lock:\t1: OFDLCK ADVISORY  READ -1 08:01:123456 5 6".
void add_ofd_locks(int pid, const std::string& fdinfo, std::vector<OfdLock>& locks) {
  for (size_t at = fdinfo.find("lock:"); at != std::string::npos; at = fdinfo.find("lock:", at + 1)) {
    unsigned long long first = 0, last = 0;
    const bool whole =
        std::sscanf(fdinfo.c_str() + at, "lock: %*s OFDLCK %*s %*s %*d %*s %llu %llu", &first, &last) == 2;
    if (whole) locks.push_back({pid, first, last});
  }
}

}  // namespace

std::string describe_holder(int tid) {
  const std::string stat = tid > 0 ? stat_of(tid) : std::string();
  if (stat.empty()) return "an unknown process";
  std::string text = "process " + std::to_string(tid);
  const size_t open = stat.find('(');
  const size_t close = stat.rfind(')');
  if (open != std::string::npos && close != std::string::npos && close > open) {
    text.append(" ").append(stat, open, close - open + 1);
  }
  if (is_stopped(stat)) text.append(", which is stopped");
  if (stat_field(stat, kStateField) == "D") text.append(", which waits for the disk");
  return text;
}

Error held_by(std::string said, int tid, ErrorKind kind) {
  return Error{kind, std::move(said) + " by " + describe_holder(tid) + "; continue or end it", 0};
}

std::optional<uint64_t> process_started(uint32_t pid) {
  const std::string stat = stat_of(static_cast<int>(pid));
  const std::string_view field = stat_field(stat, kStartField);
  if (field.empty() || stat_field(stat, kStateField) == "Z") return std::nullopt;
  return std::strtoull(std::string(field).c_str(), nullptr, 10);
}

std::vector<int> flock_holders(uint64_t device, uint64_t inode) {
  // 1: FLOCK  ADVISORY  WRITE 1234 08:01:123456 0 EOF   ("->" in front of the type while it waits)
  std::vector<int> pids;
  const std::string locks = read_proc("/proc/locks");
  for (size_t at = 0; at < locks.size();) {
    const size_t end = std::min(locks.find('\n', at), locks.size());
    const std::string line = locks.substr(at, end - at);
    at = end + 1;
    int pid = 0;
    unsigned major_number = 0, minor_number = 0;
    unsigned long long found_inode = 0;
    if (std::sscanf(line.c_str(), "%*s FLOCK %*s %*s %d %x:%x:%llu", &pid, &major_number, &minor_number,
                    &found_inode) != 4) {
      continue;
    }
    if (found_inode != inode || makedev(major_number, minor_number) != device) continue;
    if (pid > 0 && pid != ::getpid()) pids.push_back(pid);
  }
  return pids;
}

std::vector<OfdLock> ofd_locks(std::string_view name, uint64_t device, uint64_t inode) {
  std::vector<OfdLock> locks;
  const std::string end = "/" + std::string(name);
  for (const std::string& pid : numbers_in("/proc")) {
    for (const std::string& file : numbers_in("/proc/" + pid + "/fd")) {
      // The name first: to stat a file on a server that is gone would hang.
      std::array<char, PATH_MAX> path;
      const std::string link = "/proc/" + pid + "/fd/" + file;
      const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
      struct stat about {};
      if (length < 0 || !std::string_view(path.data(), static_cast<size_t>(length)).ends_with(end)) continue;
      if (::stat(link.c_str(), &about) != 0 || about.st_dev != device || about.st_ino != inode) continue;
      add_ofd_locks(std::atoi(pid.c_str()), read_proc("/proc/" + pid + "/fdinfo/" + file), locks);
    }
  }
  return locks;
}

std::string join_pids(const std::vector<int>& pids) {
  if (pids.empty()) return "unknown";
  std::string text;
  for (const int pid : pids) {
    if (!text.empty()) text.append(", ");
    text.append(std::to_string(pid));
  }
  return text;
}

Result<void> read_kernel_identity(KernelIdentity& identity) {
  FQ_TRY_SET(const std::string text, read_proc_line(kBootId));
  size_t digits = 0;
  for (const char c : text) {
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) continue;
    if (digits == 32) return no_proc();
    uint8_t& byte = identity.boot_id[digits / 2];
    byte = static_cast<uint8_t>(byte << 4 | value);
    ++digits;
  }
  if (digits != 32) return no_proc();
  return {};
}

Result<uint64_t> read_pid_namespace() {
  FQ_TRY_SET(const uint64_t inode, namespace_inode("/proc/self/ns/pid"));
  if (inode == 0) return no_proc();
  return inode;
}

uint64_t read_first_process() {
  const Descriptor first(static_cast<int>(::syscall(SYS_pidfd_open, 1, 0)));
  struct stat about {};
  if (first.get() < 0 || ::fstat(first.get(), &about) != 0) return 0;
  return about.st_ino;
}

bool numbers_processes() {
  const Descriptor first(static_cast<int>(::syscall(SYS_pidfd_open, 1, 0)));
  struct statfs about {};
  return first.get() >= 0 && ::fstatfs(first.get(), &about) == 0 && about.f_type == kPidFs;
}

Result<uint64_t> read_time_namespace() { return namespace_inode("/proc/self/ns/time"); }

void fill_random(void* to, size_t bytes) {
  // It waits, and can be interrupted, only while the machine starts and the kernel has no randomness yet.
  ssize_t got = 0;
  do {
    got = ::getrandom(to, bytes, 0);
  } while (got < 0 && errno == EINTR);
  FQ_ASSERT(got == static_cast<ssize_t>(bytes));
}

}  // namespace fq
