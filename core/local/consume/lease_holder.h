// lease_holder - this process as a consumer that holds leases by living: how it becomes known, and how it
// leaves.
#pragma once

// fq, this room.
#include "core/local/files/jobs/running_jobs.h"
#include "core/local/write/event_writer.h"

namespace fq {

class LeaseHolder : private Linked {
 public:
  LeaseHolder(Link& link, Writer& writer, EventWriter& events)
      : Linked(link), writer_(writer), events_(events) {}

  Result<void> become();
  /// False: what it has could not be given back, and comes back once this thread has ended. Until then the
  /// segment stays mapped, or nobody would see that.
  [[nodiscard]] bool leave();
  /// Tells others of this worker, in every segment that it comes into.
  Result<void> attend(const Attendance& attendance);
  /// A descriptor that keeps these messages ours for as long as any process has it.
  Result<std::optional<int>> hold_for_job(std::span<const MessageId> ids, std::optional<int64_t> limit_ms);

 private:
  Result<void> note_job_limit(std::optional<int64_t> limit_ms);

  void note_attendance(Txn& txn, HolderSlot& slot);

  Attendance attendance_;
  Writer& writer_;
  EventWriter& events_;
};

}  // namespace fq
