// launch - starts a job's process: a group of its own, clean signals, only the descriptors that it should
// have.
//
// The child shares our memory until it has become the command (as posix_spawn does it), so a worker of any
// size starts jobs at the same price; this is written by hand for two things that posix_spawn cannot do: the
// child dies with the thread that started it (PDEATHSIG), and comes with a pidfd at once.
#pragma once

// System.
#include <sys/types.h>

#include <string>
#include <vector>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/result.h"
// fq, this room.
#include "core/worker/process/options.h"

namespace fq::worker {

struct Launch {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
  std::string directory;                 // "": ours
  int in = -1, out = -1, err = -1;       // become 0, 1 and 2
  std::vector<int> kept;                 // stay open in the job and in what it starts
  std::optional<int> nice;
  unsigned umask = 022;
  const std::vector<ResourceLimit>* limits = nullptr;
};

struct Process {
  pid_t pid = 0;
  Descriptor pidfd;
};

/// ErrorKind::config with sys = errno when the command can never be started so, denied when it may not have
/// the limits or the niceness, bad_data when it cannot take this many words; other kinds: not now.
Result<Process> launch(const Launch& launch);

/// From now on as many descriptors as we may have at all: each job and each message that waits takes some. A
/// launched job has the limit that we started with.
void allow_many_descriptors();
/// From now on no crash of ours writes the payloads and passwords that we hold to a file. A launched job has the
/// limit that we started with.
void leave_no_core();

/// How a process ended.
struct ExitStatus {
  std::optional<int> exit;
  std::optional<int> signal;
};
/// Needs: it has ended. It stays to be reaped, and until then no other process has its number.
ExitStatus status_of(const Process& process);
ExitStatus reap(const Process& process);

}  // namespace fq::worker
