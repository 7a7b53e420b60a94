// record - the records of the journal, as plain values: the words of fq's truth.
//
// Every change of a queue is one record; state is the result of applying all records in order. A record
// stands at a position of one logical stream that runs over all files and is never renumbered, so a message
// is found by its stream position whatever file holds it now.
//
// Values are views: into the caller's memory when encoding, into the bytes read when decoding.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/policy.h"
#include "core/base/step_kind.h"
#include "core/base/time/occurrence.h"

namespace fq {

/// On disk: add at the end, never renumber, never reuse.
enum class RecordType : uint8_t {
  pushed = 1,        // messages, one or a batch
  leased = 2,        // ids with consecutive serials
  acked = 3,         // ids
  retried = 4,       // ids; an attempt that counts
  released = 5,      // ids; given back, does not count
  buried = 6,        // ids
  kicked = 7,        // ids; back from the dead or the delayed
  extended = 8,      // ids; their leases end at another time
  cancelled = 9,     // ids
  died = 10,         // ids; their holder died: an attempt and a crash
  moved = 11,        // one message with all that is known of it, copied forward
  low = 12,          // files below a number are done with; a snapshot of the counts
  limits = 13,       // ids and serials below these were handed out or may be
  clock = 14,        // the boot and the difference between its clock and wall time
  opened = 15,       // first in each file: the file that it follows (outside the stream)
  policy = 16,       // values set at run time for a tenant or the queue
  replaced = 17,     // one waiting message got another payload
  keys = 18,         // unique keys of messages that were acked
  freed = 19,        // ids; held no longer
  reheld = 20,       // ids; back from the dead, and held again
  scheduled = 21,    // a schedule, with all that is known of it
  skipped = 22,      // a time of a schedule that makes no message
  unscheduled = 23,  // a schedule that is no more
  edited = 24,       // one message got other values, with all that is known of it
  stepped = 25,      // the result of one step of a message's job
  unstepped = 26,    // ids; their steps are forgotten
  leaving = 27,      // one message is on its way to another queue, with all that is known of it
  left = 28,         // ids; they are in another queue
  arrived = 29,      // one message came from another queue, with all that is known of it
};

inline constexpr RecordType kLastType = RecordType::arrived;

/// The contents of a body.
enum class BodyKind : uint8_t {
  unknown,
  pushed,
  event,
  moved,
  low,
  limits,
  clock,
  opened,
  policy,
  replaced,
  keys,
  scheduled,
  skipped,
  edited,
  stepped
};

/// No default here, nor where the kinds are told apart: a new type does not compile until it is named.
constexpr BodyKind kind_of(RecordType type) {
  switch (type) {
    case RecordType::leased:
    case RecordType::acked:
    case RecordType::retried:
    case RecordType::released:
    case RecordType::buried:
    case RecordType::kicked:
    case RecordType::extended:
    case RecordType::cancelled:
    case RecordType::died:
    case RecordType::freed:
    case RecordType::reheld:
    case RecordType::unstepped:
    case RecordType::left:
      return BodyKind::event;
    case RecordType::pushed:
      return BodyKind::pushed;
    case RecordType::moved:
    case RecordType::arrived:
      return BodyKind::moved;
    case RecordType::low:
      return BodyKind::low;
    case RecordType::limits:
      return BodyKind::limits;
    case RecordType::clock:
      return BodyKind::clock;
    case RecordType::opened:
      return BodyKind::opened;
    case RecordType::policy:
      return BodyKind::policy;
    case RecordType::replaced:
      return BodyKind::replaced;
    case RecordType::keys:
      return BodyKind::keys;
    case RecordType::scheduled:
      return BodyKind::scheduled;
    case RecordType::skipped:
    case RecordType::unscheduled:
      return BodyKind::skipped;
    case RecordType::edited:
    case RecordType::leaving:
      return BodyKind::edited;
    case RecordType::stepped:
      return BodyKind::stepped;
  }
  return BodyKind::unknown;  // of bytes that are no type
}
static_assert(kind_of(RecordType{static_cast<uint8_t>(kLastType) + 1}) == BodyKind::unknown, "kLastType");

/// Whether its message is in this queue no more from then on.
inline bool ends_message(RecordType type) {
  return type == RecordType::acked || type == RecordType::cancelled || type == RecordType::left;
}

/// Whether an attempt failed by it. (One that ran out of time leaves no record.)
inline bool is_failure(RecordType type) {
  return type == RecordType::retried || type == RecordType::buried || type == RecordType::died;
}

/// Record flags.
inline constexpr uint8_t kFlagLazy = 1;     // pushed: its sender did not wait for the disk
inline constexpr uint8_t kFlagHasKey = 2;   // kicked, reheld: what came back had its key again
inline constexpr uint8_t kFlagKeyless = 4;  // kicked, reheld: another had it

struct RecordHeader {
  uint32_t bytes = 0;     // header and body, without padding
  uint64_t seq = 0;       // +1 from record to record, over all files
  uint64_t position = 0;  // where it stands in the stream
  int64_t at_wall_ms = 0;
  uint64_t durable_position = 0;  // the stream was on disk up to here when this was written
  RecordType type{};
  uint8_t flags = 0;
  uint16_t count = 0;  // items
};

/// The dependencies of a message are ids with these bits.
inline constexpr uint64_t kAfterAny = uint64_t{1} << 63;     // however it ends; else it has to be acked
inline constexpr uint64_t kAfterKey = uint64_t{1} << 62;     // because it has the same unique key
inline constexpr uint64_t kAfterClosed = uint64_t{1} << 61;  // it waits no longer for that one
inline constexpr uint64_t kAfterFailed = uint64_t{1} << 60;  // carried: that one did not end by an ack

/// A payload too long for the journal lies in blobs/<name>, durable before its record.
struct BlobName {
  uint8_t random[16] = {};
  /// None is ever named so: it stands for the payload of a message whose record could not be read any more.
  bool is_nothing() const {
    uint8_t any = 0;
    for (const uint8_t byte : random) any |= byte;
    return any == 0;
  }
};

/// One message of a `pushed` or `moved` record.
struct MessageItem {
  std::string_view tenant;
  std::string_view key;    // order-preserving bytes, empty for none
  std::string_view tags;   // encoded by encode_tags
  std::string_view job;    // encoded by encode_job, empty when there is nothing to say
  std::string_view terms;  // encoded by encode_terms, empty in the same case
  Bytes payload;           // inline; empty when there is a blob
  std::optional<BlobName> blob;
  uint64_t payload_bytes = 0;  // also of a blob
  uint32_t blob_crc = 0;
  int32_t priority = 0;
  uint16_t attempts_max = 0;  // 0: the queue's
  int64_t due_wall_ms = 0;    // 0: at once; below it: of a held one, so long after its release
  int64_t pushed_wall_ms = 0;

