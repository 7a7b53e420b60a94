// real_fq - the real binary and a spool of its own, for tests of what only processes show.
//
// FQ in the environment names the binary (the test build, with fault points). Every process that a test
// starts has a deadline: a hang is a failure and never a test that does not end. Nothing here sleeps to
// give others time: settle points are read from /proc (asleep_in_futex) or told by the kernel (stopped).
#pragma once

// System.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// Tests.
#include "tests/asleep.h"
#include "tests/catch.h"

extern char** environ;

namespace fq::test {

using Clock_ = std::chrono::steady_clock;

inline double ms_since(Clock_::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock_::now() - start).count();
}

inline std::string fq_binary() {
  const char* binary = std::getenv("FQ");
  if (binary == nullptr) FAIL("FQ names no binary: run through ctest, or set it to the test build");
  return binary;
}

/// How a process ended. exit is -1 when a signal ended it; 'hung' when it had to be killed.
struct Outcome {
  int exit = -1;
  int signal = 0;
  bool hung = false;
  std::string out, err;
  double ms = 0;
};

struct Start {
  std::vector<std::string> env;  // NAME=VALUE
  std::string input;
};

/// A running process. Killed, if it still runs, when the test leaves it.
class Child {
 public:
  Child(const std::vector<std::string>& command, const Start& how) {
    out_ = ::memfd_create("out", MFD_CLOEXEC);
    err_ = ::memfd_create("err", MFD_CLOEXEC);
    const int in = ::memfd_create("in", MFD_CLOEXEC);
    if (!how.input.empty()) {
      REQUIRE(::pwrite(in, how.input.data(), how.input.size(), 0) == ssize_t(how.input.size()));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out_, 1);
    posix_spawn_file_actions_adddup2(&actions, err_, 2);
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    std::vector<char*> env;
    for (const std::string& pair : how.env) env.push_back(const_cast<char*>(pair.c_str()));
    for (char** pair = environ; *pair != nullptr; ++pair) env.push_back(*pair);
    env.push_back(nullptr);
    start_ = Clock_::now();
    const int failed = ::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), env.data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(in);
    INFO("starting " << command[0]);
    REQUIRE(failed == 0);
    pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  }
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), pidfd_(std::exchange(other.pidfd_, -1)),
        out_(std::exchange(other.out_, -1)), err_(std::exchange(other.err_, -1)), start_(other.start_) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(pidfd_, other.pidfd_);
    std::swap(out_, other.out_);
    std::swap(err_, other.err_);
    std::swap(start_, other.start_);
    return *this;
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const int descriptor : {pidfd_, out_, err_}) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }

  pid_t pid() const { return pid_; }
  void send(int signal) const { ::kill(pid_, signal); }
  std::string out() const { return text_of(out_); }

  /// Waits for the end; after `limit_ms` it is killed and has hung.
  Outcome end(int limit_ms = 20'000) {
    pollfd ended{pidfd_, POLLIN, 0};
    Outcome outcome;
    outcome.hung = ::poll(&ended, 1, limit_ms) == 0;
    if (outcome.hung) ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    outcome.ms = ms_since(start_);
    if (WIFEXITED(status)) outcome.exit = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    outcome.out = text_of(out_);
    outcome.err = text_of(err_);
    return outcome;
  }

  bool runs() const {
    pollfd ended{pidfd_, POLLIN, 0};
    return ::poll(&ended, 1, 0) == 0;
  }

  Outcome killed() {
    send(SIGKILL);
    return end();
  }

  /// Waits until it has stopped itself (FQ_STOP_AT). False: it ended instead, or 20 s were over.
  bool stopped() const {
    for (const auto begin = Clock_::now(); ms_since(begin) < 20'000; ::usleep(200)) {  // no signal tells of it
      siginfo_t info{};
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG);
      if (info.si_pid != 0) return info.si_code == CLD_STOPPED;
    }
    return false;
  }

  /// Waits until it sleeps on a futex, as a waiting pop does. False: it ended, or 10 s were over.
  bool asleep_in_futex() const { return falls_asleep(task_of(pid_)); }

 private:
  static std::string text_of(int descriptor) {
    std::string text(static_cast<size_t>(std::max<off_t>(0, ::lseek(descriptor, 0, SEEK_END))), '\0');
    if (::pread(descriptor, text.data(), text.size(), 0) != ssize_t(text.size())) return {};
    return text;
  }
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int out_ = -1;
  int err_ = -1;
  Clock_::time_point start_;
};

inline Outcome run(const std::vector<std::string>& command, const Start& how = {}) {
  return Child(command, how).end();
}
inline Outcome shell(const std::string& script) { return run({"/bin/bash", "-c", script}); }

/// What the queue holds of one message.
struct Seen {
  uint64_t id = 0;
  std::string tenant;
  State state{};
  uint32_t attempts = 0;
  uint32_t deliveries = 0;
};

