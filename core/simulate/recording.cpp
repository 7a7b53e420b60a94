#include "core/simulate/recording.h"

// System.
#include <algorithm>
#include <charconv>
// fq, below us.
#include "core/journal/record.h"

namespace fq {

namespace {

/// A worker takes its next message shortly before it tells the end of the one before, so the beginning of a
/// run is not yet one run more. Chosen: more than a journal takes to be synced.
constexpr int64_t kTakenAheadMs = 20;

/// What a word stands for, for as long as the program runs: an event's texts go with its page.
std::string_view word_of(std::string_view event) {
  constexpr std::string_view kWords[] = {"pushed", "leased",   "extended",  "acked",  "retried", "released",
                                         "died",   "buried",   "cancelled", "kicked", "freed",   "expired",
                                         "set",    "replaced", "edited",    "left",   "arrived"};
  const auto found = std::find(std::begin(kWords), std::end(kWords), event);
  return found == std::end(kWords) ? std::string_view() : *found;
}

}  // namespace

void Recording::add(const Event& event) {
  const std::string_view word = word_of(event.event);
  if (word.empty()) return;  // of schedules, whose messages are told by themselves, or of a later fq
  begin_ms_ = std::min(begin_ms_, event.at_wall_ms);
  end_ms_ = std::max(end_ms_, event.at_wall_ms);
  if (word == "set") return add_setting(event);
  if (word == "pushed" || word == "arrived") return add_push(event);
  if (word == "leased") return add_start(event);
  if (word == "kicked") return add_kick(event);
  if (word == "acked") return add_end(event, RunEnding::acked);
  if (word == "retried") return add_end(event, RunEnding::retried);
  if (word == "released") return add_end(event, RunEnding::released);
  if (word == "died") return add_end(event, RunEnding::died);
  if (word == "buried") return add_end(event, RunEnding::buried);
  if (word == "cancelled" || word == "left") return add_end(event, RunEnding::cancelled);
  Message* message = find(event, false);
  if (message == nullptr) return;
  if (word == "extended") message->lease_until_ms = event.until_wall_ms;
  // What it came after lies before the beginning, or is one that the simulation lets it go for.
  if (word == "freed") add_freed(*message, event);
}

void Recording::add_before(const Event& event) {
  if (event.event != "set") return;
  add_setting(event);
  set_before_ = settings_.size();
}

/// It is held no longer. One whose job slept until others had ended comes back now; of one that has not run,
/// what it came after lies before the beginning, or is one that the simulation lets it go for.
void Recording::add_freed(Message& message, const Event& event) {
  if (message.first_run != kNoIndex) {
    RecordedRun& run = runs_[message.last_run];
    if (!message.running) run.back_ms = std::max(run.back_ms, event.at_wall_ms);
  } else if (message.after.empty()) {
    message.due_ms = std::max(message.due_ms, event.at_wall_ms);
  }
}

/// Null: nothing is known of it, or this was told before. `begins`: it may be one that was there before.
Recording::Message* Recording::find(const Event& event, bool begins) {
  const auto [found, is_new] = by_id_.try_emplace(number(event.id), static_cast<uint32_t>(messages_.size()));
  if (is_new && (!begins || event.tenant.empty())) {
    by_id_.erase(found);
    if (begins) ++assumed_.nameless;
    return nullptr;
  }
  if (is_new) {
    const bool arrives = event.event == "arrived";
    Message& message = messages_.emplace_back();
    message.tenant = tenant_number(event.tenant);
    message.whole = event.event == "pushed";
    message.pushed_ms = message.whole || arrives ? event.at_wall_ms : begin_ms_;
    if (!message.whole) ++(arrives ? assumed_.arrived : assumed_.pushed_before);
    timeline_.push_back({message.pushed_ms, Happening::What::push, messages_.size()});
  }
  Message& message = messages_[found->second];
  const std::string_view word = word_of(event.event);
  const bool told = event.at_wall_ms < message.last_ms || word == "pushed" ||
                    (event.at_wall_ms == message.last_ms && word == message.last);
  if (told && !is_new) return nullptr;
  message.last_ms = event.at_wall_ms;
  message.last = word;
  return &message;
}

void Recording::add_push(const Event& event) {
  Message* message = find(event, true);
  if (message == nullptr) return;
  message->due_ms = event.due_wall_ms;
  if (event.expires_wall_ms != 0)
    message->ttl_ms =
        std::max<int64_t>(1, event.expires_wall_ms - std::max(event.at_wall_ms, event.due_wall_ms));
  message->bytes = static_cast<uint32_t>(std::min<uint64_t>(event.bytes.value_or(0), UINT32_MAX));
  message->priority = event.priority;
  if (!event.key.empty()) {
    message->key = static_cast<uint32_t>(keys_.size());
    keys_.emplace_back(event.key);
  }
  add_after(*message, event.after, 0);
  add_after(*message, event.after_any, kAfterAny);
}

void Recording::add_after(Message& message, std::string_view ids, uint64_t flags) {
  while (!ids.empty()) {
    uint64_t id = 0;
    const auto end = std::from_chars(ids.data(), ids.data() + ids.size(), id).ptr;
    ids.remove_prefix(std::min(ids.size(), static_cast<size_t>(end - ids.data()) + 1));
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) continue;
    message.after.push_back((uint64_t{found->second} + 1) | flags);
    has_followers_ = true;
  }
}

