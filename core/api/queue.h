// queue - the door: the calls that every engine offers, and all that cli and worker know of one.
//
// Nothing here names files, locks or the caller's clock: durations or wall times go in, wall times come
// out, receipts and cursors are opaque, and any batch call may answer partly. One object, one thread at a
// time, but for Interrupt; the thread that leased what is held by living ends the object, too.
#pragma once

// System.
#include <memory>
#include <span>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/result.h"
// fq, this room.
#include "core/api/answers.h"
#include "core/api/attendance.h"
#include "core/api/away.h"
#include "core/api/caps.h"
#include "core/api/care.h"
#include "core/api/event.h"
#include "core/api/explanation.h"
#include "core/api/exported.h"
#include "core/api/interrupt.h"
#include "core/api/job_output.h"
#include "core/api/message.h"
#include "core/api/message_patch.h"
#include "core/api/move.h"
#include "core/api/payload.h"
#include "core/api/schedules.h"
#include "core/api/settings.h"
#include "core/api/stats.h"
#include "core/api/steps.h"

namespace fq {

/// Which queue: a spool (a directory, or SCHEME://... of another engine) and a queue's name. Both are checked
/// by open_queue.
struct Location {
  std::string spool;
  std::string queue = "default";
};

// ---- put ----------------------------------------------------------------------------------------

enum class Durability { policy, always, lazy };

struct PushOptions {
  Durability durability = Durability::policy;
  bool block = false;  // where a limit of messages or bytes is in the way: until there is room for all
  std::optional<int64_t> wait_ms;  // with block: at most so long
  Interrupt* interrupt = nullptr;  // ends that
  /// Who asks again with it within kPushKnownMs, since an answer was lost, asks for the same push; "": nobody
  /// does. Only a queue on a server may lose an answer.
  std::string token = {};
};
inline constexpr int64_t kPushKnownMs = 300'000;

enum class PushStatus {
  accepted,
  duplicate,  // none was pushed: there is one with this unique key, whose id is told
  replaced,   // that one was waiting and has this payload now
  debounced,  // the same, and it is due later than it was
  full,       // there is never room for all of them at once, however long one waits
  invalid,
  unknown,
};
inline bool is_accepted(PushStatus status) { return status <= PushStatus::debounced; }

struct PushResult {
  PushStatus status = PushStatus::unknown;
  MessageId id{};
};

/// Results are per item, in order. `error` says why where a status is not accepted.
struct PushReply {
  Answers<PushResult> items;
  std::optional<Error> error;
};

// ---- take ---------------------------------------------------------------------------------------

enum class Hold {
  process,   // until settled or this process is dead
  duration,  // until settled or the time is over, whether the process lives or not
};

struct LeaseRequest {
  size_t want = 1;                  // 0: takes nothing, and with `wait` returns for other reasons only
  uint64_t bytes_max = UINT64_MAX;  // of payload; the first message is always taken
  Hold hold = Hold::process;
  std::optional<int64_t> hold_ms;        // Hold::duration: none is the queue's `lease`
  std::string_view tenant;               // only this tenant and below; empty: any
  std::optional<uint32_t> attempts_max;  // for messages without their own; none: the queue's
  // Whole groups: all of one tenant that can be served now, at most so many (and at most the queue's
  // `batch`), then the next tenant's, until `want` is reached or passed. A limit that is reached, and
  // bytes_max, cut one.
  bool grouped = false;
  uint64_t group_max = UINT64_MAX;
  bool look = false;               // takes nothing: only until something could be taken
  bool wait = false;               // until at least one can be served
  std::optional<int64_t> wait_ms;  // with wait: at most so long
  bool until_idle = false;         // with wait: or until the queue is idle
  bool signals = true;             // come through while it waits
  bool watch = false;              // with wait: or until a lease of this Queue was changed by others
  // The messages' own commands: refused (config) where the engine cannot tell which are genuine.
  bool runs_commands = true;
  Interrupt* interrupt = nullptr;
};

struct Delivery {
  Receipt receipt;
  MessageId id{};
  std::string tenant;
  uint32_t attempt = 0;  // from 1
  uint32_t attempts_max = 0;
  uint32_t delivery = 0;  // from 1
  uint32_t crashes = 0;
  int32_t priority = 0;
  int64_t pushed_at_wall_ms = 0;
  std::vector<Tag> tags;
  std::optional<JobCommand> command;
  std::string schedule;  // that made it, for this time; "": none
  int64_t scheduled_at_wall_ms = 0;
  std::optional<int64_t> timeout_ms;        // the message's own
  std::optional<int64_t> keep_ms;           // its own too
  std::optional<CallId> call;               // the process that pushed it reads the output of its job
  std::optional<int64_t> deadline_wall_ms;  // Hold::duration
  Payload payload;
};

enum class WhyEmpty {
  none,         // something was leased
  nothing,      // nothing can be served now
  timed_out,    // wait_ms is over
  interrupted,  // by Interrupt
  servable,     // nothing was asked for, but something could be served
  idle,         // nothing is ready or leased, by any process, and nothing is on its way back
  changed,      // see `changes`
};

/// A change by others to a lease that this Queue gave with `watch`.
struct LeaseChange {
  enum class What {
    ended,      // another verdict was given for it
    cancelled,  // its message is gone, and its job is to end
    extended,   // its job may run for `left_ms` from now on
  };
  Receipt receipt;
  What what = What::ended;
  int64_t left_ms = 0;  // a span: whose clock tells when that is over is not the worker's
};

struct LeaseReply {
  std::vector<Delivery> deliveries;
  std::vector<LeaseChange> changes;
  bool more_changes = false;  // there may be others already that are not told yet
  bool more = false;          // with `watch`: something is left that could be served now
  WhyEmpty why_empty = WhyEmpty::none;
  bool partial = false;  // parts of the queue did not answer, which may have something
  std::vector<std::optional<MessageId>> lost;  // buried instead; none: it is not known which; told in notices
  std::optional<int64_t> next_wake_ms;  // from now, where a timer is set
};

// ---- settle -------------------------------------------------------------------------------------

enum class Verdict { ack, retry, release, bury };

struct Settle {
  Receipt receipt;
  Verdict verdict = Verdict::ack;
  int64_t delay_ms = 0;     // retry, release
  std::string_view reason;  // retry, bury
  std::optional<int> exit;  // as the job ended, for last_error
  std::optional<int> signal;
  std::string_view stderr_tail;
  const JobOutput* output = nullptr;  // kept when the verdict ends the message
  // How long it ran, for turns that are paid in time: of a batch its part. None: since its delivery.
  std::optional<uint64_t> run_us;
};

struct SettleReply {
  Answers<SettleStatus> items;
  std::optional<Error> error;      // why, where an item is unknown, or nothing was leased behind them
  std::optional<LeaseReply> next;  // when one was asked for
};

struct ExtendResult {
  SettleStatus status = SettleStatus::unknown;  // ok, stale, gone, invalid or unknown
  int64_t deadline_wall_ms = 0;
};

// ---- look ---------------------------------------------------------------------------------------

struct Filter {
  std::string tenant;          // this one and below; empty: any
  std::optional<State> state;  // none: every state that is not finished
  std::optional<Tag> tag;
  std::string reason = {};  // a part of why its last attempt failed; empty: any
  bool operator==(const Filter&) const = default;
};

struct MessagePage {
  std::vector<MessageInfo> messages;
  Cursor next;
};

struct IdPage {
  std::vector<MessageId> ids;
  Cursor next;
};

struct HistoryPage {
  std::vector<HistoryEvent> events;
  Cursor next;
  std::string tenant;  // of a message that has ended, while its push is still known
};

/// Waiting for messages to end: to be acked, dead, cancelled, or unknown.
struct EndRequest {
  std::span<const MessageId> ids;
  /// Nothing, or a place for each id: how it ended, noted while others are still waited for, since a queue
  /// forgets that. One that has something already is not looked at; of one that nobody knows it stays empty.
  std::span<std::optional<State>> ends = {};
  bool until_idle = false;              // instead: until the queue is idle, as WhyEmpty::idle says it
  std::optional<int64_t> wait_ms = {};  // at most so long; none: as long as it takes
  Interrupt* interrupt = nullptr;
};

enum class EndStatus { ended, timed_out, interrupted };

// ---- change many --------------------------------------------------------------------------------

enum class Action {
  cancel,
  kick,
  kick_fresh,  // and what its steps have come to is forgotten
};

struct MutateReply {
  uint64_t changed = 0;
  std::vector<SettleStatus> items;  // by id: ok, gone, unknown or stale (in no state that the action takes)
  Cursor next;                      // by filter: not empty while there may be more
  std::optional<Error> error;       // why, where an item is unknown; nothing was changed: it is the result
};

// ---- policy -------------------------------------------------------------------------------------

/// A page of what was set at run time, by path.
struct OverridePage {
  std::vector<PolicyOverride> overrides;
  Cursor next;
};

class Queue {
 public:
  virtual ~Queue() = default;

