// redis_schedules - messages that are made at times, on a server. The client tells the times, by spec and
// zone; the server keeps what they have come to, and each is accounted for once, whichever client comes.
#pragma once

// System.
#include <span>
#include <string>
#include <vector>
// fq, below us.
#include "core/engine/schedule_times.h"
// fq, this room.
#include "core/redis/records/schedule_records.h"
#include "core/redis/policy/redis_policy.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

class RedisSchedules final : public Schedules {
 public:
  RedisSchedules(Shard& shard, RedisPolicy& policy, const CommandSigner& signer)
      : shard_(shard), policy_(policy), signer_(signer) {}

  Result<void> set(const ScheduleDefinition& definition) override;
  Result<void> load(std::span<const ScheduleDefinition> definitions) override;
  Result<SchedulePage> list(const Cursor& from, size_t n) override;
  Result<std::optional<ScheduleInfo>> get(std::string_view name) override;
  Result<bool> pause(std::string_view name, bool paused) override;
  Result<bool> remove(std::string_view name) override;
  Result<std::optional<MessageId>> run(std::string_view name) override;

  /// Those whose time has come, as far as one look finds them.
  Result<void> run_due();

 private:
  struct DueSchedule {
    std::string name;
    std::optional<ScheduleRecord> record;  // none: it cannot be read
  };
  struct Look {
    std::vector<DueSchedule> found;
    int64_t now_wall_ms = 0;
  };
  Result<Look> look(std::span<const std::string_view> words);
  Result<Look> find(std::string_view name);
  Result<void> set_one(const ScheduleDefinition& definition, bool of_file);
  /// Of the command of its messages: the one that it has where that is still good.
  Result<std::string> signature_of(const ScheduleDefinition& definition, const ScheduleRecord& before) const;
  /// False: another change came first.
  Result<bool> put(std::string_view name, const ScheduleRecord& record, int64_t due_wall_ms, bool told);
  Result<bool> take_out(std::string_view name, const ScheduleRecord& record);
  Result<void> run_one(const DueSchedule& seen, int64_t now_wall_ms);
  Result<void> defer(std::string_view name, int64_t until_wall_ms);
  /// The answer of the server's program to `words` and the message that is made for this time.
  Result<Reply> make(const DueSchedule& seen, int64_t at_wall_ms, std::vector<std::string_view> words);

  Shard& shard_;
  RedisPolicy& policy_;
  const CommandSigner& signer_;
};

}  // namespace fq
