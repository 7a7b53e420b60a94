#include "core/local/write/wall_clock.h"

// System.
#include <algorithm>
#include <cstdlib>
#include <cstring>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/recover/attachment.h"

namespace fq {

namespace {

constexpr uint32_t kSchedulesPerHold = 16;  // of the state lock, and in one transaction

}  // namespace

Result<void> WallClock::follow() {
  const int64_t measured = clock().wall_ms() - clock().boot_ms();
  if (std::abs(measured - header().wall_minus_boot_ms.peek()) <= kClockStepMs) return {};
  if (!is_step_on_disk()) link_.flusher().try_sync();
  // First: whoever dies in between leaves the step to be seen again.
  FQ_TRY(move_schedules(measured));
  FQ_POINT("clock.schedules_moved");
  ClockRecord clock;
  std::memcpy(clock.boot_id, link_.attachment().kernel().boot_id, sizeof clock.boot_id);
  clock.wall_minus_boot_ms = measured;
  Body body;  // encoded here, since nothing is allocated under the lock
  encode_clock(body, clock);
  return locked([&]() -> Result<void> {
    const int64_t noted = header().wall_minus_boot_ms;
    if (std::abs(measured - noted) <= kClockStepMs) return {};
    // The next command tries again.
    if (!is_step_on_disk()) return {};
    // A full queue has no room for it: the next command tries again.
    if (writer_.room_for(Purpose::event, record_bytes(body)) != Obstacle::none) return {};
    Change change(link_);
    const uint64_t position = change.append_at(Purpose::event, change.now().boot_ms + measured, body);
    change.txn().set(header().clock_position, position);
    change.txn().set(header().clock_step_ms, measured - noted);
    change.txn().set(header().wall_minus_boot_ms, measured);
    change.commit();
    return {};
  });
}

/// What lies in the ring, or must be written again after a failed sync, is read by the clock of now or by the
/// one before; no third one is known.
bool WallClock::is_step_on_disk() {
  const uint64_t written = std::min(header().ring_start.load(std::memory_order_acquire),
                                    header().durable_end.load(std::memory_order_acquire));
  return header().clock_step_ms.peek() == 0 || written > header().clock_position.peek();
}

/// A schedule is due by the wall; everything else that waits goes by the boot's clock.
Result<void> WallClock::move_schedules(int64_t measured) {
  for (uint32_t from = 0, end = 1; from < end; from += kSchedulesPerHold) {
    FQ_TRY(locked([&]() -> Result<void> {
      const int64_t now_wall_ms = gate().now().boot_ms + measured;
      const Timetable timetable = schedule().timetable();
      end = timetable.end();
      Txn txn = store().begin();
      for (uint32_t i = from; i < std::min(end, from + kSchedulesPerHold); ++i)
        timetable.follow_clock(txn, i, measured, now_wall_ms);
      txn.commit();
      gate().mark_servable();  // who sleeps may have to wake earlier
      return {};
    }));
  }
  return {};
}

}  // namespace fq
