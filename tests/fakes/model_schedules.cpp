#include "tests/fakes/model_schedules.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/time/zone_file.h"

namespace fq::test {

int64_t ModelSchedules::next(const One& one, int64_t after) const {
  return one.recurrence.next(after, one.zone, one.begun).value_or(kNever);
}

int64_t ModelSchedules::accounted(const One& one) const {
  const int64_t now = model_.clock.wall_ms();
  if (one.done <= now + 86'400'000) return one.done;
  return one.going <= now ? one.going - 1 : now;
}

Result<void> ModelSchedules::check(const ScheduleDefinition& definition) {
  const NewMessage& message = definition.message;
  const bool waits =
      !message.after.empty() || !message.after_any.empty() || message.delay_ms || message.at_wall_ms;
  if (!queue_name_fault(definition.name).empty() || waits || !message.unique.empty() ||
      !message.debounce.empty())
    return Error{ErrorKind::usage, "schedule: is none", 0};
  const SchedulePast past = definition.past.value_or(SchedulePast{});
  for (const int64_t time : {past.begun_wall_ms, past.last_wall_ms})
    if (time < 0 || time > kLatestMs) return Error{ErrorKind::usage, "past: is none", 0};
  if (definition.missed > kLastMissedRule || definition.overlap > kLastOverlapRule ||
      past.last > kLastOccurrence || number(past.last_id) > kMessageIdMax)
    return Error{ErrorKind::usage, "schedule: has no such rule", 0};
  if (message.payload.size() > kInlinePayloadBytesMax)
    return Error{ErrorKind::bad_data, "payload: is too long", 0};
  FQ_TRY(Recurrence::parse(definition.spec));
  FQ_TRY(load_zone(definition.zone));
  return {};
}

Result<void> ModelSchedules::put(const ScheduleDefinition& definition, bool of_file) {
  FQ_TRY_SET(Recurrence recurrence, Recurrence::parse(definition.spec));
  FQ_TRY_SET(Zone zone, load_zone(definition.zone));
  const auto there = all_.find(definition.name);
  if (there != all_.end() && of_file && !there->second.info.of_file) return {};
  One& one = all_[definition.name];
  const bool goes_on = one.info.spec == definition.spec && one.info.zone == definition.zone;
  one.recurrence = recurrence;
  one.zone = std::move(zone);
  if (!goes_on) one.begun = one.done = model_.clock.wall_ms();
  if (!goes_on) one.going = next(one, one.done);
  one.info.name = definition.name;
  one.info.spec = definition.spec;
  one.info.zone = definition.zone;
  one.info.missed = definition.missed;
  one.info.overlap = definition.overlap;
  one.info.of_file = of_file;
  one.tenant = definition.message.tenant;
  one.payload = std::string(as_text(definition.message.payload));
  one.key = definition.message.key;
  one.message = definition.message;
  one.message.tenant = one.tenant;
  one.message.payload = as_bytes(one.payload);
  one.message.key = one.key;
  one.info.message.tenant = one.tenant;
  one.info.message.payload = one.payload;
  one.info.message.command = one.message.command;
  one.info.message.tags = one.message.tags;
  return {};
}

Result<void> ModelSchedules::set(const ScheduleDefinition& definition) {
  const std::lock_guard lock(mutex_);
  FQ_TRY(check(definition));
  return put(definition, false);
}

Result<void> ModelSchedules::load(std::span<const ScheduleDefinition> definitions) {
  const std::lock_guard lock(mutex_);
  for (const ScheduleDefinition& each : definitions) FQ_TRY(check(each));
  for (const ScheduleDefinition& each : definitions) FQ_TRY(put(each, true));
  std::erase_if(all_, [&](const auto& each) {
    return each.second.info.of_file &&
           std::none_of(definitions.begin(), definitions.end(),
                        [&](const ScheduleDefinition& one) { return one.name == each.first; });
  });
  return {};
}

ScheduleInfo ModelSchedules::told(const One& one) const {
  ScheduleInfo info = one.info;
  for (int64_t at = next(one, accounted(one)); !info.paused && info.next_wall_ms.size() < 3 && at != kNever;
       at = next(one, at))
    info.next_wall_ms.push_back(at);
  return info;
}

Result<SchedulePage> ModelSchedules::list(const Cursor& from, size_t n) {
  const std::lock_guard lock(mutex_);
  run_due();
  SchedulePage page;
  for (auto each = all_.upper_bound(from.text); each != all_.end() && page.schedules.size() < n; ++each)
    page.schedules.push_back(told(each->second));
  if (page.schedules.size() == n && n != 0) page.next.text = page.schedules.back().name;
  return page;
}

Result<std::optional<ScheduleInfo>> ModelSchedules::get(std::string_view name) {
  const std::lock_guard lock(mutex_);
  run_due();
  const auto found = all_.find(name);
  return found == all_.end() ? std::optional<ScheduleInfo>() : told(found->second);
}

Result<bool> ModelSchedules::pause(std::string_view name, bool paused) {
  const std::lock_guard lock(mutex_);
  run_due();
  const auto found = all_.find(name);
  if (found == all_.end()) return false;
  One& one = found->second;
  if (one.info.paused && !paused) one.going = next(one, one.done = model_.clock.wall_ms());
  one.info.paused = paused;
  return true;
}

Result<bool> ModelSchedules::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name);
  if (found == all_.end()) return false;
  if (found->second.info.of_file) return Error{ErrorKind::usage, "schedule: stands in the file", 0};
  all_.erase(found);
  return true;
}

