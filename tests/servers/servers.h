// servers - real servers for tests: each on a unix socket in a directory of its own, ended with its object.
#pragma once

// System.
#include <sys/types.h>

#include <string>
#include <vector>

namespace fq::test {

/// Where the server's program is; "": not installed.
std::string server_program();

class TestServer {
 public:
  /// `more`: settings as its command line takes them. Throws when it does not come up.
  explicit TestServer(const std::vector<std::string>& more = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  const std::string& socket() const { return socket_; }
  /// The spool in it, with options of the URL.
  std::string spool(const std::string& options = {}) const { return "redis+unix://" + socket_ + options; }
  void kill();
  bool lives() const { return pid_ > 0; }
  /// It stands still, and goes on.
  void stop();
  void go_on();
  /// Anew, with what it had saved, and another run_id.
  void start();

 private:
  std::string directory_, socket_;
  std::vector<std::string> more_;
  pid_t pid_ = -1;
};

}  // namespace fq::test
