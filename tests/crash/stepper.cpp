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

#include <unordered_map>

namespace fq::test {

[[gnu::noipa]] void begin_mark() { asm volatile("int3" ::: "memory"); }
[[gnu::noipa]] void end_mark() { asm volatile("int3" ::: "memory"); }

namespace {

constexpr unsigned kLimitSeconds = 200;  // a child that hangs is told by its alarm
constexpr long kBreakpoint = 0xcc;

/// A traced child; killed at the latest with the object.
class Traced {
 public:
  explicit Traced(const Body& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::alarm(kLimitSeconds);
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
  pid_t pid() const { return pid_; }
  bool is_gone() const { return pid_ < 0; }
  std::string broken() const {
    if (WIFEXITED(status_)) return "ended with " + std::to_string(WEXITSTATUS(status_));
    if (WIFSIGNALED(status_)) return "ended by signal " + std::to_string(WTERMSIG(status_));
    const int signal = WSTOPSIG(status_);
    return signal == SIGALRM ? "hangs" : "got signal " + std::to_string(signal);
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

/// At the end mark: before its trap, or stopped by it.
bool is_end(uint64_t address) { return address - reinterpret_cast<uint64_t>(&end_mark) < 8; }

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

/// Of an instruction that copies or fills a stretch of bytes; 0: it is another one.
uint64_t bytes_of_repeated(long word) {
  const auto byte = [word](int at) { return static_cast<uint8_t>(word >> (8 * at)); };
  const bool wide = (byte(1) & 0xf0) == 0x40;
  const uint8_t code = byte(wide ? 2 : 1) & 0xfe;
  const bool repeated = byte(0) == 0xf3 && (code == 0xa4 || code == 0xaa);
  return repeated ? (wide ? 3 : 2) : 0;
}

/// The one instruction that lies at `address`. One that fills half a megabyte would trap as often: it is run
/// through at once.
bool step_from(Traced& child, uint64_t address) {
  if (!child.step()) return false;
  if (child.address() != address) return true;
  const uint64_t bytes = bytes_of_repeated(child.word(address));
  return bytes == 0 || run_to(child, address + bytes);
}

/// Runs on to the moment at which it has passed `address` so often and is there once more.
bool run_to(Traced& child, uint64_t address, uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    if (!run_to(child, address) || !step_from(child, address)) return false;
  }
  return run_to(child, address);
}

}  // namespace

void Trace::add(uint64_t address, uint32_t seen) { moments_.push_back({address, seen, 0, 0}); }

void Trace::find_ways() {
  // What a pass through a breakpoint costs, measured in single steps.
  constexpr uint64_t kPassCost = 2;
  std::unordered_map<uint64_t, uint32_t> passes;
  uint64_t cost = 0;
  for (size_t step = 0; step < moments_.size(); ++step) {
    Moment& moment = moments_[step];
    moment.passes = passes[moment.address]++;
    const uint64_t direct = 1 + moment.passes * kPassCost;
    const bool from_before = step == 0 || cost + 1 <= direct;
    moment.anchor = step == 0 ? 0 : from_before ? moments_[step - 1].anchor : static_cast<uint32_t>(step);
    cost = step == 0 ? 0 : from_before ? cost + 1 : direct;
  }
}

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

std::optional<Trace> Stepper::record(const Body& body, const Look& look, std::string& broken) {
  Traced child(body);
  Trace trace;
  bool stopped = child.wait();
  while (stopped) {
    const uint64_t address = child.address();
    trace.add(address, look(child.pid()));
    if (is_end(address)) {
      trace.find_ways();
      return trace;
    }
    stopped = step_from(child, address);
  }
  broken = child.broken();
  return std::nullopt;
}

Ended Stepper::kill_after(const Body& body, const Trace& trace, size_t step) {
  Traced child(body);
  const Trace::Moment& goal = trace.moments_[step];
  bool there = child.wait();
  if (there && goal.anchor > 0) {
    const Trace::Moment& anchor = trace.moments_[goal.anchor];
    there = run_to(child, anchor.address, anchor.passes);
  }
  for (size_t at = goal.anchor; there && at < step; ++at) there = step_from(child, child.address());
  Ended ended;
  if (there) {
    ended.how = child.address() == goal.address ? Ended::How::killed : Ended::How::elsewhere;
  } else if (!child.is_gone() && is_end(child.address())) {
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

// No traps and registers are known here: who asks permitted() first does nothing else.
void begin_mark() {}
void end_mark() {}
bool Stepper::permitted() { return false; }
void Stepper::stay_on_one_processor() {}
std::optional<Trace> Stepper::record(const Body&, const Look&, std::string&) { return std::nullopt; }
Ended Stepper::kill_after(const Body&, const Trace&, size_t) { return {}; }

}  // namespace fq::test

#endif
