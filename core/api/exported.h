// exported - a message with all that its queue knows of it, to be written out and taken in by another queue,
// whatever engine that has.
//
// Ids in it are those of the queue that it comes from; the importer puts those of the other queue in their
// place first, which is why the messages that it names have to be imported before it.
#pragma once

// System.
#include <span>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/error.h"
#include "core/base/step_kind.h"
// fq, this room.
#include "core/api/message.h"

namespace fq {

struct ExportedStep {
  std::string name;
  StepKind kind = StepKind::run;
  int64_t at_wall_ms = 0;      // when it was kept
  std::string output;          // run
  MessageId child{};           // push
  bool open = false;           // wait: how it ends is not told yet
  bool failed = false;         // wait: of those that have ended not all were acked
  std::vector<MessageId> ids;  // wait: for these
};

/// A message that it came after.
struct ExportedWait {
  MessageId id{};
  bool any = false;     // however that ends; else it has to be acked
  bool closed = false;  // it waits for that one no longer, or, dead, would not when it is kicked
};

struct ExportedMessage {
  MessageId id{};
  // ready, delayed, held or dead; a message that ran is ready. Acked or cancelled: of a step's message that
  // has ended nothing else is told, since others ask only how it did.
  State state = State::ready;
  int64_t since_wall_ms = 0;  // ready, dead: since then; delayed: due
  // held, or dead and to be held again by a kick: not before this time, or so long after it is held no
  // longer; 0: at once.
  int64_t due_wall_ms = 0;
  int64_t delay_ms = 0;
  std::string tenant;
  std::string payload;
  int32_t priority = 0;
  std::string key;                       // SortKey bytes
  std::optional<uint32_t> attempts_max;  // its own
  uint32_t attempts_in_force = 0;        // that its last lease gave it; 0: none yet
  uint32_t attempts = 0;
  uint32_t deliveries = 0;
  uint32_t crashes = 0;
  int64_t pushed_at_wall_ms = 0;
  std::vector<Tag> tags;
  std::optional<JobCommand> command;
  std::optional<int64_t> timeout_ms;
  std::optional<int64_t> keep_ms;
  int64_t ttl_ms = 0;  // from when it is due, before its first start; 0: none
  std::string unique;
  int64_t unique_for_ms = 0;
  std::string debounce;
  MessageId behind{};  // held because that one has the same unique key; 0: it is not
  std::string schedule;
  int64_t scheduled_at_wall_ms = 0;
  bool expired = false;  // dead for that reason
  std::optional<LastError> last_error;
  std::vector<ExportedWait> after;
  bool wait_failed = false;  // of what a step of it waited for last not all were acked
  std::vector<ExportedStep> steps;
  std::string lost;  // the part of it that cannot be read, and why: then it is of no use elsewhere
};

struct ExportPage {
  std::vector<ExportedMessage> messages;  // by id
  Cursor next;
};

/// How long a queue remembers what it has imported, so that the same is not taken in twice.
inline constexpr int64_t kImportRememberedMs = int64_t{7} * 86'400'000;

struct ImportResult {
  enum class What {
    imported,
    known,    // it was imported before, under this id
    refused,  // `why`
  };
  What what = What::refused;
  MessageId id{};
  std::string why = {};
};

/// By message, in order. With an `error` fewer than were asked for: the others were not taken.
struct ImportReply {
  std::vector<ImportResult> items;
  std::optional<Error> error;
};

}  // namespace fq
