#include "core/worker/process/launch.h"

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

constexpr size_t kStackBytes = 256 * 1024;
constexpr size_t kGuardBytes = 64 * 1024;

// Where the descriptors that keep the messages lie in a job: apart from the numbers that scripts use by hand,
// and below 64. A process's table of descriptors has so many places at first; to make it larger, and to close
// all that is then in it, took 1 % of a job.
constexpr rlim_t kKeptPlace = 57;

/// What a child does before it is the command.
enum class Step { prepare, nice, limits, directory, exec };

/// Everything the child needs, made before it starts: it shares our memory and may not allocate.
struct Plan {
  const Launch* launch;
  std::vector<char*> argv;
  std::vector<char*> shell_argv;      // of a script without an interpreter: "/bin/sh", its path, argv's rest
  std::vector<std::string> programs;  // where the command may lie, in this order
  std::vector<char*> environment;
  const std::vector<int>* ignored;
  pid_t parent;
  std::vector<int> kept;    // where launch->kept lie in the job
  volatile int failed = 0;  // errno of what could not be done
  volatile Step failed_at = Step::exec;
};

/// As we were started with, once it was changed.
std::optional<struct rlimit> descriptors_at_start;
std::optional<struct rlimit> core_at_start;

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// As execvp does it, but in the PATH that the job will have and not in ours.
std::vector<std::string> programs_of(const Launch& launch) {
  const std::string& name = launch.argv[0];
  if (name.empty() || name.find('/') != std::string::npos) return {name};
  std::string_view path = "/bin:/usr/bin";
  for (const std::string& each : launch.environment) {
    if (each.starts_with("PATH=")) path = std::string_view(each).substr(5);
  }
  std::vector<std::string> programs;
  for (;;) {
    const std::string_view directory = path.substr(0, path.find(':'));
    programs.push_back(directory.empty() ? name : std::string(directory) + "/" + name);
    if (directory.size() == path.size()) return programs;
    path.remove_prefix(directory.size() + 1);
  }
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
  if (descriptors_at_start && ::setrlimit(RLIMIT_NOFILE, &*descriptors_at_start) != 0) return false;
  if (core_at_start && ::setrlimit(RLIMIT_CORE, &*core_at_start) != 0) return false;
  if (launch.limits == nullptr) return true;
  for (const ResourceLimit& limit : *launch.limits) {
    const struct rlimit both { limit.value, limit.value };
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &both) != 0) return false;
  }
  return true;
}

/// Which step failed; none when the command can be become.
std::optional<Step> failed_step(Plan& plan) {
  const Launch& launch = *plan.launch;
  const bool prepared = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  // Dead before it could be asked for.
  if (prepared && ::getppid() != plan.parent) ::_exit(127);
  if (!prepared || !place_descriptors(launch, plan.kept)) return Step::prepare;
  ::umask(launch.umask);
  if (launch.nice && ::setpriority(PRIO_PROCESS, 0, *launch.nice) != 0) return Step::nice;
  if (!set_limits(launch)) return Step::limits;
  if (!launch.directory.empty() && ::chdir(launch.directory.c_str()) != 0) return Step::directory;
  return std::nullopt;
}

/// Returns only when none of the programs can be become; errno tells why.
void become_one_of(Plan& plan) {
  bool denied = false;
  for (const std::string& program : plan.programs) {
    ::execve(program.c_str(), plan.argv.data(), plan.environment.data());
    if (errno == ENOEXEC) {
      plan.shell_argv[1] = const_cast<char*>(program.c_str());
      ::execve(plan.shell_argv[0], plan.shell_argv.data(), plan.environment.data());
    }
    denied = denied || errno == EACCES;
    const bool not_there = errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ESTALE ||
                           errno == ENODEV || errno == ETIMEDOUT;
    if (!not_there) return;
  }
  if (denied) errno = EACCES;
}

int become_command(void* argument) {
  auto& plan = *static_cast<Plan*>(argument);
  const std::optional<Step> failed = failed_step(plan);
  if (!failed) {
    reset_signals(*plan.ignored);
    become_one_of(plan);
  }
  plan.failed = errno;
  plan.failed_at = failed.value_or(Step::exec);
  ::_exit(127);
}

