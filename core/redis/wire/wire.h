// wire - bytes to and from a server, each wait with an end.
#pragma once

// System.
#include <memory>
#include <string_view>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/result.h"
// fq, this room.
#include "core/redis/wire/redis_place.h"
#include "core/redis/wire/tls.h"

namespace fq {

/// As errors name it: "HOST:PORT".
std::string name_of_host(const RedisPlace::Host& host);

/// A connected socket, or TLS over one. Errors name the server.
class Wire {
 public:
  /// `host`: of the place's; none: its socket. ErrorKind::later: no server is there, nothing was done.
  static Result<Wire> connect(const RedisPlace& place, const RedisPlace::Host* host);

  const std::string& name() const { return name_; }
  /// The other side has closed it, or sent bytes that were not asked for: a command sent now would not be
  /// answered.
  bool is_over();
  Result<void> write(std::string_view bytes, int64_t deadline_ms);
  /// Appends what is there next to `to`. The end of the stream is an Error.
  Result<void> read(std::string& to, int64_t deadline_ms);
  /// Likewise; false: nothing came until then.
  Result<bool> read_until(std::string& to, int64_t deadline_ms);
  /// Which can be read when something comes.
  int descriptor() const { return socket_.get(); }

 private:
  Wire(Descriptor socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}
  Result<void> greet(std::unique_ptr<Tls> tls, int64_t deadline_ms);
  Result<void> send(std::string_view bytes, int64_t deadline_ms);
  /// What is there next, at most a piece of it.
  Result<void> receive(std::string& to, int64_t deadline_ms);
  bool has_news();
  Result<void> wait_for(short events, int64_t deadline_ms) const;
  Error lost(std::string_view what, int sys) const;

  Descriptor socket_;
  std::string name_;
  std::unique_ptr<Tls> tls_;  // none: bytes go as they are
};

}  // namespace fq
