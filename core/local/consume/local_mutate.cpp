// local_mutate - cancel and kick, by id or by filter, a page at a time.
#include "core/local/local_queue.h"

// System.
#include <algorithm>
#include <charconv>
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/consume/local_endings.h"
#include "core/local/local_pages.h"

namespace fq {

namespace {

constexpr size_t kPageMax = 10'000;  // ids looked for in one walk

bool takes(Action action, SlotState state) {
  if (action == Action::cancel) return state != SlotState::free;
  return state == SlotState::dead || state == SlotState::delayed;
}

}  // namespace

Result<SettleStatus> LocalQueue::change_one(MessageId id, Action action, const Filter* filter,
                                            std::vector<ItemPlace>& blobs,
                                            std::optional<uint64_t> item_position) {
  SettleStatus status = SettleStatus::gone;
  FQ_TRY(endings().write_ends([&]() -> Result<Obstacle> {
    status = SettleStatus::gone;
    gate().fire_timers(gate().now());
    const std::optional<SlotIndex> slot = schedule().find(id);
    if (!slot) return Obstacle::none;
    const Entry& entry = schedule().entry(*slot);
    status = SettleStatus::stale;
    if (!takes(action, static_cast<SlotState>(entry.state.get()))) return Obstacle::none;
    // Found by what it was a moment ago: it must still be that.
    if (filter != nullptr && !matches(link_, *filter, std::nullopt, entry)) return Obstacle::none;
    if (item_position && entry.item_position != *item_position) return Obstacle::none;
    RecordType type = action == Action::cancel ? RecordType::cancelled : RecordType::kicked;
    if (action == Action::kick && schedule().would_hold(*slot)) type = RecordType::reheld;
    Obstacle obstacle = writer_.room_for_event(type, event_record_bytes(type, 1, EventDetail{}));
    if (obstacle == Obstacle::none && lacks_note(type, *slot)) obstacle = Obstacle::note;
    if (obstacle != Obstacle::none) return obstacle;
    if (action == Action::cancel && (entry.flags & kEntryBlob) != 0) {
      if (const auto place = ItemReader::find_item(stream(), header(), entry)) blobs.push_back(*place);
    }
    events_.append(type, *slot, gate().now());
    status = SettleStatus::ok;
    return Obstacle::none;
  }));
  return status;
}

Result<void> LocalQueue::finish_changes(const std::vector<ItemPlace>& blobs) {
  FQ_TRY(settle_held());
  std::vector<LooseBlob> doomed;
  name_blobs(blobs, doomed);
  if (!syncs_lazily() || !doomed.empty()) {
    FQ_TRY(link_.wait_all_durable());
  }
  remove_blobs(doomed);
  keep_if_due();
  return {};
}

Result<MutateReply> LocalQueue::mutate(std::span<const MessageId> ids, Action action) {
  MutateReply reply;
  std::vector<ItemPlace> blobs;
  FQ_TRY(settle_held());
  FQ_TRY(drop_old_dead());
  for (const MessageId id : ids) {
    FQ_TRY_SET(const SettleStatus status, change_one(id, action, nullptr, blobs));
    reply.items.push_back(status);
    if (status == SettleStatus::ok) ++reply.changed;
  }
  FQ_TRY(finish_changes(blobs));
  return reply;
}

Result<MutateReply> LocalQueue::mutate(const Filter& filter, Action action, const Cursor& from, size_t n) {
  MutateReply reply;
  Place after;
  std::from_chars(from.text.data(), from.text.data() + from.text.size(), after.id);
  const size_t most = std::min(n, kPageMax);
  // By id, also of those that wait for a time: what is found first is what was pushed first.
  FQ_TRY_SET(const std::vector<Place> places, pages_->select(filter, Pages::Order::id, after, most));
  std::vector<ItemPlace> blobs;
  for (const Place& place : places) {
    after = place;
    FQ_TRY_SET(const std::optional<Snapshot> looked, pages_->look_again(filter, place));
    if (!looked) continue;
    FQ_TRY_SET(const SettleStatus status, change_one(MessageId{looked->id}, action, &filter, blobs));
    if (status == SettleStatus::ok) ++reply.changed;
  }
  FQ_TRY(finish_changes(blobs));
  if (places.size() == most && most > 0) reply.next.text = std::to_string(after.id);
  return reply;
}

}  // namespace fq
