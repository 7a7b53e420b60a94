// process_info - facts that /proc tells of other processes, for messages and for leases that outlive a
// segment.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/result.h"

namespace fq {

/// "process 1234 (fq), which is stopped" for a thread id; "an unknown process" when it is gone.
std::string describe_holder(int tid);
/// "SAID by process 1234 (fq), which is stopped; continue or end it": of a lock that did not come in time.
Error held_by(std::string said, int tid, ErrorKind kind = ErrorKind::later);

/// When the process was started, in clock ticks since boot; none when it is gone.
std::optional<uint64_t> process_started(uint32_t pid);

/// The processes that hold flocks on this file, from /proc/locks; this one left out.
std::vector<int> flock_holders(uint64_t device, uint64_t inode);
/// A lock on bytes of a file that a process has by an open file, its own or an inherited one.
struct OfdLock {
  int pid = 0;
  uint64_t first = 0;
  uint64_t last = 0;
};
/// Those on the file of that name, of all processes that /proc lets us look at: it goes through every one.
std::vector<OfdLock> ofd_locks(std::string_view name, uint64_t device, uint64_t inode);
/// "12, 34" for people.
std::string join_pids(const std::vector<int>& pids);

struct KernelIdentity {
  uint8_t boot_id[16] = {};
};
/// Errors where /proc does not tell.
Result<void> read_kernel_identity(KernelIdentity& identity);
Result<uint64_t> read_pid_namespace();
Result<uint64_t> read_time_namespace();
/// The first process of our pid namespace, by a number that the kernel gives once between two boots (pidfs,
/// Linux 6.9); before, all processes may have the same. Known in a fifth of the time that
/// read_pid_namespace takes. 0: the kernel does not tell.
uint64_t read_first_process();
/// Whether read_first_process tells one namespace from another.
bool numbers_processes();

/// Bytes that cannot be guessed, from the kernel. No file is opened.
void fill_random(void* to, size_t bytes);

}  // namespace fq
