// schedule_book - the schedules of a queue, set and changed by hand or by the policy file: written down like
// a push, and again before the file of an old record goes.
//
// Each change is one record that tells all there is of its schedule. It is encoded without the lock, from the
// state that the lock showed, and appended only if nothing has happened to the schedule meanwhile; else it is
// begun again.
#pragma once

// fq, below us.
#include "core/engine/schedule_times.h"
// fq, this room.
#include "core/local/push/push_batch.h"
#include "core/local/schedules/schedule_reader.h"
#include "core/local/write/writer.h"

namespace fq {

class ScheduleBook : private Linked {
 public:
  ScheduleBook(Link& link, Writer& writer, Upkeep& upkeep)
      : Linked(link), writer_(writer), upkeep_(upkeep), reader_(link) {}

  Result<void> set(const ScheduleDefinition& definition);
  Result<void> load(std::span<const ScheduleDefinition> definitions);
  Result<bool> pause(std::string_view name, bool paused);
  Result<void> pause_all();
  Result<bool> remove(std::string_view name);
  Result<SchedulePage> list(const Cursor& from, size_t n);
  Result<std::optional<ScheduleInfo>> get(std::string_view name);

  /// Those that only old files tell of are written down anew, so that these can go.
  Result<void> carry();

 private:
  Result<void> set_one(const ScheduleDefinition& definition, bool of_file);
  Result<bool> put(const ScheduleSnapshot* there, const ScheduledRecord& record, Purpose purpose);
  Result<bool> take_out(const ScheduleSnapshot& seen);
  Result<void> drop_of_file(std::span<const ScheduleDefinition> kept);
  Result<std::vector<ScheduleSnapshot>> see_some(uint32_t from, size_t n, uint32_t& next);
  Result<std::vector<std::string>> all_names();
  Result<ScheduleInfo> describe(const ScheduleSnapshot& seen);
  Result<void> carry_one(ScheduleSnapshot& seen);
  Result<void> wait_durable();

  Writer& writer_;
  Upkeep& upkeep_;
  ScheduleReader reader_;
  std::vector<std::string> listed_;  // what a listing goes through
  Body body_;
  Body carried_body_;  // carrying may be what makes room for a change
  uint64_t end_ = 0;   // of what was appended by this call
};

}  // namespace fq
