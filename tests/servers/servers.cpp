#include "tests/servers/servers.h"

// System.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace fq::test {

namespace {

constexpr int kStartMs = 20'000;  // on a machine that is busy with other tests

/// And has loaded what it had saved.
bool answers(const std::string& path) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const bool connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  char answer[64] = {};
  const bool asked = connected && ::send(socket, "PING\r\n", 6, MSG_NOSIGNAL) == 6;
  const bool answered = asked && ::recv(socket, answer, sizeof answer - 1, 0) > 0;
  ::close(socket);
  return answered && !std::string_view(answer).starts_with("-LOADING");
}

}  // namespace

std::string server_program() {
  // The package redis-tools has the program under another name; redis-server would start one for everybody.
  for (const char* path : {"/usr/bin/redis-server", "/usr/bin/valkey-server", "/usr/bin/redis-check-rdb"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

TestServer::TestServer(const std::vector<std::string>& more) : more_(more) {
  const char* base = std::getenv("TMPDIR");
  directory_ = std::string(base != nullptr ? base : "/tmp") + "/fq-server-XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) throw std::runtime_error("no directory for a server");
  socket_ = directory_ + "/s";
  start();
}

TestServer::~TestServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void TestServer::start() {
  std::vector<std::string> words = {
      "redis-server", "--port", "0", "--unixsocket", socket_, "--dir",
      directory_,     "--save", "",  "--maxmemory",  "256mb", "--maxmemory-policy",
      "noeviction"};
  words.insert(words.end(), more_.begin(), more_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string program = server_program(), log = directory_ + "/log";
  const pid_t parent = ::getpid();
  // Not fork(): under a sanitizer to copy the shadow of all memory takes longer than the server needs to come up.
  pid_ = ::vfork();
  if (pid_ == 0) {  // in our own memory: it changes nothing there
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::execv(program.c_str(), argv.data());
    ::_exit(1);
  }
  for (int waited_ms = 0; !answers(socket_); ++waited_ms) {
    if (waited_ms == kStartMs || ::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      throw std::runtime_error("the server does not come up; see " + directory_ + "/log");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // nothing tells when it listens
  }
}

void TestServer::stop() { ::kill(pid_, SIGSTOP); }
void TestServer::go_on() { ::kill(pid_, SIGCONT); }

void TestServer::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::unlink(socket_.c_str());
  }
  pid_ = -1;
}

}  // namespace fq::test