/// Where spools are made: TMPDIR, else memory (a kill needs no disk, and hundreds of spools do).
inline std::string scratch_base() {
  if (const char* base = std::getenv("TMPDIR")) return base;
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

/// A directory with a spool in it, gone with the object.
class Spool {
 public:
  Spool() : directory_(scratch_base() + "/fq-process-XXXXXX") {
    REQUIRE(::mkdtemp(directory_.data()) != nullptr);
    path_ = directory_ + "/spool";
  }
  /// One that lies where the caller says (a mount); left there.
  explicit Spool(std::string path) : path_(std::move(path)) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool() {
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }

  const std::string& path() const { return path_; }
  const std::string& directory() const { return directory_; }
  std::string queue(const std::string& name = {}) const { return path_ + "/queues/default/" + name; }

  Start with(Start how = {}) const {
    how.env.push_back("FQ_SPOOL=" + path_);
    return how;
  }
  Child start(std::vector<std::string> words, const Start& how = {}) const {
    words.insert(words.begin(), fq_binary());
    return Child(words, with(how));
  }
  Outcome fq(const std::vector<std::string>& words, const Start& how = {}) const { return start(words, how).end(); }
  /// fq WORDS, killed at a fault point ("push.appended:1").
  void fq_killed_at(const std::string& point, const std::vector<std::string>& words, Start how = {}) const {
    how.env.push_back("FQ_KILL_AT=" + point);
    INFO(point);
    REQUIRE(fq(words, how).signal == SIGKILL);
  }
  Child start_stopping_at(const std::string& point, const std::vector<std::string>& words) const {
    return start(words, {.env = {"FQ_STOP_AT=" + point}, .input = {}});
  }
  /// A script with $FQ and $FQ_SPOOL set.
  Outcome shell(const std::string& script) const { return run({"/bin/bash", "-c", script}, with()); }

  /// What fq WORDS prints; it must succeed.
  std::string says(const std::vector<std::string>& words, const Start& how = {}) const {
    const Outcome outcome = fq(words, how);
    INFO("fq " << words[0] << ": exit " << outcome.exit << " signal " << outcome.signal << ": " << outcome.err);
    REQUIRE(outcome.exit == 0);
    std::string out = outcome.out;
    if (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
  }
  std::string push(const std::string& payload, const std::string& tenant = "default") const {
    return says({"push", "--payload=" + payload, "-t", tenant});
  }
  /// Leases one for an hour: its receipt.
  std::string lease() const {
    const std::string line = says({"pop", "--lease", "1h"});
    return line.substr(0, line.find('\t'));
  }
  void policy(const std::string& toml) const {
    std::filesystem::create_directories(path_);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    std::ofstream(path_ + "/fq.toml") << "[queue.\"*\"]\n" << toml << "\n";
  }

  std::unique_ptr<Queue> door(bool create = true) const {
    OpenOptions options;
    options.create = create;
    auto opened = open_queue({path_, "default"}, options);
    INFO((opened.ok() ? std::string() : opened.error().text));
    REQUIRE(opened.ok());
    return std::move(opened).value();
  }
  /// Everything unfinished, by payload; a payload that is there twice fails the test.
  std::map<std::string, Seen> live() const {
    std::map<std::string, Seen> seen;
    const std::unique_ptr<Queue> queue = door();
    Cursor from;
    do {
      Result<MessagePage> page = queue->peek(Filter{}, from, 1000);
      INFO((page.ok() ? std::string() : page.error().text));
      REQUIRE(page.ok());
      for (const MessageInfo& each : page->messages) {
        const Seen one{number(each.id), each.tenant, each.state, each.attempts, each.deliveries};
        const bool first = seen.emplace(each.payload.value_or("(none)"), one).second;
        INFO("payload: " << each.payload.value_or("(none)").substr(0, 40));
        CHECK(first);
      }
      from = page->next;
    } while (!from.text.empty());
    return seen;
  }
  std::set<std::string> payloads() const {
    std::set<std::string> names;
    for (const auto& [payload, seen] : live()) names.insert(payload);
    return names;
  }
  /// fq check finds nothing.
  void check_clean() const {
    const Outcome outcome = fq({"check"});
    INFO("fq check: signal " << outcome.signal << ": " << outcome.out << outcome.err);
    CHECK(outcome.exit == 0);
  }
  uint64_t recoveries() const {
    const std::unique_ptr<Queue> queue = door();
    return queue->stats({}).value().rows.at(0).recoveries;
  }

  /// The journal's files, oldest first.
  std::vector<std::string> journal_files() const {
    std::vector<std::pair<int, std::string>> numbered;
    for (const auto& item : std::filesystem::directory_iterator(queue("journal"))) {
      numbered.emplace_back(std::atoi(item.path().filename().c_str()), item.path().string());
    }
    std::sort(numbered.begin(), numbered.end());
    std::vector<std::string> names;
    for (auto& [number, name] : numbered) names.push_back(std::move(name));
    return names;
  }

 private:
  std::string directory_;
  std::string path_;
};

inline std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
inline void write_at(const std::string& path, size_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  REQUIRE(file);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}
inline bool is_root() { return ::geteuid() == 0; }
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace fq::test
