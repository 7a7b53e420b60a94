// local_settle - verdicts: receipts judged, one record a group, applied, durable before the answer.
#include "core/local/local_queue.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/consume/local_endings.h"
#include "core/local/shared/loose_blobs.h"

namespace fq {

namespace {

constexpr size_t kVerdictsPerRecord = 18;  // arbitrary
constexpr int64_t kDiskFullMs = 1'000;     // arbitrary

RecordType record_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ack:
      return RecordType::acked;
    case Verdict::retry:
      return RecordType::retried;
    case Verdict::release:
      return RecordType::released;
    case Verdict::bury:
      return RecordType::buried;
  }
  return RecordType::acked;
}

/// How much of the journal's last room such an event may use.
Purpose purpose_of(RecordType type) {
  if (type == RecordType::acked || type == RecordType::cancelled) return Purpose::end;
  return type == RecordType::buried ? Purpose::bury : Purpose::event;
}

bool same_record(const Settle& a, const Settle& b) {
  return a.verdict == b.verdict && a.delay_ms == b.delay_ms && a.reason == b.reason && a.exit == b.exit &&
         a.signal == b.signal && a.stderr_tail == b.stderr_tail;
}

EventDetail detail_of(const Settle& settle, int64_t wall_ms) {
  EventDetail detail;
  if (settle.verdict == Verdict::ack) return detail;
  if (settle.delay_ms > 0) detail.due_wall_ms = wall_ms + std::min(settle.delay_ms, INT64_MAX / 4);
  if (settle.exit) detail.exit = static_cast<int16_t>(*settle.exit);
  if (settle.signal) detail.signal = static_cast<int16_t>(*settle.signal);
  detail.reason = settle.reason;  // the encoder cuts it, between characters
  detail.stderr_tail = settle.stderr_tail;
  return detail;
}

struct ParsedReceipt {
  uint64_t id = 0;
  uint64_t serial = 0;
};

std::optional<ParsedReceipt> parse_receipt(std::string_view text) {
  const std::optional<uint64_t> id = take_decimal(text);
  if (!id || text.empty() || text[0] != '.') return std::nullopt;
  const std::optional<uint64_t> serial = parse_decimal(text.substr(1));
  if (!serial) return std::nullopt;
  return ParsedReceipt{*id, *serial};
}

uint64_t id_in(const Receipt& receipt) {
  const std::optional<ParsedReceipt> parsed = parse_receipt(receipt.text);
  return parsed ? parsed->id : 0;
}

}  // namespace

Obstacle LocalQueue::append_obstacle(Purpose purpose, uint64_t bytes, uint64_t more_messages) {
  switch (stream().room_for(bytes)) {
    case Stream::Room::ring_full:
      return Obstacle::ring_full;
    case Stream::Room::file_needed:
      return Obstacle::file_needed;
    case Stream::Room::enough:
      break;
  }
  return JournalSize(header()).leaves_room(purpose, bytes, more_messages) ? Obstacle::none
                                                                          : Obstacle::closing_room;
}

Obstacle LocalQueue::event_obstacle(RecordType type, uint64_t bytes) {
  const Purpose purpose = purpose_of(type);
  const Obstacle obstacle = append_obstacle(purpose, bytes);
  if (purpose == Purpose::end || obstacle == Obstacle::none || obstacle == Obstacle::ring_full)
    return obstacle;
  // First a file is asked for; only a disk that has none lets the event go unwritten (see is_written).
  return disk_is_full() ? Obstacle::none : Obstacle::closing_room;
}

/// On a full disk the room that is left belongs to what ends messages. Anything else is done and not written
/// down: after a crash such a message is where it was before, and is served again.
bool LocalQueue::is_written(RecordType type, uint64_t bytes) {
  // Where the disk was never full, event_obstacle() was none because there is room.
  if (disk_full_until_ms_ == 0) return true;
  const Purpose purpose = purpose_of(type);
  return purpose == Purpose::end || append_obstacle(purpose, bytes) == Obstacle::none;
}

bool LocalQueue::disk_is_full() {
  return disk_full_until_ms_ != 0 && clock().boot_ms() < disk_full_until_ms_;
}

Result<void> LocalQueue::overcome_for_event(Obstacle obstacle) {
  Result<void> overcame = overcome(obstacle, Need{});
  if (overcame.ok() || obstacle != Obstacle::closing_room || overcame.error().kind != ErrorKind::later)
    return overcame;
  // For a moment it is not asked again: making a file that does not fit is slow.
  disk_full_until_ms_ = clock().boot_ms() + kDiskFullMs;
  return {};
}

SettleStatus LocalQueue::judge_receipt(const Receipt& receipt, const Now& now,
                                       std::optional<SlotIndex>& slot) {
  const std::optional<ParsedReceipt> parsed = parse_receipt(receipt.text);
  if (!parsed) return SettleStatus::invalid;
  slot = schedule().find(MessageId{parsed->id});
  if (!slot) return SettleStatus::gone;
  const Entry& entry = schedule().entry(*slot);
  const bool leased = static_cast<SlotState>(entry.state.get()) == SlotState::leased;
  // A lease whose time is over is over, also when its timer has not been fired yet.
  const bool held = leased && entry.serial == parsed->serial && entry.at_ms > now.boot_ms;
  if (!held) slot.reset();
  return held ? SettleStatus::ok : SettleStatus::stale;
}

