#include "cli/session/caught_command.h"

// System.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/terminal/output.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr int kNotFound = 127;  // as a shell tells it
constexpr int kNotRun = 126;
constexpr int kBySignal = 128;

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Ours, with those that are given in the place of what they name.
std::vector<std::string> environment_with(const std::vector<std::string>& given) {
  std::vector<std::string> all = given;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable(*each);
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    bool replaced = false;
    for (const std::string& other : given) replaced = replaced || other.starts_with(name);
    if (!replaced) all.emplace_back(variable);
  }
  return all;
}

/// Those that end us; what is ignored stays so.
sigset_t ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&ending, number);
  }
  return ending;
}

/// How it is started: with a signal mask and a umask as ours were, and its output into `out`. 0, or errno.
int start(const CaughtCommand& command, int out, pid_t& pid) {
  const std::vector<std::string> variables = environment_with(command.variables);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  sigset_t none, plain;
  sigemptyset(&none);
  sigemptyset(&plain);
  sigaddset(&plain, SIGXFSZ);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setsigdefault(&how, &plain);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  if (command.kept >= 0) ::posix_spawn_file_actions_adddup2(&files, command.kept, command.kept);
  const mode_t ours = ::umask(umask_at_start());
  const int failed = ::posix_spawnp(&pid, command.argv[0].c_str(), &files, &how,
                                    pointers_to(command.argv).data(), pointers_to(variables).data());
  ::umask(ours);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  return failed;
}

int exit_status_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return kNotRun;
  }
  return WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
}

/// A signal for us: the command gets it now, and we when all is done.
void hand_on_signal(int signals, pid_t pid) {
  signalfd_siginfo info;
  if (::read(signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return;
  const auto number = static_cast<int>(info.ssi_signo);
  ::kill(pid, number);
  ::raise(number);  // it is blocked, and delivered when the command has done its work
}

}  // namespace

Result<Caught> run_caught(const CaughtCommand& command,
                          const std::function<Result<void>(std::string_view)>& pass) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return sys_error("make", "a pipe", errno);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const sigset_t ending = ending_signals();
  const Descriptor signals(::signalfd(-1, &ending, SFD_CLOEXEC));
  if (!signals) return sys_error("watch", "signals", errno);
  Caught caught;
  pid_t pid = 0;
  const int failed = start(command, to.get(), pid);
  to.close();
  if (failed != 0) {
    say(in_quotes(command.argv[0]) + ": " + std::string(std::strerror(failed)));
    caught.status = failed == ENOENT ? kNotFound : kNotRun;
    return caught;
  }
  std::array<char, 64 * 1024> piece;
  Result<void> passed;
  std::array<pollfd, 2> watched = {{{from.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    if ((watched[1].revents & POLLIN) != 0) {
      hand_on_signal(signals.get(), pid);
      watched[1].fd = -1;  // it stays pending, and would be read again
    }
    if (watched[0].revents == 0) continue;
    const ssize_t got = ::read(from.get(), piece.data(), piece.size());
    if (got == 0) break;
    if (got < 0) continue;
    caught.output.append(piece.data(), static_cast<size_t>(got));
    caught.too_long = caught.too_long || caught.output.size() > command.output_max;
    if (!caught.too_long) continue;
    if (passed.ok()) passed = pass(caught.output);
    caught.output.clear();
  }
  caught.status = exit_status_of(pid);
  FQ_TRY(std::move(passed));
  return caught;
}

}  // namespace fq::cli
