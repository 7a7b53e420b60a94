// model_schedules - what schedules have to do, in so few lines that one can see that it is right.
//
// Times are walked one by one from the last that was accounted for; cron itself is core/base/time's, which
// has an oracle of its own.
#pragma once

// System.
#include <deque>
#include <map>
#include <mutex>
// fq, below us.
#include "core/base/time/recurrence.h"
// Tests.
#include "tests/fakes/model.h"

namespace fq::test {

class ModelSchedules final : public Schedules {
 public:
  ModelSchedules(Model& model, std::mutex& mutex) : model_(model), mutex_(mutex) {}

  Result<void> set(const ScheduleDefinition& definition) override;
  Result<void> load(std::span<const ScheduleDefinition> definitions) override;
  Result<SchedulePage> list(const Cursor& from, size_t n) override;
  Result<std::optional<ScheduleInfo>> get(std::string_view name) override;
  Result<bool> pause(std::string_view name, bool paused) override;
  Result<bool> remove(std::string_view name) override;
  Result<std::optional<MessageId>> run(std::string_view name) override;

  /// Needs: the mutex.
  void run_due();

 private:
  struct One {
    ScheduleInfo info;
    std::string tenant, payload, key;
    std::vector<Tag> tags;
    std::optional<JobCommand> command;
    NewMessage message;  // its views point to the above
    int64_t begun = 0, done = 0;
    int64_t going = 0;  // the time that it waits for
    Recurrence recurrence;
    Zone zone;
  };
  /// The first time after that one; kNever: there is none.
  int64_t next(const One& one, int64_t after) const;
  /// Up to where its times count as done. What was done more than a day from now was so by a clock that was
  /// wrong: then it is now, and the time that it waits for since then is not passed over.
  int64_t accounted(const One& one) const;
  static Result<void> check(const ScheduleDefinition& definition);
  Result<void> put(const ScheduleDefinition& definition, bool of_file);
  MessageId make(const One& one, int64_t at, std::vector<MessageId> after);
  void run_one(One& one);
  ScheduleInfo told(const One& one) const;

  Model& model_;
  std::mutex& mutex_;
  std::map<std::string, One, std::less<>> all_;
};

}  // namespace fq::test
