// local_queue - the local engine behind the door: one queue, one process's view of it.
//
// Every operation has the same four beats under the state lock: look and decide, append the record, apply
// it, commit; then, without the lock, whatever the disk has to do. What stands in the way of an append (the
// ring is full, a file or memory is needed) is found under the lock and mended outside it (Obstacle).
#pragma once

// System.
#include <functional>
#include <map>
// fq, this room.
#include "core/local/consume/taker.h"
#include "core/local/look/event_reader.h"
#include "core/local/look/history.h"
#include "core/local/look/stats.h"
#include "core/local/look/viewer.h"
#include "core/local/write/pushed_blobs.h"

namespace fq {

class LocalQueue final : public Queue, private Linked, private Upkeep {
 public:
  LocalQueue(std::unique_ptr<Attachment> attachment, Clock& clock, bool until_exit);
  ~LocalQueue() override;

  Caps caps() const override;
  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options) override;
  Result<LeaseReply> lease(const LeaseRequest& request) override;
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override;
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms) override;
  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n) override;
  Result<std::optional<MessageInfo>> get(MessageId id) override;
  Result<MessagePage> ended(const Filter& filter, const Cursor& from, size_t n) override;
  Result<HistoryPage> history(MessageId id, const Cursor& from, size_t n) override;
  Result<void> events(const EventRequest& request, EventPage& page) override;
  Result<std::optional<JobOutput>> output(MessageId id) override;
  Result<EndStatus> await_end(const EndRequest& request) override;
  Result<std::optional<int>> hold_for_job(std::span<const MessageId> ids,
                                          std::optional<int64_t> limit_ms) override;
  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action) override;
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) override;
  Result<Settings> settings() override;
  Result<bool> policy_is_current(const FileIdentity& identity) override;
  Result<void> policy_load(const Policy& policy, const FileIdentity& identity) override;
  Result<void> policy_set(std::string_view path, const PolicyPatch& patch) override;
  Result<OverridePage> policy_overrides(const Cursor& from, size_t n) override;
  Result<StatsReply> stats(const StatsRequest& request) override;
  Result<ExplainReply> explain(const ExplainRequest& request) override;
  Result<CheckReport> check(bool repair) override;
  Result<CompactReport> compact() override;
  Result<void> maintain(int64_t budget_ms) override;
  std::vector<std::string> take_notices() override { return link_.attachment().take_notices(); }

  /// After opening: the wall clock may have been set since the segment's difference was noted.
  Result<void> follow_wall_clock();

 private:
  /// What a look, a lease or a change by hand finds done: what waited for others is resolved, dead letters
  /// that have had their time are gone.
  Result<void> bring_up_to_date();
  // local_push.cpp
  Result<void> forget_ends(const Need& need);
  /// Fills items_; long payloads are written to `blobs`.
  Result<Need> prepare(std::span<const NewMessage> messages, int64_t wall_ms, PushedBlobs& blobs);
  /// A pushed record, and where it ends.
  struct Appended {
    MessageId first_id{};
    uint64_t end = 0;
    bool changed = false;  // instead: what it was to rest on does not hold any more
  };
  using StillSo = std::function<bool(const Now& now)>;
  /// One record of them, if `still_so` (asked under the lock) or there is none.
  Result<PushReply> push_once(std::span<const NewMessage> messages, const PushOptions& options);
  Result<Appended> append_batch(std::span<const NewMessage> messages, bool lazy, const StillSo& still_so);
  PushedMessages append_pushed(const Need& need, bool lazy, const Now& read);

  // local_unique.cpp
  enum class Fate;
  struct Plan;
  struct KeyedBatch;
  struct Replacement;
  Result<PushReply> push_keyed(std::span<const NewMessage> messages, bool lazy);
  Plan judge_waits(const NewMessage& message, Plan plan);
  Plan judge(const NewMessage& message, const KeyHash& hash, const Now& now);
  bool judge_all(std::span<const NewMessage> messages, const KeyedBatch& batch, const Now& now,
                 std::vector<Plan>& plans);
  KeyedBatch key_batch(std::span<const NewMessage> messages);
  Result<PushReply> reply_of(std::span<const NewMessage> messages, const KeyedBatch& batch,
                             const std::vector<Plan>& plans, const Appended& appended, bool lazy);
  Error refuse_busy();
  static Error refuse_missing(MessageId id);
  static bool replaces(const NewMessage& message, const Plan& there);
  static PushStatus replaced_status(const NewMessage& message);
  Result<PushResult> replace_or_push(const NewMessage& message, const KeyHash& hash, bool lazy,
                                     uint64_t& end);
  Result<bool> merge(const NewMessage& message, const Plan& plan, Replacement& merged);
  Result<bool> replace(const NewMessage& message, const Plan& plan, bool lazy, uint64_t& end);
  void append_replaced(const ReplacedRecord& record, SlotIndex slot, const Now& read);

  // local_keys.cpp
  Result<void> ensure_secret();
  Result<void> find_secret();
  Obstacle carry_some_keys(KeysRecord& record);

  // local_admission.cpp
  /// What a batch adds to one node and all below it.
  struct Arrival {
    std::string_view path;
    uint64_t messages = 0;
    uint64_t bytes = 0;
  };
  std::vector<Arrival> arrivals() const;
  Arrival pending_at(std::string_view path);
  std::optional<Error> refuse_over_limit(std::span<const Arrival> arrivals);
  Result<bool> wait_for_room(const PushOptions& options, int64_t deadline_ms, uint32_t seen);
  // local_policy_file.cpp
  Result<RuleSummary> sum_up_rules();
  Result<void> load_pools(const std::vector<PoolRule>& pools, uint32_t generation);
  Result<void> load_policy(const Policy& policy, const FileIdentity& identity);
  Result<void> change_schedule(const Need& need, const std::function<void(Txn&)>& change);

  // local_policy.cpp
  std::optional<TenantIndex> look_at_settings(TenantIndex from, size_t n, std::vector<PolicyOverride>& found);
  Obstacle carry_setting(TenantIndex node);
  Obstacle carry_some_settings();
  /// Needs: the lock, and room for the record.
  void append_policy(const PolicyRecord& record);
  Result<void> follow_terms();

  // local_care.h
  class Care;

  // file_supply.cpp
  Result<void> make_ready_file() override;
  Result<void> make_new_file(uint32_t newest);
  Result<void> make_ready_file_alone();
  // housekeeping.cpp
  Result<bool> do_housework(Housework work);
  /// Does it until nothing is due. True: files were given back.
  Result<bool> keep_house() override;
  Result<void> carry_all();
  template <class Some>
  Result<void> carry_pinned(Pin SegmentHeader::*what, Some&& some);
  bool begin_walk(Pin& pin);
  void note_walked(Txn& txn, Pin& pin, uint32_t next, bool at_end);
  Result<uint32_t> drop_dead_files();
  uint32_t append_low();
  Result<bool> remove_oldest_file(uint32_t number);
  Result<bool> shrink();
  // local_compact.cpp
  enum class Given { gone, kept };
  Result<Given> give_back_oldest(CompactReport& report, bool gives_up_lost);
  Result<void> give_back_all(CompactReport& report);
  Result<void> leave_current_file();
  Result<void> copy_all_of_oldest(CompactReport& report, bool gives_up_lost);
  bool compaction_gains(uint32_t last);
  // compaction.cpp
  Result<bool> copy_forward();
  struct InOldest {
    MessageId id;
    uint64_t item_position;
  };
  uint32_t find_replaced(std::vector<InOldest>& found);
  Result<void> carry_replaced();
  Result<bool> find_in_oldest(std::vector<InOldest>& found);
  struct Carried;
  enum class Copied { moved, again, gone, unreadable };
  /// `again`: it changed meanwhile, or what was in the way is overcome; `gone`: it lies there no more.
  Result<Copied> copy_message(MessageId id, uint64_t item_position);
  Result<Copied> put_forward(const Snapshot& looked, const StoredItem& stored, uint64_t at, Carried& carried);
  Result<void> carry(const Snapshot& looked, const StoredItem& stored, Carried& carried);
  bool append_moved(const Snapshot& looked, uint64_t item_position, const Carried& carried);

  Link own_link_;
  bool until_exit_;
  Writer writer_;
  EventWriter events_;
  MessageReader messages_;
  Endings endings_;
  Dependents dependents_;
  Mutator mutator_;
  DeadLetters dead_letters_;
  LeaseHolder holder_;
  Reaper reaper_;
  Watcher watcher_;
  Settler settler_;
  Taker taker_;
  EndedView ended_;
  Pages pages_;
  Viewer viewer_;
  History history_;
  EventReader event_reader_;
  Stats stats_;
  bool keeping_house_ = false;
  // Used again and again, so that what runs under the lock allocates nothing.
  Body body_;
  Body house_body_;  // what overcomes an obstacle of the other's may need a record itself
  std::vector<MessageItem> items_;
  std::vector<std::string> tag_texts_;
  std::vector<std::string> job_texts_;
  std::vector<std::string> term_texts_;
  std::vector<MessageId> behind_;  // of what is pushed: whose end each waits for because of its key
  bool over_limit_ = false;        // the last push was refused since there are too many messages
};

}  // namespace fq
