// schedules - messages that are made again and again, at times: the part of a queue that has schedules.
//
// A schedule is a record of its queue, under a name. A process at the queue turns each time that comes
// into one message, or accounts for it by the rules that were set: none is made twice, and none is lost in
// silence.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/result.h"
#include "core/base/time/occurrence.h"
// fq, this room.
#include "core/api/message.h"

namespace fq {

/// The past of a schedule in the queue that it comes from.
struct SchedulePast {
  bool paused = false;
  int64_t begun_wall_ms = 0;  // from where an `every` counts
  Occurrence last = Occurrence::none;
  int64_t last_wall_ms = 0;  // needs: last is not none
  MessageId last_id{};       // as it is here; 0: none, or not here
};

/// The schedule that is asked for. The views in `message` must live until the call returns; it takes no
/// delay, key of uniqueness or debounce and comes after nothing, and its payload is at most
/// kInlinePayloadBytesMax.
struct ScheduleDefinition {
  std::string name;
  std::string spec;  // five fields, @hourly and the like, or `every DUR`
  std::string zone = "UTC";
  MissedRule missed = MissedRule::one;
  OverlapRule overlap = OverlapRule::skip;
  NewMessage message;
  std::optional<SchedulePast> past;  // holds where there is none of this name yet
};

struct ScheduleInfo {
  std::string name;
  std::string spec;
  std::string zone;
  MissedRule missed = MissedRule::one;
  OverlapRule overlap = OverlapRule::skip;
  bool paused = false;
  bool of_file = false;       // it stands in the policy file
  bool refused = false;       // a time has come and there was no room for its message
  int64_t begun_wall_ms = 0;  // from where an `every` counts
  Occurrence last = Occurrence::none;
  int64_t last_wall_ms = 0;           // needs: last is not none
  MessageId last_id{};                // of the last message that it made; 0: none
  std::vector<int64_t> next_wall_ms;  // the next three times, as far as there are
  std::string fault;                  // why they cannot be told: its zone is gone; empty: they can
  MessageInfo message;                // the message that it makes: tenant, payload, command and so on
};

/// By name.
struct SchedulePage {
  std::vector<ScheduleInfo> schedules;
  Cursor next;
};

class Schedules {
 public:
  virtual ~Schedules() = default;

  /// ErrorKind::bad_data: a spec that is none or never comes. A schedule that is there is changed: its past
  /// times stay known, and with the same spec and zone its times go on as they were.
  virtual Result<void> set(const ScheduleDefinition& definition) = 0;
  /// Takes all schedules of the policy file: one that the file named before and does not now is removed. One
  /// that was set at run time under one of its names stays.
  virtual Result<void> load(std::span<const ScheduleDefinition> definitions) = 0;
  virtual Result<SchedulePage> list(const Cursor& from, size_t n) = 0;
  virtual Result<std::optional<ScheduleInfo>> get(std::string_view name) = 0;
  /// False: there is none of this name. Times in a pause are not made up.
  virtual Result<bool> pause(std::string_view name, bool paused) = 0;
  virtual Result<bool> remove(std::string_view name) = 0;
  /// Makes one message now, beside its times, paused or not. None: there is none of this name.
  virtual Result<std::optional<MessageId>> run(std::string_view name) = 0;
};

}  // namespace fq
