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
constexpr int64_t kFlushMs = 1'000;  // for what is still to be shown at the end

Error verdicts_lost(size_t count) {
  const std::string what = count == 1 ? "one message" : std::to_string(count) + " messages";
  return Error{
      ErrorKind::io,
      "worker: how " + what +
          " ended could not be told to the queue before it had to leave; what it does not know is run again",
      0};
}

}  // namespace

Worker::Worker(std::vector<Source> sources, const Options& options, const Voice& voice)
    : options_(options),
      environment_(options),
      out_(STDOUT_FILENO),
      own_err_(out_.has_reader_of(STDERR_FILENO) ? std::nullopt : std::make_optional<Passage>(STDERR_FILENO)),
      err_(own_err_ ? *own_err_ : out_),
      shop_{options, voice, environment_, out_, err_, {}},
      shutdown_(options.grace_ms),
      queues_(std::move(sources), shop_),
      slots_(poller_, options),
      streams_(poller_, slots_, queues_, shutdown_, options),
      intake_(queues_, slots_, streams_, shutdown_, shop_),
      onlooker_(shop_, queues_),
      notify_(options.notify_socket, options.watchdog_us, options.watchdog_pid) {}

Result<void> Worker::prepare() {
  allow_many_descriptors();
  leave_no_core();
  ::signal(SIGCHLD, SIG_DFL);  // where it is ignored no status is kept
  if (!poller_.usable()) return sys_error("epoll_create", "worker", errno);
  sigset_t heard;
  sigemptyset(&heard);
  for (const int number : kSignals) sigaddset(&heard, number);
  signals_ = Descriptor(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
  event_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!signals_ || !event_) return sys_error("signalfd", "worker", errno);
  poller_.watch(signals_.get(), {Watched::signals, 0});
  poller_.watch(event_.get(), {Watched::books, 0});
  Books::Terms terms;
  terms.waits = options_.stay != Stay::once;
  // A backlog must be seen while all slots are busy.
  const bool grows = options_.slots_min < options_.slots_max && !options_.stream && options_.batch == 0;
  terms.looks_first = queues_.size() > 1 || (grows && options_.stay != Stay::once);
  terms.until_idle = options_.stay == Stay::drain;
  terms.together = options_.batch > 0;
  // Where nothing lingers each take is a batch, and none is taken that no slot is free for.
  if (terms.together && options_.linger_ms == 0) terms.lot = options_.batch;
  queues_.open(terms, event_.get());
  return {};
}

Result<End> Worker::run() {
  FQ_TRY(prepare());
  notify_.tell("READY=1");
  intake_.allow();
  while (!is_finished()) {
    queues_.send();
    streams_.flush();
    for (const Event& event : poller_.wait(wait_ms())) {
      on_event(event);
      follow_shutdown();
    }
    on_time();
    intake_.start_ready();
    follow_shutdown();
    intake_.allow();
    watch_passages();
  }
  if (!shutdown_.is_stopping()) notify_.tell("STOPPING=1");
  // What could not be ended keeps its message by what it inherited: not returned, but left behind.
  const size_t untold = queues_.close(slots_.used() > 0) + slots_.untold();
  if (untold > 0 && !shutdown_.has_failed()) shutdown_.fail(verdicts_lost(untold));
  const uint64_t lost_bytes = out_.finish(kFlushMs) + err_.finish(kFlushMs);
  if (lost_bytes > 0) shop_.say(std::to_string(lost_bytes) + " bytes of output were not shown");
  return shutdown_.result();
}

bool Worker::is_finished() const {
  if (shutdown_.is_over(system_clock().boot_ms())) return true;
  if (!shutdown_.is_closed() || slots_.used() > 0 || !intake_.is_empty()) return false;
  // After a fault of a queue its verdicts cannot be given any more.
  return shutdown_.has_failed() || (!intake_.waits_for_confirmation() && queues_.open_orders() == 0);
}

size_t Worker::untold_verdicts() const { return queues_.open_orders() + slots_.untold(); }

