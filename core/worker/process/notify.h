// notify - the reports of a service to systemd: ready, stopping, still alive, and what it does.
//
// The protocol is a datagram of lines to the socket that $NOTIFY_SOCKET names; a library for it would be most
// of the binary. Does nothing where nobody listens.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/clock.h"

namespace fq::worker {

class Notify {
 public:
  /// From $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, as systemd sets them; "" where they are not set.
  Notify(std::string socket, std::string_view watchdog_us, std::string_view watchdog_pid);
  ~Notify();
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;

  void tell(std::string_view lines) const;
  /// Tells when it is time to; when to come back.
  int64_t keep_alive(int64_t now_ms);
  /// Whether anybody may listen.
  bool is_heard() const { return socket_ >= 0; }
  /// Our work, for a person: told when it has changed, once a second at most; when to come back.
  int64_t show(const std::string& status, int64_t now_ms);

 private:
  int socket_ = -1;
  std::string path_;
  int64_t interval_ms_ = 0;  // 0: no watchdog
  int64_t next_ms_ = kNever;
  std::string shown_;
  int64_t show_ms_ = 0;  // not before
};

}  // namespace fq::worker
