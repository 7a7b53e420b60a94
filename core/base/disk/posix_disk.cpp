// posix_disk - the real Disk, over an open directory: core's one door to open, pwrite, fsync, rename and
// unlink (the segment's mapping has its own).
//
// No name is followed through a symlink or out of the directory: the kernel checks that (openat2), or, where
// it is too old, each part of the name is opened alone. An opened file must be what fq itself makes: a
// regular file with one name, owned by whoever runs us. Short writes and interrupted calls go on where
// they stopped; an interrupted fsync is called again, a failed one never.
#include "core/base/disk/disk.h"

// System.
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
// fq, this room.
#include "core/base/descriptor.h"
#include "core/base/disk/own_user.h"

namespace fq {

namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0700;
constexpr size_t kZeroBlockBytes = 256 * 1024;  // arbitrary; only where fallocate is missing

template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

Error unusable(const std::string& object, std::string_view what, int sys = 0) {
  return Error{ErrorKind::unusable, object + ": " + std::string(what), sys};
}

/// What there is to know of an open file but its times. Who asks for those makes the next write take a time
/// of the finest grain (Linux 6.13 and later), so that each sync has to wait for the changed inode besides: a
/// quarter of a durable push.
Result<struct statx> look_at(int fd, const std::string& object) {
  constexpr unsigned kMask = STATX_TYPE | STATX_NLINK | STATX_UID | STATX_INO | STATX_SIZE;
  constexpr char kItself[] = "";
  struct statx about {};
  if (::statx(fd, kItself, AT_EMPTY_PATH, kMask, &about) != 0) return sys_error("stat", object, errno);
  return about;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor fd, const FileOpened& opened, std::string object)
      : fd_(std::move(fd)), opened_(opened), object_(std::move(object)) {}

  Result<size_t> read_at(uint64_t offset, MutableBytes to) override {
    size_t done = 0;
    while (done < to.size()) {
      const ssize_t got = uninterrupted([&] {
        return ::pread(fd_.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
      });
      if (got < 0) return sys_error("read at byte " + std::to_string(offset + done), object_, errno);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

  Result<void> write_at(uint64_t offset, Bytes from) override {
    size_t done = 0;
    while (done < from.size()) {
      const ssize_t put = uninterrupted([&] {
        return ::pwrite(fd_.get(), from.data() + done, from.size() - done, static_cast<off_t>(offset + done));
      });
      if (put < 0) return sys_error("write", object_, errno);
      if (put == 0) return sys_error("write", object_, EIO);
      done += static_cast<size_t>(put);
    }
    return {};
  }

  Result<void> allocate(uint64_t offset, uint64_t bytes) override {
    if (bytes == 0) return {};
    const int failed = uninterrupted(
        [&] { return ::fallocate(fd_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)); });
    if (failed == 0) return {};
    if (errno != EOPNOTSUPP && errno != ENOSYS) return sys_error("allocate", object_, errno);
    return write_zeros_to(offset + bytes);
  }

  Result<bool> share(const File& from, uint64_t bytes) override {
    if (uninterrupted([&] { return ::ioctl(fd_.get(), FICLONE, from.descriptor()); }) != 0) {
      if (errno == ENOSPC || errno == EDQUOT || errno == EIO) return sys_error("clone", object_, errno);
      return false;
    }
    if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(bytes)); }) != 0)
      return sys_error("cut", object_, errno);
    return true;
  }

  Result<void> sync_data() override {
    if (uninterrupted([&] { return ::fdatasync(fd_.get()); }) != 0) return sys_error("sync", object_, errno);
    return {};
  }

  Result<void> sync_all() override {
    if (uninterrupted([&] { return ::fsync(fd_.get()); }) != 0) return sys_error("sync", object_, errno);
    return {};
  }

  Result<uint64_t> size() override {
    FQ_TRY_SET(const struct statx about, look_at(fd_.get(), object_));
    return uint64_t{about.stx_size};
  }

  Result<bool> has_name() override {
    FQ_TRY_SET(const struct statx about, look_at(fd_.get(), object_));
    return about.stx_nlink != 0;
  }

  const FileOpened& opened() const override { return opened_; }
  int descriptor() const override { return fd_.get(); }

 private:
  // Only behind the end: what is there already must stay.
  Result<void> write_zeros_to(uint64_t end) {
    FQ_TRY_SET(uint64_t at, size());
    const std::vector<std::byte> zeros(kZeroBlockBytes);
    while (at < end) {
      const auto bytes = static_cast<size_t>(std::min<uint64_t>(zeros.size(), end - at));
      FQ_TRY(write_at(at, Bytes(zeros).first(bytes)));
      at += bytes;
    }
    return {};
  }

  Descriptor fd_;
  FileOpened opened_;
  std::string object_;
};