  virtual Caps caps() const = 0;

  /// Puts up to kBatchMessagesMax messages, all or nothing. An Error: nothing was pushed; its `item` is the
  /// message that it is of, where it is of one. Otherwise each item says what became of it; `unknown` may or
  /// may not have happened.
  virtual Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options = {}) = 0;

  virtual Result<LeaseReply> lease(const LeaseRequest& request) = 0;
  /// Verdicts, each by itself; with `next` also the next lease, in the same turn.
  virtual Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next = nullptr) = 0;
  virtual Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts,
                                                   int64_t duration_ms) = 0;

  /// A page of at most `n` messages: ready ones in the order in which they would be served, others by
  /// due time or id. Changes nothing.
  virtual Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n) = 0;
  /// A page of at most `n` of the ids that the filter takes, by id: those that peek tells, without the
  /// messages.
  virtual Result<IdPage> select(const Filter& filter, const Cursor& from, size_t n) = 0;
  virtual Result<std::optional<MessageInfo>> get(MessageId id) = 0;
  /// A page of at most `n` messages that have ended, the newest end first: the dead, and of the others those
  /// that are still told of (see `retention`). `filter.state`: dead, acked or cancelled; none: all three.
  virtual Result<MessagePage> ended(const Filter& filter, const Cursor& from, size_t n) = 0;
  virtual Result<HistoryPage> history(MessageId id, const Cursor& from, size_t n) = 0;

  /// The events of messages, oldest first, from `request.from` on: into `page`, whose memory is used again.
  virtual Result<void> events(const EventRequest& request, EventPage& page) = 0;

  /// The kept output of a finished message: none when there is none, or no more.
  virtual Result<std::optional<JobOutput>> output(MessageId id) = 0;
  /// From now on the caller is about to push a message of this tenant with this call, and reads the output of
  /// its job: until the follower of the call is gone, or this object or its process.
  virtual Result<CallId> begin_call(std::string_view tenant) = 0;
  /// For a job of this delivery. None: the engine has nothing like it.
  virtual Result<std::shared_ptr<RunOutput>> run_output(const Delivery& delivery, const RunTerms& terms) = 0;
  /// From the beginning of its oldest run that can still be read. `call`: ours, which holds back the job.
  virtual Result<std::unique_ptr<OutputFollower>> follow(MessageId id, std::optional<CallId> call) = 0;
  virtual Result<EndStatus> await_end(const EndRequest& request) = 0;
  /// A descriptor for a job to inherit: should this process die, the messages stay away from others while
  /// any process still has it open, but no longer than `limit_ms` (none: however long). No ids: all that this
  /// process holds. The caller closes its own. None: the engine has nothing like it.
  virtual Result<std::optional<int>> hold_for_job(std::span<const MessageId> ids,
                                                  std::optional<int64_t> limit_ms) = 0;

  /// This process is a worker: others are told, for as long as it is attached.
  virtual Result<void> attend(const Attendance& attendance) = 0;
  /// The attached workers, and other processes that hold messages by living.
  virtual Result<std::vector<Attendee>> attendees() = 0;

  virtual Result<MutateReply> mutate(std::span<const MessageId> ids, Action action) = 0;
  /// One page of at most `n` changes; idempotent. kick takes `filter.state` dead or delayed.
  virtual Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) = 0;

  /// Changes a message that is ready, delayed, held or dead, in one step; it keeps its id, and takes the
  /// place that its new values give. ok, gone, or stale: it is leased. Values that no push would take are
  /// refused as there, and so is a time of a dead message (usage).
  virtual Result<SettleStatus> edit(MessageId id, const MessagePatch& patch) = 0;

  /// Messages that are ready, delayed or dead go to another queue of the spool, with all that they have but
  /// what they came after. Each is served in one of the two only, whatever dies meanwhile.
  /// ErrorKind::missing: there is no such queue; usage: it is this one. Needs: Caps::moves.
  virtual Result<MoveReply> move(std::span<const MessageId> ids, const MoveRequest& request) = 0;

  /// A printable text that no other queue has, nor a copy of this one. The three need: Caps::exports.
  virtual Result<std::string> origin() = 0;
  /// A message that has not ended, or is dead, with all that is known of it; none: there is none here.
  virtual Result<std::optional<ExportedMessage>> exported(MessageId id) = 0;
  /// Takes in what another queue, whose origin it is, has exported, each under a new id, durable when this
  /// returns. One that was imported before is not taken in again, but finished where that broke off.
  virtual Result<ImportReply> import_messages(std::span<const ExportedMessage> messages,
                                              std::string_view origin) = 0;

  /// The settings that hold for the whole queue.
  virtual Result<Settings> settings() = 0;
  /// Whether the policy file with this identity is the one whose values hold now.
  virtual Result<bool> policy_is_current(const FileIdentity& identity) = 0;
  /// What policy_load would refuse, ErrorKind::config; nothing is done.
  virtual Result<void> policy_check(const Policy& policy) = 0;
  /// The file's layer, not written down: its values are in the file. `text`, which it is from, is kept for
  /// when the values are lost while the file is broken; null: the text that is kept stays.
  virtual Result<void> policy_load(const Policy& policy, const FileIdentity& identity,
                                   const std::string* text = nullptr) = 0;
  /// Where the policy is no file: the version of the text. ErrorKind::config that passes: it is away alone.
  virtual Result<std::string> policy_version() { return std::string(); }
  /// The text that was last kept; "": there was none, or the values are lost with all else only.
  virtual Result<std::string> policy_kept() = 0;
  /// The run-time layer of a tenant and all below it, or with an empty path of the queue: kept as a push is,
  /// and it wins over the file. A key that is not for this kind of node is ErrorKind::usage.
  virtual Result<void> policy_set(std::string_view path, const PolicyPatch& patch) = 0;
  /// A page of about `n` of what policy_set has set and still holds.
  virtual Result<OverridePage> policy_overrides(const Cursor& from, size_t n) = 0;
  virtual Result<StatsReply> stats(const StatsRequest& request) = 0;
  /// Why a message or a tenant is served when it is. Weakly consistent; changes nothing.
  virtual Result<ExplainReply> explain(const ExplainRequest& request) = 0;
  /// Reads everything.
  virtual Result<CheckReport> check(const CheckRequest& request = {}) = 0;
  /// Gives back what of the journal is not needed, as far as that gains something.
  virtual Result<CompactReport> compact() = 0;
  /// Housekeeping for about `budget_ms`: due timers, leases of the dead, compaction. Any process may call it,
  /// and none of fq's does: to lease, to wait for a message and to end one does as much, and so does a push
  /// that finds no room. It is for a program that has the time now and not later.
  virtual Result<void> maintain(int64_t budget_ms) = 0;
  // Null: the engine has none.
  virtual Schedules* schedules() { return nullptr; }
  virtual Steps* steps() { return nullptr; }
  /// Notices for a person (damage that a recovery met), each once; not an error of any call.
  virtual std::vector<std::string> take_notices() { return {}; }
};

