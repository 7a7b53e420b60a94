// books_take - the messages that Books takes, and what it has ready for their jobs.
#include "core/worker/jobs/books.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"

namespace fq::worker {

namespace {

constexpr size_t kTakenMax = 256;  // at once; arbitrary
constexpr uint64_t kBytesMax = 64 * 1024 * 1024;

}  // namespace

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
  if (output.ok() && *output && (*output)->is_far())
    return scribe_.lend(std::move(output).value(), terms.bytes_max);
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
