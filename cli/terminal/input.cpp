#include "cli/terminal/input.h"

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
#include "core/base/text/size.h"
// fq, this room.
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr size_t kPieceBytes = 64 * 1024;
constexpr uint64_t kListBytesMax = 64 * 1024 * 1024;  // ids or receipts by standard input: arbitrary
bool was_closed[3] = {};                              // of the standard descriptors, at the start

Error unreadable(Error error) {
  error.kind = ErrorKind::bad_data;
  return error;
}

}  // namespace

Result<Reader> Reader::standard_input() {
  if (was_closed[STDIN_FILENO]) return Error{ErrorKind::usage, "standard input: is closed", 0};
  return Reader(STDIN_FILENO, "standard input");
}

Result<Reader> Reader::file(const std::string& path) {
  int descriptor;
  {
    const LetSignalsThrough open;  // opening a named pipe waits for its writer
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  }
  if (descriptor < 0) return unreadable(sys_error("open", in_quotes(path), errno));
  return Reader(descriptor, in_quotes(path));
}

Reader::~Reader() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

Result<bool> Reader::read_some(std::string& to) {
  const size_t before = to.size();
  to.resize(before + kPieceBytes);
  ssize_t got;
  do {
    const LetSignalsThrough open;
    got = ::read(descriptor_, to.data() + before, kPieceBytes);
    if (got < 0 && errno == EAGAIN) {
      pollfd more{descriptor_, POLLIN, 0};
      ::poll(&more, 1, -1);
      errno = EINTR;
    }
  } while (got < 0 && errno == EINTR);
  to.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) return unreadable(sys_error("read", name_, errno));
  return got > 0;
}

bool Reader::ready() const {
  pollfd more{descriptor_, POLLIN, 0};
  return ::poll(&more, 1, 0) != 0;
}

Result<std::string> Reader::read_all(uint64_t bytes_max) {
  std::string whole;
  struct stat info {};
  if (::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode)) {
    const off_t at = std::max<off_t>(::lseek(descriptor_, 0, SEEK_CUR), 0);
    const uint64_t rest = static_cast<uint64_t>(std::max<off_t>(info.st_size - at, 0));
    if (rest > bytes_max) return payload_too_long(name_, bytes_max);
    whole.reserve(rest + kPieceBytes);
  }
  for (;;) {
    FQ_TRY_SET(const bool more, read_some(whole));
    if (whole.size() > bytes_max) return payload_too_long(name_, bytes_max);
    if (!more) return whole;
  }
}

std::string_view why_not_read_unasked() {
  if (was_closed[STDIN_FILENO]) return "closed";
  if (::isatty(STDIN_FILENO) == 1) return "a terminal";
  struct stat info {};
  if (::fstat(STDIN_FILENO, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3))
    return "/dev/null";
  return "";
}

Error not_read_unasked(const std::string& instead) {
  // One that is closed is not there to be asked for.
  const std::string asked = was_closed[STDIN_FILENO] ? "" : ", or '-' to read it all the same";
  return Error{ErrorKind::usage,
               "standard input: is " + std::string(why_not_read_unasked()) +
                   ", so it is not read unasked; give " + instead + asked,
               0};
}

void hold_standard_descriptors() {
  pollfd standard[] = {{STDIN_FILENO, 0, 0}, {STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  ::poll(standard, std::size(standard), 0);
  for (const pollfd& each : standard) was_closed[each.fd] = (each.revents & POLLNVAL) != 0;
  // Opened the wrong way round, so that using one still fails.
  for (const pollfd& each : standard) {
    const int way = each.fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (was_closed[each.fd] && ::open("/dev/null", way) < 0) return;
  }
}

void let_go_of_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (was_closed[fd]) ::close(fd);
  }
}

Result<std::vector<std::string>> expand_dash(const std::vector<std::string>& operands) {
  std::vector<std::string> all;
  for (const std::string& operand : operands) {
    if (operand != "-") {
      all.push_back(operand);
      continue;
    }
    FQ_TRY_SET(Reader input, Reader::standard_input());
    FQ_TRY_SET(const std::string text, input.read_all(kListBytesMax));
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      if (end > start) all.push_back(text.substr(start, end - start));
      start = end + 1;
    }
  }
  return all;
}

Error payload_too_long(std::string_view name, uint64_t bytes_max) {
  return Error{ErrorKind::bad_data,
               std::string(name)
                   .append(": the payload is longer than ")
                   .append(format_size(bytes_max))
                   .append(", the limit (max_payload)"),
               0};
}

}  // namespace fq::cli
