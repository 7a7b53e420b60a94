#include "core/local/local_queue.h"

// System.
#include <algorithm>
#include <charconv>
#include <cstdlib>
// fq, below us.
#include "core/api/policy_checks.h"
// fq, this room.
#include "core/local/files/kept_policy.h"
#include "core/local/care/repairer.h"
#include "core/local/consume/lease_breaker.h"
#include "core/local/look/explainer.h"
#include "core/local/look/roll.h"

namespace fq {

namespace {

constexpr size_t kIdsPerPage = 10'000;  // looked for in one walk

PagePlace place_by_id(const Cursor& from) {
  PagePlace place;
  std::from_chars(from.text.data(), from.text.data() + from.text.size(), place.id);
  return place;
}

}  // namespace

LocalQueue::LocalQueue(std::unique_ptr<Attachment> attachment, Clock& clock, bool until_exit)
    : Linked(own_link_),
      own_link_(std::move(attachment), clock),
      own_clock_(clock),
      until_exit_(until_exit),
      writer_(link_, housekeeper_),
      events_(link_, writer_, housekeeper_),
      messages_(link_),
      endings_(link_, writer_, messages_),
      resolver_(link_, writer_, events_),
      mutator_(link_, writer_, events_, housekeeper_, endings_, resolver_),
      dead_letters_(link_, writer_, events_, endings_, mutator_),
      holder_(link_, writer_, events_),
      reaper_(link_, writer_, events_),
      watcher_(link_, reaper_),
      settler_(link_, writer_, events_, housekeeper_, endings_, resolver_, watcher_),
      taker_(link_, {writer_, housekeeper_, messages_, endings_, resolver_, dead_letters_, holder_, reaper_,
                     watcher_, settler_}),
      ended_(link_, endings_),
      runs_(link_),
      pages_(link_, messages_),
      viewer_(link_, messages_, reaper_, pages_, ended_),
      ended_pages_(viewer_, ended_),
      history_(link_, messages_, ended_),
      event_reader_(link_),
      stats_(link_),
      admission_(link_),
      pushes_(link_, writer_, housekeeper_, admission_),
      keyed_(link_, {writer_, housekeeper_, messages_, resolver_, admission_, pushes_}),
      pusher_(link_, admission_, pushes_, keyed_, watcher_),
      editor_(link_, writer_, housekeeper_, admission_),
      receiver_(link_, writer_, housekeeper_, admission_),
      crossing_(link_, {writer_, events_, housekeeper_, receiver_}),
      exporter_(link_),
      importer_(link_, {writer_, events_, housekeeper_, receiver_, editor_}),
      policy_(link_, writer_),
      run_time_policy_(link_, writer_, policy_),
      policy_loader_(link_, policy_),
      blobs_(link_, messages_, mutator_),
      wall_clock_(link_, writer_),
      schedule_book_(link_, writer_, housekeeper_),
      schedule_runner_(link_, {writer_, mutator_, pushes_, wall_clock_}),
      schedules_(schedule_book_, schedule_runner_),
      step_book_(link_, writer_, events_, housekeeper_, pushes_),
      steps_(link_, step_book_, ended_),
      compactor_(link_, writer_, events_, messages_),
      housekeeper_(link_, {writer_, run_time_policy_, compactor_, blobs_, schedule_book_, schedule_runner_,
                           step_book_}) {}

LocalQueue::~LocalQueue() {
  if (holder_.leave()) {
    link_.leave(until_exit_);
  } else {
    link_.stay();
  }
}

Caps LocalQueue::caps() const {
  Caps caps;
  caps.exact_global_order = true;
  caps.queue_scope = true;
  caps.ties_between_accounts = true;
  caps.kernel_death_detection = true;
  caps.wake_latency_bound_ms = 5;
  caps.fairness_bound = 1;
  caps.moves = true;
  caps.exports = true;
  return caps;
}

Result<void> LocalQueue::bring_up_to_date() {
  // A fault in that is another queue's, and told where that is opened.
  static_cast<void>(finish_moves());
  FQ_TRY(resolver_.resolve());
  FQ_TRY(dead_letters_.drop_old());
  FQ_TRY(schedule_runner_.run_due());
  return {};
}

Result<PushReply> LocalQueue::push(std::span<const NewMessage> messages, const PushOptions& options) {
  return pusher_.push(messages, options);
}

Result<LeaseReply> LocalQueue::lease(const LeaseRequest& request) { return taker_.lease(request); }

Result<SettleReply> LocalQueue::settle(std::span<const Settle> items, const LeaseRequest* next) {
  Result<SettleReply> settled{SettleReply()};  // made where the caller takes it
  settler_.settle(items, *settled);
  // What ended may have made room. A fault in that is none of the verdict's.
  if (next == nullptr) static_cast<void>(schedule_runner_.run_due());
  if (next == nullptr || settled->error) return settled;
  Result<LeaseReply> leased = taker_.lease(*next);
  if (leased.ok()) {
    settled->next = std::move(leased).value();
  } else {
    settled = std::move(leased).error();
  }
  return settled;
}

Result<std::vector<ExtendResult>> LocalQueue::extend(std::span<const Receipt> receipts, int64_t duration_ms) {
  return settler_.extend(receipts, duration_ms);
}

Result<EndStatus> LocalQueue::await_end(const EndRequest& request) { return watcher_.await_end(request); }

Result<std::optional<int>> LocalQueue::hold_for_job(std::span<const MessageId> ids,
                                                    std::optional<int64_t> limit_ms) {
  return holder_.hold_for_job(ids, limit_ms);
}

Result<void> LocalQueue::attend(const Attendance& attendance) {
  FQ_TRY(holder_.attend(attendance));
  return taker_.come();
}

Result<std::vector<Attendee>> LocalQueue::attendees() {
  reaper_.reap_before_look();
  return Roll(link_, reaper_).call();
}

Result<MutateReply> LocalQueue::mutate(std::span<const MessageId> ids, Action action) {
  MutateReply reply;
  FQ_TRY(bring_up_to_date());
  for (const MessageId id : ids) {
    FQ_TRY_SET(const SettleStatus status, mutator_.change(id, action));
    reply.items.push_back(status);
    if (status == SettleStatus::ok) ++reply.changed;
  }
  FQ_TRY(mutator_.finish());
  return reply;
}

Result<MutateReply> LocalQueue::mutate(const Filter& filter, Action action, const Cursor& from, size_t n) {
  MutateReply reply;
  PagePlace after = place_by_id(from);
  const size_t most = std::min(n, kIdsPerPage);
  // By id, also of those that wait for a time: what is found first is what was pushed first.
  FQ_TRY_SET(const std::vector<PagePlace> places, pages_.select(filter, Pages::Order::id, after, most));
  for (const PagePlace& place : places) {
    after = place;
    FQ_TRY_SET(const std::optional<Snapshot> snapshot, pages_.look_again(filter, place));
    if (!snapshot) continue;
    FQ_TRY_SET(const SettleStatus status, mutator_.change(MessageId{snapshot->id}, action, &filter));
    if (status == SettleStatus::ok) ++reply.changed;
  }
  FQ_TRY(mutator_.finish());
  if (places.size() == most && most > 0) reply.next.text = std::to_string(after.id);
  return reply;
}

Result<SettleStatus> LocalQueue::edit(MessageId id, const MessagePatch& patch) {
  reaper_.reap_before_look();
  FQ_TRY(bring_up_to_date());
  return editor_.edit(id, patch);
}

Result<MoveReply> LocalQueue::move(std::span<const MessageId> ids, const MoveRequest& request) {
  reaper_.reap_before_look();
  FQ_TRY(bring_up_to_date());
  return mover().move(ids, request, header().settings.lock_timeout_ms.peek());
}

Result<std::optional<ExportedMessage>> LocalQueue::exported(MessageId id) {
  // What it came after may have ended just now. Where that finds no room on the disk it is told as held, and
  // let go where it is imported.
  static_cast<void>(resolver_.resolve());
  return exporter_.tell(id);
}

Result<ImportReply> LocalQueue::import_messages(std::span<const ExportedMessage> messages,
                                                std::string_view origin) {
  FQ_TRY(bring_up_to_date());
  Result<ImportReply> reply = importer_.take(messages, origin);
  FQ_TRY(resolver_.resolve());  // what they came after may have ended already
  return reply;
}

Mover LocalQueue::mover() {
  return Mover(*this, [this](const std::string& queue) -> Result<std::unique_ptr<MovingQueue>> {
    FQ_TRY_SET(std::unique_ptr<Attachment> attachment,
               Attachment::open({location().spool, queue}, false, own_clock_));
    return std::unique_ptr<MovingQueue>(
        std::make_unique<LocalQueue>(std::move(attachment), own_clock_, false));
  });
}

Result<IdPage> LocalQueue::select(const Filter& filter, const Cursor& from, size_t n) {
  reaper_.reap_before_look();
  FQ_TRY(bring_up_to_date());
  IdPage page;
  PagePlace after = place_by_id(from);
  const size_t most = std::min(n, kIdsPerPage);
  FQ_TRY_SET(const std::vector<PagePlace> places, pages_.select(filter, Pages::Order::id, after, most));
  for (const PagePlace& place : places) {
    after = place;
    FQ_TRY_SET(const std::optional<Snapshot> snapshot, pages_.look_again(filter, place));
    // One that is on its way to another queue is as if it were there already.
    if (snapshot && !snapshot->in_transit) page.ids.push_back(MessageId{snapshot->id});
  }
  if (places.size() == most && most > 0) page.next.text = std::to_string(after.id);
  return page;
}

Result<MessagePage> LocalQueue::ended(const Filter& filter, const Cursor& from, size_t n) {
  reaper_.reap_before_look();
  FQ_TRY(bring_up_to_date());
  // An end is told only once it can no longer be lost.
  if (!syncs_lazily()) FQ_TRY(link_.wait_all_durable());
  return ended_pages_.page(filter, from, n);
}

Result<std::optional<JobOutput>> LocalQueue::output(MessageId id) { return ended_.output(id); }

Result<CallId> LocalQueue::begin_call(std::string_view /*tenant*/) { return runs_.begin_call(); }

Result<std::shared_ptr<RunOutput>> LocalQueue::run_output(const Delivery& delivery, const RunTerms& terms) {
  return runs_.make(delivery, terms);
}

Result<std::unique_ptr<OutputFollower>> LocalQueue::follow(MessageId id, std::optional<CallId> call) {
  FQ_TRY_SET(std::shared_ptr<RunShelf> shelf, runs_.shelf());
  return std::unique_ptr<OutputFollower>(std::make_unique<LocalFollower>(
      link_, LocalFollower::Parts{watcher_, ended_, runs_}, std::move(shelf), id, call));
}

Result<MessagePage> LocalQueue::peek(const Filter& filter, const Cursor& from, size_t n) {
  reaper_.reap_before_look();
  FQ_TRY(bring_up_to_date());
  return viewer_.peek(filter, from, n);
}

Result<std::optional<MessageInfo>> LocalQueue::get(MessageId id) {
  reaper_.reap_before_look();
  FQ_TRY(bring_up_to_date());
  return viewer_.get(id);
}

Result<HistoryPage> LocalQueue::history(MessageId id, const Cursor&, size_t n) { return history_.of(id, n); }

Result<void> LocalQueue::events(const EventRequest& request, EventPage& page) {
  return event_reader_.events(request, page);
}

Result<StatsReply> LocalQueue::stats(const StatsRequest& request) {
  reaper_.reap_before_look();
  return stats_.rows(request);
}

Result<ExplainReply> LocalQueue::explain(const ExplainRequest& request) {
  reaper_.reap_before_look();
  FQ_TRY(bring_up_to_date());
  ExplainReply reply;
  Explainer explainer(link_, reaper_);
  if (request.id) {
    FQ_TRY_SET(reply.subject, explainer.of_message(*request.id));
    return reply;
  }
  if (!request.tenant.empty()) {
    FQ_TRY_SET(reply.subject, explainer.of_tenant(request.tenant));
    if (!reply.subject) return reply;
  }
  FQ_TRY_SET(reply.next, explainer.next(request.tenant, request.next));
  FQ_TRY(explainer.add_blocked(request.tenant, reply));
  return reply;
}

Result<Settings> LocalQueue::settings() { return run_time_policy_.settings(); }

Result<bool> LocalQueue::policy_is_current(const FileIdentity& identity) {
  return policy_loader_.is_current(identity);
}

Result<void> LocalQueue::policy_check(const Policy& policy) { return check_policy_values(policy); }

Result<void> LocalQueue::policy_load(const Policy& policy, const FileIdentity& identity,
                                     const std::string* text) {
  return policy_loader_.load(policy, identity, text);
}

Result<std::string> LocalQueue::policy_kept() { return read_kept_policy(link_.attachment().disk()); }

Result<void> LocalQueue::policy_set(std::string_view path, const PolicyPatch& patch) {
  return run_time_policy_.set(path, patch);
}

Result<OverridePage> LocalQueue::policy_overrides(const Cursor& from, size_t n) {
  return run_time_policy_.overrides(from, n);
}

Result<CheckReport> LocalQueue::check(const CheckRequest& request) {
  reaper_.reap_before_look();
  FQ_TRY_SET(CheckReport report,
             Repairer(link_, {mutator_, compactor_, housekeeper_, blobs_}).check(request));
  FQ_TRY(mover().find_lost(report));
  if (request.alone) FQ_TRY(mover().find_lost_here(report));
  // What has stayed for it goes: perhaps nobody else calls the queue. What it has found stays for a repair.
  if (report.findings.empty()) static_cast<void>(housekeeper_.keep_house());
  return report;
}

Result<CompactReport> LocalQueue::compact() {
  FQ_TRY(reaper_.reap_all(gate().now()));
  FQ_TRY(bring_up_to_date());
  endings_.notes().sweep();
  return housekeeper_.compact();
}

Result<void> LocalQueue::maintain(int64_t budget_ms) {
  const int64_t until_ms = clock().boot_ms() + budget_ms;
  FQ_TRY(reaper_.reap_all(gate().now()));
  FQ_TRY(bring_up_to_date());
  endings_.notes().tend();
  for (bool fired = true; fired;) {
    FQ_TRY(locked([&]() -> Result<void> {
      fired = gate().fire_timers(gate().now());
      return {};
    }));
    if (clock().boot_ms() >= until_ms) break;
  }
  FQ_TRY(housekeeper_.keep_house());
  return link_.wait_all_durable();
}

Result<void> LocalQueue::keep_house() {
  FQ_TRY(housekeeper_.keep_house());
  return {};
}

Result<void> LocalQueue::begin_as_copy() {
  // First, or what is due by now would be made a second time here.
  FQ_TRY(schedule_book_.pause_all());
  return LeaseBreaker(link_, writer_, events_).break_all();
}

}  // namespace fq
