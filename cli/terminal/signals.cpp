#include "cli/terminal/signals.h"

// System.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string_view>
// fq, this room.
#include "cli/words/exit_code.h"

namespace fq::cli {

namespace {

constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

mode_t start_umask = 022;
sigset_t mask_at_start;
struct sigaction file_limit_at_start {};
sigset_t mask_blocked;
volatile sig_atomic_t caught_signal = 0;
volatile sig_atomic_t times_caught = 0;
Interrupt interrupt;

void on_signal(int number) {
  caught_signal = number;
  times_caught = times_caught + 1;
  interrupt.raise();
}

/// The disk under mapped memory has failed. Not a page is put in its place: what was half written would
/// look whole. To end here is like kill -9: the next one repairs.
void on_disk_fault(int /*number*/) {
  constexpr std::string_view kText =
      "fq: I/O error: the disk under mapped memory failed, the outcome is unknown; see to the disk, then run "
      "fq check\n";
  (void)!::write(2, kText.data(), kText.size());
  ::_exit(number(Exit::io));
}

/// SIGPIPE stays blocked: a reader that left is an EPIPE here, after which what is held goes back first.
sigset_t open_mask() {
  sigset_t open = mask_at_start;
  sigaddset(&open, SIGPIPE);
  return open;
}

void die_by(int number) {
  struct sigaction dying {};
  dying.sa_handler = SIG_DFL;
  ::sigaction(number, &dying, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace

void make_nothing_for_others() { start_umask = ::umask(077); }
unsigned umask_at_start() { return start_umask; }

void leave_as_at_start() {
  ::umask(start_umask);
  ::sigaction(SIGXFSZ, &file_limit_at_start, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_at_start, nullptr);
}

void block_signals() {
  // A file size limit is to be an error of the write, not a signal that waits for the command's end.
  struct sigaction ignoring {};
  ignoring.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignoring, &file_limit_at_start);
  sigfillset(&mask_blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP})
    sigdelset(&mask_blocked, fault);
  ::sigprocmask(SIG_BLOCK, &mask_blocked, &mask_at_start);
}

void explain_disk_faults() {
  struct sigaction dying {};
  dying.sa_handler = on_disk_fault;
  ::sigaction(SIGBUS, &dying, nullptr);
}

LetSignalsThrough::LetSignalsThrough() {
  const sigset_t open = open_mask();
  ::sigprocmask(SIG_SETMASK, &open, nullptr);
}

LetSignalsThrough::~LetSignalsThrough() { ::sigprocmask(SIG_BLOCK, &mask_blocked, nullptr); }

int caught_count() { return times_caught; }

int poll_with_signals(pollfd& watched) {
  const sigset_t open = open_mask();
  return ::ppoll(&watched, 1, nullptr, &open);
}

bool ending_was_asked() {
  { const LetInterruptThrough open; }
  return interrupt.raised();
}

Interrupt& catch_signals() {
  for (const int number : kEndings) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;
    struct sigaction catching {};
    catching.sa_handler = on_signal;  // without SA_RESTART: it has to end a write
    ::sigaction(number, &catching, nullptr);
  }
  return interrupt;
}

LetInterruptThrough::LetInterruptThrough() {
  sigset_t open;
  sigemptyset(&open);
  for (const int number : kEndings) {
    if (sigismember(&mask_at_start, number) == 0) sigaddset(&open, number);
  }
  ::sigprocmask(SIG_UNBLOCK, &open, nullptr);
}

LetInterruptThrough::~LetInterruptThrough() { ::sigprocmask(SIG_BLOCK, &mask_blocked, nullptr); }

bool goes_on(const Cursor& next) {
  const LetSignalsThrough now;
  return !next.text.empty();
}

void die_by_caught_signal() {
  if (caught_signal != 0) die_by(caught_signal);
}

void die_by_sigpipe() {
  struct sigaction now {};
  ::sigaction(SIGPIPE, nullptr, &now);
  if (now.sa_handler != SIG_IGN) die_by(SIGPIPE);
}

void outlive_readers() {
  struct sigaction ignoring {};
  ignoring.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignoring, nullptr);
}

void deliver_pending_signals() {
  ::sigprocmask(SIG_SETMASK, &mask_at_start, nullptr);
  die_by_caught_signal();
}

}  // namespace fq::cli