size_t LocalQueue::append_event(RecordType type, std::span<const SlotIndex> slots, const EventDetail& detail,
                                const Now& now, std::span<SettleStatus> statuses,
                                std::span<const Settle* const> settles) {
  const uint64_t bytes = event_record_bytes(type, slots.size(), detail);
  const bool written = is_written(type, bytes);
  Txn txn = store().begin();
  event_items_.clear();
  const uint64_t position = header().tail;
  const bool ends = purpose_of(type) == Purpose::end;
  uint64_t loose_bytes = 0;
  size_t count = 0;
  for (; count < slots.size() && txn.noted() + kUndoOfOne < kUndoEntries; ++count) {
    const Entry& entry = schedule().entry(slots[count]);
    event_items_.push_back({MessageId{entry.id.get()}, entry.event_position});
    note_change(txn, entry);
    if (ends && (entry.flags & kEntryBlob) != 0) loose_bytes += entry.payload_bytes;
    if (count < settles.size() && settles[count]->run_us)
      schedule().end_run(txn, slots[count], settles[count]->run_us, now.boot_ms);
    const uint64_t event_position = written ? position : event_items_[count].previous_event;
    const bool dead = gate().apply().event(txn, type, slots[count], detail, Serial{0}, kHeldByTime,
                                           event_position, now.wall_ms);
    if (!written) schedule().note_unwritten(txn, slots[count]);
    if (dead && type == RecordType::retried && count < statuses.size())
      statuses[count] = SettleStatus::buried;
  }
  if (written) {
    encode_event(body_, type, event_items_, detail);
    stream().append(txn, body_, MessageId{0}, now.wall_ms);
  }
  if (loose_bytes != 0) LooseBlobs(header()).add(txn, loose_bytes);
  FQ_POINT("event.appended");
  txn.commit();
  FQ_POINT("event.committed");
  stream().publish();
  house_is_due_ = due_housework() != Housework::none;
  // An end may free what is at a limit: then something is ready that nobody could have.
  const ScheduleRoot& root = schedule().root();
  const bool waits = root.control_supply.used != 0 && root.counts.ready != 0;
  const bool may_serve = waits || (type != RecordType::acked && type != RecordType::cancelled);
  // Who waits for the queue to be idle is woken by the last end; it counts among the choosy.
  const bool awaited = header().choosy_waiters.load(std::memory_order_seq_cst) != 0;
  if (may_serve || (awaited && schedule().may_be_idle())) gate().mark_servable();
  gate().mark_ended();
  return count;
}

/// Its holder hears of what another does to its lease.
void LocalQueue::note_change(Txn& txn, const Entry& entry) {
  if (static_cast<SlotState>(entry.state.get()) != SlotState::leased) return;
  const auto holder = HolderIndex{entry.holder.get()};
  if (holder == kHeldByTime || holder == link_.holder()) return;
  Shared<uint32_t>& changes = header().holders[static_cast<uint16_t>(holder)].changes;
  txn.set(changes, changes + 1);
  gate().mark_changed(static_cast<uint16_t>(holder));
}

/// The first of `group`, as many as one transaction takes; returns how many.
Result<size_t> LocalQueue::settle_group(std::span<const Settle> group, std::span<SettleStatus> statuses,
                                        uint64_t& durable_end, std::vector<ItemPlace>& blobs) {
  size_t settled = group.size();
  Obstacle obstacle = Obstacle::none;
  const Endings::Done done_with_notes(*this);
  for (int attempt = 0; attempt < kObstaclesMax; ++attempt) {
    obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      const Now now = gate().now();
      gate().fire_timers(now);
      EventDetail detail = detail_of(group[0], now.wall_ms);
      const RecordType type = record_of(group[0].verdict);
      uint64_t bytes = event_record_bytes(type, group.size(), detail);
      // In the closing room reasons are cut: the room belongs to what ends messages.
      if (disk_is_full() && !JournalSize(header()).leaves_room(Purpose::event, bytes)) {
        detail.reason = {};
        detail.stderr_tail = {};
        bytes = event_record_bytes(type, group.size(), detail);
      }
      obstacle = event_obstacle(type, bytes);
      if (obstacle != Obstacle::none) return {};
      // Of the first `count`, which hold; the rest of them is not even set to nothing, for its time.
      std::array<SlotIndex, kVerdictsPerRecord> slots;
      std::array<SettleStatus, kVerdictsPerRecord> verdicts;
      std::array<const Settle*, kVerdictsPerRecord> settles;
      std::array<size_t, kVerdictsPerRecord> places, blobs_before;
      size_t count = 0;
      blobs.clear();
      for (size_t i = 0; i < group.size(); ++i) {
        std::optional<SlotIndex> slot;
        statuses[i] = judge_receipt(group[i].receipt, now, slot);
        if (!slot) continue;
        const bool twice = std::find(slots.begin(), slots.begin() + count, *slot) != slots.begin() + count;
        if (twice) statuses[i] = SettleStatus::stale;
        if (twice) continue;
        const Entry& entry = schedule().entry(*slot);
        const bool is_told = is_told_of(entry, header().settings.retention_ms, group[i].output != nullptr);
        if (is_told && lacks_note(type, *slot, &group[i])) obstacle = Obstacle::note;
        blobs_before[count] = blobs.size();
        if (type == RecordType::acked && (entry.flags & kEntryBlob) != 0) {
          if (const auto payload = ItemReader::find_item(stream(), header(), entry))
            blobs.push_back(*payload);
        }
        slots[count] = *slot;
        verdicts[count] = SettleStatus::ok;
        settles[count] = &group[i];
        places[count++] = i;
      }
      if (obstacle != Obstacle::none) return {};
      size_t done = 0;
      if (count > 0) {
        done = append_event(type, std::span(slots).first(count), detail, now,
                            std::span(verdicts).first(count), std::span(settles).first(count));
      }
      settled = done < count ? places[done] : group.size();
      if (done < count) blobs.resize(blobs_before[done]);
      for (size_t i = 0; i < done; ++i) statuses[places[i]] = verdicts[i];
      // Also what is refused rests on durable state: the verdict that came first must not be lost.
      durable_end = header().tail;
      return {};
    }));
    if (obstacle == Obstacle::none) return settled;
    FQ_TRY(overcome_for_event(obstacle));
  }
  return refuse_full();
}

