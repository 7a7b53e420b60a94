#include "cli/terminal/terminal.h"

// System.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
// fq, this room.
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";  // alternate screen, no cursor
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr int kLookAgainMs = 1'000;  // a signal may come just before a wait
constexpr char kAllIsWell = '.';

volatile sig_atomic_t window_changed = 0;
volatile sig_atomic_t stop_asked = 0;
volatile sig_atomic_t continued = 0;

void on_change(int number) {
  if (number == SIGWINCH) window_changed = 1;
  if (number == SIGTSTP) stop_asked = 1;
  if (number == SIGCONT) continued = 1;
}

void catch_change(int number) {
  struct sigaction catching {};
  catching.sa_handler = on_change;  // without SA_RESTART: it has to end a poll
  ::sigaction(number, &catching, nullptr);
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
}

/// The child: signals are blocked, so what ends the job does not end it, nor is it stopped for writing from
/// another group.
[[noreturn]] void keep(int pipe, const termios& before) {
  ::setpgid(0, 0);
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(pipe, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) {
    write_all(STDOUT_FILENO, kLeave);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }
  ::_exit(0);
}

}  // namespace

Result<void> Terminal::start_keeper() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return sys_error("make a pipe", "terminal", errno);
  keeper_ = ::fork();
  if (keeper_ == 0) {
    ::close(ends[1]);
    keep(ends[0], before_);
  }
  const int failed = keeper_ < 0 ? errno : 0;
  ::close(ends[0]);
  keeper_pipe_ = ends[1];
  if (failed == 0) return {};
  ::close(keeper_pipe_);
  return sys_error("make a process", "terminal", failed);
}

Result<void> Terminal::begin() {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) return sys_error("ask", "terminal", errno);
  FQ_TRY(start_keeper());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    said_ = ends[0];
    stderr_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    saying_ = ends[1];
    ::dup2(saying_, STDERR_FILENO);
  }
  catch_signals();
  for (const int number : {SIGWINCH, SIGTSTP, SIGCONT}) catch_change(number);
  begun_ = true;
  enter();
  return {};
}

void Terminal::read_keys_one_by_one() {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void Terminal::enter() {
  read_keys_one_by_one();
  write_all(STDOUT_FILENO, kEnter);
}

void Terminal::leave() {
  write_all(STDOUT_FILENO, kLeave);
  // What was typed for the view is not for the shell.
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

void Terminal::end() {
  if (!begun_) return;
  begun_ = false;
  leave();
  write_all(keeper_pipe_, {&kAllIsWell, 1});
  ::close(keeper_pipe_);
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) continue;
  if (stderr_ < 0) return;
  ::dup2(stderr_, STDERR_FILENO);
  ::close(stderr_);
  ::close(saying_);
  ::close(said_);
}

void Terminal::lend() {
  leave();
  if (stderr_ >= 0) ::dup2(stderr_, STDERR_FILENO);
}

void Terminal::take_back() {
  if (stderr_ >= 0) ::dup2(saying_, STDERR_FILENO);
  enter();
}

Terminal::Woken Terminal::hold(std::string_view text) {
  read_keys_one_by_one();
  ::tcflush(STDIN_FILENO, TCIFLUSH);  // what was typed before was not for this
  write_all(STDOUT_FILENO, text);
  for (;;) {
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    {
      const LetSignalsThrough open;
      ::poll(&keys, 1, catch_signals().raised() ? 0 : kLookAgainMs);
    }
    if (catch_signals().raised()) return Woken::ended;
    if (stop_asked != 0) {
      ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
      ::raise(SIGSTOP);
      stop_asked = 0;
      read_keys_one_by_one();
    }
    if (keys.revents == 0) continue;
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) <= 0) return Woken::ended;  // the terminal is gone
    ::tcflush(STDIN_FILENO, TCIFLUSH);                             // the rest of that key
    write_all(STDOUT_FILENO, "\n");
    return Woken::keys;
  }
}

Result<void> Terminal::draw(std::string_view frame) {
  while (!frame.empty()) {
    const ssize_t done = ::write(STDOUT_FILENO, frame.data(), frame.size());
    if (done < 0 && errno == EAGAIN) {
      pollfd ready{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (done < 0) return sys_error("write", "terminal", errno);
    frame.remove_prefix(static_cast<size_t>(done));
  }
  return {};
}

/// As any program stops on Ctrl-Z: the terminal is given back, and taken again when it goes on.
void Terminal::stop() {
  leave();
  ::raise(SIGSTOP);
  stop_asked = 0;
  continued = 1;
}

/// The terminal is the shell's while we are in its background: as any program that wants it then, we stop.
bool Terminal::regain() {
  for (;;) {
    const pid_t whose = ::tcgetpgrp(STDIN_FILENO);
    if (whose < 0) return false;
    if (whose == ::getpgrp()) break;
    ::raise(SIGSTOP);
  }
  continued = 0;
  enter();
  return true;
}

Terminal::Woken Terminal::wait(int64_t ms) {
  typed_.clear();
  int found = 0;
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  {
    const LetSignalsThrough open;
    found = ::poll(&keys, 1, static_cast<int>(ms));
  }
  if (catch_signals().raised()) return Woken::ended;
  if (stop_asked != 0) stop();
  // Also after a SIGSTOP, of which nothing was told.
  if (continued != 0) return regain() ? Woken::resized : Woken::ended;
  if (window_changed != 0) {
    window_changed = 0;
    write_all(STDOUT_FILENO, "\x1b[2J");
    return Woken::resized;
  }
  if (found <= 0) return Woken::time;
  std::array<char, 256> bytes;
  const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got <= 0) return Woken::ended;  // the terminal is gone
  typed_.assign(bytes.data(), static_cast<size_t>(got));
  return Woken::keys;
}

std::string Terminal::last_said() {
  std::string all;
  std::array<char, 4096> bytes;
  for (ssize_t got; said_ >= 0 && (got = ::read(said_, bytes.data(), bytes.size())) > 0;)
    all.append(bytes.data(), static_cast<size_t>(got));
  while (!all.empty() && all.back() == '\n') all.pop_back();
  const size_t last = all.rfind('\n');
  return last == std::string::npos ? all : all.substr(last + 1);
}

}  // namespace fq::cli
