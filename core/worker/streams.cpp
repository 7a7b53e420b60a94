#include "core/worker/streams.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/worker/jobs/verdicts.h"

namespace fq::worker {

namespace {

constexpr uint32_t kWritable = EPOLLOUT;
constexpr uint32_t kNothing = 0;
constexpr int64_t kPauseMs = 500;  // between two starts of a command that does not stay up

}  // namespace

size_t Streams::room() const {
  // What no process could be given now would only be leased and returned.
  const bool starts = system_clock().boot_ms() >= start_ms_;
  size_t room = starts ? slots_.free() * options_.prefetch : 0;
  for (const Slot& slot : slots_) {
    if (!slot.stream || !slot.stream->listens()) continue;
    room += options_.prefetch - std::min<size_t>(options_.prefetch, slot.stream->open_count());
  }
  return room;
}

void Streams::give(Arrival arrival) {
  Slot* least = nullptr;
  for (Slot& slot : slots_) {
    const bool takes = slot.stream && slot.stream->listens();
    if (!takes || slot.stream->open_count() >= options_.prefetch) continue;
    if (least == nullptr || slot.stream->open_count() < least->stream->open_count()) least = &slot;
  }
  // One more process where the others have something to do already.
  if (least == nullptr || least->stream->open_count() > 0) {
    Slot* fresh = system_clock().boot_ms() >= start_ms_ ? slots_.free_slot() : nullptr;
    if (fresh != nullptr && start(*fresh, arrival.kept)) least = fresh;
  }
  if (least == nullptr) {
    VerdictOrder order = release_of(arrival.delivery);
    order.delay_ms = shutdown_.is_closed() ? 0 : kPauseMs;
    return queues_.settle(0, std::move(order));
  }
  least->stream->give(queues_.shop(0), std::move(arrival));
}

bool Streams::start(Slot& slot, const std::shared_ptr<const Descriptor>& kept) {
  Result<std::unique_ptr<JobStream>> stream =
      JobStream::start(queues_.shop(0), queues_.name(0), slot.number, kept);
  if (stream.ok()) {
    slots_.put(slot, std::move(stream).value());
    return true;
  }
  const ErrorKind kind = stream.error().kind;
  queues_.shop(0).say(stream.error().text);
  start_ms_ = system_clock().boot_ms() + kPauseMs;
  // Its command line and its limits are the same for every message: none can help that.
  const bool for_ever = kind == ErrorKind::config || kind == ErrorKind::denied || kind == ErrorKind::bad_data;
  if (for_ever) shutdown_.stop(End::unusable);
  return false;
}

void Streams::flush() {
  for (Slot& slot : slots_) {
    if (slot.stream && slot.stream->wants_to_write()) flush(slot);
  }
}

void Streams::flush(Slot& slot) {
  settle(slot.stream->flush(queues_.shop(0)));
  if (slot.stream->in() < 0) return;
  const bool waits = slot.stream->wants_to_write();
  poller_.change(slot.stream->in(), {Watched::stream_in, slot.index()}, waits ? kWritable : kNothing);
}

void Streams::on_event(Slot& slot, Watched what) {
  if (slot.stream->is_over()) return;
  if (what == Watched::stream_out) return settle(slot.stream->read_verdicts(queues_.shop(0)));
  if (slot.stream->wants_to_write()) return flush(slot);
  // Told although we have nothing to write.
  slot.stream->note_input_closed();
}

void Streams::on_end(Slot& slot) {
  const int64_t now_ms = system_clock().boot_ms();
  if (!slot.stream->is_over()) {
    start_ms_ = now_ms + kPauseMs;
    settle(slot.stream->note_end(queues_.shop(0), shutdown_.is_stopping(), now_ms));
    poller_.forget(slot.stream->process().pidfd.get());  // it would be told for ever
  }
  if (!slot.stream->is_gone(now_ms)) return;
  const std::unique_ptr<JobStream> stream = std::move(slot.stream);
  slots_.leavings().adopt(stream->err());
  settle(stream->finish(queues_.shop(0)));
}

void Streams::on_time(int64_t now_ms) {
  for (Slot& slot : slots_) {
    if (slot.stream && slot.stream->is_over()) on_end(slot);
    if (!slot.stream) continue;
    slot.stream->on_time(now_ms, options_.grace_ms);
    if (!shutdown_.is_closed() || slot.stream->open_count() > 0 || !slot.stream->listens()) continue;
    // Nothing more comes: a command that has nothing open reads the end of its input.
    slot.stream->close_input();
    shutdown_.limit(now_ms);
  }
}

void Streams::stop() {
  for (Slot& slot : slots_) {
    if (slot.stream) settle(slot.stream->close_input());
  }
}

void Streams::dismiss_spare(int64_t now_ms) {
  if (slots_.used() <= slots_.growth().slots()) return;
  Slot* spare = nullptr;
  for (Slot& slot : slots_) {
    if (slot.stream && slot.stream->listens() && slot.stream->open_count() == 0) spare = &slot;
  }
  if (spare != nullptr) spare->stream->dismiss(now_ms + options_.grace_ms);
}

void Streams::settle(std::vector<VerdictOrder> orders) {
  for (VerdictOrder& order : orders) queues_.settle(0, std::move(order));
}

}  // namespace fq::worker
