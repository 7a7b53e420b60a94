// model_queue - an engine behind the door that is nothing but the model.
//
// The first engine that passes the contract suite in tests/api: what the model promises is what every engine
// promises. It adds what the door asks besides: rules of names, batches, pages, filters, waiting, and a lock
// around each call. Several handles may share one ModelStore, from several threads.
#pragma once

// System.
#include <memory>
#include <mutex>
// Tests.
#include "tests/fakes/model.h"
#include "tests/fakes/model_output.h"
#include "tests/fakes/model_schedules.h"
#include "tests/fakes/model_steps.h"

namespace fq::test {

/// All that a queue is; handles lock it for each call.
struct ModelStore {
  explicit ModelStore(Clock& clock) : model(clock), schedules(model, mutex), steps(model, mutex) {}

  std::mutex mutex;
  Model model;
  ModelSchedules schedules;
  ModelSteps steps;
  FileIdentity policy;
  std::vector<std::vector<MessageId>> listings;  // of peeks, as they began
  std::shared_ptr<ModelRuns> runs = std::make_shared<ModelRuns>();
  std::map<std::string, JobOutput> outputs;  // by the id of the message, as text; keep_ms: until when
};

class ModelQueue : public Queue {
 public:
  explicit ModelQueue(std::shared_ptr<ModelStore> store) : store_(std::move(store)) {}

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
  ~ModelQueue() override;
  Result<CallId> begin_call(std::string_view tenant) override;
  Result<std::shared_ptr<RunOutput>> run_output(const Delivery& delivery, const RunTerms& terms) override {
    return model_run_output(store_->runs, delivery, terms);
  }
  Result<std::unique_ptr<OutputFollower>> follow(MessageId id, std::optional<CallId> call) override {
    return model_follower(store_->runs, *this, id, call);
  }
  Result<EndStatus> await_end(const EndRequest& request) override;
  Result<std::optional<int>> hold_for_job(std::span<const MessageId>, std::optional<int64_t>) override {
    return std::optional<int>();
  }
  Result<void> attend(const Attendance& attendance) override {
    attendance_ = attendance;
    return {};
  }
  Result<std::vector<Attendee>> attendees() override;
  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action) override;
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) override;
  Result<SettleStatus> edit(MessageId id, const MessagePatch& patch) override;
  Result<MoveReply> move(std::span<const MessageId>, const MoveRequest&) override {
    return Error{ErrorKind::unusable, "the model is one queue", 0};
  }
  Result<std::string> origin() override { return std::string("model"); }
  Result<std::optional<ExportedMessage>> exported(MessageId) override { return no_exchange(); }
  Result<ImportReply> import_messages(std::span<const ExportedMessage>, std::string_view) override {
    return no_exchange();
  }
  Result<Settings> settings() override;
  Result<bool> policy_is_current(const FileIdentity& identity) override;
  Result<std::string> policy_kept() override { return kept_policy_; }
  Result<void> policy_check(const Policy& policy) override;
  Result<void> policy_load(const Policy& policy, const FileIdentity& identity,
                           const std::string* text = nullptr) override;
  Result<void> policy_set(std::string_view path, const PolicyPatch& patch) override;
  Result<OverridePage> policy_overrides(const Cursor&, size_t) override { return OverridePage{}; }
  Result<StatsReply> stats(const StatsRequest& request) override;
  Result<ExplainReply> explain(const ExplainRequest& request) override;
  Result<CheckReport> check(const CheckRequest& request) override;
  Result<CompactReport> compact() override { return CompactReport{}; }
  Result<void> maintain(int64_t budget_ms) override;
  Schedules* schedules() override { return &store_->schedules; }
  Steps* steps() override { return &store_->steps; }

 private:
  static Error no_exchange() { return {ErrorKind::unusable, "the model is one queue", 0}; }
  std::string kept_policy_;
  std::vector<uint64_t> calls_;  // of our own
  // These need the store's mutex.
  std::vector<const Model::Message*> matching(const Filter& filter) const;
  MessageInfo info_of(const Model::Message& message) const;
  LeaseReply lease_now(const LeaseRequest& request);
  void find_changes(LeaseReply& reply);
  bool have_ended(const EndRequest& request);
  bool read_events(const EventRequest& request, size_t& at, EventPage& page);

  /// A lease given with `watch`, and how often it had been extended when that was last told.
  struct Watched {
    Receipt receipt;
    size_t extended = 0;
  };
  std::shared_ptr<ModelStore> store_;
  std::vector<Watched> watched_;
  Attendance attendance_;
};

}  // namespace fq::test
