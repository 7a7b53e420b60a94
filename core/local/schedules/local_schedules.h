// local_schedules - the schedules of a local queue, as the door has them.
#pragma once

// fq, this room.
#include "core/local/schedules/schedule_book.h"
#include "core/local/schedules/schedule_runner.h"

namespace fq {

class LocalSchedules final : public Schedules {
 public:
  LocalSchedules(ScheduleBook& book, ScheduleRunner& runner) : book_(book), runner_(runner) {}

  Result<void> set(const ScheduleDefinition& definition) override { return book_.set(definition); }
  Result<void> load(std::span<const ScheduleDefinition> definitions) override {
    return book_.load(definitions);
  }
  // Times that are due by now are told as done.
  Result<SchedulePage> list(const Cursor& from, size_t n) override {
    FQ_TRY(runner_.run_due());
    return book_.list(from, n);
  }
  Result<std::optional<ScheduleInfo>> get(std::string_view name) override {
    FQ_TRY(runner_.run_due());
    return book_.get(name);
  }
  Result<bool> pause(std::string_view name, bool paused) override {
    FQ_TRY(runner_.run_due());
    return book_.pause(name, paused);
  }
  Result<bool> remove(std::string_view name) override { return book_.remove(name); }
  Result<std::optional<MessageId>> run(std::string_view name) override { return runner_.run(name); }

 private:
  ScheduleBook& book_;
  ScheduleRunner& runner_;
};

}  // namespace fq
