// schedule_records - schedules as they lie on the server: the twin of core/redis/lua/life/schedules.lua,
// which says what is where.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/redis/records/records.h"

namespace fq {

/// Times are wall times.
struct ScheduleRecord {
  uint64_t version = 0;  // 0: it is not there yet
  MissedRule missed = MissedRule::one;
  OverlapRule overlap = OverlapRule::skip;
  bool paused = false, of_file = false, refused = false;
  Occurrence last = Occurrence::none;
  int64_t last_wall_ms = 0;
  uint64_t last_id = 0;
  int64_t next_wall_ms = 0, done_wall_ms = 0, begun_wall_ms = 0;
  std::string spec, zone;
  std::string message;  // as schedule_message() packs it

  bool operator==(const ScheduleRecord&) const = default;
};

std::string schedule_bytes(const ScheduleRecord& record);
/// None: it is not one that this fq wrote.
std::optional<ScheduleRecord> read_schedule(std::string_view bytes);

/// `signature`: of its command.
std::string schedule_message(const NewMessage& message, std::string_view signature);
/// The texts lie in what was read; tags, command and the like of a message are its own.
struct ScheduledMessage {
  NewMessage message;
  std::string payload, signature;
};
std::optional<ScheduledMessage> read_schedule_message(std::string_view bytes);

}  // namespace fq
