// message - the messages that go into a queue and come out of it, on every engine.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
// fq, below us.
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
// fq, this room.
#include "core/api/receipt.h"

namespace fq {

inline constexpr std::string_view kDefaultTenant = "default";

/// A sort key in its order-preserving form: compare the bytes and numbers come first, then times, then
/// text. Made by core/base/sort_key.h; empty means none (which sorts last).
struct SortKey {
  std::string bytes;
};

struct Tag {
  std::string name;
  std::string value;
  bool operator==(const Tag&) const = default;
};

/// The command that a command message runs, and where; its payload is its standard input.
struct JobCommand {
  std::vector<std::string> argv;
  std::string cwd;
  std::vector<std::string> env;  // "NAME=value"
  bool operator==(const JobCommand&) const = default;
};

/// The treatment of a push with the key of a message that has not ended.
enum class UniqueMode {
  keep,     // nothing
  replace,  // one that waits gets the new payload; behind one that runs another is held until it has ended
  after,    // one that waits stays as it is; behind one that runs another is held too
};

/// A message to be pushed. The views must live until push returns.
struct NewMessage {
  std::string_view tenant = kDefaultTenant;
  Bytes payload;
  int32_t priority = 0;
  std::string_view key;                  // SortKey bytes
  std::optional<int64_t> delay_ms;       // from now
  std::optional<int64_t> at_wall_ms;     // or at this time; the past is now
  std::optional<uint32_t> attempts_max;  // else the queue's
  std::vector<Tag> tags;
  std::optional<JobCommand> command;
  std::optional<int64_t> timeout_ms;  // of a run in a worker
  std::optional<int64_t> keep_ms;     // record and output, after the end
  std::optional<CallId> call;         // from begin_call: the caller that reads the output of its job
  std::optional<int64_t> ttl_ms;      // from when it is due: dead if not started by then
  std::string_view unique;            // per tenant: none pushed while there is one with the same; empty: none
  int64_t unique_for_ms = 3'600'000;  // held so long after its ack
  UniqueMode unique_mode = UniqueMode::keep;
  std::string_view debounce;           // per tenant: one message while it waits, the last payload wins
  int64_t quiet_ms = 0;                // with debounce: due so long after the last push
  std::vector<MessageId> after;        // held until all of them are acked; one that is not buries it
  std::vector<MessageId> after_any;    // held until all of them have ended
  std::optional<int64_t> max_wait_ms;  // and at the latest so long after the first
  std::string_view schedule;           // that makes it, for this time; empty: none
  int64_t scheduled_at_wall_ms = 0;
};

/// The room that a message takes in a batch, at most: its bytes with all that stands around them. A payload
/// above kInlinePayloadBytesMax takes none of it.
size_t batch_bytes(const NewMessage& message);

/// The answer to a request under a receipt.
enum class SettleStatus {
  ok,
  buried,   // a retry that was the last attempt
  slept,    // a step of its job sleeps or waits: it was given back until then, whatever the verdict
  stale,    // the receipt is no longer valid: the lease ended, or another verdict came first
  gone,     // no such message: it has ended, or never was
  invalid,  // no receipt at all
  foreign,  // of another queue, or of an fq that did not say of which: never applied
  unknown,  // the engine cannot say
};

/// A short printable text that only the engine which gave it can read.
struct Cursor {
  std::string text;  // empty: from the start, or (returned) no more
};

enum class State { ready, delayed, leased, held, dead, acked, cancelled, moved };
std::string_view name_of(State state);
/// It is in no queue any more: a message that was moved goes on in another.
constexpr bool has_ended(State state) { return state == State::acked || state == State::cancelled; }

/// Why the last attempt failed. An unknown field is empty.
/// Why nothing comes after that one.
Error unknown_before(MessageId id);

struct LastError {
  std::optional<int> exit;
  std::optional<int> signal;
  std::string reason;
  std::string stderr_tail;
  int64_t at_wall_ms = 0;
};

/// A message of another queue.
struct Elsewhere {
  std::string queue;
  MessageId id{};  // 0: not known
};

/// A message as peek and get show it.
struct MessageInfo {
  MessageId id{};
  std::string tenant;
  State state = State::ready;
  int32_t priority = 0;
  std::string key;  // as typed, "" for none
  std::vector<Tag> tags;
  std::optional<JobCommand> command;
  uint32_t attempts = 0;  // that counted
  uint32_t attempts_max = 0;
  uint32_t deliveries = 0;
  uint32_t crashes = 0;
  std::optional<int64_t> pushed_at_wall_ms;  // none for a finished one whose record is gone
  // Of a finished one that is still told of: its last run, where it had one, and its end.
  std::optional<int64_t> started_at_wall_ms;
  std::optional<int64_t> ended_at_wall_ms;
  std::optional<int> exit;
  std::optional<int> signal;
  std::optional<int> worker_pid;
  std::optional<int64_t> due_at_wall_ms;
  std::optional<int64_t> expires_at_wall_ms;  // dead if not started by then
  std::optional<int64_t> delay_ms;            // held: due so long after it is let go
  std::vector<MessageId> after;               // the messages that it came after,
  std::vector<MessageId> after_any;           // and those however they end
  // As its push said.
  std::optional<int64_t> timeout_ms;
  std::optional<int64_t> ttl_ms;
  std::optional<int64_t> keep_ms;
  std::string unique;  // "": none
  std::optional<int64_t> unique_for_ms;
  std::string debounce;  // the key; "": none
  std::string schedule;  // that made it, for this time; "": none
  std::optional<int64_t> scheduled_at_wall_ms;
  std::optional<int64_t> lease_until_wall_ms;
  std::optional<Receipt> receipt;
  std::optional<int> holder_pid;
  std::string holder_host;             // where that is, or what a dead worker's job has left; "": not known
  std::optional<std::string> payload;  // none when the record is gone
  std::optional<LastError> last_error;
  std::optional<Elsewhere> moved_to;  // moved: where it is now
  std::string lost;                   // the part of it that cannot be read, and why; empty: none
};

/// One step in a message's life, oldest first.
struct HistoryEvent {
  std::string_view event;  // "pushed", "leased", "acked", "retried", "released", "buried", "kicked", ...
  int64_t at_wall_ms = 0;
  std::string receipt;  // leased; else empty
  std::optional<int> pid;
  std::string reason;
  // As in Event.
  int64_t until_wall_ms = 0;
  int64_t due_wall_ms = 0;
  std::optional<int16_t> exit;
  std::optional<int16_t> signal;
  std::string stderr_tail;
  std::optional<Elsewhere> elsewhere;
};

}  // namespace fq
