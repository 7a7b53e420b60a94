// signals - blocked for a command's whole life, let through only where it waits and holds no lock.
//
// So a signal never ends a command between a change and its reply, and Ctrl-C still works: it ends waits
// and reads at once, and what came meanwhile is delivered when the command has done its work.
#pragma once

// System.
#include <poll.h>
// fq, below us.
#include "core/api/queue.h"

namespace fq::cli {

/// Blocks every signal that can be blocked and is not a fault of our own. Once, at the start.
void block_signals();

/// A page of a mapped file that cannot be read or written ends the process with a line and Exit::io instead
/// of SIGBUS: its file system was shut down or its disk is gone.
void explain_disk_faults();

/// Only its user can read the files that fq makes. The mask as it was is for the jobs that a worker starts.
void make_nothing_for_others();
unsigned umask_at_start();

/// Mask, modes and what is ignored as they were before: for the program that this process goes on as.
void leave_as_at_start();

/// Lets signals through as they were before block_signals, apart from SIGPIPE; for the life of the object.
class LetSignalsThrough {
 public:
  LetSignalsThrough();
  ~LetSignalsThrough();
  LetSignalsThrough(const LetSignalsThrough&) = delete;
  LetSignalsThrough& operator=(const LetSignalsThrough&) = delete;
};

/// How many have raised the interrupt so far.
int caught_count();

/// As poll(2) without a time limit, of one descriptor, with signals let through: one that came before ends
/// it, too.
int poll_with_signals(pollfd& watched);

/// From now on INT, TERM, HUP and QUIT raise the interrupt instead of ending the process, unless they are
/// ignored. For commands that hold something which they must give back.
Interrupt& catch_signals();

/// Whether one of them has come, also while they were blocked. Needs: catch_signals(); without that it may
/// end the process.
bool ending_was_asked();

/// Lets those that only raise the interrupt through, also while locks are held: for long work that looks at
/// it. Needs: catch_signals().
class LetInterruptThrough {
 public:
  LetInterruptThrough();
  ~LetInterruptThrough();
  LetInterruptThrough(const LetInterruptThrough&) = delete;
  LetInterruptThrough& operator=(const LetInterruptThrough&) = delete;
};

/// Whether a list goes on at this cursor. Signals come through: a long one is read page by page, and written
/// to a file, without a wait in which they would.
bool goes_on(const Cursor& next);

/// Dies by the signal that was caught. Returns when there was none.
void die_by_caught_signal();

/// As the shell's tools end when their reader has left. Returns when SIGPIPE is ignored.
void die_by_sigpipe();

/// For a command that goes on when its reader has left: no SIGPIPE waits for its end then.
void outlive_readers();

/// Delivers what came while the command worked; it may end the process.
void deliver_pending_signals();

}  // namespace fq::cli