// "a/b", never "/a", "a//b", "../a" or "a/.": the kernel is asked for the same, this also keeps tests honest.
bool name_is_plain(std::string_view name) {
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != part.npos) return false;
    if (slash == name.npos) return true;
    name.remove_prefix(slash + 1);
  }
}

int open_by_kernel(int directory, const std::string& name, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
  // EAGAIN: a rename elsewhere made the kernel unsure; a few tries settle it.
  for (int tries = 0; fd < 0 && (errno == EINTR || (errno == EAGAIN && tries < 100)); ++tries)
    fd = ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
  return static_cast<int>(fd);
}

int open_by_parts(int directory, const std::string& name, int flags, mode_t mode) {
  Descriptor held(-1);
  int at = directory;
  size_t begin = 0;
  for (size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', begin)) {
    const std::string part = name.substr(begin, slash - begin);
    const int next = uninterrupted(
        [&] { return ::openat(at, part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); });
    if (next < 0) return -1;
    held = Descriptor(next);  // closes the one before
    at = next;
    begin = slash + 1;
  }
  const std::string leaf = name.substr(begin);
  return uninterrupted([&] { return ::openat(at, leaf.c_str(), flags | O_NOFOLLOW, mode); });
}

int open_below(int directory, const std::string& name, int flags, mode_t mode = 0) {
  const int fd = open_by_kernel(directory, name, flags, mode);
  // EPERM: older container filters answer that to calls they do not know.
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  return open_by_parts(directory, name, flags, mode);
}

