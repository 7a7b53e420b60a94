#include "tests/crash/stepper.h"

#if defined(__x86_64__)

// System.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace fq::test {

namespace {

constexpr unsigned kStepSeconds = 100;  // a child that hangs is told by its alarm, a machine may be slow
constexpr long kBreakpoint = 0xcc;

/// A traced child; killed at the latest with the object.
class Traced {
 public:
  explicit Traced(const Body& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::alarm(kStepSeconds);
    body();
    ::_exit(0);
  }
  ~Traced() { kill(); }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  /// Both return false when it did not stop by a trap: broken() says what happened.
  bool run_on() { return go(PTRACE_CONT); }
  bool step() { return go(PTRACE_SINGLESTEP); }
  bool wait() {
    if (pid_ < 0 || ::waitpid(pid_, &status_, __WALL) != pid_) return false;
    if (!WIFSTOPPED(status_)) pid_ = -1;
    return WIFSTOPPED(status_) && WSTOPSIG(status_) == SIGTRAP;
  }
  bool is_gone() const { return pid_ < 0; }
  std::string broken() const {
    if (WIFEXITED(status_)) return "ended with " + std::to_string(WEXITSTATUS(status_));
    if (WIFSIGNALED(status_)) return "ended by signal " + std::to_string(WTERMSIG(status_));
    const int signal = WSTOPSIG(status_);
    const std::string what = signal == SIGALRM ? "hangs" : "got signal " + std::to_string(signal);
    return what + " at " + place_of(address());
  }

  uint64_t address() const {
    return static_cast<uint64_t>(::ptrace(PTRACE_PEEKUSER, pid_, offsetof(user, regs.rip), nullptr));
  }
  void set_address(uint64_t address) const {
    ::ptrace(PTRACE_POKEUSER, pid_, offsetof(user, regs.rip), address);
  }
  long word(uint64_t address) const { return ::ptrace(PTRACE_PEEKTEXT, pid_, address, nullptr); }
  void set_word(uint64_t address, long word) const { ::ptrace(PTRACE_POKETEXT, pid_, address, word); }

  void kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, __WALL);
    pid_ = -1;
  }

 private:
  bool go(__ptrace_request how) {
    if (::ptrace(how, pid_, nullptr, nullptr) != 0) return false;
    return wait();
  }

  pid_t pid_;
  int status_ = 0;
};

/// Runs on until it is about to execute what lies at this address.
bool run_to(Traced& child, uint64_t address) {
  const long before = child.word(address);
  child.set_word(address, (before & ~0xffL) | kBreakpoint);
  if (!child.run_on()) return false;
  if (child.address() != address + 1) return false;  // its end mark
  child.set_word(address, before);
  child.set_address(address);
  return true;
}

/// The one instruction that lies at `address`. One that fills half a megabyte would trap as often: it is run
/// through at once.
bool step_from(Traced& child, uint64_t address) {
  if (!child.step()) return false;
  if (child.address() != address) return true;
  const long word = child.word(address);
  uint8_t code[sizeof word];
  std::memcpy(code, &word, sizeof word);
  const uint64_t length = length_of_repeated(code);
  return length == 0 || run_to(child, address + length);
}

/// Runs on to the moment at which it has passed `address` so often and is there once more.
bool run_to(Traced& child, uint64_t address, uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    if (!run_to(child, address) || !step_from(child, address)) return false;
  }
  return run_to(child, address);
}

}  // namespace

bool Stepper::permitted() {
  Traced child([] { begin_mark(); });
  return child.wait() && child.step();
}

void Stepper::stay_on_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(::sched_getcpu()), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

Ended Stepper::kill_after(const Body& body, const Trace& trace, size_t step) {
  Traced child(body);
  const Trace::Moment& goal = trace[step];
  const Trace::Moment& anchor = trace[goal.anchor];
  bool there = child.wait() && run_to(child, anchor.address, anchor.passes);
  for (size_t at = goal.anchor; there && at < step; ++at) there = step_from(child, child.address());
  Ended ended;
  if (there) {
    ended.how = child.address() == goal.address ? Ended::How::killed : Ended::How::elsewhere;
  } else if (!child.is_gone() && is_end_mark(child.address())) {
    ended.how = Ended::How::elsewhere;
  } else {
    ended.what = child.broken();
  }
  child.kill();
  return ended;
}

}  // namespace fq::test

#else

namespace fq::test {

bool Stepper::permitted() { return false; }
void Stepper::stay_on_one_processor() {}
Ended Stepper::kill_after(const Body&, const Trace&, size_t) { return {}; }

}  // namespace fq::test

#endif
