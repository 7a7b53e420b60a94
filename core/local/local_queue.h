// local_queue - the local engine behind the door: one queue, one process's view of it.
//
// Hands each call on to the object whose business it is, and first does the work that every look, lease or
// change by hand finds done. Owns the objects; each is given those that it needs of the ones above it in the
// list of members, but for the housekeeper, which stands last and is known to the others as Upkeep.
#pragma once

// fq, this room.
#include "core/local/care/housekeeper.h"
#include "core/local/consume/taker.h"
#include "core/local/exchange/exporter.h"
#include "core/local/exchange/importer.h"
#include "core/local/look/ended_pages.h"
#include "core/local/look/event_reader.h"
#include "core/local/look/history.h"
#include "core/local/look/output_follower.h"
#include "core/local/look/stats.h"
#include "core/local/look/viewer.h"
#include "core/local/mover.h"
#include "core/local/policy/policy_loader.h"
#include "core/local/policy/run_time_policy.h"
#include "core/local/push/editor.h"
#include "core/local/push/pusher.h"
#include "core/local/schedules/local_schedules.h"
#include "core/local/steps/local_steps.h"

namespace fq {

class LocalQueue final : public Queue, public MovingQueue, private Linked {
 public:
  LocalQueue(std::unique_ptr<Attachment> attachment, Clock& clock, bool until_exit);
  ~LocalQueue() override;

  Caps caps() const override;
  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options) override;
  Result<LeaseReply> lease(const LeaseRequest& request) override;
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override;
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms) override;
  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n) override;
  Result<IdPage> select(const Filter& filter, const Cursor& from, size_t n) override;
  Result<std::optional<MessageInfo>> get(MessageId id) override;
  Result<MessagePage> ended(const Filter& filter, const Cursor& from, size_t n) override;
  Result<HistoryPage> history(MessageId id, const Cursor& from, size_t n) override;
  Result<void> events(const EventRequest& request, EventPage& page) override;
  Result<std::optional<JobOutput>> output(MessageId id) override;
  Result<CallId> begin_call(std::string_view tenant) override;
  Result<std::shared_ptr<RunOutput>> run_output(const Delivery& delivery, const RunTerms& terms) override;
  Result<std::unique_ptr<OutputFollower>> follow(MessageId id, std::optional<CallId> call) override;
  Result<EndStatus> await_end(const EndRequest& request) override;
  Result<std::optional<int>> hold_for_job(std::span<const MessageId> ids,
                                          std::optional<int64_t> limit_ms) override;
  Result<void> attend(const Attendance& attendance) override;
  Result<std::vector<Attendee>> attendees() override;
  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action) override;
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) override;
  Result<SettleStatus> edit(MessageId id, const MessagePatch& patch) override;
  Result<MoveReply> move(std::span<const MessageId> ids, const MoveRequest& request) override;
  Result<std::string> origin() override { return receiver_.origin(); }
  Result<std::optional<ExportedMessage>> exported(MessageId id) override;
  Result<ImportReply> import_messages(std::span<const ExportedMessage> messages,
                                      std::string_view origin) override;
  Result<Settings> settings() override;
  Result<bool> policy_is_current(const FileIdentity& identity) override;
  Result<void> policy_check(const Policy& policy) override;
  Result<void> policy_load(const Policy& policy, const FileIdentity& identity,
                           const std::string* text = nullptr) override;
  Result<std::string> policy_kept() override;
  Result<void> policy_set(std::string_view path, const PolicyPatch& patch) override;
  Result<OverridePage> policy_overrides(const Cursor& from, size_t n) override;
  Result<StatsReply> stats(const StatsRequest& request) override;
  Result<ExplainReply> explain(const ExplainRequest& request) override;
  Result<CheckReport> check(const CheckRequest& request) override;
  Result<CompactReport> compact() override;
  Result<void> maintain(int64_t budget_ms) override;
  Schedules* schedules() override { return &schedules_; }
  Steps* steps() override { return &steps_; }
  std::vector<std::string> take_notices() override { return link_.attachment().take_notices(); }

  /// After opening: the wall clock may have been set since the segment's difference was noted.
  Result<void> follow_wall_clock() { return wall_clock_.follow(); }
  /// Finishes the moves of this queue that a dead process left half-way.
  Result<void> finish_moves() { return mover().finish(); }
  Result<void> finish_moves(const MoveLock& held) { return mover().finish(held); }
  Crossing& crossing() override { return crossing_; }
  const Location& location() override { return link_.attachment().location(); }
  /// Of a queue that is a copy of one in use: messages at work in the original are not at work in it.
  Result<void> begin_as_copy();
  /// Gives back what the journal needs no more, as whoever writes does.
  Result<void> keep_house();
  /// "blobs/...", of all messages; none where a message cannot be read, which may speak of any.
  Result<std::optional<std::set<std::string>>> payload_files() { return blobs_.named(); }

 private:
  /// Done before a look, a lease or a change by hand: resolves messages that waited for others, removes dead
  /// letters that have had their time.
  Result<void> bring_up_to_date();
  Mover mover();

  Link own_link_;
  Clock& own_clock_;
  bool until_exit_;
  Writer writer_;
  EventWriter events_;
  MessageReader messages_;
  Endings endings_;
  Resolver resolver_;
  Mutator mutator_;
  DeadLetters dead_letters_;
  LeaseHolder holder_;
  Reaper reaper_;
  Watcher watcher_;
  Settler settler_;
  Taker taker_;
  EndedView ended_;
  RunOutputs runs_;
  Pages pages_;
  Viewer viewer_;
  EndedPages ended_pages_;
  History history_;
  EventReader event_reader_;
  Stats stats_;
  Admission admission_;
  PushWriter pushes_;
  KeyedPush keyed_;
  Pusher pusher_;
  Editor editor_;
  Receiver receiver_;
  Crossing crossing_;
  Exporter exporter_;
  Importer importer_;
  PolicyWriter policy_;
  RunTimePolicy run_time_policy_;
  PolicyLoader policy_loader_;
  BlobCare blobs_;
  WallClock wall_clock_;
  ScheduleBook schedule_book_;
  ScheduleRunner schedule_runner_;
  LocalSchedules schedules_;
  StepBook step_book_;
  LocalSteps steps_;
  Compactor compactor_;
  Housekeeper housekeeper_;
};

}  // namespace fq
