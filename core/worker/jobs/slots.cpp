#include "core/worker/jobs/slots.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"

namespace fq::worker {

Slots::Slots(const Poller& poller, const Options& options)
    : poller_(poller),
      growth_(options.slots_min, options.slots_max),
      leavings_(poller),
      slots_(options.slots_max) {
  for (uint32_t i = 0; i < slots_.size(); ++i) slots_[i].number = i + 1;
}

size_t Slots::used() const {
  return static_cast<size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.is_free(); }));
}

size_t Slots::at_work() const {
  return static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.job || (slot.stream && slot.stream->open_count() > 0);
  }));
}

size_t Slots::running() const {
  return static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.stream || (slot.job && !slot.job->is_gone());
  }));
}

size_t Slots::untold() const {
  size_t count = 0;
  for (const Slot& slot : slots_) {
    if (slot.job && slot.job->is_gone()) count += slot.job->load().arrivals.size();
  }
  return count;
}

size_t Slots::free() const {
  const size_t now = used();
  return now >= growth_.slots() ? 0 : growth_.slots() - now;
}

Slot* Slots::free_slot() {
  if (free() == 0) return nullptr;
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.is_free(); });
  return found == slots_.end() ? nullptr : &*found;
}

int64_t Slots::next_ms() const {
  int64_t next_ms = growth_.next_ms();
  for (const Slot& slot : slots_) {
    if (can_go_on(slot)) return 0;
    if (slot.job) next_ms = std::min(next_ms, slot.job->next_ms());
    if (slot.stream) next_ms = std::min(next_ms, slot.stream->next_ms());
  }
  return next_ms;
}

void Slots::put(Slot& slot, std::unique_ptr<Job> job) {
  slot.job = std::move(job);
  poller_.watch(slot.job->process().pidfd.get(), {Watched::process, slot.index()});
  watch(slot.job->out(), {Watched::out, slot.index()});
  watch(slot.job->err(), {Watched::err, slot.index()});
}

void Slots::put(Slot& slot, std::unique_ptr<JobStream> stream) {
  slot.stream = std::move(stream);
  poller_.watch(slot.stream->process().pidfd.get(), {Watched::process, slot.index()});
  poller_.watch(slot.stream->in(), {Watched::stream_in, slot.index()}, 0);
  poller_.watch(slot.stream->out(), {Watched::stream_out, slot.index()});
  poller_.watch(slot.stream->err().descriptor(), {Watched::err, slot.index()});
}

void Slots::take_output(Slot& slot, Watched what) {
  Capture* capture = slot.stream ? &slot.stream->err() : nullptr;
  if (slot.job) capture = what == Watched::out ? &slot.job->out() : &slot.job->err();
  if (!capture->open()) return;
  const int descriptor = capture->descriptor();
  // A closed descriptor leaves epoll by itself. A blocked one must leave it too: that its writer has gone
  // would be told for ever.
  const Capture::Progress progress = capture->take_some();
  if (progress == Capture::Progress::more || progress == Capture::Progress::ended) return;
  poller_.forget(descriptor);
  if (progress == Capture::Progress::held_back) slot.job->hold_back(system_clock().boot_ms());
}

/// Its output was not read because the worker's own had no room. Nobody tells when that has: it is looked at
/// each time before the worker sleeps.
bool Slots::can_go_on(const Slot& slot) {
  if (slot.stream) return slot.stream->err().can_go_on();
  return slot.job && (slot.job->out().can_go_on() || slot.job->err().can_go_on());
}

void Slots::on_time(int64_t now_ms) {
  for (Slot& slot : slots_) {
    if (can_go_on(slot)) watch_output(slot);
    if (!slot.job) continue;
    slot.job->on_time(now_ms);
    if (slot.job->has_room_again(now_ms)) watch_output(slot);
  }
}

void Slots::watch_output(Slot& slot) const {
  // Those that were not forgotten are watched already.
  const auto watch_again = [&](Capture& capture, Watched what) {
    capture.go_on();
    watch(capture, {what, slot.index()});
  };
  if (slot.stream) watch_again(slot.stream->err(), Watched::err);
  if (slot.job) watch_again(slot.job->out(), Watched::out);
  if (slot.job) watch_again(slot.job->err(), Watched::err);
}

bool Slots::on_change(const LeaseChange& change, int64_t grace_ms) {
  const int64_t now_ms = system_clock().boot_ms();
  const bool extended = change.what == LeaseChange::What::extended;
  const int64_t until_ms = change.left_ms < kNever - now_ms ? now_ms + change.left_ms : kNever;
  bool is_held = false;
  for (Slot& slot : slots_) {
    if (slot.stream && extended) slot.stream->extend(change.receipt, until_ms);
    if (slot.stream && !extended) is_held = slot.stream->note_settled(change.receipt) || is_held;
    if (!slot.job || !slot.job->holds(change.receipt)) continue;
    is_held = true;
    if (extended) {
      slot.job->extend(until_ms);
      continue;
    }
    slot.job->note_settled(change.receipt);
    // In a batch the others are still to be run.
    const bool ends = change.what == LeaseChange::What::cancelled && slot.job->is_settled();
    if (ends) slot.job->end(Ending::cancelled, now_ms, grace_ms);
  }
  return is_held;
}

void Slots::kill() {
  for (Slot& slot : slots_) {
    if (slot.job) slot.job->kill(Ending::stopped);
    if (slot.stream) slot.stream->kill();
  }
}

void Slots::watch(const Capture& capture, Event event) const {
  if (capture.open()) poller_.watch(capture.descriptor(), event);
}

}  // namespace fq::worker
