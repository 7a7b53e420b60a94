// replay - the journal applied from its first record to its last, into a fresh segment.
//
// The fallback after damage or a reboot, and the oracle of `fq check`. It decides nothing: the same apply as
// in live operations, and timers fire before each record as they did then. Holders of leases are kept by pid,
// since the life locks of the old segment are gone.
#pragma once

// fq, below us.
#include "core/api/interrupt.h"
#include "core/journal/journal.h"
// fq, this room.
#include "core/local/files/process_info.h"
#include "core/local/shared/store.h"

namespace fq {

struct Replayed {
  ScanResult scan;
  KernelIdentity last_boot;  // of the last CLOCK record; zero: there was none
  bool has_clock = false;
};

/// Stream positions at which a replay stops: those of a live queue at one moment. Its messages come after
/// their record is durable, everything else with the record.
struct ReplayUntil {
  uint64_t tail = UINT64_MAX;
  uint64_t applied_end = UINT64_MAX;     // pushed records from here on are passed over
  const Interrupt* interrupt = nullptr;  // ends it where it is: an Error
};

/// Applies the journal's records. Needs: an initialised store that no other process sees.
Result<Replayed> replay_journal(Disk& disk, Store& store, Holes holes, const ReplayUntil& until = {});

/// The effect of a wall clock that is so far ahead of the boot's from now on: schedules are due by the wall.
void follow_clock(Store& store, int64_t wall_minus_boot_ms, int64_t now_wall_ms);

/// The effect of a boot: leases are void without counting an attempt, and timers keep their wall time, but
/// none waits longer than it still had to when the machine went down.
void apply_reboot(Store& store, int64_t old_boot_ms, int64_t new_boot_ms, int64_t wall_minus_boot_ms);

}  // namespace fq