  /// Whether its record could not be read when it was copied forward: then of its content no more is known
  /// than the length.
  bool is_lost() const { return blob && blob->is_nothing(); }
};

struct EventItem {
  MessageId id{};
  uint64_t previous_event = 0;  // stream position of the record before this one about the same message
};

/// The part of an event that holds for all its ids.
struct EventDetail {
  int64_t due_wall_ms = 0;    // retried, released: not before; 0: at once
  int64_t until_wall_ms = 0;  // leased, extended: 0 is held by a process
  Serial first_serial{};      // leased: the first id's; the others follow
  uint32_t pid = 0;           // leased: the holder
  uint64_t pid_started = 0;   // leased: in clock ticks since boot, as /proc tells
  uint16_t attempts_max = 0;  // leased: of the queue, for messages without their own
  std::optional<int16_t> exit;
  std::optional<int16_t> signal;
  std::string_view reason;
  std::string_view stderr_tail;
  std::optional<bool> has_key;  // kicked, reheld: see kFlagHasKey; none: it has none, or an older fq wrote it
  std::string_view queue;  // left: where it is now
  MessageId id_there{};    // left: under which id
};

/// Of BodyKind::event.
struct EventRecord {
  std::vector<EventItem> items;
  EventDetail detail;
};

/// One past event carried in a `moved` record, so that history outlives its files.
struct PastEvent {
  RecordType type{};
  int64_t at_wall_ms = 0;
  uint64_t serial = 0;
  uint32_t pid = 0;
};
inline constexpr size_t kPastEventsMax = 16;  // the newest ones

/// On disk. held: a message that waits for others.
enum class SlotState : uint8_t { free = 0, ready = 1, delayed = 2, leased = 3, dead = 4, held = 5 };

struct MovedRecord {
  MessageId id{};
  int64_t pushed_wall_ms = 0;
  SlotState state{};
  int64_t state_wall_ms = 0;  // ready: since; delayed: due; leased: until (0: by a process); dead: since
  uint32_t deliveries = 0;
  uint16_t attempts = 0;
  uint16_t attempts_max = 0;  // in force
  uint16_t crashes = 0;
  Serial serial{};            // leased
  uint32_t pid = 0;           // leased
  uint64_t pid_started = 0;   // leased
  int64_t error_wall_ms = 0;  // 0: no last error
  EventDetail error;          // exit, signal, reason, stderr_tail only
  std::vector<PastEvent> past;
  MessageItem message;
};

/// A message that does not run, with other values, or on its way to another queue. Nothing older is needed to
/// know it; the records before are looked at for its history, as long as they are there.
struct EditedRecord {
  uint64_t previous_event = 0;  // as of an EventItem
  MovedRecord now;              // as it is from now on
};

/// Counts since the queue was made; the order is the format.
struct Counts {
  uint64_t pushed = 0, popped = 0, acked = 0, retried = 0, released = 0, buried = 0, expired = 0,
           cancelled = 0;
  uint64_t recoveries = 0;
  bool operator==(const Counts&) const = default;
};

struct LowRecord {
  uint32_t file_number = 0;  // the oldest file that is still needed
  Counts counts;
  uint64_t id_limit = 0;
  uint64_t serial_limit = 0;
};

/// A waiting message with another payload.
struct ReplacedRecord {
  EventItem event;
  int64_t due_wall_ms = 0;  // 0: when it was due before
  MessageItem message;      // all of it, as it is from now on
};

/// A unique key that is held although its message has ended.
struct KeptKey {
  uint64_t hash[2] = {};
  MessageId id{};
  int64_t until_wall_ms = 0;
};
inline constexpr size_t kKeysPerRecord = 1024;

struct KeysRecord {
  std::vector<KeptKey> keys;
};

struct LimitsRecord {
  uint64_t id_limit = 0;
  uint64_t serial_limit = 0;
};

/// Of a tenant, or with an empty path of the queue. A patch: a value that it does not name stays as it is.
struct PolicyRecord {
  std::string_view path;
  PolicyPatch patch;
};

/// All that is known of a schedule. Times of kNever: there is none any more.
struct ScheduledRecord {
  std::string_view name;
  std::string_view spec;  // as it was typed
  std::string_view zone;
  MissedRule missed{};
  OverlapRule overlap{};
  bool paused = false;
  bool of_file = false;       // it stands in the policy file
  bool carried = false;       // told again, and nothing of it is new
  int64_t begun_wall_ms = 0;  // from where an `every` counts
  int64_t done_wall_ms = 0;   // times up to here are accounted for
  int64_t next_wall_ms = 0;   // the first behind it
  int64_t last_wall_ms = 0;   // the last time that came; 0: none yet
  Occurrence last{};          // what became of it
  MessageId last_id{};        // of the last message that it made; 0: none yet
  MessageId known_id{};       // messages up to this one are accounted for
  MessageItem message;        // what it makes
};

/// A time of a schedule that makes no message; `unscheduled`: of the name alone something is said.
struct SkippedRecord {
  std::string_view name;
  int64_t at_wall_ms = 0;
  int64_t next_wall_ms = 0;
  Occurrence why{};
};

/// The result of one step of a message's job; of one name the newest record holds.
struct SteppedRecord {
  MessageId id{};
  std::string_view name;
  StepKind kind{};
  bool carried = false;       // told again, and nothing of it is new
  bool gives_back = false;    // sleep, wait: its lease ends with it
  bool open = false;          // wait: how it ends is not told yet
  bool failed = false;        // wait: of those that have ended not all were acked
  int64_t at_wall_ms = 0;     // when it was first told
  int64_t until_wall_ms = 0;  // sleep
  MessageId child{};          // push
  Bytes after;                // wait: a u64 for each message that it waits for, with kAfter...
  MessageItem output;         // run: its payload is the output
};

struct ClockRecord {
  uint8_t boot_id[16] = {};
  int64_t wall_minus_boot_ms = 0;
};

struct OpenedRecord {
  uint32_t previous_number = 0;  // 0: this is the first file
  uint64_t start_position =
      0;  // where this file's records begin; nothing of the previous one is valid past it
  uint64_t first_seq = 0;
  ClockRecord clock;  // as that record's time was told: the file with the last CLOCK may be gone
};

}  // namespace fq
