// records - messages as they lie on the server: the twin of core/redis/lua/keys/records.lua, which says what
// is where. tests/redis/records_test holds both to the same bytes.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/queue.h"

namespace fq {

/// By which a client's receipts, and its session, are told from those of others: 55 random bits. Of two that
/// have the same the first that leaves gives back what both hold.
inline constexpr size_t kNonceBytes = 11;

/// Of a whole record; the views lie in it.
struct MessageRecord {
  State state = State::ready;
  std::string_view tenant, key, nonce, payload;
  uint32_t attempts_max = 0;  // 0: the queue's
  uint32_t attempts = 0, attempts_in_force = 0, crashes = 0, deliveries = 0;
  int32_t priority = 0;
  int64_t pushed_ms = 0, timer_ms = 0, since_ms = 0, began_ms = 0;  // the server's times
  int64_t ttl_ms = 0;
  std::optional<int64_t> keep_ms, timeout_ms;
  uint64_t serial = 0;
  uint32_t pid = 0;  // that holds it by living
  bool debounced = false, holds_key = false, suspended = false, expired = false, wait_failed = false;
  std::vector<Tag> tags;
  std::optional<JobCommand> command;
  std::optional<CallId> call;
  std::string_view signature;  // of the command, see core/redis/signing; empty: none
  std::string_view schedule;   // that made it, for this time
  int64_t scheduled_wall_ms = 0;
};

inline constexpr std::string_view kUnreadable = "its record cannot be read";

/// None: it is not one that this fq wrote.
std::optional<MessageRecord> read_record(std::string_view bytes);
std::optional<MessageRecord> read_record(std::string&& bytes) = delete;  // its texts lie in them
/// Of one of which the rest may be damaged: without what only the client reads.
std::optional<MessageRecord> read_head_of(std::string_view bytes);

/// As its push said it, as far as a record says that. The views lie where those of the record do.
NewMessage message_of(const MessageRecord& record);

/// Of what only the client reads, as push_rest packs it: of the record what that says.
std::optional<MessageRecord> read_rest_of(std::string_view bytes);
/// Of a block of tags and of what is said of the job, which may be cut.
MessageRecord read_job_block(std::string_view block);
/// A block of tags.
std::vector<Tag> read_tags(std::string_view block);

/// The ties of a message to others.
struct TiesRecord {
  int64_t due_ms = 0, delay_ms = -1;  // once it is let go
  int64_t unique_for_ms = 0;
  uint64_t behind = 0;
  std::string_view unique;
  std::vector<MessageId> after, after_any;
  std::vector<ExportedWait> waits;  // both, and what became of each
};
std::optional<TiesRecord> read_ties(std::string_view bytes);

/// A message as push tells it to the server's program, beside its tenant and sort key. `at_ms`: the server's
/// time; 0: after the delay.
std::string push_fields(const NewMessage& message, int64_t at_ms);
/// And what only the client reads: tags, its job with the signature of its command, and payload.
std::string push_rest(const NewMessage& message, std::string_view signature);

/// A message as an edit tells it to the server's program, beside the sort key and the part that only the
/// client reads. `message`: as it is then; `is_signed`: that part has another signature at least.
std::string edit_fields(const MessagePatch& patch, const NewMessage& message, int64_t at_ms, bool is_signed);
/// Of a whole record, what only the client reads.
std::string_view rest_of_record(std::string_view bytes);

/// The past of a message, which an import tells the server's program beside what a push does.
struct PastRecord {
  State state = State::ready;
  int64_t pushed_ms = 0, since_ms = 0, due_ms = 0;  // the server's times
};
std::string past_bytes(const ExportedMessage& message, const PastRecord& past);
/// A step, as the server keeps it.
std::string step_bytes(const ExportedStep& step, int64_t at_ms);
/// The time is the server's; ids that have ended are among them. None: it is no step.
std::optional<ExportedStep> read_step(std::string_view bytes, uint64_t& place);

std::string failure_bytes(const Settle& settle);
/// The time is the server's.
std::optional<LastError> read_failure(std::string_view bytes);

struct OutcomeRecord {
  State state = State::acked;
  int64_t at_ms = 0;
  uint64_t id_there = 0;         // moved: which it is by now,
  std::string_view queue_there;  // and where
  std::string_view tenant;
  uint32_t attempts = 0;  // that counted
};
std::optional<OutcomeRecord> read_outcome(std::string_view bytes);

std::string policy_bytes(const PolicyValues& values);
PolicyValues read_policy_bytes(std::string_view bytes);

}  // namespace fq
