#include "core/worker/jobs/books.h"

// System.
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
// fq, below us.
#include "core/base/clock.h"

namespace fq::worker {

namespace {

constexpr std::chrono::milliseconds kLaterPause(100);
constexpr int64_t kConfirmAgainMs = 1'000;  // where a part of the queue did not answer; arbitrary

}  // namespace

std::pair<uint64_t, uint64_t> Books::delivery_of(const Receipt& receipt) {
  const ReceiptParts parts = receipt.parts().value_or(ReceiptParts{});
  return {parts.id, parts.serial};
}

Books::Books(Source& source, const Options& options, const Voice& voice, const Terms& terms, int event)
    : source_(source), options_(options), voice_(voice), terms_(terms), event_(event) {
  thread_ = std::thread([this] { run(); });
}

Books::~Books() {
  if (thread_.joinable()) end();
}

void Books::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  interrupt_.raise();
  thread_.join();
}

void Books::allow(size_t slots) {
  unsent_ = true;
  const std::lock_guard lock(mutex_);
  allowed_ += slots;
}

void Books::settle(VerdictOrder order) {
  unsent_ = true;
  ++ordered_;
  const std::lock_guard lock(mutex_);
  orders_.push_back(std::move(order));
}

void Books::confirm() {
  unsent_ = true;
  const std::lock_guard lock(mutex_);
  ++unconfirmed_;
}

void Books::send() {
  if (std::exchange(unsent_, false)) interrupt_.raise();
}

void Books::ask_for(bool Books::*flag) {
  {
    const std::lock_guard lock(mutex_);
    this->*flag = true;
  }
  interrupt_.raise();
}

void Books::abandon() {
  scribe_.abandon();
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
}

void Books::take_no_more() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    allowed_ = 0;
  }
  announce();  // what give() did not
  interrupt_.raise();
}

News Books::take_news() {
  const std::lock_guard lock(mutex_);
  News news = std::exchange(news_, News{});
  settled_ += news.settled;
  return news;
}

void Books::announce() {
  // It only fails when the count is full: then the reader has been told.
  ::eventfd_write(event_, 1);
}

void Books::run() {
  // Who cannot be shown works all the same.
  static_cast<void>(source_.queue->attend(
      {options_.slots_max, options_.stream ? options_.prefetch : std::max(options_.batch, 1U)}));
  while (step()) {
  }
  // After a fault jobs may still run, and what they have is held until they have ended. What is still held
  // then goes back when the queue is closed, by this thread: it holds the leases.
  std::unique_lock lock(mutex_);
  stopped_.wait(lock, [this] { return stop_; });
  if (abandoned_) static_cast<void>(source_.queue.release());
  source_.queue.reset();
}

Books::Work Books::take_work() {
  const std::lock_guard lock(mutex_);
  Work work;
  work.orders.swap(orders_);
  const bool confirms = confirms_at_once_ || confirm_at_ms_ <= system_clock().boot_ms();
  if (confirms) confirm_at_ms_ = 0, work.unconfirmed = std::exchange(unconfirmed_, 0);
  work.allowed = closed_ ? 0 : allowed_;
  work.look = terms_.looks_first && look_ && !closed_;
  work.stop = stop_;
  work.read_policy = std::exchange(read_policy_, false);
  work.idle_again = std::exchange(idle_again_, false);
  return work;
}

/// One round. What fails for now is tried again, since the leases last as long as we do; another fault ends
/// it, but not before the verdicts had a try of their own.
bool Books::step() {
  interrupt_.lower();  // before we look: whoever adds to the mailbox raises it again
  Work work = take_work();
  if (work.stop && work.orders.empty()) return false;
  Result<void> served = serve(work);
  if (served.ok()) is_later_told_ = false;
  if (served.ok()) return true;
  if (!work.orders.empty()) static_cast<void>(give(work.orders));
  // A worker that came for one message, or for what is there, is told; a service goes on, and so does one
  // that holds messages. Where a part of the queue is lost for good, those of the others are still to be told
  // what became of theirs: nobody ends over it while he holds any.
  const bool holds = !outstanding_.empty();
  const bool passes = served.error().kind == ErrorKind::later || served.error().passes;
  const bool goes_on =
      passes ? holds || options_.stay == Stay::forever : holds && served.error().kind == ErrorKind::unusable;
  if (goes_on && !work.stop) return try_later(work, served.error());
  const std::lock_guard lock(mutex_);
  news_.failed = std::move(served).error();
  announce();
  return false;
}

/// What is ordered first, then what is allowed.
Result<void> Books::serve(Work& work) {
  if (work.idle_again) idle_told_ = false;
  if (work.read_policy || work.allowed > 0) FQ_TRY(refresh());
  if (work.unconfirmed > 0) FQ_TRY(look_for_changes(work.unconfirmed));
  // The next jobs first: they need not wait for the disk that the verdicts wait for.
  if (work.allowed > 0 && !work.orders.empty()) FQ_TRY(take(work, false));
  return work.orders.empty() ? take(work, true) : give(work.orders);
}

/// A full disk, a lock that a stopped process holds: said once, tried again until it is over. What the fault
/// says of that process changes meanwhile, with its state.
bool Books::try_later(Work& work, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    orders_.insert(orders_.begin(), std::move_iterator(work.orders.begin()),
                   std::move_iterator(work.orders.end()));
    unconfirmed_ += work.unconfirmed;
    read_policy_ = read_policy_ || work.read_policy;
    idle_again_ = idle_again_ || work.idle_again;
    if (!is_later_told_) {
      news_.notices.push_back(error.text + "; the worker goes on trying");
      announce();
    }
    is_later_told_ = true;
  }
  std::this_thread::sleep_for(kLaterPause);
  return true;
}

