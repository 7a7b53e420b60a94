#include "core/worker/jobs/books.h"

// System.
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
// fq, below us.
#include "core/base/clock.h"

namespace fq::worker {

namespace {

constexpr size_t kTakenMax = 256;  // at once; arbitrary
constexpr uint64_t kBytesMax = 64 * 1024 * 1024;
constexpr std::chrono::milliseconds kLaterPause(100);
constexpr int64_t kConfirmAgainMs = 1'000;  // where a part of the queue did not answer; arbitrary

/// The message and the number of its delivery: of one queue no two are alike.
std::pair<uint64_t, uint64_t> delivery_of(const Receipt& receipt) {
  const ReceiptParts parts = receipt.parts().value_or(ReceiptParts{});
  return {parts.id, parts.serial};
}

}  // namespace

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
  // that holds messages, as long as it does also where a part of the queue can give nothing any more.
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

Result<void> Books::take(const Work& work, bool wait) {
  LeaseRequest request;
  request.want = std::min(work.allowed, kTakenMax);
  // What keeps one batch's messages should not keep another's: each take is of one tenant.
  if (terms_.together) {
    request.grouped = true;
    request.want = std::min<size_t>(work.allowed, 1);
    request.group_max = terms_.lot > 0 ? terms_.lot : std::min<size_t>(work.allowed, options_.batch);
  }
  request.look = work.look && work.allowed == 0;
  request.bytes_max = kBytesMax;
  request.attempts_max = options_.attempts;
  // Where one look is enough, the answer may be that there is nothing; else only the interrupt ends it.
  const bool one_look =
      (work.allowed > 0 && (!terms_.waits || terms_.looks_first)) || (request.look && !terms_.waits);
  request.wait = wait && !one_look;
  if (confirm_at_ms_ > 0) request.wait_ms = std::max<int64_t>(0, confirm_at_ms_ - system_clock().boot_ms());
  request.until_idle = terms_.until_idle && !idle_told_;
  request.watch = true;
  request.signals = false;
  request.runs_commands = options_.command.empty();
  request.interrupt = &interrupt_;
  FQ_TRY_SET(LeaseReply reply, source_.queue->lease(request));
  // What it waited for may come long after the policy was read. It is in our hands whatever that gives.
  const bool late = request.wait && !reply.deliveries.empty();
  Result<void> refreshed = late ? refresh() : Result<void>();
  hand_over(reply, terms_.together && terms_.lot == 0 ? request.group_max : request.want);
  return refreshed;
}

std::shared_ptr<const Descriptor> Books::hold(std::span<const MessageId> ids, const Delivery& first) {
  const int64_t limit_ms = run_limit_of(first);
  const std::optional<int64_t> limit = limit_ms == kNever ? std::nullopt : std::optional(limit_ms);
  const Result<std::optional<int>> kept = source_.queue->hold_for_job(ids, limit);
  if (kept.ok() && *kept) return std::make_shared<const Descriptor>(**kept);
  // Without it the messages would only come back sooner, should we die.
  if (!kept.ok() && kept.error().text != hold_fault_) {
    hold_fault_ = kept.error().text;
    const std::lock_guard lock(mutex_);
    news_.notices.push_back(
        hold_fault_ + "; if the worker is killed, its messages do not wait for processes that its jobs left");
  }
  return nullptr;
}

/// How long its job may run at the most; kNever: for ever.
int64_t Books::run_limit_of(const Delivery& delivery) const {
  const int64_t queues_ms = options_.timeout_ms.value_or(settings_.value_or(Settings{}).timeout_ms);
  const int64_t run_ms = delivery.timeout_ms.value_or(queues_ms);
  return run_ms > 0 ? later(run_ms, options_.grace_ms) : kNever;
}

/// Which of its messages a command that stays up is at work on is not known: it keeps all of them.
void Books::hold_all(std::span<const Delivery> deliveries) {
  for (const Delivery& delivery : deliveries) {
    const int64_t limit_ms = run_limit_of(delivery);
    if (limit_ms <= all_limit_ms_) continue;
    all_limit_ms_ = limit_ms;
    all_ = hold({}, delivery);
  }
}

std::shared_ptr<RunOutput> Books::run_output_of(const Delivery& delivery) {
  const RunTerms terms{options_.output_bytes_max, !options_.output_max_given};
  Result<std::shared_ptr<RunOutput>> output = source_.queue->run_output(delivery, terms);
  if (output.ok() && *output && (*output)->is_far()) return scribe_.lend(std::move(output).value(), terms.bytes_max);
  if (output.ok()) return std::move(output).value();
  if (output.error().text != output_fault_) {
    output_fault_ = output.error().text;
    const std::lock_guard lock(mutex_);
    news_.notices.push_back(output_fault_ + "; the output of jobs cannot be followed");
  }
  return nullptr;
}

void Books::hand_over(LeaseReply& reply, size_t allowed) {
  std::vector<MessageId> ids;
  for (const Delivery& delivery : reply.deliveries) ids.push_back(delivery.id);
  std::shared_ptr<const Descriptor> all;
  if (terms_.together && !ids.empty()) all = hold(ids, reply.deliveries[0]);
  if (options_.stream) hold_all(reply.deliveries), all = all_;
  const bool shared = terms_.together || options_.stream;
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::span<const MessageId> own = std::span(ids).subspan(i, 1);
    std::shared_ptr<const Descriptor> kept = shared ? all : hold(own, reply.deliveries[i]);
    std::shared_ptr<RunOutput> output = shared ? nullptr : run_output_of(reply.deliveries[i]);
    arrivals.push_back({std::move(reply.deliveries[i]), std::move(kept), std::move(output)});
  }
  std::vector<std::string> notices = source_.queue->take_notices();
  std::vector<HeardChange> changes = heard(reply.changes);
  if (reply.why_empty == WhyEmpty::idle) idle_told_ = true;
  if (!arrivals.empty()) idle_told_ = false;
  for (const Arrival& each : arrivals) outstanding_.insert(delivery_of(each.delivery.receipt));
  const std::lock_guard lock(mutex_);
  for (const std::optional<MessageId>& each : reply.lost) {
    if (each) news_.lost.push_back(*each);
  }
  if (!arrivals.empty()) news_.idle = false;
  book(reply, allowed, terms_.lot > 0 ? std::min<size_t>(arrivals.size(), 1) : arrivals.size());
  const bool told = !arrivals.empty() || !changes.empty() || !notices.empty() || news_.servable ||
                    news_.idle || news_.nothing;
  for (Arrival& arrival : arrivals) news_.arrivals.push_back(std::move(arrival));
  for (HeardChange& change : changes) news_.changes.push_back(std::move(change));
  for (std::string& notice : notices) news_.notices.push_back(std::move(notice));
  if (told) announce();
}

/// What became of the slots that were allowed. Needs: the mailbox's lock.
void Books::book(const LeaseReply& reply, size_t allowed, size_t taken) {
  if (reply.why_empty == WhyEmpty::servable) news_.servable = true;
  if (reply.why_empty == WhyEmpty::idle) news_.idle = true;
  news_.more = reply.more && taken == allowed;
  const bool one_look = !terms_.waits || terms_.looks_first;
  const bool asked = allowed > 0 || (terms_.looks_first && look_ && !terms_.waits);
  if (one_look && asked && taken == 0 && reply.why_empty == WhyEmpty::nothing) {
    news_.nothing = true;
    news_.partial = reply.partial;
  }
  news_.used += taken;
  if (one_look) news_.refused += allowed - taken;
  allowed_ -= std::min(allowed_, one_look ? allowed : taken);
  // Told once; looked again when the answer has been used.
  if (terms_.looks_first) look_ = allowed > 0 || (look_ && !news_.servable && terms_.waits);
}

}  // namespace fq::worker
