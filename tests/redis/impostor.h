// impostor - somebody else where a server is expected.
#pragma once

// System.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

/// Somebody who listens on a socket and answers what comes.
class Impostor {
 public:
  /// What to what is asked; "": nothing more, the connection is closed.
  using Answer = std::function<std::string(const std::string& asked)>;
  /// The same to each connection, which is closed then.
  explicit Impostor(std::string once)
      : Impostor([once = std::move(once)](const std::string&) { return once; }, true) {}
  explicit Impostor(Answer answer, bool closes = false)
      : answer_(std::move(answer)),
        closes_(closes),
        path_("/tmp/fq-impostor." + std::to_string(::getpid()) + "." + std::to_string(number_of_next())) {
    ::unlink(path_.c_str());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    thread_ = std::thread([this] {
      for (int client; (client = ::accept(listener_, nullptr, nullptr)) >= 0;) {
        take(client);
        serve(client);
        take(-1);
        ::close(client);
      }
    });
  }
  ~Impostor() {
    ::shutdown(listener_, SHUT_RDWR);
    hang_up();
    thread_.join();
    ::close(listener_);
    ::unlink(path_.c_str());
  }
  std::string spool(const std::string& options = "?timeout=5s") const {
    return "redis+unix://" + path_ + options;
  }

 private:
  static int number_of_next() {
    static int count = 0;
    return ++count;
  }
  void take(int client) {
    const std::lock_guard held(mutex_);
    client_ = client;
    if (is_over_ && client_ >= 0) ::shutdown(client_, SHUT_RDWR);
  }
  /// A client may keep its connection for what it asks next.
  void hang_up() {
    const std::lock_guard held(mutex_);
    is_over_ = true;
    if (client_ >= 0) ::shutdown(client_, SHUT_RDWR);
  }
  void serve(int client) const {
    for (;;) {
      char bytes[4096];
      const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
      const std::string answer = got > 0 ? answer_(std::string(bytes, static_cast<size_t>(got))) : "";
      if (answer.empty()) return;
      if (::send(client, answer.data(), answer.size(), MSG_NOSIGNAL) < 0 || closes_) return;
    }
  }

  Answer answer_;
  bool closes_;
  std::string path_;
  int listener_ = -1;
  std::mutex mutex_;
  int client_ = -1;  // that is served now; -1: none
  bool is_over_ = false;
  std::thread thread_;
};

/// As a server words an answer of this text.
inline std::string as_bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

}  // namespace fq::test
