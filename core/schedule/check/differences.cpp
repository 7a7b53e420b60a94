// differences - the differences between two schedules that should say the same: the oracle of a rebuild.
//
// Compares what a rebuild must give again: messages with their states, attempts and due times, the order
// within each tenant, and which tenants are limited. Places in arrays, turns, counts since the beginning and
// idle tenants may differ. Of a message that was changed in memory, everything may differ that such changes
// reach: its state and all that comes with it, its place among the ready, its key. Its identity may not, nor
// may the journal know more deliveries than there were.
#include "core/schedule/check/faults.h"

// System.
#include <array>
#include <map>
#include <set>
// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/schedule/states/state.h"

namespace fq {
namespace {

using Lines = CountedLines;

void say(Lines& lines, std::string what) { lines.add(std::move(what)); }

bool close(int64_t a, int64_t b, int64_t slack_ms) {
  if (a == kNever || b == kNever) return a == b;
  return a - b <= slack_ms && b - a <= slack_ms;
}

void compare_number(Lines& lines, const std::string& who, const char* what, uint64_t live, uint64_t rebuilt) {
  if (live == rebuilt) return;
  say(lines, who + ": " + what + " " + std::to_string(live) + ", rebuilt " + std::to_string(rebuilt));
}

struct Side {
  const Schedule& schedule;
  SlotIndex slot;
  const Entry& entry() const { return schedule.messages().entry(slot); }
  std::string tenant() const { return schedule.tenants().path_of(TenantIndex{entry().tenant.get()}); }
};

bool is_unwritten(const Entry& entry) { return (entry.flags & kEntryUnwritten) != 0; }

void compare_message(Lines& lines, const Side& live, const Side& rebuilt, int64_t slack_ms) {
  const Entry& a = live.entry();
  const Entry& b = rebuilt.entry();
  const std::string who = "message " + std::to_string(a.id.get());
  const bool unwritten = is_unwritten(a);
  if (!unwritten || b.deliveries > a.deliveries)
    compare_number(lines, who, "deliveries", a.deliveries, b.deliveries);
  compare_number(lines, who, "payload bytes", a.payload_bytes, b.payload_bytes);
  if (live.tenant() != rebuilt.tenant()) {
    say(lines, who + ": tenant '" + live.tenant() + "', rebuilt '" + rebuilt.tenant() + "'");
  }
  if (live.schedule.views().key_of(live.slot) != rebuilt.schedule.views().key_of(rebuilt.slot) ||
      live.schedule.views().priority_of(live.slot) != rebuilt.schedule.views().priority_of(rebuilt.slot)) {
    say(lines, who + ": another key or priority");
  }
  if (unwritten) return;
  compare_number(lines, who, "state", a.state, b.state);
  compare_number(lines, who, "attempts", a.attempts, b.attempts);
  compare_number(lines, who, "attempts_max", a.attempts_max, b.attempts_max);
  compare_number(lines, who, "crashes", a.crashes, b.crashes);
  const SlotState state = state_of(a);
  if (state != state_of(b)) return;
  const int64_t over_ms = live.schedule.views().expires_ms(live.slot);
  const int64_t rebuilt_over_ms = rebuilt.schedule.views().expires_ms(rebuilt.slot);
  const bool same_end =
      close(over_ms, rebuilt_over_ms, slack_ms) &&
      live.schedule.views().has_expired(live.slot) == rebuilt.schedule.views().has_expired(rebuilt.slot) &&
      live.schedule.views().ttl_ms(live.slot) == rebuilt.schedule.views().ttl_ms(rebuilt.slot);
  if (!same_end) compare_number(lines, who, "expires", uint64_t(over_ms), uint64_t(rebuilt_over_ms));
  if (state == SlotState::leased) compare_number(lines, who, "serial", a.serial, b.serial);
  if ((state == SlotState::leased || state == SlotState::delayed) && !close(a.at_ms, b.at_ms, slack_ms)) {
    compare_number(lines, who, "due", static_cast<uint64_t>(a.at_ms), static_cast<uint64_t>(b.at_ms));
  }
}

using Ids = std::set<uint64_t>;

Ids unwritten_of(const Schedule& schedule) {
  Ids ids;
  for (auto slot = schedule.views().next_slot(SlotIndex{0}); slot;
       slot = schedule.views().next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1})) {
    if (is_unwritten(schedule.messages().entry(*slot))) ids.insert(schedule.messages().entry(*slot).id);
  }
  return ids;
}

