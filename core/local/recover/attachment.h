// attachment - one process's tie to one queue, from its opening on: attached, and attached anew where the
// segment was replaced or is damaged.
//
// Opening is quick when the segment is this boot's, this namespace's and this directory's: open, flock,
// stat, map. Otherwise it is rebuilt from the journal (Rebuilder), under `rebuild` so that only one process
// does it.
#pragma once

// fq, this room.
#include "core/local/recover/rebuilder.h"
#include "core/local/recover/smaller_segment.h"

namespace fq {

class Attachment {
 public:
  /// `holes`: what a rebuild does where the disk does not give back a part of the journal.
  static Result<std::unique_ptr<Attachment>> open(const Location& location, bool create, Clock& clock,
                                                  Holes holes = Holes::refused);

  /// Leaves the segment (which was replaced or is damaged) and attaches to the queue's present one.
  Result<void> attach();

  Store& store() { return *grip_.store(); }
  Disk& disk() { return grip_.disk(); }
  const LockFile& lock_file() const { return grip_.lock_file(); }
  const KernelIdentity& kernel() const { return grip_.kernel(); }
  const std::string& object() const { return grip_.object(); }
  const Location& location() const { return grip_.location(); }
  /// For who waits: a queue whose directory was taken away, or that another one is in the place of, gives
  /// nothing any more. Looked for now and then.
  Result<void> check_place();
  /// See SmallerSegment. True: the queue was let go for that, attach anew.
  bool make_smaller() { return smaller_.make(); }
  /// The reports of a rebuild, for a person; emptied by the call.
  void notice(std::string text) { grip_.notice(std::move(text)); }
  std::vector<std::string> take_notices() { return grip_.take_notices(); }

 private:
  Attachment(Location location, bool create, Clock& clock, Holes holes)
      : grip_(std::move(location), create, clock), rebuilder_(grip_, holes), smaller_(grip_) {}

  Result<void> try_to_attach();
  Result<bool> attach_once();

  Grip grip_;
  Rebuilder rebuilder_;
  SmallerSegment smaller_;
  int64_t next_place_check_ms_ = 0;
};

}  // namespace fq
