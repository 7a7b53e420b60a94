#include "core/worker/worker.h"

// System.
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fq::worker {

namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGALRM, SIGUSR1, SIGUSR2};
constexpr int64_t kLeaveMs = 200;    // after the second signal's KILL, for those that it cannot end
constexpr int64_t kFlushMs = 1'000;  // for what is still to be shown at the end

}  // namespace

Worker::Worker(std::vector<Source> sources, const Options& options, const Voice& voice)
    : sources_(std::move(sources)),
      options_(options),
      voice_(voice),
      environment_(options),
      out_(STDOUT_FILENO),
      err_(STDERR_FILENO),
      growth_(options.slots_min, options.slots_max),
      gather_(std::max(options.batch, 1U), options.linger_ms),
      notify_(options.notify_socket, options.watchdog_us, options.watchdog_pid) {}

Result<void> Worker::prepare() {
  allow_many_descriptors();
  if (!poller_.usable()) return sys_error("epoll_create", "worker", errno);
  sigset_t heard;
  sigemptyset(&heard);
  for (const int number : kSignals) sigaddset(&heard, number);
  signals_ = Descriptor(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
  event_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!signals_ || !event_) return sys_error("signalfd", "worker", errno);
  poller_.watch(signals_.get(), {Watched::signals, 0});
  poller_.watch(event_.get(), {Watched::books, 0});
  slots_.resize(options_.slots_max);
  for (uint32_t i = 0; i < slots_.size(); ++i) slots_[i].number = i + 1;
  Books::Terms terms;
  terms.waits = options_.stay != Stay::once;
  // A backlog must be seen while all slots are busy.
  const bool grows = options_.slots_min < options_.slots_max && !options_.stream && options_.batch == 0;
  terms.looks_first = looks_first_ = sources_.size() > 1 || (grows && options_.stay != Stay::once);
  terms.until_idle = options_.stay == Stay::drain;
  terms.together = options_.batch > 0;
  // Where nothing lingers each take is a batch, and none is taken that no slot is free for.
  if (terms.together && options_.linger_ms == 0) terms.lot = options_.batch;
  served_.resize(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) {
    served_[i].books = std::make_unique<Books>(sources_[i], options_, voice_, terms, event_.get());
  }
  return {};
}

Result<End> Worker::run() {
  FQ_TRY(prepare());
  notify_.tell("READY=1");
  allow();
  while (!is_finished()) {
    for (Served& each : served_) each.books->send();
    flush_streams();
    for (const Event& event : poller_.wait(wait_ms())) on_event(event);
    on_time();
    start_ready();
    allow();
    watch_passages();
  }
  if (!stopping_) notify_.tell("STOPPING=1");
  // What could not be ended keeps its message by what it inherited: not given back, but left behind.
  if (busy() > 0) {
    for (Served& each : served_) each.books->abandon();
  }
  served_.clear();  // gives back what is still held
  finish_passages();
  if (failed_) return *failed_;
  return end_;
}

void Worker::finish_passages() {
  const uint64_t lost_bytes = out_.finish(kFlushMs) + err_.finish(kFlushMs);
  if (lost_bytes > 0) say(std::to_string(lost_bytes) + " bytes of output were not shown");
}

bool Worker::is_finished() const {
  if (system_clock().boot_ms() >= leave_at_ms_) return true;
  if (!closed_ || busy() > 0 || !ready_.empty() || gather_.held() > 0) return false;
  // After a fault of a queue its verdicts cannot be given any more.
  if (failed_) return true;
  if (unconfirmed_ > 0) return false;
  return std::all_of(served_.begin(), served_.end(),
                     [](const Served& each) { return each.books->open_orders() == 0; });
}

