#include "core/worker/intake.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, this room.
#include "core/worker/jobs/verdicts.h"

namespace fq::worker {

namespace {

constexpr size_t kGatheredMax = 1024;    // messages that wait for their batch; arbitrary
constexpr int64_t kCancelGraceMs = 500;  // a cancelled job ends within a second
constexpr int kNotFound = 127;           // as a shell tells what it could not start
constexpr int kNotStarted = 126;
constexpr int64_t kStartAgainMs = 1'000;  // after a process could not be made for want of something
constexpr int64_t kBusyAgainMs = 10'000;  // after a stored command could not be started for now

}  // namespace

Intake::Intake(Queues& queues, Slots& slots, Streams& streams, Shutdown& shutdown, const Workshop& shop)
    : queues_(queues),
      slots_(slots),
      streams_(streams),
      shutdown_(shutdown),
      shop_(shop),
      options_(shop.options),
      gather_(std::max(options_.batch, 1U), options_.linger_ms) {}

int64_t Intake::next_ms(int64_t now_ms) const {
  int64_t next_ms = rest_until_ms_ > now_ms ? rest_until_ms_ : kNever;
  if (slots_.free() == 0 || shop_.is_blocked()) return next_ms;
  return std::min(next_ms, gather_.next_ms());
}

void Intake::take_news() {
  for (size_t i = 0; i < queues_.size(); ++i) take_in(i, queues_.take_news(i));
}

void Intake::take_in(size_t source, News news) {
  for (const std::string& notice : news.notices) shop_.say(notice);
  for (Arrival& arrival : news.arrivals) sort_in(source, std::move(arrival));
  for (const HeardChange& change : news.changes) {
    const bool ran = change.what != LeaseChange::What::extended && drop_waiting(change.receipt);
    const bool runs = slots_.on_change(change, std::min(kCancelGraceMs, options_.grace_ms));
    // Else its verdict is on its way to the queue, which tells the same of it.
    if ((ran || runs) && !change.told.empty()) shop_.say(change.told);
  }
  take_confirmed(source, news.confirmed);
  if (shutdown_.is_stopping()) release_waiting();
  if (news.more && slots_.free() <= ready_.size()) slots_.growth().on_backlog(system_clock().boot_ms());
  for (const MessageId id : news.lost) queues_.note_run(source, id);
  if (news.untold && options_.stay != Stay::forever) shutdown_.remember(std::move(*news.untold));
  if (news.failed) shutdown_.fail(std::move(*news.failed));
  if (shutdown_.has_failed()) return;
  const bool none = options_.stay == Stay::once && queues_.are_empty();
  if (none && seen_count_ == 0) shutdown_.close_empty(queues_.is_any_partial() ? End::away : End::nothing);
  if (none || (options_.stay == Stay::drain && queues_.are_idle() && stays_drained())) shutdown_.close();
}

/// All queues were idle, but not at one time: a job of one may have pushed to another that was looked at
/// before. All are looked at again until nothing came meanwhile.
bool Intake::stays_drained() {
  if (queues_.size() == 1 || seen_when_idle_ == seen_count_) return true;
  seen_when_idle_ = seen_count_;
  queues_.look_idle_again();
  return false;
}

void Intake::sort_in(size_t source, Arrival arrival) {
  const bool first = seen_count_++ == 0;
  const bool is_command = arrival.delivery.command.has_value();
  Load load;
  load.source = source;
  if (shutdown_.is_stopping()) {
    load.arrivals.push_back(std::move(arrival));
    return release(load);
  }
  if (options_.stay == Stay::once && options_.batch == 0) shutdown_.close();
  if (is_command && !options_.command.empty()) {
    return bury(source, arrival.delivery, "is a command message, and the worker has a command");
  }
  if (!is_command && options_.command.empty()) {
    if (!first) {
      return bury(source, arrival.delivery, "is not a command message, and the worker has no command");
    }
    load.arrivals.push_back(std::move(arrival));
    release(load);
    shop_.say(
        "worker: the first message is not a command message; say which command to run: fq worker -- CMD");
    return shutdown_.stop(End::unusable);
  }
  if (const std::string why = misfit(arrival.delivery); !why.empty()) {
    return bury(source, arrival.delivery, why);
  }
  if (options_.stream) queues_.note_run(source, arrival.delivery.id);
  if (options_.stream) return streams_.give(std::move(arrival));
  if (options_.batch > 0)
    return gather_.add(source, std::move(arrival), system_clock().boot_ms(), system_clock().wall_ms());
  load.arrivals.push_back(std::move(arrival));
  ready_.push_back(std::move(load));
}

/// Why it does not fit into a batch of this format; "" when it does.
std::string Intake::misfit(const Delivery& delivery) const {
  if (options_.batch == 0 || options_.batch_format == BatchFormat::ndjson) return "";
  const bool lines = options_.batch_format == BatchFormat::lines;
  const Result<std::string> payload = delivery.payload.read_all();
  if (!payload.ok()) return payload.error().text;
  if (payload->find(lines ? '\n' : '\0') == std::string::npos) return "";
  return lines ? "its payload holds a newline, which ends it in --batch-format lines"
               : "its payload holds a NUL, which ends it in --batch-format null";
}

/// It has ended before it was started, wherever it waits: what ends a message may be heard before its job is
/// seen to have ended, or after. True: after a batch that it was in had run.
bool Intake::drop_waiting(const Receipt& receipt) {
  const auto is_it = [&](const Arrival& each) { return each.delivery.receipt == receipt; };
  gather_.drop(receipt);
  size_t ran = 0;
  for (Load& load : unconfirmed_) ran += std::erase_if(load.arrivals, is_it);
  for (Load& load : ready_) std::erase_if(load.arrivals, is_it);
  std::erase_if(ready_, [](const Load& load) { return load.arrivals.empty(); });
  return ran > 0;
}

/// The first of this queue, since they are asked about in that order.
void Intake::take_confirmed(size_t source, size_t count) {
  for (auto load = unconfirmed_.begin(); count > 0; --count) {
    load = std::find_if(load, unconfirmed_.end(), [&](const Load& each) { return each.source == source; });
    if (!load->arrivals.empty()) ready_.push_back(std::move(*load));
    load = unconfirmed_.erase(load);
  }
}

size_t Intake::gathered_max() const {
  return std::max(kGatheredMax, size_t{options_.batch} * (slots_.free() + 1));
}

/// How many messages the worker could take on now.
size_t Intake::wanted() const {
  if (shutdown_.is_closed() || system_clock().boot_ms() < rest_until_ms_) return 0;
  size_t room = slots_.free();
  if (options_.stream) {
    room = streams_.room();
  } else if (options_.batch > 0 && options_.linger_ms > 0) {
    // What would gather behind running jobs others could run.
    room = room == 0 ? 0 : gathered_max() - std::min(gathered_max(), gather_.held());
  } else if (options_.batch > 0) {
    room -= std::min(room, ready_.size() + gather_.batches());
  } else {
    room -= std::min(room, ready_.size());
  }
  if (options_.stay == Stay::once) {
    const size_t once = options_.linger_ms > 0 ? std::max<size_t>(1, options_.batch) : 1;
    room = seen_count_ > 0 ? 0 : std::min(room, once);
  }
  return room - std::min(room, queues_.allowed());
}

void Intake::allow() {
  if (shop_.is_blocked()) return;
  size_t room = wanted();
  const bool waits_for_slot = room == 0 && !shutdown_.is_closed() && queues_.looks_first() &&
                              slots_.free() == 0 && queues_.is_any_hungry();
  if (waits_for_slot && slots_.growth().on_backlog(system_clock().boot_ms())) room = wanted();
  if (room > 0) queues_.allow(room, options_.linger_ms > 0 ? std::max(1U, options_.batch) : 1);
}

void Intake::start_ready() {
  if (shop_.is_blocked()) return;
  const bool flush = options_.stay == Stay::once;  // what is there is the batch
  while (slots_.free() > ready_.size()) {
    int64_t due_ms = system_clock().boot_ms();
    // What is full may lie behind what is not: where no more can be gathered, the next one due makes room.
    if (gather_.held() >= gathered_max()) due_ms = std::max(due_ms, gather_.next_ms());
    Load batch = flush ? gather_.take_any() : gather_.take_ready(due_ms);
    if (batch.arrivals.empty()) break;
    ready_.push_back(std::move(batch));
  }
  // Also where none of what came fits into a batch.
  if (flush && seen_count_ > 0 && gather_.held() == 0) shutdown_.close();
  const int64_t now_ms = system_clock().boot_ms();
  if (slots_.free() == 0 && gather_.next_ms() <= now_ms) slots_.growth().on_backlog(now_ms);
  while (!ready_.empty() && !shutdown_.is_stopping()) {
    Slot* slot = slots_.free_slot();
    if (slot == nullptr) return;
    Load load = std::move(ready_.front());
    ready_.pop_front();
    start(*slot, std::move(load));
  }
}

void Intake::start(Slot& slot, Load load) {
  const std::string& queue = queues_.name(load.source);
  Result<std::unique_ptr<Job>> job = Job::start(queues_.shop(load.source), queue, slot.number, load);
  if (!job.ok()) return refuse(load, job.error());
  slots_.put(slot, std::move(job).value());
  for (const Arrival& each : slot.job->load().arrivals)
    queues_.note_run(slot.job->load().source, each.delivery.id);
}

/// The job could not be started.
void Intake::refuse(Load& load, const Error& error) {
  const bool stored = options_.command.empty();
  if (error.kind == ErrorKind::bad_data || (error.kind == ErrorKind::config && stored)) {
    for (const Arrival& arrival : load.arrivals) {
      VerdictOrder order = bury_of(arrival.delivery, error.text);
      if (error.kind == ErrorKind::config) order.exit = error.sys == ENOENT ? kNotFound : kNotStarted;
      conclude(load.source, arrival.delivery, std::move(order));
    }
    return;
  }
  shop_.say(error.text);
  // It may be the command's own for long, and costs no other message a start. Nothing of it has run, so it is
  // no attempt either.
  if (error.kind == ErrorKind::unusable && stored) return release(load, kBusyAgainMs);
  // What the worker was given cannot be: no message can help that.
  if (error.kind == ErrorKind::config || error.kind == ErrorKind::denied) {
    release(load);
    return shutdown_.stop(End::unusable);
  }
  // The next one would meet the same: it stays with the others.
  rest_until_ms_ = system_clock().boot_ms() + kStartAgainMs;
  release(load, kStartAgainMs);
}

void Intake::on_job_end(Slot& slot) {
  const std::unique_ptr<Job> job = std::move(slot.job);
  slots_.leavings().adopt(job->out());
  slots_.leavings().adopt(job->err());
  shop_.begin_line();
  const size_t source = job->load().source;
  std::vector<Load> again;
  for (VerdictOrder& order : job->finish(queues_.shop(source), again)) {
    const auto& arrivals = job->load().arrivals;
    const auto of = std::find_if(arrivals.begin(), arrivals.end(),
                                 [&](const Arrival& each) { return each.delivery.receipt == order.receipt; });
    tell(queues_.name(source), of->delivery, order);
    queues_.settle(source, std::move(order));
  }
  if (!again.empty()) {
    shop_.say("queue '" + queues_.name(source) + "': a batch of tenant '" +
              again[0].arrivals[0].delivery.tenant + "' failed; its messages are run one by one");
  }
  // The job may have given verdicts itself that we have not heard of: those messages are not run again.
  for (Load& load : again) {
    if (shutdown_.is_stopping()) {
      release(load);
      continue;
    }
    unconfirmed_.push_back(std::move(load));
    queues_.confirm(source);
  }
}

/// Failures always, the rest where it was asked for, and not yet. Whether a verdict holds is known once it is
/// given: its job may have slept, or have given one itself.
void Intake::tell(const std::string& queue, const Delivery& delivery, VerdictOrder& order) {
  const bool failed = order.verdict == Verdict::retry || order.verdict == Verdict::bury;
  if (failed) order.said = failure_line(queue, delivery, order);
  if (!failed && options_.verbose) order.said = success_line(queue, delivery, order);
}

/// For what cannot be run at all; that is told.
void Intake::bury(size_t source, const Delivery& delivery, const std::string& reason) {
  conclude(source, delivery, bury_of(delivery, reason));
}

void Intake::conclude(size_t source, const Delivery& delivery, VerdictOrder order) {
  queues_.note_run(source, delivery.id);
  tell(queues_.name(source), delivery, order);
  queues_.settle(source, std::move(order));
}

void Intake::release(Load& load, int64_t delay_ms) {
  for (const Arrival& arrival : load.arrivals) {
    VerdictOrder order = release_of(arrival.delivery);
    order.delay_ms = delay_ms;
    queues_.settle(load.source, std::move(order));
  }
}

void Intake::release_waiting() {
  for (Load& load : ready_) release(load);
  ready_.clear();
  for (Load load = gather_.take_any(); !load.arrivals.empty(); load = gather_.take_any()) release(load);
}

}  // namespace fq::worker
