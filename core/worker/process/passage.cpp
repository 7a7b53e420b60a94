#include "core/worker/process/passage.h"

// System.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
// fq, below us.
#include "core/base/clock.h"

namespace fq::worker {

namespace {

// A write of at most this to a pipe that poll() calls writable does not block.
constexpr size_t kAtomicBytes = 4096;
constexpr int64_t kLineMs = 100;  // for a line to end; arbitrary

}  // namespace

Passage::Passage(int descriptor) : descriptor_(descriptor) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) broken_ = true;
  is_pipe_ = S_ISFIFO(about.st_mode);
  is_socket_ = S_ISSOCK(about.st_mode);
  if (!is_pipe_ && !S_ISCHR(about.st_mode)) return;
  // Opened anew it is ours alone: O_NONBLOCK on the one that we share would change it for everybody.
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  own_ = Descriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

bool Passage::has_reader_of(int descriptor) const {
  struct stat ours {}, theirs {};
  return has_reader() && ::fstat(descriptor_, &ours) == 0 && ::fstat(descriptor, &theirs) == 0 &&
         ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

long Passage::write_some(std::string_view bytes) const {
  if (own_) return ::write(own_.get(), bytes.data(), bytes.size());
  if (is_socket_) return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  pollfd ready{descriptor_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1) return errno = EAGAIN, -1;
  return ::write(descriptor_, bytes.data(), std::min(bytes.size(), kAtomicBytes));
}

void Passage::write(std::string_view bytes) {
  if (broken_ || bytes.empty()) return;
  in_line_ = bytes.back() != '\n';
  if (const size_t end = bytes.find('\n'); end != bytes.npos && !said_.empty()) {
    held_.append(bytes.substr(0, end + 1)).append(std::exchange(said_, {}));
    bytes.remove_prefix(end + 1);
  }
  held_.append(bytes);
  flush();
}

void Passage::say(std::string_view line) {
  if (!in_line_) return write(line);
  if (said_.empty()) say_at_ms_ = system_clock().boot_ms() + kLineMs;
  said_.append(line);
}

void Passage::on_time(int64_t now_ms) {
  if (now_ms >= next_ms()) write(std::exchange(said_, {}));
}

void Passage::remark(std::string_view line) {
  if (has_room()) return write(line);
  lost_bytes_ += line.size();
}

void Passage::flush() {
  size_t done = 0;
  while (done < held_.size()) {
    const long written = write_some(std::string_view(held_).substr(done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) {
      // A full disk has room again one day; a reader that has left has not.
      broken_ = errno == EPIPE || errno == EBADF;
      if (!broken_) lost_bytes_ += held_.size() - done;
      done = held_.size();
    }
    if (written > 0) done += static_cast<size_t>(written);
  }
  held_.erase(0, done);
}

uint64_t Passage::finish(int64_t patience_ms) {
  write(std::exchange(said_, {}));
  flush();
  pollfd ready{descriptor(), POLLOUT, 0};
  while (!held_.empty() && ::poll(&ready, 1, static_cast<int>(patience_ms)) == 1) flush();
  const uint64_t lost_bytes = lost_bytes_ + held_.size();
  lost_bytes_ = 0;
  held_.clear();
  in_line_ = false;  // nobody ends it any more
  return lost_bytes;
}

}  // namespace fq::worker
