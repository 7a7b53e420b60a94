#include "core/local/files/lock_file.h"

// System.
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {

//   offset size field
//        0    8 magic "fqlock1\n"
//        8    8 device
//       16    8 inode
//       24   16 nonce
//       40    8 generation
//       48    4 CRC32C of bytes 0..48
constexpr size_t kIdentityBytes = 52;
constexpr std::string_view kMagic = "fqlock1\n";

using IdentityBytes = std::array<std::byte, kIdentityBytes>;

int flock_mode(LockFile::Mode mode) { return mode == LockFile::Mode::shared ? LOCK_SH : LOCK_EX; }

}  // namespace

Result<LockFile> LockFile::open(Disk& disk, std::string_view name, bool create) {
  LockFile lock;
  lock.object_ = disk.label() + ": " + std::string(name);
  Result<std::unique_ptr<File>> opened = disk.open(name, OpenMode::write);
  if (!opened.ok() && opened.error().sys == ENOENT && create) {
    opened = disk.open(name, OpenMode::create_new);
    // Somebody else made it in between: theirs is as good.
    if (!opened.ok() && opened.error().sys == EEXIST) opened = disk.open(name, OpenMode::write);
  }
  if (!opened.ok()) return std::move(opened).error();
  lock.file_ = std::move(opened).value();
  return lock;
}

Result<bool> LockFile::try_lock(Mode mode) {
  while (::flock(file_->descriptor(), flock_mode(mode) | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return sys_error("flock", object_, errno);
  }
  return true;
}

Result<bool> LockFile::lock(Mode mode, int64_t timeout_ms) {
  // flock has no time limit of its own, and an alarm would be a signal: it is asked again and again.
  int64_t pause_ms = 1;
  for (int64_t waited_ms = 0;;) {
    FQ_TRY_SET(const bool taken, try_lock(mode));
    if (taken) return true;
    if (waited_ms >= timeout_ms) return false;
    const timespec pause{0, pause_ms * 1'000'000};
    ::nanosleep(&pause, nullptr);
    waited_ms += pause_ms;
    pause_ms = std::min<int64_t>(pause_ms * 2, 20);
  }
}

void LockFile::unlock() { ::flock(file_->descriptor(), LOCK_UN); }

Result<bool> LockFile::read(LockIdentity& identity) const {
  IdentityBytes bytes{};
  FQ_TRY_SET(const size_t got, file_->read_at(0, bytes));
  if (got != bytes.size() || as_text(bytes).substr(0, 8) != kMagic) return false;
  if (get_number<uint32_t>(bytes.data() + 48) != crc32c(0, Bytes(bytes).first(48))) return false;
  identity.device = get_number<uint64_t>(bytes.data() + 8);
  identity.inode = get_number<uint64_t>(bytes.data() + 16);
  std::memcpy(identity.nonce, bytes.data() + 24, sizeof identity.nonce);
  identity.generation = get_number<uint64_t>(bytes.data() + 40);
  return identity.device == device() && identity.inode == inode();
}

Result<void> LockFile::write(const LockIdentity& identity) {
  IdentityBytes bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  put_number(bytes.data() + 8, identity.device);
  put_number(bytes.data() + 16, identity.inode);
  std::memcpy(bytes.data() + 24, identity.nonce, sizeof identity.nonce);
  put_number(bytes.data() + 40, identity.generation);
  put_number(bytes.data() + 48, crc32c(0, Bytes(bytes).first(48)));
  FQ_TRY(file_->write_at(0, bytes));
  return file_->sync_data();
}

Result<void> LockFile::check_generation(uint64_t generation) const {
  LockIdentity identity;
  FQ_TRY_SET(const bool valid, read(identity));
  if (valid && identity.generation == generation) return {};
  return Error{ErrorKind::io, object_ + ": the segment was given up meanwhile; the outcome is unknown", 0};
}

std::vector<int> LockFile::holders() const { return flock_holders(device(), inode()); }

}  // namespace fq