MessageId ModelSchedules::make(const One& one, int64_t at, std::vector<MessageId> after) {
  NewMessage message = one.message;
  message.schedule = one.info.name;
  message.scheduled_at_wall_ms = at;
  message.after_any = std::move(after);
  return model_.put(message).id;
}

Result<std::optional<MessageId>> ModelSchedules::run(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name);
  if (found == all_.end()) return std::optional<MessageId>();
  One& one = found->second;
  const int64_t now = model_.clock.wall_ms();
  one.info.last = Occurrence::made;
  one.info.last_wall_ms = now;
  return std::optional(one.info.last_id = make(one, now, {}));
}

void ModelSchedules::run_due() {
  const int64_t now = model_.clock.wall_ms();
  const auto is_due = [&](One& one) {
    if (one.info.paused) return false;
    one.going = next(one, accounted(one));
    return one.going <= now;
  };
  std::vector<One*> due;
  for (auto& [name, one] : all_)
    if (is_due(one)) due.push_back(&one);
  std::sort(due.begin(), due.end(), [](One* a, One* b) { return a->going < b->going; });
  model_.fire_timers();
  for (std::deque<One*> left(due.begin(), due.end()); !left.empty(); left.pop_front()) {
    run_one(*left.front());
    if (is_due(*left.front())) left.push_back(left.front());
  }
}

void ModelSchedules::run_one(One& one) {
  const int64_t now = model_.clock.wall_ms();
  int64_t at = one.going;
  if (one.info.missed != MissedRule::all) {
    for (int64_t later = at; later <= now; later = next(one, later)) at = later;
  }
  one.done = one.info.last_wall_ms = at;
  one.going = next(one, at);
  if (one.info.missed == MissedRule::skip && now - at > 1000) {
    one.info.last = Occurrence::missed;
    return;
  }
  const Model::Message* before = model_.find(one.info.last_id);
  const bool unfinished =
      before != nullptr && !is_finished(before->info.state) && before->info.state != State::dead;
  if (unfinished && one.info.overlap == OverlapRule::skip) {
    one.info.last = Occurrence::overlap;
    return;
  }
  std::vector<MessageId> after;
  if (unfinished && one.info.overlap == OverlapRule::queue) after.push_back(one.info.last_id);
  if (unfinished && one.info.overlap == OverlapRule::cancel) {
    static_cast<void>(model_.mutate(one.info.last_id, Action::cancel));
    model_.settle_held();
  }
  one.info.last = Occurrence::made;
  one.info.last_id = make(one, at, after);
}

}  // namespace fq::test
