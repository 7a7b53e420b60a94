// turn_pages - ready messages in the order of their turns.
//
// The first ones are previewed where they are, under one hold of the lock. More of them, and messages that
// have no turn now, come from a copy of the segment: made in pieces, so that no process waits for it, and
// mended (core/schedule/look/mend_turns.h). All further pages come from that one copy.
//
// Any process can go on from a page that another one gave; this one remembers what it has shown.
#pragma once

// System.
#include <memory>
#include <unordered_set>
// fq, this room.
#include "core/local/read/snapshot.h"

namespace fq {

class TurnPages : private Linked {
 public:
  explicit TurnPages(Link& link);
  ~TurnPages();

  /// The next `n` ready messages in the order of their turns, behind so many that were given; fewer: there
  /// are no more.
  Result<std::vector<Snapshot>> turns(const Filter& filter, size_t given, size_t n);

 private:
  class TurnCopy;
  struct Turns {
    std::string tenant;
    size_t given = 0;
    size_t to_pass = 0;                  // of a listing that another process began: how many it has shown
    std::unordered_set<uint64_t> shown;  // before there was a copy
    std::unique_ptr<TurnCopy> copy;
  };
  Result<bool> scan_next(size_t n, std::vector<Snapshot>& snapshot);
  Result<void> scan_copy(const Filter& filter, size_t n, std::vector<Snapshot>& snapshot);

  std::optional<Turns> turns_;
};

}  // namespace fq