struct OpenOptions {
  bool create = false;       // else a queue that does not exist is ErrorKind::missing
  Clock* clock = nullptr;    // none: the system's
  bool repair = false;       // it is opened to be repaired: what of it cannot be read is given up
  bool until_exit = false;   // the process ends with it: cleaning up is left to the kernel
  AwayList* away = nullptr;  // where parts that do not answer are noted; an attended queue has notices
};

/// "redis" of "redis://host"; "" of a directory.
std::string_view scheme_of(std::string_view spool);
/// Whether this program has an engine for such a spool.
bool has_engine(const std::string& spool);
/// ErrorKind::usage: it has none, or the spool is not written as that engine wants it.
Result<void> find_engine(const std::string& spool);

/// What fq.toml says is not looked for by the queue: core/policy/followed_queue.h opens one that follows it.
Result<std::unique_ptr<Queue>> open_queue(const Location& location, const OpenOptions& options = {});
Result<std::vector<std::string>> list_queues(const std::string& spool);
/// Whether a text may be a receipt of any queue.
bool is_receipt(std::string_view text);
/// The queue of this spool whose receipt it is; "": of none.
Result<std::string> queue_of_receipt(const std::string& spool, const Receipt& receipt);
/// Removes the queue and all in it. ErrorKind::later, naming the pids, while anyone is attached.
Result<void> remove_queue(const Location& location);
/// Copies a spool in use into a directory, which is a spool then: each queue as it was at one moment, with
/// nothing leased. Returns what a person should hear of it.
Result<std::vector<std::string>> back_up(const std::string& spool, const BackupRequest& request);
/// Gives the queue another name; its receipts stay good. ErrorKind::usage: there is one of that name.
/// ErrorKind::later, naming the pids, while anyone is attached.
Result<void> rename_queue(const Location& location, const std::string& name);

}  // namespace fq