/// Its top. One is enough: we wait until the child has become the command. None: errno tells why.
char* child_stack(size_t words) {
  static char* stack = nullptr;
  static size_t bytes = 0;
  const size_t wanted = kStackBytes + 2 * words * sizeof(char*);
  if (stack != nullptr && bytes >= wanted) return stack + kGuardBytes + bytes;
  if (stack != nullptr) ::munmap(stack, kGuardBytes + bytes);
  stack = nullptr;
  void* const made = ::mmap(nullptr, kGuardBytes + wanted, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return nullptr;
  // It shares our memory: what does not fit must not go into something else.
  ::mprotect(made, kGuardBytes, PROT_NONE);
  stack = static_cast<char*>(made);
  bytes = wanted;
  return stack + kGuardBytes + bytes;
}

/// What no other moment and no other message would mend.
bool is_the_commands_fault(int code) {
  constexpr int kFaults[] = {ENOENT, EACCES, EPERM, ENOTDIR, ENOEXEC, ELOOP, ENAMETOOLONG, EISDIR, EINVAL};
  return std::find(std::begin(kFaults), std::end(kFaults), code) != std::end(kFaults);
}

/// What every start needs is short: the next message would meet the same.
bool is_everybodys(int code) {
  return code == ENOMEM || code == EAGAIN || code == EMFILE || code == ENFILE || code == EINTR;
}

Error fault_of(const Plan& plan) {
  const Launch& launch = *plan.launch;
  Error error;
  switch (plan.failed_at) {
    case Step::nice:
      error = sys_error("cannot be set", "--nice " + std::to_string(launch.nice.value_or(0)), plan.failed);
      error.kind = ErrorKind::denied;
      return error;
    case Step::limits:
      error = sys_error("cannot be set", "--rlimit", plan.failed);
      error.kind = ErrorKind::denied;
      return error;
    case Step::directory:
      error = sys_error("cannot be entered", "directory '" + launch.directory + "'", plan.failed);
      error.sys = 0;  // it is not the command that is not there
      break;
    case Step::prepare:
    case Step::exec:
      error = sys_error("cannot be started", launch.argv[0], plan.failed);
      break;
  }
  const bool is_prepared = plan.failed_at != Step::prepare;
  if (plan.failed == E2BIG) {
    error.kind = ErrorKind::bad_data;  // too much for this one message
  } else if (is_prepared && is_the_commands_fault(plan.failed)) {
    error.kind = ErrorKind::config;
  } else {
    // A dead file system, a program that is being written: of this command alone, and nobody knows for how
    // long.
    error.kind = is_prepared && !is_everybodys(plan.failed) ? ErrorKind::unusable : ErrorKind::later;
  }
  return error;
}

}  // namespace

Result<Process> launch(const Launch& launch) {
  static const std::vector<int> ignored = ignored_signals();
  static constexpr char kShell[] = "/bin/sh";
  Plan plan{&launch,
            pointers_to(launch.argv),
            {const_cast<char*>(kShell), nullptr},
            programs_of(launch),
            pointers_to(launch.environment),
            &ignored,
            ::getpid(),
            std::vector<int>(launch.kept.size())};
  plan.shell_argv.insert(plan.shell_argv.end(), plan.argv.begin() + 1, plan.argv.end());
  char* const stack = child_stack(plan.argv.size());
  if (stack == nullptr) return sys_error("map", "a stack for jobs", errno);
  int pidfd = -1;
  const int pid =
      ::clone(become_command, stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  if (pid < 0) return sys_error("start", "a process for a job", errno);
  Process process;
  process.pid = pid;
  process.pidfd = Descriptor(pidfd);
  if (plan.failed == 0) return process;
  reap(process);
  return fault_of(plan);
}

void allow_many_descriptors() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const struct rlimit all { limit.rlim_max, limit.rlim_max };
  if (::setrlimit(RLIMIT_NOFILE, &all) == 0) descriptors_at_start = limit;
}

void leave_no_core() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur == 0) return;
  const struct rlimit none { 0, limit.rlim_max };
  if (::setrlimit(RLIMIT_CORE, &none) == 0) core_at_start = limit;
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

}  // namespace fq::worker
