// system_calls - see the header.
#include "tests/process/system_calls.h"

namespace fq::test {

namespace {

using Errors = std::vector<const char*>;

const Errors kOpening = {"EIO", "EMFILE", "ENOMEM", "EINTR", "ENOSPC", "EDQUOT"};
const Errors kWriting = {"EIO", "ENOSPC", "EDQUOT", "EINTR"};
const Errors kNaming = {"EIO", "ENOSPC", "EDQUOT", "ENOMEM"};
const Errors kLooking = {"EIO", "ENOMEM"};

/// What each call may be answered with. Without errors, and why: the C library makes them before main and
/// cannot go on (arch_prctl, prlimit64, readlink, rseq, set_robust_list, set_tid_address); the kernel has
/// none to give (brk answers with the old end, exit_group, geteuid, getpid, gettid, sched_yield, umask), or
/// only for arguments that fq never passes (kill, lseek, munmap, rt_sigaction, rt_sigprocmask, tgkill), or
/// only to those who wait (futex, which commands alone on a queue call to wake nobody).
const std::map<std::string, Errors> kErrors = {
    {"access", kLooking},
    {"arch_prctl", {}},
    {"brk", {}},
    {"close", {"EIO"}},
    {"exit_group", {}},
    {"fallocate", {"EIO", "ENOSPC", "EDQUOT", "EINTR", "EOPNOTSUPP"}},
    {"fcntl", {"EMFILE"}},
    {"fdatasync", kWriting},
    {"flock", {"EINTR", "ENOLCK", "EAGAIN"}},
    {"fstat", kLooking},
    {"fstatfs", kLooking},
    {"fsync", kWriting},
    {"futex", {}},
    {"getdents64", {"EIO"}},
    {"geteuid", {}},
    {"getpid", {}},
    {"getrandom", {"EINTR"}},
    {"gettid", {}},
    {"ioctl", {"EIO"}},
    {"kill", {}},
    {"lseek", {}},
    {"madvise", {"ENOMEM"}},
    {"mkdir", kNaming},
    {"mkdirat", kNaming},
    {"mmap", {"ENOMEM"}},
    {"mremap", {"ENOMEM"}},
    {"mprotect", {}},  // of the C library, before main: what RELRO asks for
    {"munmap", {}},
    {"newfstatat", kLooking},
    {"openat", kOpening},
    {"openat2", {"EIO", "EMFILE", "ENOMEM", "EINTR", "ENOSPC", "EDQUOT", "EPERM"}},
    {"pidfd_open", {"EMFILE", "ENOMEM", "ENOSYS", "EPERM"}},
    {"poll", {"EINTR", "ENOMEM"}},
    {"pread64", {"EIO", "EINTR"}},
    {"prlimit64", {}},
    {"pwrite64", kWriting},
    {"read", {"EIO", "EINTR"}},
    {"readlink", {}},
    {"renameat", kNaming},
    {"renameat2", kNaming},
    {"rseq", {}},
    {"rt_sigaction", {}},
    {"rt_sigprocmask", {}},
    {"sched_yield", {}},
    {"set_robust_list", {}},
    {"set_tid_address", {}},
    {"statfs", kLooking},
    {"statx", kLooking},
    {"tgkill", {}},
    {"umask", {}},
    {"unlinkat", kNaming},
    {"write", kWriting},
};

/// Of those that say how much they did: nothing at all.
bool may_do_nothing(const std::string& call) { return call == "pwrite64" || call == "write"; }

std::vector<std::string> traced(const std::vector<std::string>& options,
                                const std::vector<std::string>& command) {
  std::vector<std::string> words = {"strace", "-f", "-qq"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// What strace says of `command`, a line a call; it is run once for that.
std::vector<std::string> trace_of(std::vector<std::string> options, const std::vector<std::string>& command,
                                  const Start& how) {
  char log[] = "/tmp/fq-calls-XXXXXX";
  ::close(::mkstemp(log));
  options.insert(options.end(), {"-e", "signal=none", "-o", log});
  const Outcome traced_run = run(traced(options, command), how);
  INFO("strace: " << traced_run.err);
  REQUIRE(traced_run.exit == 0);
  std::vector<std::string> lines = lines_of(read_whole(log));
  ::unlink(log);
  return lines;
}

}  // namespace

bool have_strace() { return run({"/bin/sh", "-c", "command -v strace"}).exit == 0; }

std::vector<CallCount> calls_of(const std::vector<std::string>& command, const Start& how) {
  std::vector<CallCount> calls;
  for (const std::string& line : trace_of({}, command, how)) {
    // "4711  openat(AT_FDCWD, ..."; what is resumed was counted when it began.
    const size_t begin = line.find_first_not_of(" 0123456789");
    const size_t end = line.find('(');
    if (begin == std::string::npos || end == std::string::npos || line[begin] == '<') continue;
    const std::string name = line.substr(begin, end - begin);
    if (name == "execve") continue;  // strace's own
    const auto known =
        std::find_if(calls.begin(), calls.end(), [&](const auto& each) { return each.call == name; });
    if (known == calls.end()) {
      calls.push_back({name, 1});
    } else {
      ++known->times;
    }
  }
  return calls;
}

std::vector<std::string> looks_below(const std::string& place, const std::vector<std::string>& command,
                                     const Start& how) {
  std::vector<std::string> looks =
      trace_of({"-y", "-e", "trace=stat,lstat,fstat,newfstatat,statx"}, command, how);
  std::erase_if(looks, [&](const std::string& line) { return line.find(place) == std::string::npos; });
  return looks;
}

std::vector<Fault> faults_of(const std::vector<CallCount>& calls) {
  std::vector<Fault> faults;
  for (const CallCount& each : calls) {
    for (int n = 1; n <= each.times; ++n) {
      faults.push_back({each.call, n, "signal=SIGKILL"});
      if (may_do_nothing(each.call)) faults.push_back({each.call, n, "retval=0"});
      const auto errors = kErrors.find(each.call);
      if (errors == kErrors.end()) continue;
      for (const char* error : errors->second)
        faults.push_back({each.call, n, std::string("error=") + error});
    }
  }
  return faults;
}

std::vector<std::string> unknown_calls(const std::vector<CallCount>& calls) {
  std::vector<std::string> unknown;
  for (const CallCount& each : calls) {
    if (kErrors.count(each.call) == 0) unknown.push_back(each.call);
  }
  return unknown;
}

Outcome run_with(const Fault& fault, const std::vector<std::string>& command, const Start& how) {
  return run(
      traced({"-o", "/dev/null", "-e", "trace=" + fault.call, "-e", "inject=" + fault.text()}, command), how);
}

}  // namespace fq::test
