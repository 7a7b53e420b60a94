// job_group - see job_group.h.
#include "core/worker/process/job_group.h"

// System.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
// fq, below us.
#include "core/base/assert.h"

namespace fq::worker {

namespace {

constexpr int64_t kReapedMs = 100;      // so long who reaps has for what has ended; chosen
constexpr int64_t kEndlessMs = 10'000;  // what is at work then cannot be ended; chosen

bool is_of(pid_t group, const char* pid) {
  return ::getpgid(static_cast<pid_t>(std::strtol(pid, nullptr, 10))) == group;
}

/// Whether it has not ended: /proc/<pid>/stat is "pid (name) state ...". What cannot be looked at (the files
/// of other users may be hidden) may not have.
bool may_be_at_work(int processes, const char* pid) {
  const Descriptor file(::openat(processes, (std::string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno != ENOENT;
  char line[512];
  const ssize_t got = ::read(file.get(), line, sizeof line - 1);
  if (got <= 0) return got < 0 && errno != ESRCH;
  line[got] = '\0';
  const char* name_end = std::strrchr(line, ')');
  if (name_end == nullptr || std::strlen(name_end) < 3) return true;
  const char state = name_end[2];
  return state != 'Z' && state != 'X';
}

/// Dear: all processes are looked at. Needs: the kernel has just said that the group has members. Where none
/// is seen, they are hidden.
bool may_have_one_at_work(pid_t group) {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  if (!processes) return true;
  bool seen = false;
  while (const dirent* entry = ::readdir(processes.get())) {
    const bool is_process = std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0;
    if (!is_process || !is_of(group, entry->d_name)) continue;
    seen = true;
    if (may_be_at_work(::dirfd(processes.get()), entry->d_name)) return true;
  }
  return !seen;
}

/// As kill() wants it. Of 0 it would be our own group, of 1 all that we may signal.
pid_t group_of(const Process& process) {
  FQ_ASSERT(process.pid > 1);
  return -process.pid;
}

}  // namespace

void signal_group(const Process& process, int signal) { ::kill(group_of(process), signal); }

bool group_is_gone(const Process& process, int64_t waited_ms) {
  const bool is_there =
      ::kill(group_of(process), 0) == 0 || errno == EPERM;  // EPERM: there, and of another user
  if (!is_there || waited_ms >= kEndlessMs) return true;
  return waited_ms >= kReapedMs && !may_have_one_at_work(process.pid);
}

int64_t next_look_ms(int64_t waited_ms) { return std::clamp<int64_t>(waited_ms / 8, 1, 250); }

void GroupEnd::begin(const Process& process, bool kills, int64_t now_ms) {
  is_gone_ = !kills;
  begun_at_ms_ = now_ms;
  // Before it is reaped: after that its number may be another group's.
  if (kills) signal_group(process, SIGKILL);
  reap(process);
}

bool GroupEnd::is_gone(const Process& process, int64_t now_ms) {
  const int64_t waited_ms = now_ms - begun_at_ms_;
  look_at_ms_ = now_ms + next_look_ms(waited_ms);
  is_gone_ = is_gone_ || group_is_gone(process, waited_ms);
  return is_gone_;
}

}  // namespace fq::worker
