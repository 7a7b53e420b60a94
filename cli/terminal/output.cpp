#include "cli/terminal/output.h"

// System.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr size_t kBufferBytes = 64 * 1024;
// A pipe that poll calls writable takes one page without blocking, so no signal can be overslept.
constexpr size_t kPipePieceBytes = 4096;

/// A file, or /dev/null: a write to it never waits for anybody, so signals need not come through.
bool takes_all_at_once(int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return false;
  return S_ISREG(info.st_mode) || (S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));
}

}  // namespace

Result<void> Output::write(std::string_view bytes) {
  if (bytes.size() > kBufferBytes) {
    // As one, so that a signal that came while the first was written ends the second.
    const int caught = caught_count();
    FQ_TRY(flush());
    return write_now(bytes, caught);
  }
  if (buffer_.size() + bytes.size() > kBufferBytes) FQ_TRY(flush());
  buffer_.append(bytes);
  return {};
}

Result<void> Output::flush() {
  if (buffer_.empty()) return {};
  Result<void> written = write_now(buffer_, caught_count());
  buffer_.clear();
  return written;
}

Result<void> Output::write_now(std::string_view bytes, int caught) {
  Result<void> written = write_pieces(bytes, caught);
  failed_ = failed_ || !written;
  return written;
}

/// A pipe is opened anew where that goes: O_NONBLOCK on the one that we share would change it for everybody.
void Output::choose_piece() {
  piece_ = takes_all_at_once(descriptor_) ? SIZE_MAX : kPipePieceBytes;
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISFIFO(info.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor_);
  own_ = Descriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

/// As write(2), but signals come through while it waits, and one that is caught ends it: also before it
/// waits, where more than `caught` have been.
long Output::write_piece(std::string_view bytes, int caught) const {
  if (piece_ == SIZE_MAX) return ::write(descriptor_, bytes.data(), bytes.size());
  if (own_) {
    const LetSignalsThrough open;
    const ssize_t done = ::write(own_.get(), bytes.data(), bytes.size());
    if (done >= 0 || errno != EAGAIN) return done;
  }
  if (caught_count() != caught) return errno = EINTR, -1;
  pollfd ready{descriptor_, POLLOUT, 0};
  if (poll_with_signals(ready) < 0) return -1;
  const LetSignalsThrough open;
  if (own_) return ::write(own_.get(), bytes.data(), bytes.size());
  return ::write(descriptor_, bytes.data(), std::min(bytes.size(), piece_));
}

Result<void> Output::write_pieces(std::string_view bytes, int caught) {
  const std::string_view object = descriptor_ == STDERR_FILENO ? "standard error" : "standard output";
  if (piece_ == 0) choose_piece();
  while (!bytes.empty()) {
    const long done = write_piece(bytes, caught);
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (done < 0) {
      Error error = sys_error("write", object, errno);
      error.kind = ErrorKind::io;  // whatever errno says: the outcome is what matters here
      return error;
    }
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return {};
}

Result<void> Output::copy_file(int descriptor, uint64_t size) {
  FQ_TRY(flush());
  std::string piece(std::min<uint64_t>(size, kBufferBytes), '\0');
  for (uint64_t at = 0; at < size;) {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(piece.size(), size - at));
    const ssize_t got = ::pread(descriptor, piece.data(), want, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return sys_error("read", "payload", errno);
    if (got == 0) return Error{ErrorKind::bad_data, "payload: its file is shorter than its record says", 0};
    FQ_TRY(write_now(std::string_view(piece).substr(0, static_cast<size_t>(got)), caught_count()));
    at += static_cast<uint64_t>(got);
  }
  return {};
}

Result<void> Output::check_reader() {
  pollfd end{descriptor_, 0, 0};
  if (::poll(&end, 1, 0) <= 0 || (end.revents & POLLERR) == 0) return {};
  failed_ = true;
  Error error = sys_error("write", "standard output", EPIPE);
  error.kind = ErrorKind::io;
  return error;
}

bool Output::is_terminal() {
  if (terminal_ < 0) terminal_ = ::isatty(descriptor_);
  return terminal_ == 1;
}

bool Output::reader_left(const Error& error) { return error.sys == EPIPE; }
bool Output::interrupted(const Error& error) { return error.sys == EINTR; }

std::string spoken(std::string_view text) {
  const EscapeOptions options{!locale_shows_utf8(), false, true};
  return "fq: " + escape_terminal(text, options) + "\n";
}

void say(std::string_view text) {
  const std::string line = spoken(text);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t done = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;  // nobody left to tell
    rest.remove_prefix(static_cast<size_t>(done));
  }
}

}  // namespace fq::cli
