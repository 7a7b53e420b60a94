#include "core/worker/process/standard_input.h"

// System.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace fq::worker {

namespace {

constexpr size_t kPipeBytes = 64 * 1024;

/// A pipe that holds all of it already; an empty Descriptor where it does not fit (a user who has many
/// pipes gets small ones).
Descriptor filled_pipe(std::string_view bytes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Descriptor();
  Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  ::fcntl(write_end.get(), F_SETFL, O_NONBLOCK);
  const ssize_t written = ::write(write_end.get(), bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) return Descriptor();
  return read_end;
}

Result<Descriptor> filled_file(std::string_view bytes) {
  Descriptor file(::memfd_create("fq payload", MFD_CLOEXEC));
  if (!file) return sys_error("memfd_create", "a payload", errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return sys_error("write", "a payload", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace

Result<Descriptor> open_null() {
  Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return sys_error("open", "/dev/null", errno);
  return null;
}

Result<Descriptor> readable(std::string_view bytes) {
  if (bytes.empty()) return open_null();
  if (bytes.size() <= kPipeBytes) {
    Descriptor pipe = filled_pipe(bytes);
    if (pipe) return pipe;
  }
  return filled_file(bytes);
}

Result<Descriptor> readable(const Payload& payload) {
  if (payload.descriptor() < 0) return readable(payload.bytes());
  // Its own open file, so that a second run of the message starts at the start again.
  const std::string path = "/proc/self/fd/" + std::to_string(payload.descriptor());
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return sys_error("open", "a payload", errno);
  return file;
}

}  // namespace fq::worker