Result<void> Books::look_for_changes(size_t& unconfirmed) {
  LeaseRequest request;
  request.want = 0;
  request.watch = true;
  FQ_TRY_SET(LeaseReply reply, source_.queue->lease(request));
  std::vector<HeardChange> changes = heard(reply.changes);
  const std::lock_guard lock(mutex_);
  for (HeardChange& change : changes) news_.changes.push_back(std::move(change));
  // What is not told yet may be of the messages that are asked about.
  const bool is_all = confirms_at_once_ || (!reply.more_changes && !reply.partial);
  if (!is_all) confirm_at_ms_ = system_clock().boot_ms() + (reply.more_changes ? 0 : kConfirmAgainMs);
  (is_all ? news_.confirmed : unconfirmed_) += std::exchange(unconfirmed, 0);
  announce();
  return {};
}

/// What to say of a message that its job, or anybody else, has settled. We are not told how: a dead one has
/// failed, and that is always said.
std::string Books::told_of_settled(uint64_t id) {
  const Result<std::optional<MessageInfo>> info = source_.queue->get(MessageId{id});
  const bool dead = info.ok() && *info && (*info)->state == State::dead;
  if (!dead && !options_.verbose) return "";
  return "queue '" + source_.name + "': message " + std::to_string(id) + ": settled by its job or by hand" +
         (dead ? "; buried" : "");
}

std::string Books::told_in_vain(const VerdictOrder& order, const Error& why) const {
  return "queue '" + source_.name + "': message " + std::to_string(number(order.id)) +
         ": what its job made of it could not be kept: " + why.text;
}

std::vector<HeardChange> Books::heard(std::vector<LeaseChange>& changes) {
  std::vector<HeardChange> all;
  for (LeaseChange& change : changes) {
    if (change.what != LeaseChange::What::extended) outstanding_.erase(delivery_of(change.receipt));
    const std::optional<ReceiptParts> parts = change.receipt.parts();
    const bool settled = change.what == LeaseChange::What::ended && parts;
    std::string told = settled ? told_of_settled(parts->id) : "";
    all.push_back({std::move(change), std::move(told)});
  }
  return all;
}

Result<void> Books::refresh() {
  const Result<void> refreshed = voice_.refresh_policy(source_.name, *source_.queue);
  FQ_TRY_SET(const Settings settings, source_.queue->settings());
  // While it is broken the last good one holds; that is said once.
  const std::string fault = refreshed.ok() ? "" : refreshed.error().text;
  const bool news = fault != policy_fault_ || settings_ != settings;
  if (!news) return {};
  const std::lock_guard lock(mutex_);
  if (!fault.empty() && fault != policy_fault_) news_.notices.push_back(fault);
  policy_fault_ = fault;
  settings_ = settings;
  news_.settings = settings;
  announce();
  return {};
}

/// What is answered is given, whatever becomes of the rest. A stale receipt is a job that decided for itself,
/// or was cancelled: that stands. What is unknown without a fault may be on disk or not; it is told, and the
/// message comes again at worst. A part of the queue that cannot be used any more keeps no verdict, however
/// often it is asked, and must not end the work of the others.
Result<void> Books::give(std::vector<VerdictOrder>& orders) {
  std::vector<Settle> items;
  items.reserve(orders.size());
  for (const VerdictOrder& order : orders) items.push_back(settle_of(order));
  Result<SettleReply> settled = source_.queue->settle(items);
  if (!settled && settled.error().kind != ErrorKind::unusable) return std::move(settled).error();
  SettleReply reply;
  if (settled) reply = std::move(settled).value();
  if (!settled)
    reply.items.assign(items.size(), SettleStatus::unknown), reply.error = std::move(settled).error();
  const bool is_vain = reply.error && reply.error->kind == ErrorKind::unusable;
  const bool is_again = reply.error && !is_vain;
  std::vector<std::string> notices = source_.queue->take_notices();
  std::vector<MessageId> acked;
  std::vector<VerdictOrder> left;
  for (size_t i = 0; i < orders.size(); ++i) {
    VerdictOrder& order = orders[i];
    const SettleStatus status = reply.items[i];
    if (is_again && status == SettleStatus::unknown) {
      left.push_back(std::move(order));
      continue;
    }
    outstanding_.erase(delivery_of(order.receipt));
    const bool holds = status == SettleStatus::ok || status == SettleStatus::buried;
    std::string line = is_vain && status == SettleStatus::unknown ? told_in_vain(order, *reply.error)
                       : holds                                    ? std::move(order.said)
                                                                  : told_of_settled(number(order.id));
    if (!line.empty()) notices.push_back(std::move(line));
    if (order.verdict == Verdict::ack && status == SettleStatus::ok) acked.push_back(order.id);
  }
  orders = std::move(left);
  const std::lock_guard lock(mutex_);
  for (std::string& notice : notices) news_.notices.push_back(std::move(notice));
  if (options_.strict) news_.acked.insert(news_.acked.end(), acked.begin(), acked.end());
  news_.settled += items.size() - orders.size();
  if (is_vain) news_.untold = *reply.error;
  // Only one that is about to end waits for this.
  if (closed_ || idle_told_ || !terms_.waits || !news_.notices.empty()) announce();
  return is_again ? Result<void>(*reply.error) : Result<void>();
}

}  // namespace fq::worker
