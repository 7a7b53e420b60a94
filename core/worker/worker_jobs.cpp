// worker_jobs - what happens to processes: what they write, and how they end.

// System.
#include <algorithm>
// fq, this room.
#include "core/worker/jobs/verdicts.h"
#include "core/worker/worker.h"

namespace fq::worker {

namespace {

constexpr uint32_t kWritable = EPOLLOUT;
constexpr uint32_t kNothing = 0;
constexpr int64_t kStreamPauseMs = 500;  // between two starts of a command that does not stay up

}  // namespace

void Worker::on_process(Slot& slot) {
  if (!slot.job) return on_stream_end(slot);
  if (slot.job->close(system_clock().boot_ms())) return on_job_end(slot);
  poller_.forget(slot.job->process().pidfd.get());  // it would be told for ever
}

void Worker::on_job_end(Slot& slot) {
  const std::unique_ptr<Job> job = std::move(slot.job);
  std::vector<Load> again;
  const std::string& queue = served_[slot.source].books->queue_name();
  std::vector<VerdictOrder> orders = job->finish(shop(slot.source), again);
  for (VerdictOrder& order : orders) {
    const auto& arrivals = job->load().arrivals;
    const auto of = std::find_if(arrivals.begin(), arrivals.end(),
                                 [&](const Arrival& each) { return each.delivery.receipt == order.receipt; });
    const bool failed = order.verdict == Verdict::retry || order.verdict == Verdict::bury;
    if (failed) say(failure_line(queue, of->delivery, order));
    if (!failed && options_.verbose) {
      say("queue '" + queue + "': message " + std::to_string(number(of->delivery.id)) + " of tenant '" +
          of->delivery.tenant + "': " + (order.verdict == Verdict::ack ? "done" : "given back"));
    }
    settle(slot.source, std::move(order));
  }
  if (!again.empty()) {
    say("queue '" + queue + "': a batch of tenant '" + again[0].arrivals[0].delivery.tenant +
        "' failed; its messages are run one by one");
  }
  // The job may have given verdicts itself that we have not heard of: those messages are not run again.
  for (Load& load : again) {
    if (stopping_) release(load);
    if (stopping_) continue;
    ++unconfirmed_;
    served_[slot.source].books->confirm(std::move(load));
  }
}

void Worker::on_output(Slot& slot, Watched what) {
  Capture* capture = slot.stream ? &slot.stream->err() : nullptr;
  if (slot.job) capture = what == Watched::out ? &slot.job->out() : &slot.job->err();
  if (!capture->open()) return;
  const int descriptor = capture->descriptor();
  // A closed descriptor leaves epoll by itself. A blocked one must leave it too: that its writer has gone
  // would be told for ever.
  if (capture->take_some() == Capture::Progress::blocked) poller_.forget(descriptor);
}

void Worker::give_to_stream(Arrival arrival) {
  Slot* least = nullptr;
  for (Slot& slot : slots_) {
    const bool takes = slot.stream && slot.stream->listens();
    if (!takes || slot.stream->open_count() >= options_.prefetch) continue;
    if (least == nullptr || slot.stream->open_count() < least->stream->open_count()) least = &slot;
  }
  // One more process where the others have something to do already.
  if (least == nullptr || least->stream->open_count() > 0) {
    Slot* fresh = system_clock().boot_ms() >= stream_start_ms_ ? free_slot() : nullptr;
    if (fresh != nullptr && start_stream(*fresh, arrival.kept)) least = fresh;
  }
  if (least == nullptr) {
    VerdictOrder order = release_of(arrival.delivery);
    order.delay_ms = closed_ ? 0 : kStreamPauseMs;
    return settle(0, std::move(order));
  }
  least->stream->give(shop(0), std::move(arrival));
}

/// Many lines in one write.
void Worker::flush_streams() {
  for (Slot& slot : slots_) {
    if (slot.stream && slot.stream->wants_to_write()) flush(slot);
  }
}

void Worker::flush(Slot& slot) {
  for (VerdictOrder& order : slot.stream->flush(shop(0))) settle(0, std::move(order));
  if (slot.stream->in() < 0) return;
  const bool waits = slot.stream->wants_to_write();
  poller_.change(slot.stream->in(), {Watched::stream_in, slot.number - 1}, waits ? kWritable : kNothing);
}

bool Worker::start_stream(Slot& slot, const std::shared_ptr<const Descriptor>& kept) {
  Result<std::unique_ptr<JobStream>> stream =
      JobStream::start(shop(0), served_[0].books->queue_name(), slot.number, kept);
  if (!stream.ok()) {
    const ErrorKind kind = stream.error().kind;
    say(stream.error().text);
    stream_start_ms_ = system_clock().boot_ms() + kStreamPauseMs;
    // Its command line and its limits are the same for every message: none can help that.
    const bool for_ever =
        kind == ErrorKind::config || kind == ErrorKind::denied || kind == ErrorKind::bad_data;
    if (for_ever) stop(End::unusable);
    return false;
  }
  slot.stream = std::move(stream).value();
  const uint32_t index = slot.number - 1;
  poller_.watch(slot.stream->process().pidfd.get(), {Watched::process, index});
  poller_.watch(slot.stream->in(), {Watched::stream_in, index}, 0);
  poller_.watch(slot.stream->out(), {Watched::stream_out, index});
  poller_.watch(slot.stream->err().descriptor(), {Watched::err, index});
  return true;
}

void Worker::on_stream(Slot& slot, Watched what) {
  if (!slot.stream) return;
  if (what == Watched::stream_out) {
    for (VerdictOrder& order : slot.stream->read_verdicts(shop(0))) settle(0, std::move(order));
    return;
  }
  if (slot.stream->wants_to_write()) return flush(slot);
  // Told although we have nothing to write.
  slot.stream->note_input_closed();
}

void Worker::on_stream_end(Slot& slot) {
  const std::unique_ptr<JobStream> stream = std::move(slot.stream);
  stream_start_ms_ = system_clock().boot_ms() + kStreamPauseMs;
  const size_t open = stream->open_count();
  for (VerdictOrder& order : stream->finish(shop(0), stopping_)) settle(0, std::move(order));
  if (!stopping_ && open > 0) {
    say("the command ended with " + std::to_string(open) + " open messages; they are retried");
  }
}

void Worker::watch_passages() {
  Passage* const passages[] = {&out_, &err_};
  for (uint32_t i = 0; i < 2; ++i) {
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
  // What was forgotten while it had no room; the others are watched already.
  for (Slot& slot : slots_) {
    const uint32_t index = slot.number - 1;
    if (slot.stream) watch_capture(slot.stream->err(), {Watched::err, index});
    if (slot.job) watch_capture(slot.job->out(), {Watched::out, index});
    if (slot.job) watch_capture(slot.job->err(), {Watched::err, index});
  }
}

void Worker::watch_capture(const Capture& capture, Event event) const {
  if (capture.open()) poller_.watch(capture.descriptor(), event);
}

}  // namespace fq::worker
