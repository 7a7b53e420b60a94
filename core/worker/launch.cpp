#include "core/worker/launch.h"

// System.
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fq::worker {

namespace {

constexpr size_t kStackBytes = 256 * 1024;  // execvpe copies argv and names of PATH onto it

// Where the descriptors that keep the messages lie in a job: far from the numbers that scripts use by hand.
constexpr rlim_t kKeptPlace = 500;

/// Everything the child needs, made before it starts: it shares our memory and may not allocate.
struct Plan {
  const Launch* launch;
  std::vector<char*> argv;
  std::vector<char*> environment;
  const std::vector<int>* ignored;
  pid_t parent;
  std::vector<int> kept;    // where launch->kept lie in the job
  volatile int failed = 0;  // errno of what could not be done
  volatile bool limits_failed = false;
};

/// As we were started with, once it was changed.
std::optional<struct rlimit> descriptors_at_start;

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// What is caught becomes default by itself; what is ignored would stay so.
std::vector<int> ignored_signals() {
  std::vector<int> ignored;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now {};
    const bool is_ignored = ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
    if (is_ignored) ignored.push_back(number);
  }
  return ignored;
}

void reset_signals(const std::vector<int>& ignored) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (const int number : ignored) ::sigaction(number, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int kept_place(size_t count) {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (descriptors_at_start) limit = *descriptors_at_start;
  const rlim_t first_free = limit.rlim_cur > count + 3 ? limit.rlim_cur - count : 3;
  return static_cast<int>(std::min(first_free, kKeptPlace));
}

bool place_descriptors(const Launch& launch, std::vector<int>& kept) {
  // The sources are above 2, so none is overwritten before it was used.
  if (::dup2(launch.in, 0) < 0 || ::dup2(launch.out, 1) < 0 || ::dup2(launch.err, 2) < 0) return false;
  // All get their new places before anything is closed; F_DUPFD takes only free ones, so they go up.
  int from = kept_place(kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    kept[i] = ::fcntl(launch.kept[i], F_DUPFD, from);
    if (kept[i] < 0) return false;
    from = kept[i] + 1;
  }
  unsigned next = 3;
  for (const int place : kept) {
    const auto stays = static_cast<unsigned>(place);
    if (stays > next && ::close_range(next, stays - 1, 0) != 0) return false;
    next = stays + 1;
  }
  return ::close_range(next, ~0U, 0) == 0;
}

bool set_limits(const Launch& launch) {
  ::umask(launch.umask);
  if (descriptors_at_start && ::setrlimit(RLIMIT_NOFILE, &*descriptors_at_start) != 0) return false;
  if (launch.nice && ::setpriority(PRIO_PROCESS, 0, *launch.nice) != 0) return false;
  if (launch.limits == nullptr) return true;
  for (const ResourceLimit& limit : *launch.limits) {
    const struct rlimit both { limit.value, limit.value };
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &both) != 0) return false;
  }
  return true;
}

int become_command(void* argument) {
  auto& plan = *static_cast<Plan*>(argument);
  const Launch& launch = *plan.launch;
  bool ready = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  // Dead before it could be asked for.
  if (ready && ::getppid() != plan.parent) ::_exit(127);
  ready = ready && place_descriptors(launch, plan.kept);
  plan.limits_failed = ready && !set_limits(launch);
  ready = ready && !plan.limits_failed;
  if (ready && !launch.directory.empty()) ready = ::chdir(launch.directory.c_str()) == 0;
  if (ready) {
    reset_signals(*plan.ignored);
    ::execvpe(plan.argv[0], plan.argv.data(), plan.environment.data());
  }
  plan.failed = errno;
  ::_exit(127);
}

/// One stack is enough: we wait until the child has become the command.
void* child_stack() {
  static void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  return stack;
}

}  // namespace

Result<Process> launch(const Launch& launch) {
  static const std::vector<int> ignored = ignored_signals();
  Plan plan{&launch,
            pointers_to(launch.argv),
            pointers_to(launch.environment),
            &ignored,
            ::getpid(),
            std::vector<int>(launch.kept.size())};
  void* const stack = child_stack();
  if (stack == MAP_FAILED) return sys_error("map", "a stack for jobs", errno);
  int pidfd = -1;
  const int pid = ::clone(become_command, static_cast<char*>(stack) + kStackBytes,
                          CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  if (pid < 0) return sys_error("start", "a process for a job", errno);
  Process process;
  process.pid = pid;
  process.pidfd = Descriptor(pidfd);
  if (plan.failed == 0) return process;
  reap(process);
  if (plan.limits_failed) {
    Error error = sys_error("cannot be set", "--nice or --rlimit for a job", plan.failed);
    error.kind = ErrorKind::denied;
    return error;
  }
  Error error = sys_error("cannot be started", launch.argv[0], plan.failed);
  // Too much for this one message is not the command's fault.
  error.kind = plan.failed == E2BIG ? ErrorKind::bad_data : ErrorKind::config;
  return error;
}

void allow_many_descriptors() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const struct rlimit all { limit.rlim_max, limit.rlim_max };
  if (::setrlimit(RLIMIT_NOFILE, &all) == 0) descriptors_at_start = limit;
}

namespace {

ExitStatus wait_for(const Process& process, int how) {
  siginfo_t about{};
  int done = -1;
  do {
    done = ::waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &about, how);
  } while (done != 0 && errno == EINTR);
  ExitStatus status;
  if (about.si_code == CLD_EXITED) {
    status.exit = about.si_status;
  } else {
    status.signal = about.si_status;
  }
  return status;
}

}  // namespace

ExitStatus status_of(const Process& process) { return wait_for(process, WEXITED | WNOWAIT); }

ExitStatus reap(const Process& process) { return wait_for(process, WEXITED); }

void wait_until_gone(const Process& process) {
  constexpr int kLooks = 500;
  constexpr timespec kBetween{0, 200'000};
  // Nobody tells of the end of a process that is not our child: it has to be asked for.
  for (int i = 0; i < kLooks && ::kill(-process.pid, 0) == 0; ++i) ::nanosleep(&kBetween, nullptr);
}

void signal_group(const Process& process, int signal) { ::kill(-process.pid, signal); }

}  // namespace fq::worker
