#include "core/local/consume/mutator.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/local/read/step_reader.h"

namespace fq {

namespace {

bool takes(Action action, SlotState state) {
  if (action == Action::cancel) return state != SlotState::free;
  return state == SlotState::dead || state == SlotState::delayed;
}

}  // namespace

Result<SettleStatus> Mutator::change(MessageId id, Action action, const Filter* filter,
                                     std::optional<uint64_t> item_position) {
  SettleStatus status = SettleStatus::gone;
  const auto work = [&]() -> Result<Obstacle> {
    status = SettleStatus::gone;
    gate().fire_timers(gate().now());
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (!slot) return Obstacle::none;
    const Entry& entry = schedule().messages().entry(*slot);
    status = SettleStatus::stale;
    if (!takes(action, static_cast<SlotState>(entry.state.get()))) return Obstacle::none;
    // Found by what it was a moment ago: it must still be that.
    if (filter != nullptr && !matches(link_, *filter, std::nullopt, entry)) return Obstacle::none;
    if (item_position && entry.item_position != *item_position) return Obstacle::none;
    // By a filter it is as if it were there already.
    const bool in_transit = schedule().views().is_in_transit(*slot);
    if (in_transit && filter == nullptr) return refuse_in_transit(id);
    if (in_transit) return Obstacle::none;
    RecordType type = action == Action::cancel ? RecordType::cancelled : RecordType::kicked;
    if (action != Action::cancel && schedule().dependents().would_hold(*slot)) type = RecordType::reheld;
    const bool forgets = action == Action::kick_fresh && schedule().steps().count(entry) != 0;
    const uint64_t bytes = event_record_bytes(type, 1);
    // What a kick brings back is accepted again, and may be buried again.
    Obstacle obstacle = action == Action::cancel
                            ? writer_.room_for_event(type, bytes)
                            : writer_.room_for(Purpose::accept, forgets ? 2 * bytes : bytes, 1);
    if (obstacle == Obstacle::none && endings_.lacks_note(type, *slot)) obstacle = Obstacle::note;
    if (obstacle != Obstacle::none) return obstacle;
    if (action == Action::cancel || forgets) find_step_blobs(link_, entry, blobs_);
    if (action == Action::cancel && (entry.flags & kEntryBlob) != 0) {
      if (const auto place = ItemReader::find_item(stream(), header(), entry)) blobs_.push_back(*place);
    }
    if (forgets) events_.append(RecordType::unstepped, *slot);
    EventDetail detail;
    if (action != Action::cancel) detail.has_key = schedule().views().has_key_if_kicked(*slot);
    events_.append(type, *slot, detail);
    status = SettleStatus::ok;
    return Obstacle::none;
  };
  // A kick ends nothing, so a full disk refuses it: done in memory only it would be undone by a crash, and
  // the outputs of the steps that it forgot would be gone.
  FQ_TRY(action == Action::cancel ? endings_.write_ends(work) : writer_.write(work));
  return status;
}

Result<void> Mutator::finish() {
  FQ_TRY(resolver_.resolve());
  DoomedBlobs doomed(link_);
  doomed.find(blobs_);
  blobs_.clear();
  if (!syncs_lazily() || !doomed.empty()) FQ_TRY(link_.wait_all_durable());
  doomed.remove();
  upkeep_.keep_if_due();
  return {};
}

}  // namespace fq
