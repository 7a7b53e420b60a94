#include "core/schedule/check/timetable_check.h"

// fq, this room.
#include "core/schedule/order/timetable.h"

namespace fq {

namespace {

/// How many are in a list, each with the flag of that list.
uint64_t listed(const Region& region, const RecurringList& list, uint32_t flag) {
  uint64_t count = 0;
  uint32_t prev = kNoIndex;
  StepLimit limit(region.root.recurring_supply.high_water);
  for (uint32_t i = list.head; i != kNoIndex; ++count) {
    limit.step();
    const Recurring& recurring = region.recurring(i);
    if ((recurring.flags & flag) == 0 || recurring.prev != prev)
      region_damaged("N2: a list of schedules is wrong");
    prev = i;
    i = recurring.next;
  }
  if (list.tail != prev) region_damaged("N2: a list of schedules does not know its end");
  return count;
}

}  // namespace

void TimetableCheck::check() {
  const ScheduleRoot& root = region_.root;
  const Timetable timetable(region_);
  uint64_t used = 0, due = 0, refused = 0, paused = 0, bytes = 0;
  std::array<char, kTextBytesMax> name;
  for (uint32_t i = 0; i < timetable.end(); ++i) {
    const Recurring& recurring = timetable.at(i);
    if (!timetable.is_used(i)) continue;
    ++used;
    tally_.text_cells += text_cells(text_length(region_, recurring.name));
    bytes += recurring.record_bytes;
    expect(timetable.find(timetable.name_of(i, name)) == i, "N1: a schedule that its name does not find", i);
    const bool timed = recurring.heap_place != kNoIndex;
    const bool is_due = (recurring.flags & kRecurringDue) != 0;
    const bool is_refused = (recurring.flags & kRecurringRefused) != 0;
    const bool is_paused = (recurring.flags & kRecurringPaused) != 0;
    const int places = (timed ? 1 : 0) + (is_due ? 1 : 0) + (is_refused ? 1 : 0);
    const bool waits = !is_paused && recurring.next_wall_ms != kNever;
    expect(places == (waits ? 1 : 0), "N2: a schedule that waits in no place, or in two", i);
    tally_.timers += timed ? 1u : 0u;
    due += is_due ? 1u : 0u;
    refused += is_refused ? 1u : 0u;
    paused += is_paused ? 1u : 0u;
  }
  if (used != root.recurring_supply.used) fault("A1: used schedules are counted wrongly");
  if (paused != root.paused_recurring) fault("A2: paused schedules are counted wrongly");
  if (bytes != root.recurring_bytes) fault("A2: what schedules take in the journal is counted wrongly");
  if (listed(region_, root.due, kRecurringDue) != due ||
      listed(region_, root.refused, kRecurringRefused) != refused)
    fault("N2: a schedule is missing in its list");
}

}  // namespace fq