int Worker::wait_ms() const {
  const int64_t now_ms = system_clock().boot_ms();
  int64_t next_ms = std::min({kill_at_ms_, leave_at_ms_, growth_.next_ms()});
  for (const Slot& slot : slots_) {
    if (slot.job) next_ms = std::min(next_ms, slot.job->next_ms());
    if (slot.stream) next_ms = std::min(next_ms, slot.stream->next_ms());
  }
  const int64_t gathered_ms = gather_.next_wall_ms();
  if (gathered_ms != kNever && free_slots() > 0 && !is_blocked()) {
    next_ms = std::min(next_ms, now_ms + gathered_ms - system_clock().wall_ms());
  }
  if (rest_until_ms_ > now_ms) next_ms = std::min(next_ms, rest_until_ms_);
  if (options_.stream && stream_start_ms_ > now_ms) next_ms = std::min(next_ms, stream_start_ms_);
  next_ms = std::min(next_ms, notify_ms_);
  if (next_ms == kNever) return -1;
  return static_cast<int>(std::clamp<int64_t>(next_ms - now_ms, 0, 60'000));
}

void Worker::on_event(const Event& event) {
  switch (event.what) {
    case Watched::signals:
      return on_signals();
    case Watched::books:
      return on_news();
    case Watched::passage:
      return on_passage(event.whose);
    default:
      break;
  }
  Slot& slot = slots_[event.whose];
  // What was told in the same breath as its end is of a job that is gone.
  if (!slot.job && !slot.stream) return;
  switch (event.what) {
    case Watched::process:
      return on_process(slot);
    case Watched::out:
    case Watched::err:
      return on_output(slot, event.what);
    case Watched::stream_in:
    case Watched::stream_out:
      return on_stream(slot, event.what);
    default:
      return;
  }
}

void Worker::on_signals() {
  signalfd_siginfo about{};
  while (::read(signals_.get(), &about, sizeof about) == static_cast<ssize_t>(sizeof about)) {
    const auto number = static_cast<int>(about.ssi_signo);
    if (number == SIGHUP) {
      for (Served& each : served_) each.books->read_policy();
    } else if (number == SIGTSTP) {
      ::kill(::getpid(), SIGSTOP);
    } else if (number != SIGTERM && number != SIGINT && number != SIGQUIT) {
      // Heard, so that it does not wait for our end and then decide how we left.
    } else if (!told_to_stop_) {
      told_to_stop_ = true;
      stop(End::done);
    } else {
      end_ = End::killed;
      kill_at_ms_ = 0;
      leave_at_ms_ = std::min(leave_at_ms_, system_clock().boot_ms() + kLeaveMs);
    }
  }
}

void Worker::stop(End end) {
  if (!stopping_) notify_.tell("STOPPING=1");
  end_ = end;
  stopping_ = closed_ = true;
  kill_at_ms_ = std::min(kill_at_ms_, system_clock().boot_ms() + options_.grace_ms);
  for (Served& each : served_) each.books->take_no_more();
  release_waiting();
  for (Slot& slot : slots_) {
    if (!slot.stream) continue;
    for (VerdictOrder& order : slot.stream->close_input()) settle(0, std::move(order));
  }
}

void Worker::on_time() {
  const int64_t now_ms = system_clock().boot_ms();
  for (Slot& slot : slots_) {
    if (slot.job) slot.job->on_time(now_ms);
    if (slot.job && slot.job->is_over() && slot.job->close(now_ms)) on_job_end(slot);
    if (slot.stream) slot.stream->on_time(now_ms, options_.grace_ms);
  }
  if (closed_ && options_.stream) close_idle_streams(now_ms);
  if (now_ms >= kill_at_ms_) {
    kill_at_ms_ = kNever;
    for (Slot& slot : slots_) {
      if (slot.job) slot.job->kill(Ending::stopped);
      if (slot.stream) slot.stream->kill();
    }
  }
  if (at_work() >= growth_.slots()) growth_.on_busy(now_ms);
  if (growth_.on_idle(now_ms)) close_spare_stream(now_ms);
  notify_ms_ = notify_.keep_alive(now_ms);
  if (notify_.is_heard()) notify_ms_ = std::min(notify_ms_, notify_.show(status(), now_ms));
}

std::string Worker::status() const {
  const std::string running = std::to_string(busy()) + " of " + std::to_string(growth_.slots());
  return running + " jobs running, " + std::to_string(seen_count_) + " messages taken" +
         (stopping_ ? ", stopping" : "");
}

/// Nothing more comes: a command that has nothing open reads the end of its input.
void Worker::close_idle_streams(int64_t now_ms) {
  for (Slot& slot : slots_) {
    if (!slot.stream || slot.stream->open_count() > 0 || !slot.stream->listens()) continue;
    slot.stream->close_input();
    if (kill_at_ms_ == kNever) kill_at_ms_ = now_ms + options_.grace_ms;
  }
}

/// A slot was given up: a command that has nothing open holds it no longer.
void Worker::close_spare_stream(int64_t now_ms) {
  if (busy() <= growth_.slots()) return;
  const auto spare = std::find_if(slots_.rbegin(), slots_.rend(), [](const Slot& slot) {
    return slot.stream && slot.stream->listens() && slot.stream->open_count() == 0;
  });
  if (spare != slots_.rend()) spare->stream->dismiss(now_ms + options_.grace_ms);
}

/// As busy(), but for streams that wait for messages.
size_t Worker::at_work() const {
  return static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.job || (slot.stream && slot.stream->open_count() > 0);
  }));
}

size_t Worker::busy() const {
  return static_cast<size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.job || slot.stream; }));
}

size_t Worker::free_slots() const {
  const size_t used = busy();
  return used >= growth_.slots() ? 0 : growth_.slots() - used;
}

Worker::Slot* Worker::free_slot() {
  if (free_slots() == 0) return nullptr;
  const auto free =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.job && !slot.stream; });
  return free == slots_.end() ? nullptr : &*free;
}

Workshop Worker::shop(size_t source) {
  return {options_, voice_, environment_, out_, err_, served_[source].settings};
}

Result<End> work(std::vector<Source> sources, const Options& options, const Voice& voice) {
  return Worker(std::move(sources), options, voice).run();
}

}  // namespace fq::worker
