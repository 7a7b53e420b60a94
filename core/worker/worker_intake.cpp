// worker_intake - from the queues to the slots: what may be taken, what came, and what it becomes.

// System.
#include <sys/eventfd.h>

#include <algorithm>
// fq, this room.
#include "core/worker/jobs/verdicts.h"
#include "core/worker/worker.h"

namespace fq::worker {

namespace {

constexpr size_t kGatheredMax = 1024;     // messages that wait for their batch; arbitrary
constexpr int64_t kCancelGraceMs = 500;   // a cancelled job ends within a second
constexpr int64_t kStartAgainMs = 1'000;  // after a process could not be made for want of something

}  // namespace

void Worker::on_news() {
  eventfd_t count = 0;
  ::eventfd_read(event_.get(), &count);
  for (size_t i = 0; i < served_.size(); ++i) {
    News news = served_[i].books->take_news();
    take_in(i, news);
  }
}

void Worker::take_in(size_t source, News& news) {
  Served& served = served_[source];
  if (news.settings) served.settings = *news.settings;
  for (const std::string& notice : news.notices) say(notice);
  served.allowed -= std::min(served.allowed, news.used + news.refused);
  if (news.servable) served.hungry = true;
  for (Arrival& arrival : news.arrivals) sort_in(source, std::move(arrival));
  unconfirmed_ -= news.confirmed.size();
  for (Load& load : news.confirmed) ready_.push_back(std::move(load));
  for (const LeaseChange& change : news.changes) on_change(change);
  if (stopping_) release_waiting();
  if (news.more && free_slots() <= ready_.size()) growth_.on_backlog(system_clock().boot_ms());
  if (!news.arrivals.empty()) served.idle = false;
  if (news.idle) served.idle = true;
  const bool drained = options_.stay == Stay::drain &&
                       std::all_of(served_.begin(), served_.end(), [](const Served& s) { return s.idle; });
  if (news.nothing) served.empty = true;
  const bool none = options_.stay == Stay::once &&
                    std::all_of(served_.begin(), served_.end(), [](const Served& s) { return s.empty; });
  if (news.failed && !failed_) failed_ = std::move(news.failed);
  if (news.failed || failed_) return stop(End::done);
  if (none && seen_count_ == 0) end_ = End::nothing;
  if (none || (drained && stays_drained())) closed_ = true;
}

/// All queues were idle, but not at one time: a job of one may have pushed to another that was looked at
/// before. All are looked at again until nothing came meanwhile.
bool Worker::stays_drained() {
  if (served_.size() == 1 || seen_when_idle_ == seen_count_) return true;
  seen_when_idle_ = seen_count_;
  for (Served& each : served_) {
    each.idle = false;
    each.books->look_idle_again();
  }
  return false;
}

void Worker::sort_in(size_t source, Arrival arrival) {
  const bool first = seen_count_++ == 0;
  const bool is_command = arrival.delivery.command.has_value();
  Load load;
  load.source = source;
  if (stopping_) {
    load.arrivals.push_back(std::move(arrival));
    return release(load);
  }
  if (options_.stay == Stay::once && options_.batch == 0) closed_ = true;
  if (is_command && !options_.command.empty()) {
    return bury(source, arrival.delivery, "is a command message, and the worker has a command");
  }
  if (!is_command && options_.command.empty()) {
    if (!first) {
      return bury(source, arrival.delivery, "is not a command message, and the worker has no command");
    }
    load.arrivals.push_back(std::move(arrival));
    release(load);
    say("worker: the first message is not a command message; say which command to run: fq worker -- CMD");
    return stop(End::unusable);
  }
  if (const std::string why = misfit(arrival.delivery); !why.empty()) {
    return bury(source, arrival.delivery, why);
  }
  if (options_.stream) return give_to_stream(std::move(arrival));
  if (options_.batch > 0) return gather_.add(source, std::move(arrival));
  load.arrivals.push_back(std::move(arrival));
  ready_.push_back(std::move(load));
}

/// Why it does not fit into a batch of this format; "" when it does.
std::string Worker::misfit(const Delivery& delivery) const {
  if (options_.batch == 0 || options_.batch_format == BatchFormat::ndjson) return "";
  const bool lines = options_.batch_format == BatchFormat::lines;
  const Result<std::string> payload = delivery.payload.read_all();
  if (!payload.ok()) return payload.error().text;
  if (payload->find(lines ? '\n' : '\0') == std::string::npos) return "";
  return lines ? "its payload holds a newline, which ends it in --batch-format lines"
               : "its payload holds a NUL, which ends it in --batch-format null";
}

void Worker::on_change(const LeaseChange& change) {
  const int64_t now_ms = system_clock().boot_ms();
  if (change.what != LeaseChange::What::extended) drop_waiting(change.receipt);
  for (Slot& slot : slots_) {
    const bool extended = change.what == LeaseChange::What::extended;
    const int64_t until_ms = now_ms + change.until_wall_ms - system_clock().wall_ms();
    if (slot.stream && extended) slot.stream->extend(change.receipt, until_ms);
    if (slot.stream && !extended) slot.stream->note_settled(change.receipt);
    if (!slot.job || !slot.job->holds(change.receipt)) continue;
    if (extended) {
      slot.job->extend(until_ms);
      continue;
    }
    slot.job->note_settled(change.receipt);
    // In a batch the others are still to be run.
    const bool ends = change.what == LeaseChange::What::cancelled && slot.job->is_settled();
    if (ends) slot.job->end(Ending::cancelled, now_ms, std::min(kCancelGraceMs, options_.grace_ms));
  }
}

/// It has ended before it was started.
void Worker::drop_waiting(const Receipt& receipt) {
  gather_.drop(receipt);
  for (auto load = ready_.begin(); load != ready_.end();) {
    std::erase_if(load->arrivals, [&](const Arrival& each) { return each.delivery.receipt == receipt; });
    load = load->arrivals.empty() ? ready_.erase(load) : load + 1;
  }
}

size_t Worker::gathered_max() const {
  return std::max(kGatheredMax, size_t{options_.batch} * (free_slots() + 1));
}

/// How many messages the worker could take on now.
size_t Worker::wanted() const {
  if (closed_ || system_clock().boot_ms() < rest_until_ms_) return 0;
  size_t room = free_slots();
  if (options_.stream) {
    // What no process could be given now would only be leased and given back.
    const bool starts = room > 0 && system_clock().boot_ms() >= stream_start_ms_;
    room = starts ? room * options_.prefetch : 0;
    for (const Slot& slot : slots_) {
      if (!slot.stream || !slot.stream->listens()) continue;
      room += options_.prefetch - std::min<size_t>(options_.prefetch, slot.stream->open_count());
    }
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
    room = started_count_ > 0 || seen_count_ > 0 ? 0 : std::min(room, once);
  }
  for (const Served& served : served_) room -= std::min(room, served.allowed);
  return room;
}

void Worker::allow() {
  if (is_blocked()) return;
  size_t room = wanted();
  const bool waits_for_slot =
      room == 0 && !closed_ && looks_first_ && free_slots() == 0 &&
      std::any_of(served_.begin(), served_.end(), [](const Served& s) { return s.hungry; });
  if (waits_for_slot && growth_.on_backlog(system_clock().boot_ms())) room = wanted();
  if (room == 0) return;
  if (!looks_first_) {
    served_[0].allowed += room;
    return served_[0].books->allow(room);
  }
  // Several queues take turns: each that has something gets one slot at a time.
  for (size_t looked = 0; room > 0 && looked < served_.size(); ++looked) {
    Served& served = served_[next_turn_++ % served_.size()];
    if (!served.hungry) continue;
    served.hungry = false;
    const size_t one = options_.linger_ms > 0 ? std::max(1U, options_.batch) : 1;
    const size_t turn = served_.size() == 1 ? room : one;
    const size_t share = std::min(room, turn);
    served.allowed += share;
    served.books->allow(share);
    room -= share;
  }
}

void Worker::start_ready() {
  if (is_blocked()) return;
  const bool flush = options_.stay == Stay::once;  // what is there is the batch
  while (free_slots() > ready_.size()) {
    int64_t due_wall_ms = system_clock().wall_ms();
    // What is full may lie behind what is not: where no more can be gathered, the next one due makes room.
    if (gather_.held() >= gathered_max()) due_wall_ms = std::max(due_wall_ms, gather_.next_wall_ms());
    Load batch = flush ? gather_.take_any() : gather_.take_ready(due_wall_ms);
    if (batch.arrivals.empty()) break;
    if (flush) closed_ = true;
    ready_.push_back(std::move(batch));
  }
  const int64_t now_wall_ms = system_clock().wall_ms();
  if (free_slots() == 0 && gather_.next_wall_ms() <= now_wall_ms)
    growth_.on_backlog(system_clock().boot_ms());
  while (!ready_.empty()) {
    Slot* slot = free_slot();
    if (slot == nullptr) return;
    Load load = std::move(ready_.front());
    ready_.pop_front();
    start(*slot, std::move(load));
  }
}

void Worker::start(Slot& slot, Load load) {
  slot.source = load.source;
  const std::string& queue = served_[load.source].books->queue_name();
  Result<std::unique_ptr<Job>> job = Job::start(shop(load.source), queue, slot.number, load);
  if (!job.ok()) return refuse(load, job.error());
  slot.job = std::move(job).value();
  ++started_count_;
  const uint32_t index = slot.number - 1;
  poller_.watch(slot.job->process().pidfd.get(), {Watched::process, index});
  watch_capture(slot.job->out(), {Watched::out, index});
  watch_capture(slot.job->err(), {Watched::err, index});
}

/// The job could not be started.
void Worker::refuse(Load& load, const Error& error) {
  const bool stored = options_.command.empty();
  if (error.kind == ErrorKind::bad_data || (error.kind == ErrorKind::config && stored)) {
    for (const Arrival& arrival : load.arrivals) bury(load.source, arrival.delivery, error.text);
    return;
  }
  say(error.text);
  // What the worker was given cannot be: no message can help that.
  if (error.kind == ErrorKind::config || error.kind == ErrorKind::denied) {
    release(load);
    return stop(End::unusable);
  }
  // The next one would meet the same: it stays with the others.
  rest_until_ms_ = system_clock().boot_ms() + kStartAgainMs;
  for (const Arrival& arrival : load.arrivals) {
    VerdictOrder order = release_of(arrival.delivery);
    order.delay_ms = kStartAgainMs;
    settle(load.source, std::move(order));
  }
}

void Worker::settle(size_t source, VerdictOrder order) { served_[source].books->settle(std::move(order)); }

/// For what cannot be run at all; that is told.
void Worker::bury(size_t source, const Delivery& delivery, const std::string& reason) {
  VerdictOrder order = bury_of(delivery, reason);
  say(failure_line(served_[source].books->queue_name(), delivery, order));
  settle(source, std::move(order));
}

void Worker::release(Load& load) {
  for (const Arrival& arrival : load.arrivals) settle(load.source, release_of(arrival.delivery));
}

void Worker::release_waiting() {
  for (Load& load : ready_) release(load);
  ready_.clear();
  for (Load load = gather_.take_any(); !load.arrivals.empty(); load = gather_.take_any()) release(load);
}

}  // namespace fq::worker
