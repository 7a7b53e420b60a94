// peers - what a user would pick instead: beanstalkd and Redis, where they are installed, each started on a
// socket of its own and at its best setting.
//
// What is compared is what is promised: a durable push with an append and sync before the reply; a lazy one
// with one that is written but not waited for. A pop is at least once with fq and beanstalkd (two round
// trips), and at most once with Redis.
#include "tests/bench/bench.h"

// System.
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace fq::bench {

namespace {

constexpr int kRounds = 5;

/// A server of its own and one connection to it; gone with the object.
class Server {
 public:
  Server(std::vector<std::string> words, std::string socket) : socket_(std::move(socket)) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::posix_spawnp(&pid_, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    for (int wait = 0; pid_ > 0 && connection_ < 0 && wait < 500; ++wait) {
      connect();
      if (connection_ < 0) ::usleep(10'000);  // between two tries: nothing tells that it listens
    }
  }
  ~Server() {
    if (connection_ >= 0) ::close(connection_);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  bool is_there() const { return connection_ >= 0; }

  /// Sends `request` `times` over and reads on until as many `ends` have come.
  void ask(const std::string& request, size_t times, std::string_view ends) {
    std::string all;
    for (size_t i = 0; i < times; ++i) all += request;
    if (::write(connection_, all.data(), all.size()) != static_cast<ssize_t>(all.size())) std::abort();
    reply_.clear();
    for (size_t seen = 0, at = 0; seen < times;) {
      char bytes[64 * 1024];
      const ssize_t got = ::read(connection_, bytes, sizeof bytes);
      if (got <= 0) std::abort();
      reply_.append(bytes, static_cast<size_t>(got));
      for (size_t end; seen < times && (end = reply_.find(ends, at)) != std::string::npos;
           at = end + ends.size())
        ++seen;
    }
  }
  const std::string& reply() const { return reply_; }

 private:
  void connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_.copy(address.sun_path, sizeof address.sun_path - 1);
    connection_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(connection_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
    ::close(connection_);
    connection_ = -1;
  }
  std::string socket_;
  pid_t pid_ = -1;
  int connection_ = -1;
  std::string reply_;
};

std::string put_of() { return "put 0 0 60 64\r\n" + payload_of(64) + "\r\n"; }
std::string lpush_of() { return "*3\r\n$5\r\nLPUSH\r\n$1\r\nq\r\n$64\r\n" + payload_of(64) + "\r\n"; }

std::unique_ptr<Server> beanstalkd(const Setup& setup, const char* sync) {
  const std::string binlog = setup.place + "/beanstalkd";
  std::filesystem::remove_all(binlog);
  std::filesystem::create_directories(binlog);
  const std::string socket = binlog + "/socket";
  return std::make_unique<Server>(
      std::vector<std::string>{"beanstalkd", "-l", "unix:" + socket, "-b", binlog, sync}, socket);
}

std::unique_ptr<Server> redis(const Setup& setup, const std::string& sync) {
  const std::string directory = setup.place + "/redis";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const std::string socket = directory + "/socket";
  return std::make_unique<Server>(
      std::vector<std::string>{"redis-server", "--port", "0", "--unixsocket", socket, "--dir", directory,
                               "--appendonly", "yes", "--appendfsync", sync, "--save", "", "--loglevel",
                               "warning", "--logfile", "log"},
      socket);
}

void reserve_and_delete(Server& server) {
  server.ask("reserve\r\n", 1, "\r\n");
  const std::string id = server.reply().substr(9, server.reply().find(' ', 9) - 9);  // RESERVED <id> <bytes>
  server.ask("delete " + id + "\r\n", 1, "DELETED\r\n");
}

struct Row {
  const char* name;
  std::function<double()> measure;  // nanoseconds a message
  bool is_there;
};

void compare(std::span<const Row> rows) {
  std::vector<std::function<double()>> subjects;
  for (const Row& row : rows) subjects.push_back(row.is_there ? row.measure : [] { return 0.0; });
  const std::vector<double> ns = interleave(kRounds, subjects);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_there) line(rows[i].name, "not installed");
    if (!rows[i].is_there) continue;
    line(rows[i].name, with_unit(1e9 / ns[i], "/s"), i == 0 ? "" : ratio_of(ns[i] / ns[0], "slower than fq"));
  }
}

}  // namespace

void bench_peers(const Setup& setup) {
  const std::unique_ptr<Queue> durable = open(fresh_spool(setup, "peers-durable"), Sync::always);
  const std::unique_ptr<Queue> lazy = open(fresh_spool(setup, "peers-lazy"), Sync::lazy);
  const size_t few = scaled(setup, 500), many = scaled(setup, 5'000);
  const auto each = [](size_t count, const std::function<void()>& work) {
    return ns_each(count, [&](size_t) { work(); });
  };
  const std::string payload = payload_of(64);
  {
    section("Peers: one push after the other, each on disk before its reply (one client)");
    const auto b = beanstalkd(setup, "-f0");
    const auto r = redis(setup, "always");
    const Row rows[] = {
        {"fq", [&] { return each(few, [&] { must(durable->push(messages(0, 1, payload))); }); }, true},
        {"beanstalkd -f0", [&] { return each(few, [&] { b->ask(put_of(), 1, "\r\n"); }); }, b->is_there()},
        {"Redis LPUSH, appendfsync always", [&] { return each(few, [&] { r->ask(lpush_of(), 1, "\r\n"); }); },
         r->is_there()},
    };
    compare(rows);
  }
  const auto b = beanstalkd(setup, "-f50");
  const auto r = redis(setup, "everysec");
  section("Peers: one push after the other, written and not waited for");
  const Row pushes[] = {
      {"fq, lazy", [&] { return push_each(*lazy, many, 1); }, true},
      {"beanstalkd -f50", [&] { return each(many, [&] { b->ask(put_of(), 1, "\r\n"); }); }, b->is_there()},
      {"Redis LPUSH, appendfsync everysec",
       [&] { return each(many, [&] { r->ask(lpush_of(), 1, "\r\n"); }); }, r->is_there()},
  };
  compare(pushes);
  section("Peers: the same, 100 at once");
  const Row batches[] = {
      {"fq, lazy", [&] { return push_each(*lazy, many, 100); }, true},
      {"beanstalkd -f50, pipelined",
       [&] { return each(many / 100, [&] { b->ask(put_of(), 100, "\r\n"); }) / 100; }, b->is_there()},
      {"Redis, pipelined", [&] { return each(many / 100, [&] { r->ask(lpush_of(), 100, "\r\n"); }) / 100; },
       r->is_there()},
  };
  compare(batches);
  section("Peers: one pop after the other (fq and beanstalkd: taken, then ended; Redis: at most once)");
  const Row pops[] = {
      {"fq, lease and ack", [&] { return per_message(many, [&] { take_and_ack(*lazy, many, 1); }); }, true},
      {"beanstalkd, reserve and delete", [&] { return each(many, [&] { reserve_and_delete(*b); }); },
       b->is_there()},
      {"Redis RPOP",
       [&] { return each(many, [&] { r->ask("*2\r\n$4\r\nRPOP\r\n$1\r\nq\r\n", 1, "\r\n"); }); },
       r->is_there()},
  };
  compare(pops);
}

}  // namespace fq::bench
