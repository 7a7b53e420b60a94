#include "core/simulate/simulation.h"

// System.
#include <algorithm>

namespace fq {

Simulation::Simulation(Load& load, const Policy& policy, uint32_t slots, Starts starts)
    : load_(load),
      queue_(policy, load.begin_ms(), load.has_followers()),
      entitlement_([this](std::string_view path) { return queue_.weight_of(path); }),
      figures_(load.tenants().size()),
      slots_(slots),
      starts_(starts),
      ready_ms_(1, kNotReady),
      started_(1),
      counted_(1),
      leaves_(load.tenants().size(), kNoIndex) {
  load_.rewind();
}

Report Simulation::run() {
  while (step()) {
  }
  // What never started has waited until the last thing happened, and may count only to some time before.
  // Timers may have fired behind that and let nothing start: they say nothing of how long it was.
  const int64_t end_ms = std::max(happened_ms_, load_.end_ms());
  uint64_t left = 0;
  for (uint64_t id = 1; id < ready_ms_.size(); ++id) {
    if (ready_ms_[id] == kNotReady || started_[id]) continue;
    ++left;
    note_wait(id, end_ms);
  }
  for (uint32_t tenant = 0; tenant < leaves_.size(); ++tenant)
    if (leaves_[tenant] != kNoIndex) figures_.note_owed(tenant, entitlement_.owed(leaves_[tenant]));
  Report report = figures_.report(load_.tenants());
  report.refused = refused_;
  report.left = left;
  return report;
}

/// The next thing that happens, or time that passes. False: nothing more will.
bool Simulation::step() {
  const int64_t planned_ms = coming_.empty() ? kNever : coming_.top().at_ms;
  // What ends makes room for what comes in the same millisecond.
  if (planned_ms <= queue_.now_ms()) {
    const Coming coming = coming_.top();
    coming_.pop();
    come(coming);
    return true;
  }
  if (load_.next_ms() <= queue_.now_ms()) return happen(load_.take()), true;
  if (start_some()) return true;
  const int64_t at_ms = std::min(planned_ms, next_ms());
  if (at_ms == kNever) return false;
  queue_.wait_until(std::max(at_ms, queue_.now_ms() + 1));
  return true;
}

/// Beside what is planned.
int64_t Simulation::next_ms() const {
  const int64_t load_ms = load_.next_ms();
  // Nothing comes any more: what is left may wait for time alone, or for a slot that is not there yet.
  if (starts_ == Starts::as_recorded || (load_ms == kNever && !queue_.has_waiting())) return load_ms;
  const int64_t timer_ms = std::min(load_ms, queue_.next_timer_ms());
  const int64_t taken_from_ms = load_.taken_from_ms();
  return queue_.now_ms() < taken_from_ms ? std::min(timer_ms, taken_from_ms) : timer_ms;
}

void Simulation::happen(const Happening& happening) {
  happened_ms_ = queue_.now_ms();
  switch (happening.what) {
    case Happening::What::push:
      return push(happening.which);
    case Happening::What::set: {
      const Setting& setting = load_.setting(happening.which);
      queue_.set(setting.path, setting.patch);
      return entitlement_.reweigh();
    }
    case Happening::What::cancel:
      queue_.cancel(happening.which);
      if (!queue_.is_ready(happening.which)) note_not_ready(happening.which);
      return note_freed();
    case Happening::What::due:
      queue_.make_due(happening.which);
      if (queue_.is_ready(happening.which)) note_ready(happening.which);
      return;
    case Happening::What::start:
      if (starts_ == Starts::by_turn) return;
      if (const auto started = queue_.start(happening.which)) begin(*started);
      return;
  }
}

/// Most have ended when what was planned for them comes: nothing happens then.
void Simulation::come(const Coming& coming) {
  switch (coming.what) {
    case Coming::What::end:
      happened_ms_ = queue_.now_ms();
      return end({coming.id, coming.nth, coming.slot});
    case Coming::What::due:
      if (!queue_.is_ready(coming.id)) return;
      happened_ms_ = queue_.now_ms();
      return note_ready(coming.id);
    case Coming::What::expiry:
      if (queue_.is_ready(coming.id) || ready_ms_[coming.id] == kNotReady) return;
      happened_ms_ = queue_.now_ms();
      return note_not_ready(coming.id);
  }
}

void Simulation::push(uint64_t id) {
  const Incoming arrival = load_.arrival(id);
  while (ready_ms_.size() <= id) {
    ready_ms_.push_back(kNotReady);
    started_.push_back(false);
    counted_.push_back(false);
  }
  if (!queue_.push(id, load_.tenants()[arrival.tenant], arrival)) {
    ++refused_;
    return;
  }
  leaf_of(arrival.tenant);
  const int64_t due_ms = std::max(arrival.due_ms, queue_.now_ms());
  if (due_ms > queue_.now_ms()) {
    coming_.push({due_ms, id, Coming::What::due});
  } else if (arrival.after.empty() || queue_.is_ready(id)) {
    note_ready(id);
  }
  if (arrival.ttl_ms != kNever) coming_.push({due_ms + arrival.ttl_ms, id, Coming::What::expiry});
  if (!arrival.after.empty()) note_freed();
}

/// False: no slot is free, or nothing can be served now.
bool Simulation::start_some() {
  if (starts_ == Starts::as_recorded || queue_.now_ms() < load_.taken_from_ms()) return false;
  bool any = false;
  while (running_ < slots_) {
    const auto started = queue_.start_next();
    if (!started) break;
    begin(*started);
    any = true;
  }
  return any;
}

void Simulation::begin(const VirtualQueue::Started& started) {
  const Run run = load_.run(started.id, started.nth);
  const uint32_t tenant = load_.tenant_of(started.id);
  ++running_;
  happened_ms_ = queue_.now_ms();
  if (ready_ms_[started.id] == kNotReady) note_ready(started.id);  // its timer fired just now
  if (!started_[started.id]) note_wait(started.id, queue_.now_ms());
  started_[started.id] = true;
  // What is taken when nothing comes any more says nothing of how turns are shared.
  if (queue_.now_ms() <= load_.end_ms()) {
    const double cost = cost_of(started.id, run);
    entitlement_.serve(cost);
    figures_.note_served(tenant, cost);
  }
  note_not_ready(started.id);
  if (counted_[started.id]) figures_.note_run(tenant, run.run_ms);
  coming_.push({queue_.now_ms() + run.run_ms, started.id, Coming::What::end, started.nth, started.slot});
}

void Simulation::end(const VirtualQueue::Started& started) {
  const uint64_t id = started.id;
  const Run run = load_.run(id, started.nth);
  --running_;
  queue_.end(started, run);
  const bool comes_back =
      run.ending == RunEnding::retried || run.ending == RunEnding::released || run.ending == RunEnding::died;
  if (comes_back && run.back_ms > 0) {
    coming_.push({queue_.now_ms() + run.back_ms, id, Coming::What::due});
  } else if (comes_back) {
    note_ready(id);
  }
  note_freed();
}

/// Those that waited for what has ended.
void Simulation::note_freed() {
  for (const uint64_t id : queue_.take_freed()) {
    const int64_t due_ms = load_.arrival(id).due_ms;
    if (due_ms > queue_.now_ms()) {
      coming_.push({due_ms, id, Coming::What::due});
    } else if (queue_.is_ready(id)) {
      note_ready(id);
    }
  }
}

void Simulation::note_ready(uint64_t id) {
  if (ready_ms_[id] != kNotReady) return;
  ready_ms_[id] = queue_.now_ms();
  entitlement_.begin_waiting(leaf_of(load_.tenant_of(id)));
}

void Simulation::note_not_ready(uint64_t id) {
  if (id >= ready_ms_.size() || ready_ms_[id] == kNotReady) return;
  ready_ms_[id] = kNotReady;
  entitlement_.end_waiting(leaf_of(load_.tenant_of(id)));
}

void Simulation::note_wait(uint64_t id, int64_t until_ms) {
  if (!load_.is_whole(id)) return;
  const int64_t end_ms = std::min(until_ms, load_.counts_until_ms(id));
  if (end_ms < ready_ms_[id]) return;
  counted_[id] = true;
  figures_.note_wait(load_.tenant_of(id), end_ms - ready_ms_[id]);
}

double Simulation::cost_of(uint64_t id, const Run& run) const {
  switch (queue_.settings().fair_by) {
    case FairBy::turns:
      return 1;
    case FairBy::bytes:
      return load_.arrival(id).bytes;
    case FairBy::time:
      return static_cast<double>(run.run_ms);
  }
  return 1;
}

uint32_t Simulation::leaf_of(uint32_t tenant) {
  if (leaves_[tenant] == kNoIndex) leaves_[tenant] = entitlement_.leaf_of(load_.tenants()[tenant]);
  return leaves_[tenant];
}

}  // namespace fq