void Recording::add_start(const Event& event) {
  Message* message = find(event, true);
  if (message == nullptr) return;
  // Nothing told of an end: its lease ran out, or its process died where that was not written down.
  if (message->running) {
    const int64_t until_ms = message->lease_until_ms != 0 ? message->lease_until_ms : event.at_wall_ms;
    close_run(*message, std::min(until_ms, event.at_wall_ms), RunEnding::died, 0);
  }
  const auto run = static_cast<uint32_t>(runs_.size());
  runs_.push_back({.start_ms = event.at_wall_ms});
  (message->first_run == kNoIndex ? message->first_run : runs_[message->last_run].next) = run;
  message->last_run = run;
  message->running = true;
  message->lease_until_ms = event.until_wall_ms;
  taken_from_ms_ = std::min(taken_from_ms_, event.at_wall_ms);
  happen(Happening::What::start, event, number_of(*message));
}

void Recording::add_end(const Event& event, RunEnding ending) {
  Message* message = find(event, false);
  if (message == nullptr) return;
  const bool ends = ending == RunEnding::acked || ending == RunEnding::cancelled;
  if (!message->running) {
    if (ends) happen(Happening::What::cancel, event, number_of(*message));
    return;
  }
  close_run(*message, event.at_wall_ms, ending, event.due_wall_ms);
}

void Recording::close_run(Message& message, int64_t end_ms, RunEnding ending, int64_t back_ms) {
  RecordedRun& run = runs_[message.last_run];
  run.end_ms = std::max(run.start_ms, end_ms);
  run.ending = ending;
  run.back_ms = back_ms;
  message.running = false;
  Runs& all = runs_by_tenant_[message.tenant];
  all.sum_ms += run.end_ms - run.start_ms;
  ++all.count;
}

/// A dead one or one that waits for its time comes back: of one that has run, so long after its run.
void Recording::add_kick(const Event& event) {
  Message* message = find(event, false);
  if (message == nullptr || message->running) return;
  if (message->last_run == kNoIndex) return happen(Happening::What::due, event, number_of(*message));
  RecordedRun& run = runs_[message->last_run];
  run.ending = RunEnding::released;
  run.back_ms = event.at_wall_ms;
}

void Recording::add_setting(const Event& event) {
  if (event.set == nullptr) return;
  settings_.push_back({std::string(event.tenant), *event.set});
  happen(Happening::What::set, event, settings_.size() - 1);
}

void Recording::happen(Happening::What what, const Event& event, uint64_t which) {
  timeline_.push_back({event.at_wall_ms, what, which});
}

uint32_t Recording::tenant_number(std::string_view tenant) {
  const auto [found, is_new] =
      tenant_numbers_.try_emplace(std::string(tenant), static_cast<uint32_t>(tenants_.size()));
  if (is_new) {
    tenants_.emplace_back(tenant);
    runs_by_tenant_.emplace_back();
  }
  return found->second;
}

void Recording::finish() {
  for (Message& message : messages_) {
    if (message.running) {
      const bool ran_out = message.lease_until_ms != 0 && message.lease_until_ms <= end_ms_;
      assumed_.cut_off += ran_out ? 0 : 1;
      close_run(message, ran_out ? message.lease_until_ms : end_ms_,
                ran_out ? RunEnding::buried : RunEnding::acked, 0);
    }
    if (message.first_run == kNoIndex) {
      ++assumed_.without_run;
      continue;
    }
    // It did not run again as far as the events go: it was the last attempt, or its time had not come.
    RunEnding& last = runs_[message.last_run].ending;
    if (last == RunEnding::retried || last == RunEnding::died) last = RunEnding::buried;
  }
  // What is told late (a message that was there before) happens in time; the rest stays as it was told.
  std::stable_sort(timeline_.begin(), timeline_.end(),
                   [](const Happening& a, const Happening& b) { return a.at_ms < b.at_ms; });
  if (begin_ms_ == kNever) begin_ms_ = 0;
  if (taken_from_ms_ == kNever) taken_from_ms_ = begin_ms_;
}

uint32_t Recording::most_at_once() const {
  std::vector<std::pair<int64_t, int>> changes;  // of one time, ends are first
  for (const RecordedRun& run : runs_) {
    const int64_t start_ms = run.start_ms + std::min(kTakenAheadMs, (run.end_ms - run.start_ms + 1) / 2);
    if (start_ms >= run.end_ms) continue;
    changes.emplace_back(start_ms, 1);
    changes.emplace_back(run.end_ms, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 1;
  for (const auto& [at_ms, change] : changes) most = std::max(most, now += change);
  return static_cast<uint32_t>(most);
}

Incoming Recording::arrival(uint64_t message) const {
  const Message& from = messages_[message - 1];
  return {.tenant = from.tenant,
          .bytes = from.bytes,
          .priority = from.priority,
          .due_ms = from.due_ms,
          .ttl_ms = from.ttl_ms,
          .key = keys_[from.key],
          .after = from.after};
}

int64_t Recording::usual_run_ms(uint32_t tenant) const {
  Runs all = runs_by_tenant_[tenant];
  if (all.count == 0) {
    for (const Runs& each : runs_by_tenant_) {
      all.sum_ms += each.sum_ms;
      all.count += each.count;
    }
  }
  return all.count == 0 ? 0 : all.sum_ms / all.count;
}

Run Recording::run(uint64_t message, uint32_t nth) const {
  uint32_t at = messages_[message - 1].first_run;
  for (; nth > 0 && at != kNoIndex; --nth) at = runs_[at].next;
  if (at == kNoIndex) return {.run_ms = usual_run_ms(tenant_of(message))};
  const RecordedRun& run = runs_[at];
  return {.run_ms = run.end_ms - run.start_ms,
          .ending = run.ending,
          .back_ms = run.back_ms == 0 ? 0 : std::max<int64_t>(0, run.back_ms - run.end_ms)};
}

}  // namespace fq
