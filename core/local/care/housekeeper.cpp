#include "core/local/care/housekeeper.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/step_count.h"
// fq, this room.
#include "core/local/write/pin_walk.h"

namespace fq {

namespace {

constexpr int kHouseStepsMax = 100'000;  // of at most 1 MiB; against a step that does nothing for ever

}  // namespace

Result<bool> Housekeeper::do_housework(Housework work) {
  switch (work) {
    case Housework::none:
      return false;
    case Housework::orphans:
      FQ_TRY(blobs_.remove_orphans());
      return true;
    case Housework::sync:
      FQ_TRY(link_.wait_all_durable());
      return true;
    case Housework::drop: {
      FQ_TRY_SET(const uint32_t dropped, dead_files_.drop());
      return dropped > 0;
    }
    case Housework::carry: {
      FQ_TRY(carry_all());
      // Where something cannot be carried now, it is not tried again at once.
      bool pinned = true;
      FQ_TRY(locked([&]() -> Result<void> {
        pinned = JournalSize(header()).is_pinned(header().oldest_file);
        return {};
      }));
      return !pinned;
    }
    case Housework::copy:
      return compactor_.copy_forward();
    case Housework::shrink:
      return shrink();
  }
  return false;
}

Result<bool> Housekeeper::keep_house() {
  is_due_ = false;
  // What housework itself is in need of is made, and not kept house for.
  if (keeping_) return false;
  keeping_ = true;
  FQ_STEPS_ARE_SHARED();
  bool gave = false;
  Result<void> kept;
  for (int step = 0; step < kHouseStepsMax; ++step) {
    Housework work = Housework::none;
    kept = locked([&]() -> Result<void> { return work = due_housework(header()), Result<void>(); });
    if (!kept.ok() || work == Housework::none) break;
    const Result<bool> done = do_housework(work);
    if (!done.ok()) kept = done.error();
    if (!done.ok() || !*done) break;
    gave = gave || work == Housework::drop || work == Housework::shrink;
  }
  keeping_ = false;
  if (!kept.ok()) return std::move(kept).error();
  return gave;
}

/// So that the oldest file need not be kept for what only old records tell. A walk that was broken off, by a
/// death too, goes on where it was. Returns the message for which it is kept all the same.
Result<std::optional<Compactor::InOldest>> Housekeeper::carry_all() {
  FQ_TRY(carry_pinned(&SegmentHeader::run_time_settings, [this] { return run_time_policy_.carry_some(); }));
  keys_.make_room();
  FQ_POINT("keys.begun");
  FQ_TRY(carry_pinned(&SegmentHeader::kept_keys, [this] { return keys_.carry_some(); }));
  FQ_TRY(schedules_.carry());
  FQ_TRY(steps_.carry());
  return compactor_.carry_replaced();
}

/// `some` takes one step of the walk. Needs: not the lock.
template <class Some>
Result<void> Housekeeper::carry_pinned(Pin SegmentHeader::*what, Some&& some) {
  for (bool more = true; more;) {
    FQ_TRY(writer_.write([&]() -> Result<Obstacle> {
      more = begin_walk(link_, header().*what);
      return more ? some() : Obstacle::none;
    }));
  }
  return {};
}

/// Files that were made for a larger queue, or that are too many: one after the other becomes the current one
/// and is left at once, so that it goes as any other does. Where the room of a large one is needed, one that
/// the queue has the size for is made first. False: their room is needed, and the disk has no other.
Result<bool> Housekeeper::shrink() {
  bool spares = false;
  bool replaces = false;
  uint32_t newest = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    const JournalSize size(header());
    spares = size.can_spare(stream().table().current_room());
    replaces = !spares && size.may_replace_current();
    newest = header().newest_file;
    return {};
  }));
  if (spares) FQ_TRY(leave_current_file());
  if (!replaces) return spares;
  const Result<void> made = file_maker_.make(newest);
  if (!made.ok() && made.error().kind != ErrorKind::later) return made.error();
  return made.ok();
}

Result<void> Housekeeper::make_ready_file() {
  const uint32_t newest = header().newest_file.peek();
  // A fault in that is none of ours: then a file is made.
  static_cast<void>(keep_house());
  if (header().newest_file.peek() > newest) return {};
  Result<void> made = file_maker_.make(newest);
  if (made.ok() || made.error().kind != ErrorKind::later || keeping_) return made;
  // Whoever is refused does first what could make room, whether it is due or not.
  keeping_ = true;
  CompactReport report;
  static_cast<void>(drop_unneeded_files(report));
  keeping_ = false;
  if (report.files_gone == 0) return made;
  return file_maker_.make(newest);
}

}  // namespace fq
