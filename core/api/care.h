// care - a person's requests about a queue's health, and the reports on them, on every engine.
#pragma once

// System.
#include <optional>
#include <string>
// fq, below us.
#include "core/base/text/counted_lines.h"

namespace fq {

class Interrupt;

/// Each line is for a person.
struct CheckReport {
  uint64_t records = 0;
  uint64_t messages = 0;
  CountedLines findings;            // empty: all is well; causes before effects
  CountedLines remarks;             // harmless
  CountedLines repairs;             // work that was done, and data lost to the damage
  CountedLines set_aside;           // kept of earlier damage: for a person to look at and remove
  uint64_t messages_cancelled = 0;  // by the repair: nothing of them is left to deliver
};

/// Signals come through between its steps, and all that it looks at is still there then.
struct CheckRequest {
  bool repair = false;  // what is damaged is set aside, and the report is of what is there then
  bool alone = false;   // no other queue is checked with it: what those tell of this one is asked there
  Interrupt* interrupt = nullptr;  // ends it between two steps; what a repair has done by then is told
};

struct BackupRequest {
  std::string directory;             // not there, or empty
  std::optional<std::string> queue;  // only this one
  Interrupt* interrupt = nullptr;    // ends it, and nothing of it is left
};

struct CompactReport {
  bool has_journal = true;    // an engine without one has nothing to gain, and no bytes
  uint64_t bytes_before = 0;  // of the journal
  uint64_t bytes_after = 0;
  uint64_t files_gone = 0;
  uint64_t messages_moved = 0;
  uint64_t messages_unreadable = 0;  // held by a process; until that ends they keep their file where it is
  uint64_t payloads_gone = 0;        // that belonged to no message
  // Programs of other builds on servers, which nobody uses any more; none: this user may not delete them.
  std::optional<uint64_t> libraries_gone = 0;
};

}  // namespace fq
