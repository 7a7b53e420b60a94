#include "core/redis/wire/sockets.h"

// System.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <utility>
// fq, below us.
#include "core/base/clock.h"

namespace fq {

bool is_ready(int socket, short events, int64_t deadline_ms) {
  for (;;) {
    const int64_t left_ms = std::max<int64_t>(0, deadline_ms - system_clock().boot_ms());
    pollfd poll{socket, events, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(std::min<int64_t>(left_ms, INT32_MAX)));
    if (ready > 0) return true;
    if (ready == 0) errno = ETIMEDOUT;
    if (ready < 0 && errno == EINTR) continue;
    return false;
  }
}

namespace {

/// 0, or errno.
int connect_within(int socket, const sockaddr* address, socklen_t length, int64_t deadline_ms) {
  if (::connect(socket, address, length) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!is_ready(socket, POLLOUT, deadline_ms)) return errno;
  int fault = 0;
  socklen_t size = sizeof fault;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &size) == 0 ? fault : errno;
}

/// 0, or errno. As many as wait for a server to take them may be all that it lets wait: then nothing is under
/// way, and only who blocks is told when another one may.
int connect_in_turn(int socket, const sockaddr_un& address, int64_t deadline_ms) {
  const int flags = ::fcntl(socket, F_GETFL);
  ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK);
  int fault = EINTR;
  while (fault == EINTR) {
    const int64_t left_ms = std::max<int64_t>(1, deadline_ms - system_clock().boot_ms());
    const timeval left{left_ms / 1'000, left_ms % 1'000 * 1'000};
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof left);
    fault = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  }
  ::fcntl(socket, F_SETFL, flags);
  return fault == EAGAIN ? ETIMEDOUT : fault;
}

Descriptor new_socket(int family) {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// A reply waits for no packet to fill up, and a peer that vanished is missed in minutes.
void tune(int socket) {
  const int on = 1, idle_s = 10;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
}

/// Where there is a fault none is left, and errno says it.
Descriptor unless(int fault, Descriptor socket) {
  if (fault == 0) return socket;
  socket.close();
  errno = fault;
  return {};
}

int64_t count_of(const addrinfo* addresses) {
  int64_t count = 0;
  for (; addresses != nullptr; addresses = addresses->ai_next) ++count;
  return count;
}

}  // namespace

Descriptor connect_to_one_of(const addrinfo* addresses, int64_t deadline_ms) {
  int fault = ECONNREFUSED;
  for (const addrinfo* each = addresses; each != nullptr; each = each->ai_next) {
    const int64_t now_ms = system_clock().boot_ms();
    const int64_t its_end_ms = now_ms + (deadline_ms - now_ms) / count_of(each);
    Descriptor socket = new_socket(each->ai_family);
    fault = socket ? connect_within(socket.get(), each->ai_addr, each->ai_addrlen, its_end_ms) : errno;
    if (fault != 0) continue;
    tune(socket.get());
    return socket;
  }
  return unless(fault, {});
}

Descriptor connect_to_path(const std::string& path, int64_t deadline_ms) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Descriptor socket = new_socket(AF_UNIX);
  const int fault = socket ? connect_in_turn(socket.get(), address, deadline_ms) : errno;
  return unless(fault, std::move(socket));
}

}  // namespace fq
