#include "cli/terminal/new_file.h"

// System.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr mode_t kMode = 0600;

/// Also of a full disk: that is not the spool's, and what is there of the file is not known.
Error write_error(const char* what, const std::string& path) {
  Error error = sys_error(what, in_quotes(path), errno);
  error.kind = ErrorKind::io;
  return error;
}

Result<void> write_all(int descriptor, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return write_error("write", path);
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return {};
}

bool is_of_proc(const std::string& directory) {
  struct statfs about {};
  return ::statfs(directory.c_str(), &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

}  // namespace

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string end_of_links(std::string path) {
  constexpr int kLinksMax = 40;  // as the kernel
  std::array<char, PATH_MAX> target;
  for (int links = 0; links < kLinksMax; ++links) {
    const std::string directory = directory_of(path);
    if (is_of_proc(directory)) break;
    const ssize_t bytes = ::readlink(path.c_str(), target.data(), target.size());
    if (bytes <= 0) break;
    const std::string to(target.data(), static_cast<size_t>(bytes));
    path = to.starts_with('/') ? to : directory + "/" + to;
  }
  return path;
}

Result<void> write_new_file(const std::string& path, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (file.get() < 0) return sys_error("open", in_quotes(path), errno);
  return write_all(file.get(), path, bytes);
}

Result<void> replace_file(const std::string& path, std::string_view bytes) {
  struct stat about {};
  // Also a link that the system follows for nobody: another's in a directory like /tmp.
  if (::stat(path.c_str(), &about) != 0 && errno != ENOENT) return sys_error("open", in_quotes(path), errno);
  const std::string end = end_of_links(path);
  if (::lstat(end.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
    // A named pipe waits for its reader to come, and a full one for it to read.
    const LetSignalsThrough open;
    const Descriptor there(::open(end.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
    if (there.get() < 0) return sys_error("open", in_quotes(path), errno);
    return write_all(there.get(), path, bytes);
  }
  const std::string unfinished = end + ".new-" + std::to_string(::getpid());
  const Descriptor file(
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kMode));
  if (file.get() < 0) return sys_error("open", in_quotes(path), errno);
  Result<void> written = write_all(file.get(), path, bytes);
  if (written.ok() && ::fsync(file.get()) != 0) written = write_error("sync", path);
  if (written.ok() && ::rename(unfinished.c_str(), end.c_str()) != 0)
    written = sys_error("rename", in_quotes(path), errno);
  if (!written.ok()) ::unlink(unfinished.c_str());
  return written;
}

}  // namespace fq::cli
