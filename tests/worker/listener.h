// listener - systemd's end of what a service tells it.
#pragma once

// System.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
// fq, below us.
#include "core/base/descriptor.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

/// systemd's end. `name` as $NOTIFY_SOCKET says it: a path, or @ and a name without a file.
class Listener {
 public:
  explicit Listener(std::string name) : name_(std::move(name)) {
    socket_ = Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name_.copy(address.sun_path, name_.size());
    if (name_[0] == '@') address.sun_path[0] = '\0';
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), bytes) == 0);
  }
  ~Listener() {
    if (name_[0] == '/') ::unlink(name_.c_str());
  }
  const std::string& name() const { return name_; }
  /// The next datagram; "" when there is none, even after `wait_ms`.
  std::string heard(int wait_ms = 0) const {
    pollfd ready{socket_.get(), POLLIN, 0};
    ::poll(&ready, 1, wait_ms);
    std::string text(4096, '\0');
    const ssize_t got = ::recv(socket_.get(), text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

 private:
  std::string name_;
  Descriptor socket_;
};

}  // namespace fq::test
