// upkeep - the upkeep of the journal, which keeps it as large as its live data allows: what is due, and the
// interface to do it.
//
// Records written and messages ended make it due, not the caller: due_housework() looks at a few numbers of
// the header. The housekeeper (core/local/care) does it, and stands above all that needs it.
#pragma once

// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

enum class Housework { none, orphans, sync, drop, carry, copy, shrink };

/// The work that is due so that the journal is no larger than its live data allows. Needs: the state lock.
Housework due_housework(SegmentHeader& header);

class Upkeep {
 public:
  virtual ~Upkeep() = default;
  /// Does what is due until nothing is. True: files were given back.
  virtual Result<bool> keep_house() = 0;
  /// Messages of schedules whose time has come are made.
  virtual Result<bool> make_due() = 0;
  /// Another journal file, one that housekeeping gives back or a new one.
  virtual Result<void> make_ready_file() = 0;

  /// Whether something is due, for keep_if_due(). Needs: the state lock.
  void look(SegmentHeader& header) { is_due_ = due_housework(header) != Housework::none; }
  /// A fault in that does not fail the caller.
  void keep_if_due() {
    if (is_due_) static_cast<void>(keep_house());
  }

 protected:
  bool is_due_ = false;
};

}  // namespace fq
