#include "tests/crash/trace.h"

#if defined(__x86_64__)

// System.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cstring>
#include <sstream>
#include <unordered_map>

extern "C" const char __executable_start;

namespace fq::test {

namespace {

constexpr unsigned kTraceSeconds = 600;  // a child that hangs ends by its alarm
constexpr size_t kMomentsMax = 8'000'000;
constexpr uint64_t kTrapFlag = 0x100;

/// In memory that the parent reads.
struct Recording {
  uint64_t start;  // where begin_mark() returns to; what is before it is the recorder's own
  pid_t child;
  bool ended;
  size_t count;
  struct {
    uint64_t address;
    uint32_t seen;
  } moments[kMomentsMax];
};

Recording* recording = nullptr;  // of this process
const Look* look_at_moment = nullptr;

/// Does at once what would trap for each byte.
bool run_through_repeated(greg_t* regs) {
  const auto* code = reinterpret_cast<const uint8_t*>(regs[REG_RIP]);
  const uint64_t length = length_of_repeated(code);
  if (length == 0 || regs[REG_RCX] == 0) return false;
  const uint8_t operation = code[length - 1];
  const size_t width = (operation & 1) == 0 ? 1 : length == 3 ? 8 : 4;
  auto* to = reinterpret_cast<std::byte*>(regs[REG_RDI]);
  const bool copies = (operation & 0xfe) == 0xa4;
  const size_t bytes = static_cast<size_t>(regs[REG_RCX]) * width;
  if (copies) std::memmove(to, reinterpret_cast<const std::byte*>(regs[REG_RSI]), bytes);
  for (size_t at = 0; !copies && at < bytes; at += width) std::memcpy(to + at, &regs[REG_RAX], width);
  regs[REG_RDI] += static_cast<greg_t>(bytes);
  if (copies) regs[REG_RSI] += static_cast<greg_t>(bytes);
  regs[REG_RCX] = 0;
  regs[REG_RIP] += static_cast<greg_t>(length);
  return true;
}

void on_trap(int, siginfo_t*, void* context) {
  greg_t* regs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (recording->count == 0 && static_cast<uint64_t>(regs[REG_RIP]) != recording->start) return;
  do {
    const auto address = static_cast<uint64_t>(regs[REG_RIP]);
    if (recording->count == kMomentsMax) ::_exit(1);
    recording->moments[recording->count++] = {address, (*look_at_moment)(recording->child)};
    recording->ended = is_end_mark(address);
    if (recording->ended) ::_exit(0);
  } while (run_through_repeated(regs));
}

void record_from(uint64_t start) {
  static char stack[64 * 1024];
  const stack_t handler_stack{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  ::sigaltstack(&handler_stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGTRAP, &action, nullptr);
  recording->start = start;
  recording->child = ::getpid();
  __writeeflags(__readeflags() | kTrapFlag);
}

}  // namespace

[[gnu::noipa]] void begin_mark() {
  if (recording != nullptr) {
    record_from(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
  } else {
    asm volatile("int3" ::: "memory");
  }
}
[[gnu::noipa]] void end_mark() { asm volatile("int3" ::: "memory"); }
// Before its trap, or stopped by it.
bool is_end_mark(uint64_t address) { return address - reinterpret_cast<uint64_t>(&end_mark) < 12; }

std::string place_of(uint64_t address) {
  std::ostringstream text;
  text << "image + 0x" << std::hex << address - reinterpret_cast<uint64_t>(&__executable_start);
  return text.str();
}

uint64_t length_of_repeated(const uint8_t* code) {
  if (code[0] != 0xf3) return 0;
  const uint64_t length = (code[1] & 0xf8) == 0x48 ? 3 : 2;
  const uint8_t operation = code[length - 1] & 0xfe;
  return operation == 0xa4 || operation == 0xaa ? length : 0;
}

std::optional<Trace> Trace::of(const Body& body, const Look& look) {
  constexpr int kShared = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = ::mmap(nullptr, sizeof(Recording), PROT_READ | PROT_WRITE, kShared, -1, 0);
  if (at == MAP_FAILED) return std::nullopt;
  auto* made = static_cast<Recording*>(at);
  const pid_t child = ::fork();
  if (child == 0) {
    recording = made;
    look_at_moment = &look;
    ::alarm(kTraceSeconds);
    body();
    ::_exit(1);
  }
  ::waitpid(child, nullptr, 0);
  std::optional<Trace> trace;
  if (made->ended) {
    trace.emplace();
    trace->moments_.reserve(made->count);
    for (size_t i = 0; i < made->count; ++i) {
      trace->moments_.push_back({made->moments[i].address, made->moments[i].seen});
    }
    trace->find_ways();
  }
  ::munmap(at, sizeof(Recording));
  return trace;
}

void Trace::find_ways() {
  // What a further pass through a breakpoint costs, measured in single steps.
  constexpr uint64_t kPassCost = 2;
  std::unordered_map<uint64_t, uint32_t> passes;
  uint64_t cost = UINT64_MAX / 2;
  for (size_t step = 0; step < moments_.size(); ++step) {
    Moment& moment = moments_[step];
    moment.passes = passes[moment.address]++;
    const uint64_t direct = 1 + moment.passes * kPassCost;
    ++cost;
    if (direct < cost) {
      moment.anchor = static_cast<uint32_t>(step);
      cost = direct;
    } else {
      moment.anchor = moments_[step - 1].anchor;
    }
  }
}

}  // namespace fq::test

#else

namespace fq::test {

// No traps and registers are known here: who asks Stepper::permitted() first does nothing else.
void begin_mark() {}
void end_mark() {}
bool is_end_mark(uint64_t) { return false; }
std::string place_of(uint64_t) { return {}; }
uint64_t length_of_repeated(const uint8_t*) { return 0; }
std::optional<Trace> Trace::of(const Body&, const Look&) { return std::nullopt; }

}  // namespace fq::test

#endif
