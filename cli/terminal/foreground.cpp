#include "cli/terminal/foreground.h"

// System.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>
#include <optional>
#include <vector>

namespace fq::cli {

namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

Result<pid_t> start(const std::string& path, std::span<const std::string> words, std::string_view name) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const sigset_t none = set_of({});
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, path.c_str(), nullptr, &how, argv.data(), environ);
  ::posix_spawnattr_destroy(&how);
  if (failed != 0) return sys_error("start", name, failed);
  return pid;
}

/// What was sent to both was for the program.
void forget_signals_of_the_terminal() {
  const sigset_t those = set_of({SIGINT, SIGQUIT, SIGTSTP});
  const timespec at_once{};
  while (::sigtimedwait(&those, nullptr, &at_once) > 0) continue;
}

/// None: it goes on.
Result<std::optional<int>> look_for_end(pid_t pid, std::string_view name) {
  int status = 0;
  const pid_t found = ::waitpid(pid, &status, WNOHANG | WUNTRACED);
  if (found < 0 && errno != EINTR) return sys_error("wait for", name, errno);
  if (found <= 0) return std::optional<int>();
  if (!WIFSTOPPED(status)) return std::optional(status);
  ::raise(SIGSTOP);
  ::kill(pid, SIGCONT);  // only we may have been told to go on
  return std::optional<int>();
}

}  // namespace

Result<int> run_in_foreground(const std::string& path, std::span<const std::string> words,
                              std::string_view name, Endings endings) {
  ::signal(SIGCHLD, SIG_DFL);  // where it is ignored no status is kept
  FQ_TRY_SET(const pid_t pid, start(path, words, name));
  const sigset_t told =
      endings == Endings::handed_on ? set_of({SIGCHLD, SIGTERM, SIGHUP}) : set_of({SIGCHLD});
  int handed_on = 0;
  for (;;) {
    FQ_TRY_SET(const std::optional<int> status, look_for_end(pid, name));
    if (status) {
      forget_signals_of_the_terminal();
      if (handed_on != 0) ::raise(handed_on);  // blocked: it is for whoever waits next
      return *status;
    }
    const int signal = ::sigwaitinfo(&told, nullptr);
    if (signal != SIGTERM && signal != SIGHUP) continue;
    handed_on = signal;
    ::kill(pid, signal);
  }
}

}  // namespace fq::cli
