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
#include "core/local/files/blobs.h"
#include "core/local/files/running_jobs.h"
#include "core/local/read/event_walk.h"
#include "core/local/read/message_reader.h"
#include "core/local/read/snapshot.h"
#include "core/local/write/event_writer.h"
#include "core/local/flush/taken_message.h"

namespace fq {

class TenantSurvey;

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
  // local_push.cpp
  Result<void> forget_ends(const Need& need);
  // local_loose.h
  class PushedBlobs;
  void note_blobs_done(uint64_t bytes);
  /// Which files hold the payloads of what has just ended.
  void name_blobs(const std::vector<ItemPlace>& places, std::vector<LooseBlob>& blobs);
  void remove_blobs(std::span<const LooseBlob> blobs);
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

  // local_waiting.cpp
  /// Held messages whose dependencies have ended are let go or buried.
  Result<void> settle_held();
  void append_decisions(uint32_t dependency, const Now& now);

  // local_retention.cpp
  int64_t dead_due_ms();
  Obstacle drop_some_dead(const Now& now, std::vector<ItemPlace>& blobs);
  Result<void> drop_old_dead();

  // local_keys.cpp
  Result<void> ensure_secret();
  Result<void> find_secret();
  Obstacle carry_some_keys(KeysRecord& record);

  // local_lease.cpp
  Result<void> try_lease(const LeaseRequest& request, const Now& now, LeaseReply& reply);
  LeaseTerms terms_of(const LeaseRequest& request, const Now& now);
  Obstacle take_some(const LeaseRequest& request, TenantIndex from, const Now& read, uint64_t& bytes);
  Result<void> deliver(LeaseReply& reply);
  Result<void> deliver_one(TakenMessage& one, LeaseReply& reply);
  /// What its tags and its job's terms say.
  static void describe_job(const MessageItem& item, Delivery& delivery);
  void give_back(std::span<const TakenMessage> taken);
  Result<void> set_aside(const TakenMessage& taken, const std::string& what, LeaseReply& reply);
  Result<void> sleep_until_ready(const LeaseRequest& request, int64_t deadline_ms, uint32_t seen);

  // local_group.cpp
  std::optional<SlotIndex> take_next(Txn& txn, const LeaseRequest& request, TenantIndex from,
                                     const LeaseTerms& terms, uint64_t bytes);
  std::optional<SlotIndex> take_of_group(Txn& txn, TenantIndex from, const LeaseTerms& terms,
                                         uint64_t bytes_left);

  // local_settle.cpp
  Result<size_t> settle_group(std::span<const Settle> group, std::span<SettleStatus> statuses,
                              uint64_t& durable_end, std::vector<ItemPlace>& blobs);
  SettleStatus judge_receipt(const Receipt& receipt, const Now& now, std::optional<SlotIndex>& slot);

  // holders.cpp
  Result<void> become_holder();
  void leave_holder();
  Result<void> reap_dead(const Now& now);
  void look_at_holders();
  std::optional<int> keeper_of(const Snapshot& looked);
  struct Dead;
  Result<void> reap(HolderIndex holder);
  Result<bool> find_dead(Dead& dead);
  bool is_dead(const Dead& dead);
  Result<void> find_held(Dead& dead);
  std::optional<SlotIndex> find_held(const Dead& dead, uint64_t id);
  Result<void> note_kept(const Dead& dead);
  Result<void> return_from_dead(const Dead& dead, uint64_t id);
  Result<void> free_dead(const Dead& dead);
  Result<void> note_job_limit(std::optional<int64_t> limit_ms);
  std::vector<HolderIndex> dead_holders();

  // local_watch.cpp
  /// A lease that was given with `watch`, and the newest record about it when that was last looked at.
  struct WatchedLease {
    uint64_t id = 0;
    uint64_t serial = 0;
    uint64_t event_position = 0;
  };
  void watch(std::span<const TakenMessage> taken);
  std::optional<LeaseChange::What> change_of(WatchedLease& lease);
  Result<void> find_changes(LeaseReply& reply);
  Result<bool> is_idle();
  bool has_ended(MessageId id);
  void sleep_until_end(Interrupt* interrupt, uint32_t seen, int64_t until_ms);
  Result<bool> look_at_ends(const EndRequest& request, size_t& ended_count, int64_t& timer_ms);