using Orders = std::map<std::string, std::vector<uint64_t>>;

Orders orders_of(const Schedule& schedule, const Ids& unwritten) {
  Orders orders;
  const Region& region = schedule.region();
  TenantIndex from = kRootTenant;
  while (const auto leaf = schedule.tenants().next_leaf(from)) {
    LaneWalk<MessageKind> walk(MessageKind{&region}, schedule.tenants().at(*leaf).lane);
    for (uint32_t slot; (slot = walk.next()) != kNoIndex;) {
      const uint64_t id = region.entry(slot).id;
      if (unwritten.count(id) == 0) orders[schedule.tenants().path_of(*leaf)].push_back(id);
    }
    from = TenantIndex{static_cast<uint32_t>(*leaf) + 1};
  }
  return orders;
}

void compare_orders(Lines& lines, const Orders& live, const Orders& rebuilt) {
  for (const auto& [path, order] : live) {
    const auto found = rebuilt.find(path);
    if (found == rebuilt.end()) {
      say(lines, "tenant '" + path + "': nothing ready, rebuilt");
    } else if (found->second != order) {
      say(lines, "tenant '" + path + "': another order");
    }
  }
  for (const auto& [path, order] : rebuilt) {
    if (!live.contains(path)) say(lines, "tenant '" + path + "': something ready only when rebuilt");
  }
}

/// What each hash is held by, and until when.
using Keys = std::map<std::pair<uint64_t, uint64_t>, std::pair<uint64_t, int64_t>>;

Keys keys_of(const Schedule& schedule) {
  Keys keys;
  const Region& region = schedule.region();
  for (uint32_t b = 0; b < region.root.key_bucket_count; ++b) {
    StepLimit limit(kChainMax);
    for (uint32_t i = region.arena.at(region.root.key_buckets, b).index; i != kNoIndex;) {
      limit.step();
      const UniqueKey& key = region.key(i);
      keys[{key.hash[0], key.hash[1]}] = {key.id, key.until_ms};
      i = key.chain;
    }
  }
  return keys;
}

void compare_keys(Lines& lines, const Keys& live, const Keys& rebuilt, const Ids& unwritten,
                  int64_t slack_ms) {
  for (const auto& [hash, key] : live) {
    const auto found = rebuilt.find(hash);
    const bool passed_on = found != rebuilt.end() && unwritten.count(found->second.first) != 0;
    if (passed_on || unwritten.count(key.first) != 0) continue;
    const std::string who = "message " + std::to_string(key.first) + ": holds a key ";
    if (found == rebuilt.end()) {
      say(lines, who + "that nothing holds when rebuilt");
    } else if (found->second.first != key.first) {
      say(lines, who + "that message " + std::to_string(found->second.first) + " holds when rebuilt");
    } else if (!close(found->second.second, key.second, slack_ms)) {
      say(lines,
          who + "until " + std::to_string(key.second) + ", rebuilt " + std::to_string(found->second.second));
    }
  }
  for (const auto& [hash, key] : rebuilt) {
    if (!live.contains(hash) && unwritten.count(key.first) == 0)
      say(lines, "message " + std::to_string(key.first) + ": holds a key only when rebuilt");
  }
}

using Settings = std::map<std::string, PolicyValues>;

Settings settings_of(const Schedule& schedule) {
  Settings settings;
  std::optional<NodePolicy::Setting> each =
      schedule.policy().next_setting(kRootTenant, schedule.tenants().nodes_end());
  while (each) {
    settings[each->path] = std::move(each->values);
    each = schedule.policy().next_setting(TenantIndex{static_cast<uint32_t>(each->node) + 1},
                                          schedule.tenants().nodes_end());
  }
  return settings;
}

bool same(const PolicyValues& a, const PolicyValues& b, int64_t slack_ms) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const PolicyValue& x, const PolicyValue& y) {
    if (x.key == PolicyKey::limited && y.key == PolicyKey::limited)
      return close(x.number, y.number, slack_ms);
    return x == y;
  });
}

void compare_settings(Lines& lines, const Settings& live, const Settings& rebuilt, int64_t slack_ms) {
  for (const auto& [path, values] : live) {
    const auto found = rebuilt.find(path);
    if (found == rebuilt.end() || !same(values, found->second, slack_ms)) {
      say(lines, "tenant '" + path + "': other settings when rebuilt");
    }
  }
  for (const auto& [path, values] : rebuilt) {
    if (!live.contains(path)) say(lines, "tenant '" + path + "': settings only when rebuilt");
  }
}