class PosixDisk final : public Disk {
 public:
  PosixDisk(int fd, std::string label) : fd_(fd), label_(std::move(label)) {}

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    const std::string object = object_of(name);
    if (!name_is_plain(name)) return unusable(object, "is not a name inside the directory", EINVAL);
    // O_NONBLOCK: a pipe put in the place of a file must not hold us up; on a file it does nothing.
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (mode == OpenMode::read ? O_RDONLY : O_RDWR);
    if (mode == OpenMode::create_new) flags |= O_CREAT | O_EXCL;
    Descriptor fd(open_below(fd_.get(), std::string(name), flags, kFileMode));
    if (fd.get() < 0) return open_error(object, errno);
    FQ_TRY_SET(const FileOpened opened, check_file(fd.get(), object));
    return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(fd), opened, object));
  }

  Result<std::vector<std::string>> list(std::string_view name) override {
    FQ_TRY_SET(Descriptor directory, open_directory(name));
    DIR* stream = ::fdopendir(directory.get());
    if (stream == nullptr) return sys_error("list", object_of(name), errno);
    directory.release();
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view found = entry->d_name;
      if (found != "." && found != "..") names.emplace_back(found);
      errno = 0;
    }
    const int failed = errno;
    ::closedir(stream);
    if (failed != 0) return sys_error("list", object_of(name), failed);
    return names;
  }

  Result<void> make_directory(std::string_view name) override {
    FQ_TRY_SET(Descriptor parent, open_parent(name));
    if (::mkdirat(parent.get(), leaf_of(name).c_str(), kDirectoryMode) == 0) return {};
    if (errno != EEXIST) return sys_error("make directory", object_of(name), errno);
    FQ_TRY(open_directory(name));  // refuses what is there if it is no directory
    return {};
  }

  Result<void> rename(std::string_view from, std::string_view to) override {
    FQ_TRY_SET(Descriptor from_parent, open_parent(from));
    FQ_TRY_SET(Descriptor to_parent, open_parent(to));
    if (::renameat(from_parent.get(), leaf_of(from).c_str(), to_parent.get(), leaf_of(to).c_str()) != 0)
      return sys_error("rename", object_of(from), errno);
    return {};
  }

  Result<void> remove(std::string_view name) override {
    FQ_TRY_SET(Descriptor parent, open_parent(name));
    if (::unlinkat(parent.get(), leaf_of(name).c_str(), 0) != 0)
      return sys_error("remove", object_of(name), errno);
    return {};
  }

  Result<void> sync_directory(std::string_view name) override {
    FQ_TRY_SET(Descriptor directory, open_directory(name));
    if (uninterrupted([&] { return ::fsync(directory.get()); }) != 0)
      return sys_error("sync", object_of(name), errno);
    return {};
  }

  Result<uint64_t> free_bytes() override {
    struct statvfs about {};
    if (uninterrupted([&] { return ::fstatvfs(fd_.get(), &about); }) != 0)
      return sys_error("statfs", object_of(""), errno);
    return uint64_t{about.f_bavail} * about.f_frsize;
  }

  Result<std::unique_ptr<Disk>> again() override {
    Descriptor same(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
    if (same.get() < 0) return sys_error("dup", object_of(""), errno);
    return std::unique_ptr<Disk>(std::make_unique<PosixDisk>(same.release(), label_));
  }

  const std::string& label() const override { return label_; }

 private:
  std::string object_of(std::string_view name) const {
    if (name.empty()) return label_;
    return label_.empty() ? std::string(name) : label_ + "/" + std::string(name);
  }

  static std::string leaf_of(std::string_view name) {
    const size_t slash = name.rfind('/');
    return std::string(slash == name.npos ? name : name.substr(slash + 1));
  }

  static Error open_error(const std::string& object, int sys) {
    switch (sys) {
      case ELOOP:
        return unusable(object, "is a symbolic link; fq follows none inside a spool", sys);
      case EXDEV:
        return unusable(object, "leads out of its directory", sys);
      case EISDIR:
      case ENXIO:
        return unusable(object, "is not a regular file", sys);
      case ENOTDIR:
        return unusable(object, "a part of the name is not a directory", sys);
      default:
        return sys_error("open", object, sys);
    }
  }

  static Result<FileOpened> check_file(int fd, const std::string& object) {
    FQ_TRY_SET(const struct statx about, look_at(fd, object));
    if (!S_ISREG(about.stx_mode)) return unusable(object, "is not a regular file", ENXIO);
    if (about.stx_nlink == 0) return sys_error("open", object, ENOENT);  // removed in between
    if (about.stx_nlink != 1) return unusable(object, "has a second hard link; fq wants its files alone");
    if (about.stx_uid != own_user()) return unusable(object, "belongs to another user");
    return FileOpened{makedev(about.stx_dev_major, about.stx_dev_minor), about.stx_ino, about.stx_size};
  }

  Result<Descriptor> open_directory(std::string_view name) const {
    const std::string object = object_of(name);
    if (!name.empty() && !name_is_plain(name))
      return unusable(object, "is not a name inside the directory", EINVAL);
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    const int fd =
        name.empty() ? ::openat(fd_.get(), ".", kFlags) : open_below(fd_.get(), std::string(name), kFlags);
    if (fd < 0) return open_error(object, errno);
    return Descriptor(fd);
  }

  Result<Descriptor> open_parent(std::string_view name) const {
    if (!name_is_plain(name)) return unusable(object_of(name), "is not a name inside the directory", EINVAL);
    const size_t slash = name.rfind('/');
    return open_directory(slash == name.npos ? std::string_view() : name.substr(0, slash));
  }

  Descriptor fd_;
  std::string label_;
};

}  // namespace

std::unique_ptr<Disk> open_disk(int directory_descriptor, std::string label) {
  return std::make_unique<PosixDisk>(directory_descriptor, std::move(label));
}

}  // namespace fq
