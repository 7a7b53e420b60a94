// history - random operations on a schedule, the same for the tests of undo, of damage and of the model.
#pragma once

// fq, this room.
#include "tests/schedule/fixture.h"

namespace fq::test {

inline const std::string kPaths[] = {"a",   "b", "c", "c/x", "c/y/z", "d/e/f/g/h/i/j/k",
                                     "d/e", "d", "e", "f/1"};

/// A policy with pools, most of them named by what random_setting() sets.
inline void load_random_pools(ScheduleFixture& q, Dice& dice) {
  std::vector<PoolRule> pools;
  for (size_t n = dice.roll(5); n > 0; --n) {
    PoolRule& pool = pools.emplace_back(PoolRule{std::string(n, 'p'), {}});
    if (dice.roll(3) != 0) pool.values.push_back({PolicyKey::concurrency, 1 + dice.roll(3), 0, {}});
    if (dice.roll(3) == 0)
      pool.values.push_back({PolicyKey::rate, 1 + dice.roll(50), 1 + dice.roll(1000), {}});
  }
  q.load_rules({{"c/*", {{PolicyKey::pool, 0, 0, "p"}}}, {"d*", {{PolicyKey::pool, 0, 0, "pp"}}}}, pools);
}

/// Something is set for some node, or taken back.
inline void random_setting(Schedule& s, Txn& txn, Dice& dice, int64_t now) {
  const std::string path = dice.roll(8) == 0 ? "" : kPaths[dice.roll(10)];
  const PolicyValue values[] = {{PolicyKey::paused, 1, 0, {}},
                                {PolicyKey::limited, now + dice.roll(300), 0, {}},
                                {PolicyKey::weight, 100 + dice.roll(5000), 0, {}},
                                {PolicyKey::concurrency, 1 + dice.roll(3), 0, {}},
                                {PolicyKey::rate, 1 + dice.roll(50), 1 + dice.roll(1000), {}},
                                {PolicyKey::burst, 1 + dice.roll(5), 0, {}},
                                {PolicyKey::max_messages, 1 + dice.roll(5), 0, {}},
                                {PolicyKey::pool, 0, 0, std::string(1 + dice.roll(4), 'p')},
                                {PolicyKey::pool, 0, 0, std::string(1 + dice.roll(40), 'p')}};
  const PolicyValue& value = values[dice.roll(std::size(values))];
  const bool sets = dice.roll(2) == 0;
  s.policy().set(txn, path, sets ? node_patch({value}, {}) : node_patch({}, {value.key}), now);
}

inline Terms random_terms(Dice& dice) {
  return {.scope = static_cast<Scope>(dice.roll(2)),
          .ages = dice.roll(2) == 0,
          .fair_by = static_cast<FairBy>(dice.roll(3))};
}

inline constexpr Need kRoomOfChange{.messages = 2,
                                    .tenants = 20,
                                    .text_cells = 90,
                                    .extras = 2,
                                    .keys = 2,
                                    .controls = 4,
                                    .waits = 8,
                                    .schedules = 1,
                                    .steps = 1};

/// What a message is to come after: some of those that there are or were, one of them the same for many.
inline std::string random_after(Dice& dice, uint64_t last_id) {
  std::string after;
  for (uint32_t n = last_id == 0 ? 0 : dice.roll(4); n > 0; --n) {
    const bool any = dice.roll(2) == 0;
    const uint64_t id =
        dice.roll(3) == 0 ? last_id / 8 * 8 + 1 : 1 + dice.roll(static_cast<uint32_t>(last_id));
    const uint64_t word = id | (any ? kAfterAny : 0);
    if (id <= last_id) after.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return after;
}

/// One more, whose id is `last_id`.
inline void random_push(Schedule& s, Txn& txn, Dice& dice, uint64_t last_id, int64_t now) {
  const std::string key(dice.roll(5) == 0 ? dice.roll(40) + 1 : 0, static_cast<char>('a' + dice.roll(3)));
  const bool extra = dice.roll(3) == 0;
  const bool keyed = extra && dice.roll(2) == 0;
  const std::string after = extra && dice.roll(2) == 0 ? random_after(dice, last_id - 1) : "";
  s.messages().add(
      txn, {.id = MessageId{last_id},
            .tenant = kPaths[dice.roll(10)],
            .key = key,
            .priority = static_cast<int32_t>(dice.roll(4)) / 2,
            .payload_bytes = dice.roll(99),
            .extra = extra,
            .ttl_ms = dice.roll(2) == 0 ? kNever : 1 + dice.roll(400),
            .key_hold =
                keyed ? std::optional(NewKey{{{dice.roll(9), 1}}, last_id, dice.roll(300), dice.roll(4) == 0})
                      : std::nullopt,
            .after = as_bytes(after),
            .due_ms = dice.roll(4) == 0 ? now + dice.roll(300) : 0,
            .now_ms = now});
}

/// Somebody who waited for what has ended is let go, or buried.
inline void decide_one(Schedule& s, Txn& txn, int64_t now) {
  const auto ended = s.dependents().first_ended();
  if (!ended) return;
  const auto decision = s.dependents().decide(txn, *ended);
  if (!decision) return;
  if (decision->bury)
    s.messages().bury(txn, decision->slot, now);
  else
    s.dependents().let_go(txn, decision->slot, now);
}

/// A job does a step, sleeps or waits; or the steps of a message are forgotten.
inline void random_step(Schedule& s, Txn& txn, Dice& dice, SlotIndex slot, uint64_t last_id, int64_t now) {
  const bool leased = state_of(s.messages().entry(slot)) == SlotState::leased;
  const std::string name(1, static_cast<char>('a' + dice.roll(6)));
  switch (dice.roll(8)) {
    case 0:
      s.steps().drop(txn, s.region().message(static_cast<uint32_t>(slot)));
      break;
    case 1:
    case 2:
      if (leased && !s.messages().is_suspended(s.messages().entry(slot))) {
        const std::string after = dice.roll(2) == 0 ? random_after(dice, last_id) : "";
        s.messages().suspend(txn, slot,
                             {after.empty() ? now + dice.roll(300) : 0, as_bytes(after), dice.roll(4) == 0});
      }
      break;
    default:
      s.steps().set(txn, s.region().message(static_cast<uint32_t>(slot)),
                    {.name = name,
                     .kind = StepKind::run,
                     .record = 8 * (1 + dice.roll(1000)),
                     .record_bytes = 8 * (1 + dice.roll(9)),
                     .bytes = dice.roll(50),
                     .blob = dice.roll(4) == 0});
  }
}

/// A schedule is set, goes on or is removed.
inline void random_schedule(Schedule& s, Txn& txn, Dice& dice, uint64_t last_id, int64_t now) {
  const Timetable table = s.timetable();
  const std::string name(1 + dice.roll(40), static_cast<char>('s' + dice.roll(4)));
  const uint32_t due = table.first_due();
  const int64_t next = dice.roll(5) == 0 ? kNever : now + 1 + dice.roll(200);
  const uint32_t there = table.find(name);
  if (due != kNoIndex && dice.roll(4) != 0) {
    switch (dice.roll(4)) {
      case 0:
        return table.refuse(txn, due);
      case 1:
        return table.note_skipped(txn, due, Occurrence::overlap, now, next, next);
      case 2:
        return table.postpone(txn, due, next, next);
      default:
        table.note_made(txn, due, last_id + 1, now, next, next);
        return;
    }
  }
  if (dice.roll(3) == 0) return table.try_again(txn);
  if (there != kNoIndex && dice.roll(3) == 0) return table.remove(txn, there);
  if (there != kNoIndex && dice.roll(2) == 0) return table.follow_clock(txn, there, dice.roll(100), now);
  table.set(txn,
            {.name = name,
             .record = 8 * (1 + dice.roll(1000)),
             .record_bytes = 8 * (1 + dice.roll(9)),
             .paused = dice.roll(4) == 0,
             .done_wall_ms = now,
             .next_wall_ms = next},
            next);
}

/// One random change that fits one transaction. Needs: kRoomOfChange. Messages are those with ids up to
/// `last_id`.
inline void random_change(Schedule& s, Txn& txn, Dice& dice, uint64_t& last_id, int64_t now) {
  const auto slot = s.messages().find(MessageId{1 + dice.roll(static_cast<uint32_t>(last_id) + 1)});
  const SlotState state = slot ? state_of(s.messages().entry(*slot)) : SlotState::free;
  const auto tenant = s.tenants().find(kPaths[dice.roll(10)]);
  const HolderIndex holder =
      dice.roll(2) == 0 ? kHeldByTime : HolderIndex{static_cast<uint16_t>(dice.roll(4))};
  const int64_t until = holder == kHeldByTime ? now + 1 + dice.roll(500) : kNever;
  const LeaseTerms terms{
      .serial = last_id, .holder = holder, .until_ms = until, .attempts_max = 4, .now_ms = now};
  switch (dice.roll(18)) {
    case 0:
    case 1:
    case 2:
    case 3:
      random_push(s, txn, dice, ++last_id, now);
      break;
    case 4:
    case 5:
    case 6:
      s.turns().take(txn, tenant && dice.roll(4) == 0 ? *tenant : kRootTenant, terms);
      break;
    case 7:
      if (state == SlotState::ready || state == SlotState::delayed) s.messages().lease(txn, *slot, terms);
      break;
    case 8:
      if (state == SlotState::leased) {
        s.messages().requeue(txn, *slot, dice.roll(2) == 0, dice.roll(3) == 0,
                             dice.roll(3) == 0 ? now + 90 : 0, now);
      }
      break;
    case 9:
      if (slot)
        s.messages().finish(txn, *slot, dice.roll(2) == 0 ? RecordType::acked : RecordType::cancelled,
                            {3, now, now});
      break;
    case 10:
      if (slot && dice.roll(2) == 0) s.messages().bury(txn, *slot, now);
      if (slot && dice.roll(2) == 0) s.messages().kick(txn, *slot, {now});
      break;
    case 11:
    case 12:
      if (dice.roll(12) == 0) s.policy().set_terms(txn, random_terms(dice));
      random_setting(s, txn, dice, now);
      break;
    case 13:
      decide_one(s, txn, now);
      break;
    case 14:
    case 15:
      if (slot) random_step(s, txn, dice, *slot, last_id, now);
      break;
    case 16:
      random_schedule(s, txn, dice, last_id, now);
      break;
    default:
      s.timers().fire(txn, now);
  }
}

}  // namespace fq::test
