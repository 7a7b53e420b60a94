// doctor_system - the needs of fq from the kernel and from the limits of this process, asked for where that
// can be asked.
#include "core/local/care/doctor.h"

// System.
#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include <array>
#include <cstdio>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/size.h"
#include "core/base/text/wall_time.h"
#include "core/journal/codec.h"
#include "core/shm/futex.h"
#include "core/shm/life_lock.h"
#include "core/shm/robust_mutex.h"
#include "core/shm/segment.h"
// fq, this room.
#include "core/local/shared/layout.h"
#include "core/local/files/process_info.h"

namespace fq {

namespace {

constexpr rlim_t kDescriptorsWanted = 64;               // a worker takes a few for each job
constexpr rlim_t kFileBytesWanted = 64 * 1024 * 1024;   // the largest journal file
constexpr int64_t kEarliestWallMs = 1'735'689'600'000;  // 2025: before fq was made

void examine_versions(std::vector<DoctorRow>& rows) {
  utsname system{};
  ::uname(&system);
  int high = 0;
  int low = 0;
  const bool read = std::sscanf(system.release, "%d.%d", &high, &low) == 2;
  const bool waits = read && (high > 5 || (high == 5 && low >= 16));
  add_row(rows, "kernel", std::string(system.sysname) + " " + system.release,
          waits ? Health::ok : Health::warning,
          waits ? "" : "before 5.16 waiting processes look every 50 ms instead of sleeping");
  add_row(rows, "word size", std::to_string(8 * sizeof(void*)) + " bits");
  std::array<char, 24> layout;
  std::snprintf(layout.data(), layout.size(), "%016llx", static_cast<unsigned long long>(layout_hash()));
  add_row(rows, "formats",
          "journal " + std::to_string(kJournalFormat) + ", segment " + layout.data() + ", libc " +
              gnu_get_libc_version());
}

void examine_locks(std::vector<DoctorRow>& rows) {
  RobustMutex mutex{};
  LifeLock life{};
  const bool made = mutex.initialise() && life.initialise();
  add_row(rows, "robust locks", made ? "there" : "missing", made ? Health::ok : Health::fault,
          made ? "" : "this system cannot tell that the holder of a lock has died");
  KernelIdentity kernel;
  const bool proc = read_kernel_identity(kernel).ok() && read_pid_namespace().ok();
  add_row(rows, "/proc", proc ? "mounted" : "does not show boot and namespaces",
          proc ? Health::ok : Health::fault, proc ? "" : "mount /proc where fq runs");
}

std::string shown_limit(rlim_t limit, bool bytes) {
  if (limit == RLIM_INFINITY) return "unlimited";
  return bytes ? format_size(limit) : std::to_string(limit);
}

void examine_limits(std::vector<DoctorRow>& rows) {
  struct Wanted {
    const char* about;
    decltype(RLIMIT_AS) resource;
    rlim_t least;
    bool bytes;
    const char* advice;
  };
  const std::array<Wanted, 3> all = {{
      {"descriptors", RLIMIT_NOFILE, kDescriptorsWanted, false, "raise it with ulimit -n"},
      {"address space", RLIMIT_AS, kSegmentMapBytes + kSegmentMapBytes / 8, true,
       "fq maps 24 GiB of addresses (not of memory) for a queue; raise it with ulimit -v"},
      {"file size", RLIMIT_FSIZE, kFileBytesWanted, true,
       "journal files take 64 MiB; raise it with ulimit -f"},
  }};
  for (const Wanted& wanted : all) {
    rlimit limit{};
    if (::getrlimit(wanted.resource, &limit) != 0) continue;
    const bool enough = limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted.least;
    add_row(rows, wanted.about, shown_limit(limit.rlim_cur, wanted.bytes),
            enough ? Health::ok : Health::warning, enough ? "" : wanted.advice);
  }
}

void examine_clock(std::vector<DoctorRow>& rows) {
  const int64_t wall_ms = system_clock().wall_ms();
  const bool early = wall_ms < kEarliestWallMs;
  timex state{};
  const bool synchronised = ::adjtimex(&state) != TIME_ERROR;
  std::string found = format_wall_time(wall_ms);
  if (!synchronised) found += ", not known to be synchronised";
  add_row(rows, "clock", found, early ? Health::warning : Health::ok,
          early ? "it is before fq was made; set it, or --at and the log are wrong" : "");
  rows.back().at_wall_ms = wall_ms;
}

}  // namespace

void examine_system(std::vector<DoctorRow>& rows) {
  examine_versions(rows);
  examine_locks(rows);
  examine_limits(rows);
  examine_clock(rows);
}

}  // namespace fq