int Worker::wait_ms() const {
  const int64_t now_ms = system_clock().boot_ms();
  const int64_t next_ms =
      std::min({shutdown_.next_ms(), slots_.next_ms(), intake_.next_ms(now_ms), streams_.next_ms(now_ms),
                notify_ms_, onlooker_.next_ms(), err_.next_ms()});
  if (next_ms == kNever) return -1;
  return static_cast<int>(std::clamp<int64_t>(next_ms - now_ms, 0, 60'000));
}

void Worker::on_event(const Event& event) {
  if (event.what == Watched::signals) return on_signals();
  if (event.what == Watched::passage) return on_passage(event.whose);
  if (event.what == Watched::books) {
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
    return intake_.take_news();
  }
  if (event.what == Watched::leavings) return slots_.leavings().take(event.whose);
  Slot& slot = slots_[event.whose];
  // What was told in the same breath as its end is of a job that is gone.
  if (slot.is_free()) return;
  if (event.what == Watched::process) return on_process(slot);
  if (event.what == Watched::out || event.what == Watched::err) return slots_.take_output(slot, event.what);
  if (slot.stream) streams_.on_event(slot, event.what);
}

void Worker::on_signals() {
  signalfd_siginfo about{};
  while (::read(signals_.get(), &about, sizeof about) == static_cast<ssize_t>(sizeof about)) {
    const auto number = static_cast<int>(about.ssi_signo);
    if (number == SIGHUP) {
      queues_.read_policy();
    } else if (number == SIGTSTP) {
      ::kill(::getpid(), SIGSTOP);
    } else if (number == SIGTERM || number == SIGINT || number == SIGQUIT) {
      shutdown_.on_signal();
    }
    // The others are heard so that they do not wait for our end and then decide how we left.
  }
}

void Worker::on_process(Slot& slot) {
  if (slot.stream) return streams_.on_end(slot);
  if (slot.job->close(system_clock().boot_ms())) return intake_.on_job_end(slot);
  poller_.forget(slot.job->process().pidfd.get());  // it would be told for ever
}

/// What the first close() and the first stop() of any of us ask for.
void Worker::follow_shutdown() {
  if (shutdown_.take_close()) queues_.take_no_more();
  if (!shutdown_.take_stop()) return;
  notify_.tell("STOPPING=1");
  if (shutdown_.was_told()) onlooker_.on_stop(slots_);
  queues_.confirm_at_once();
  intake_.release_waiting();
  streams_.stop();
}

void Worker::on_time() {
  const int64_t now_ms = system_clock().boot_ms();
  slots_.on_time(now_ms);
  for (Slot& slot : slots_) {
    if (slot.job && slot.job->is_over() && slot.job->close(now_ms)) intake_.on_job_end(slot);
  }
  streams_.on_time(now_ms);
  if (shutdown_.take_kill(now_ms)) slots_.kill();
  if (slots_.running() == 0) shutdown_.limit_verdicts(untold_verdicts(), now_ms);
  Growth& growth = slots_.growth();
  if (slots_.at_work() >= growth.slots()) growth.on_busy(now_ms);
  if (growth.on_idle(now_ms)) streams_.dismiss_spare(now_ms);
  onlooker_.on_time(now_ms, slots_.at_work() == 0 && intake_.is_empty() && !shutdown_.is_closed());
  err_.on_time(now_ms);
  notify_ms_ = notify_.keep_alive(now_ms);
  if (notify_.is_heard()) notify_ms_ = std::min(notify_ms_, notify_.show(status(), now_ms));
}

std::string Worker::status() {
  const std::string running =
      std::to_string(slots_.used()) + " of " + std::to_string(slots_.growth().slots());
  return running + " jobs running, " + std::to_string(intake_.seen_count()) + " messages taken" +
         (shutdown_.is_stopping() ? ", stopping" : "");
}

void Worker::watch_passages() {
  Passage* const passages[] = {&out_, &err_};
  for (uint32_t i = 0; i < (own_err_ ? 2 : 1); ++i) {
    if (!passages[i]->holds_something() || passages_watched_[i]) continue;
    passages_watched_[i] = poller_.watch(passages[i]->descriptor(), {Watched::passage, i}, EPOLLOUT);
  }
}

void Worker::on_passage(uint32_t which) {
  Passage& passage = which == 0 ? out_ : err_;
  passage.flush();
  if (passage.holds_something()) return;
  poller_.forget(passage.descriptor());
  passages_watched_[which] = false;
}

Result<End> work(std::vector<Source> sources, const Options& options, const Voice& voice) {
  return Worker(std::move(sources), options, voice).run();
}

}  // namespace fq::worker