/// What a rebuild must know of a schedule: not whether it is due, which the time of the look decides.
using Schedules = std::map<std::string, std::array<uint64_t, 6>>;

Schedules schedules_of(const Schedule& schedule) {
  Schedules schedules;
  const Timetable timetable = schedule.timetable();
  std::array<char, kTextBytesMax> name;
  for (uint32_t i = 0; i < timetable.end(); ++i) {
    if (!timetable.is_used(i)) continue;
    const Recurring& recurring = timetable.at(i);
    schedules[std::string(timetable.name_of(i, name))] = {
        recurring.record,
        static_cast<uint64_t>(recurring.done_wall_ms.get()),
        static_cast<uint64_t>(recurring.last_wall_ms.get()),
        static_cast<uint64_t>(recurring.last.get()),
        recurring.last_id,
        recurring.flags & (kRecurringPaused | kRecurringOfFile)};
  }
  return schedules;
}

void compare_schedules(Lines& lines, const Schedules& live, const Schedules& rebuilt) {
  for (const auto& [name, state] : live) {
    const auto found = rebuilt.find(name);
    if (found == rebuilt.end() || found->second != state)
      say(lines, "schedule '" + name + "': another one when rebuilt");
  }
  for (const auto& [name, state] : rebuilt) {
    if (!live.contains(name)) say(lines, "schedule '" + name + "': only when rebuilt");
  }
}

/// What a message has done in steps: where each is told, and what of.
using StepsOfAll = std::map<uint64_t, std::set<std::array<uint64_t, 4>>>;

StepsOfAll steps_of(const Schedule& schedule) {
  StepsOfAll steps;
  const KeptSteps kept = schedule.steps();
  for (auto slot = schedule.views().next_slot(SlotIndex{0}); slot;
       slot = schedule.views().next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1})) {
    const Entry& entry = schedule.messages().entry(*slot);
    StepLimit limit(kStepsPerMessageMax);
    for (uint32_t i = kept.newest(entry); i != kNoIndex; i = kept.at(i).chain) {
      limit.step();
      const Step& step = kept.at(i);
      steps[entry.id].insert({step.record, step.bytes, step.flags, static_cast<uint64_t>(step.kind.get())});
    }
  }
  return steps;
}

void compare_steps(Lines& lines, const StepsOfAll& live, const StepsOfAll& rebuilt) {
  for (const auto& [id, steps] : live) {
    const auto found = rebuilt.find(id);
    if (found == rebuilt.end() || found->second != steps)
      say(lines, "message " + std::to_string(id) + ": other steps when rebuilt");
  }
  for (const auto& [id, steps] : rebuilt) {
    if (!live.contains(id)) say(lines, "message " + std::to_string(id) + ": steps only when rebuilt");
  }
}

}  // namespace

CountedLines schedule_differences(const Schedule& live, const Schedule& rebuilt, int64_t slack_ms) {
  Lines lines;
  try {
    SlotIndex from{0};
    while (const auto slot = live.views().next_slot(from)) {
      const MessageId id{live.messages().entry(*slot).id.get()};
      if (const auto other = rebuilt.messages().find(id)) {
        compare_message(lines, {live, *slot}, {rebuilt, *other}, slack_ms);
      } else {
        say(lines, "message " + std::to_string(number(id)) + ": not rebuilt");
      }
      from = SlotIndex{static_cast<uint32_t>(*slot) + 1};
    }
    from = SlotIndex{0};
    while (const auto slot = rebuilt.views().next_slot(from)) {
      const MessageId id{rebuilt.messages().entry(*slot).id.get()};
      if (!live.messages().find(id))
        say(lines, "message " + std::to_string(number(id)) + ": only when rebuilt");
      from = SlotIndex{static_cast<uint32_t>(*slot) + 1};
    }
    const Ids unwritten = unwritten_of(live);
    compare_orders(lines, orders_of(live, unwritten), orders_of(rebuilt, unwritten));
    compare_keys(lines, keys_of(live), keys_of(rebuilt), unwritten, slack_ms);
    compare_settings(lines, settings_of(live), settings_of(rebuilt), slack_ms);
    compare_schedules(lines, schedules_of(live), schedules_of(rebuilt));
    compare_steps(lines, steps_of(live), steps_of(rebuilt));
  } catch (const RegionDamaged& damaged) {
    say(lines, damaged.what);
  }
  return lines;
}

}  // namespace fq
