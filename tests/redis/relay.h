// relay - a way to a server on which a test sees what is asked, and meddles with what is told.
#pragma once

// System.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

class Relay {
 public:
  /// Called with what a client sends, before it is sent on. Not empty: that is answered, and the server never
  /// hears of it.
  using Meddle = std::function<std::string(const std::string& asked)>;
  explicit Relay(const TestServer& server, Meddle meddle = {})
      : meddle_(std::move(meddle)),
        to_(address_of(server.socket())),
        path_("/tmp/fq-relay." + std::to_string(::getpid()) + "." + std::to_string(number_of_next())) {
    ::unlink(path_.c_str());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(path_);
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 64) == 0);
    acceptor_ = std::thread([this] { accept(); });
  }
  ~Relay() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    cut();
    for (Way& way : ways_) way.thread.join();
    for (const Way& way : ways_) ::close(way.client), ::close(way.server);
    ::close(listener_);
    ::unlink(path_.c_str());
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string spool(const std::string& options = {}) const { return "redis+unix://" + path_ + options; }
  /// How often a client has waited for an answer: each time that it sends something after one counts.
  size_t round_trips() const { return round_trips_; }
  /// All connections that there are; others may be made.
  void cut() {
    const std::lock_guard held(mutex_);
    for (const Way& way : ways_) ::shutdown(way.client, SHUT_RDWR), ::shutdown(way.server, SHUT_RDWR);
  }

 private:
  struct Way {
    int client = -1, server = -1;
    std::thread thread = {};
  };
  static int number_of_next() {
    static int count = 0;
    return ++count;
  }
  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }
  void accept() {
    for (int client; (client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      static_cast<void>(::connect(server, reinterpret_cast<const sockaddr*>(&to_), sizeof to_));
      const std::lock_guard held(mutex_);
      Way& way = ways_.emplace_back(Way{client, server});
      way.thread = std::thread([this, client, server] { carry(client, server); });
    }
  }
  void carry(int client, int server) {
    bool is_answered = true;
    for (;;) {
      pollfd polls[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
      ::poll(polls, 2, -1);
      for (const int from : {0, 1}) {
        if (polls[from].revents == 0) continue;
        char bytes[16 * 1024];
        const ssize_t got = ::recv(polls[from].fd, bytes, sizeof bytes, 0);
        if (got <= 0) {
          ::shutdown(client, SHUT_RDWR);
          ::shutdown(server, SHUT_RDWR);
          return;
        }
        if (from == 0 && is_answered) ++round_trips_;
        is_answered = from == 1;
        const std::string text(bytes, static_cast<size_t>(got));
        const std::string answer = from == 0 && meddle_ ? meddle_(text) : "";
        const std::string& sent = answer.empty() ? text : answer;
        ::send(answer.empty() ? polls[1 - from].fd : client, sent.data(), sent.size(), MSG_NOSIGNAL);
      }
    }
  }

  Meddle meddle_;
  std::atomic<size_t> round_trips_{0};
  sockaddr_un to_;
  std::string path_;
  int listener_ = -1;
  std::mutex mutex_;
  std::list<Way> ways_;
  std::thread acceptor_;
};

/// Has the server do it, and tells nobody what it answers.
inline void do_unheard(const TestServer& server, const std::string& asked) {
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  server.socket().copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::send(connection, asked.data(), asked.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(asked.size()));
  char answer[64];
  REQUIRE(::recv(connection, answer, sizeof answer, 0) > 0);
  ::close(connection);
}

}  // namespace fq::test
