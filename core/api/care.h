// care - what a person asks of a queue's health, on every engine.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <vector>

namespace fq {

/// Each line is for a person.
struct CheckReport {
  uint64_t records = 0;
  uint64_t messages = 0;
  std::vector<std::string> findings;   // empty: all is well
  std::vector<std::string> repairs;    // what was done, and what was lost to the damage
  std::vector<std::string> set_aside;  // kept of earlier damage: for a person to look at and remove
};

struct CompactReport {
  uint64_t bytes_before = 0;  // of the journal
  uint64_t bytes_after = 0;
  uint64_t files_gone = 0;
  uint64_t messages_moved = 0;
  uint64_t messages_unreadable = 0;  // which keep their file where it is
};

}  // namespace fq
