// rebuilder - a new segment from the journal, in place of one that is gone, foreign or damaged.
//
// One process at a time, under `rebuild`. Alone (proved by the exclusive lock) it makes the new segment and
// renames it over the old. With others attached it first flushes and retires the old one through its own
// locks; they attach anew at their next lock. Where not even the locks can be trusted it raises the
// generation, which stops their leaders, and waits for them to go.
#pragma once

// fq, this room.
#include "core/local/files/key_secret.h"
#include "core/local/recover/new_segment.h"
#include "core/local/recover/rebuild_files.h"
#include "core/local/recover/replay.h"
#include "core/local/recover/rescue.h"

namespace fq {

class Rebuilder : private Gripping {
 public:
  /// `holes`: what to do where the disk does not give back a part of the journal.
  Rebuilder(Grip& grip, Holes holes) : Gripping(grip), files_(grip), rescue_(grip), holes_(holes) {}

  /// Needs: a share in `lock`. Nothing is held afterwards where the queue was removed meanwhile.
  Result<void> rebuild();

 private:
  /// Needs: the lock of who rebuilds, and a share in that of who uses it.
  Result<void> rebuild_locked();
  Result<bool> prove_alone(Found found);
  /// Needs: nobody else is attached, and nothing was in the queue.
  Error take_back(Error why);
  bool has_lost_journal(bool has_identity);
  /// `had_faults`: the segment that this one replaces. `lost_all`: the journal had a file, and has none.
  Result<void> build(bool alone, bool had_faults, bool lost_all);
  Result<void> begin_secret_anew(Store& store, const KeySecret& secret);
  Result<void> adopt_boot(Store& store, const Replayed& replayed);
  static void carry_holders(Store& store);
  Result<void> write_first_records(Store& store, const Replayed& replayed, bool had_faults);

  RebuildFiles files_;
  Rescue rescue_;
  const Holes holes_;
};

}  // namespace fq
