// run_outputs - the output of this process's jobs, in files that others read meanwhile; and the calls that
// are its own.
//
// The shelf (directory and `calls`) belongs to all of them together: the output of a job may end after the
// queue's object does.
#pragma once

// fq, this room.
#include "core/local/files/jobs/run_file.h"
#include "core/local/write/link.h"

namespace fq {

struct RunShelf {
  std::unique_ptr<Disk> disk;
  std::unique_ptr<Calls> calls;
};

class RunOutputs : private Linked {
 public:
  explicit RunOutputs(Link& link) : Linked(link) {}

  Result<CallId> begin_call();
  void end_call(CallId call);
  Result<std::shared_ptr<RunOutput>> make(const Delivery& delivery, const RunTerms& terms);
  /// Null on a fake disk.
  Result<std::shared_ptr<RunShelf>> shelf();

 private:
  std::shared_ptr<RunShelf> shelf_;
  std::unique_ptr<Calls> own_;  // our calls: of another open file than the one that is asked about others'
};

}  // namespace fq
