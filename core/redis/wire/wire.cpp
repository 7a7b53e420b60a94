#include "core/redis/wire/wire.h"

// System.
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/wire/sockets.h"

namespace fq {

namespace {

Error nobody(const std::string& name, std::string_view why) {
  return Error{ErrorKind::later, name + ": cannot be reached: " + std::string(why), 0, true};
}

Result<Descriptor> connect_by_name(const RedisPlace::Host& host, const std::string& name,
                                   int64_t deadline_ms) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(host.name.c_str(), std::to_string(host.port).c_str(), &hints, &found);
  if (fault != 0) return nobody(name, ::gai_strerror(fault));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  Descriptor socket = connect_to_one_of(found, deadline_ms);
  if (!socket) return nobody(name, std::strerror(errno));
  return socket;
}

Result<Descriptor> connect_by_path(const std::string& path, int64_t deadline_ms) {
  Descriptor socket = connect_to_path(path, deadline_ms);
  if (!socket && errno == EACCES) return sys_error("connect", path, errno);
  if (!socket) return nobody(path, std::strerror(errno));
  return socket;
}

}  // namespace

std::string name_of_host(const RedisPlace::Host& host) {
  const bool is_ip6 = host.name.find(':') != std::string::npos;
  return (is_ip6 ? "[" + host.name + "]" : host.name) + ":" + std::to_string(host.port);
}

Result<Wire> Wire::connect(const RedisPlace& place, const RedisPlace::Host* host) {
  const std::string name = host == nullptr ? place.socket : name_of_host(*host);
  const int64_t deadline_ms = system_clock().boot_ms() + place.connect_ms;
  FQ_TRY_SET(Descriptor socket, host == nullptr ? connect_by_path(place.socket, deadline_ms)
                                                : connect_by_name(*host, name, deadline_ms));
  Wire wire(std::move(socket), name);
  if (!place.is_sealed) return wire;
  Result<std::unique_ptr<Tls>> tls = Tls::make(place.tls, host->name);
  if (!tls) return std::move(tls).error();
  FQ_TRY(wire.greet(std::move(tls).value(), deadline_ms));
  return wire;
}

/// Nothing was asked for yet: who does not answer is not there.
Result<void> Wire::greet(std::unique_ptr<Tls> tls, int64_t deadline_ms) {
  for (;;) {
    const Result<bool> done = tls->greet();
    const std::string out = tls->take_sealed();  // what it says of a fault, too
    const Result<void> sent = send(out, deadline_ms);
    if (!done) return Error{done.error().kind, name_ + ": " + done.error().text, 0};
    if (!sent) return nobody(name_, "it does not answer");
    if (*done) break;
    std::string in;
    if (!receive(in, deadline_ms)) return nobody(name_, "it does not speak TLS, or does not answer");
    FQ_TRY(tls->put_sealed(in));
  }
  tls_ = std::move(tls);
  return {};
}

Error Wire::lost(std::string_view what, int sys) const {
  // EPIPE is how a command is told that the reader of its own output has left.
  return Error{ErrorKind::io, name_ + ": " + std::string(what) + "; the outcome is unknown",
               sys == EPIPE ? 0 : sys, true};
}

bool Wire::has_news() {
  pollfd poll{socket_.get(), POLLIN, 0};
  return ::poll(&poll, 1, 0) != 0;
}

bool Wire::is_over() {
  if (!tls_) return has_news();
  // What TLS says to itself is for nobody here.
  std::string opened;
  while (has_news()) {
    std::string in;
    if (!receive(in, system_clock().boot_ms()) || !tls_->put_sealed(in)) return true;
    const Result<bool> is_more = tls_->open(opened);
    if (!is_more || *is_more) return true;
  }
  return false;
}

Result<void> Wire::wait_for(short events, int64_t deadline_ms) const {
  if (is_ready(socket_.get(), events, deadline_ms)) return {};
  return lost(errno == ETIMEDOUT ? "did not answer in time" : std::strerror(errno), errno);
}

Result<void> Wire::write(std::string_view bytes, int64_t deadline_ms) {
  if (!tls_) return send(bytes, deadline_ms);
  if (const Result<void> sealed = tls_->seal(bytes); !sealed) return lost(sealed.error().text, 0);
  return send(tls_->take_sealed(), deadline_ms);
}

Result<void> Wire::read(std::string& to, int64_t deadline_ms) {
  if (!tls_) return receive(to, deadline_ms);
  for (;;) {
    const Result<bool> opened = tls_->open(to);
    if (!opened) return lost(opened.error().text, 0);
    if (*opened) return {};
    FQ_TRY(send(tls_->take_sealed(), deadline_ms));
    std::string in;
    FQ_TRY(receive(in, deadline_ms));
    FQ_TRY(tls_->put_sealed(in));
  }
}

Result<bool> Wire::read_until(std::string& to, int64_t deadline_ms) {
  for (;;) {
    if (tls_) {
      const Result<bool> opened = tls_->open(to);
      if (!opened) return lost(opened.error().text, 0);
      if (*opened) return true;
      FQ_TRY(send(tls_->take_sealed(), deadline_ms));
    }
    if (!is_ready(socket_.get(), POLLIN, deadline_ms)) {
      if (errno == ETIMEDOUT) return false;
      return lost(std::strerror(errno), errno);
    }
    std::string in;
    FQ_TRY(receive(in, deadline_ms));
    if (!tls_) {
      to += in;
      return true;
    }
    FQ_TRY(tls_->put_sealed(in));
  }
}

Result<void> Wire::send(std::string_view bytes, int64_t deadline_ms) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      FQ_TRY(wait_for(POLLOUT, deadline_ms));
    } else if (errno != EINTR) {
      return lost(std::strerror(errno), errno);
    }
  }
  return {};
}

Result<void> Wire::receive(std::string& to, int64_t deadline_ms) {
  char piece[16 * 1024];
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
    if (got > 0) {
      to.append(piece, static_cast<size_t>(got));
      return {};
    }
    if (got == 0) return lost("closed the connection", 0);
    if (errno == EAGAIN) {
      FQ_TRY(wait_for(POLLIN, deadline_ms));
    } else if (errno != EINTR) {
      return lost(std::strerror(errno), errno);
    }
  }
}

}  // namespace fq