  // local_look.cpp, local_history.cpp
  struct Place;
  class Pages;
  Result<std::optional<MessageInfo>> describe_finished(MessageId id, const Schedule::OutcomeView& outcome);
  Result<MessageInfo> describe(const Snapshot& looked);
  Result<void> add_item(const Snapshot& looked, MessageInfo& info);
  Result<bool> has_tag(const Snapshot& looked, const Tag& tag);
  Result<void> add_error(const Snapshot& looked, MessageInfo& info);
  Result<MessagePage> peek_ready(const Filter& filter, size_t given, size_t n);

  // event_log.h, local_event_source.cpp, local_event_begin.cpp, local_events.cpp
  struct EventLog;
  class EventPast;
  Result<bool> place_events(FilePlace& place, uint64_t& ring_start);
  Result<void> pass_lost_events(const FileKey& key, const Error& why);
  Result<bool> load_events();
  Result<bool> next_event_record(RecordHeader& header, Bytes& body);
  Result<void> skip_unreadable_events();
  Result<uint32_t> tenant_of_event(MessageId id);
  Result<bool> tell_pushed(const RecordHeader& header, Bytes body, const EventRequest& request,
                           EventPage& page);
  Result<bool> tell_events(const RecordHeader& header, Bytes body, const EventRequest& request,
                           EventPage& page);
  Result<bool> tell_record(const RecordHeader& header, Bytes body, const EventRequest& request,
                           EventPage& page);
  Result<void> read_events(const EventRequest& request, EventPage& page);
  void sleep_until_written(Interrupt* interrupt, uint32_t seen, int64_t wait_ms);

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

  // local_endings.h, local_ended.cpp
  class Endings;
  Endings& endings();
  bool lacks_note(RecordType type, SlotIndex slot, const Settle* settle = nullptr);

  // local_mutate.cpp
  /// With `item_position` only while the message's payload lies there.
  Result<SettleStatus> change_one(MessageId id, Action action, const Filter* filter,
                                  std::vector<ItemPlace>& blobs, std::optional<uint64_t> item_position = {});
  Result<void> finish_changes(const std::vector<ItemPlace>& blobs);

  // local_stats.cpp
  Result<void> survey(TenantSurvey& survey, int64_t& as_of_wall_ms);

  // local_explain.cpp
  class Explainer;

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
  Writer writer_;
  EventWriter events_;
  MessageReader messages_;
  bool until_exit_;
  int64_t reaped_at_ms_ = 0;
  int64_t lazy_since_ms_ = 0;  // when waiting began with lazy bytes about; 0: there were none
  bool keeping_house_ = false;
  // Used again and again, so that what runs under the lock allocates nothing.
  Body body_;
  Body house_body_;  // what overcomes an obstacle of the other's may need a record itself
  std::vector<MessageItem> items_;
  std::vector<std::string> tag_texts_;
  std::vector<std::string> job_texts_;
  std::vector<std::string> term_texts_;
  std::vector<MessageId> behind_;  // of what is pushed: whose end each waits for because of its key
  std::vector<TakenMessage> taken_;
  std::vector<EventItem> event_items_;
  bool over_limit_ = false;  // the last push was refused since there are too many messages
  /// What is still to be taken of the group that is being taken.
  struct Group {
    TenantIndex leaf{};
    uint64_t left = 0;
    uint64_t segment = 0;  // in which the leaf is that
  } group_;
  std::map<uint64_t, WatchedLease> watched_;  // by message
  uint32_t changes_seen_ = 0;
  uint64_t watched_segment_ = 0;
  bool watched_carried_ = false;  // some were given in a segment before: nobody counts their changes for us
  std::unique_ptr<Endings> endings_;
  std::unique_ptr<Pages> pages_;
  std::unique_ptr<EventLog> event_log_;
  std::vector<std::string> event_notices_;
  bool orphans_ = false;                           // a dead holder's job still lives
  std::optional<std::vector<OfdLock>> survivors_;  // of such jobs, since the last look at the holders
  int64_t orphans_since_ms_ = 0;
};

}  // namespace fq