Result<SettleReply> LocalQueue::settle(std::span<const Settle> items, const LeaseRequest* next) {
  SettleReply reply;
  reply.items.assign(items.size(), SettleStatus::unknown);
  uint64_t durable_end = 0;
  std::vector<LooseBlob> doomed;
  for (size_t from = 0; from < items.size();) {
    size_t to = from + 1;
    while (to < items.size() && to - from < kVerdictsPerRecord && same_record(items[from], items[to])) ++to;
    std::vector<ItemPlace> blobs;
    Result<size_t> settled = settle_group(
        items.subspan(from, to - from), std::span(reply.items).subspan(from, to - from), durable_end, blobs);
    if (!settled.ok()) {
      std::fill(reply.items.begin() + static_cast<std::ptrdiff_t>(from), reply.items.end(),
                SettleStatus::unknown);
      reply.error = std::move(settled).error();
      break;
    }
    name_blobs(blobs, doomed);
    to = from + *settled;
    if (!watched_.empty()) {
      for (const Settle& item : items.subspan(from, to - from)) watched_.erase(id_in(item.receipt));
    }
    from = to;
  }
  // A payload beside the journal goes only after the end of its message can no longer be lost.
  if (!syncs_lazily() || !doomed.empty()) {
    Result<void> durable = flusher().wait_durable(durable_end);
    if (!durable.ok()) {
      std::fill(reply.items.begin(), reply.items.end(), SettleStatus::unknown);
      reply.error = std::move(durable).error();
      return reply;
    }
  }
  FQ_POINT("settle.durable");
  remove_blobs(doomed);
  // Consumers keep house, and a fault in that is no fault of the verdict.
  if (house_is_due_) static_cast<void>(keep_house());
  if (!reply.error) static_cast<void>(settle_held());
  if (next != nullptr && !reply.error) {
    FQ_TRY_SET(reply.next, lease(*next));
  }
  return reply;
}

Result<std::vector<ExtendResult>> LocalQueue::extend(std::span<const Receipt> receipts, int64_t duration_ms) {
  std::vector<ExtendResult> results(receipts.size());
  uint64_t durable_end = 0;
  for (size_t i = 0; i < receipts.size(); ++i) {
    Obstacle obstacle = Obstacle::none;
    do {
      FQ_TRY(locked([&]() -> Result<void> {
        obstacle = Obstacle::none;
        const Now now = gate().now();
        gate().fire_timers(now);
        std::optional<SlotIndex> slot;
        results[i].status = judge_receipt(receipts[i], now, slot);
        durable_end = header().tail;  // of what is refused too: it rests on what came before
        if (!slot) return {};
        EventDetail detail;
        detail.until_wall_ms = now.wall_ms + std::min(duration_ms, INT64_MAX / 4);
        results[i].deadline_wall_ms = detail.until_wall_ms;
        obstacle = event_obstacle(RecordType::extended, event_record_bytes(RecordType::extended, 1, detail));
        if (obstacle != Obstacle::none) return {};
        append_event(RecordType::extended, std::span(&*slot, 1), detail, now, {});
        durable_end = header().tail;
        return {};
      }));
      if (obstacle != Obstacle::none) FQ_TRY(overcome_for_event(obstacle));
    } while (obstacle != Obstacle::none);
  }
  if (!syncs_lazily()) FQ_TRY(flusher().wait_durable(durable_end));
  if (house_is_due_) static_cast<void>(keep_house());
  return results;
}

}  // namespace fq
