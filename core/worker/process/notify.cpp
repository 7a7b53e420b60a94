#include "core/worker/process/notify.h"

// System.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace fq::worker {

namespace {

constexpr int64_t kShowMs = 1'000;

uint64_t number_in(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Notify::Notify(std::string socket, std::string_view watchdog_us, std::string_view watchdog_pid)
    : path_(std::move(socket)) {
  const bool usable = path_.size() > 1 && (path_[0] == '/' || path_[0] == '@') &&
                      path_.size() < sizeof(sockaddr_un::sun_path);
  if (!usable) return;
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool ours = watchdog_pid.empty() || number_in(watchdog_pid) == static_cast<uint64_t>(::getpid());
  const uint64_t limit_us = ours ? number_in(watchdog_us) : 0;
  // Twice as often as asked, as systemd advises.
  interval_ms_ = limit_us == 0 ? 0 : std::max<int64_t>(1, static_cast<int64_t>(limit_us / 2000));
  if (interval_ms_ > 0) next_ms_ = 0;
}

Notify::~Notify() {
  if (socket_ >= 0) ::close(socket_);
}

void Notify::tell(std::string_view lines) const {
  if (socket_ < 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  if (path_[0] == '@') address.sun_path[0] = '\0';  // a name without a file
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
  ::sendto(socket_, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&address), bytes);
}

int64_t Notify::keep_alive(int64_t now_ms) {
  if (interval_ms_ == 0) return kNever;
  if (now_ms >= next_ms_) {
    tell("WATCHDOG=1");
    next_ms_ = now_ms + interval_ms_;
  }
  return next_ms_;
}

int64_t Notify::show(const std::string& status, int64_t now_ms) {
  if (!is_heard() || status == shown_) return kNever;
  if (now_ms < show_ms_) return show_ms_;
  tell("STATUS=" + status);
  shown_ = status;
  show_ms_ = now_ms + kShowMs;
  return kNever;
}

}  // namespace fq::worker
