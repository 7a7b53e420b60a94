#include "core/local/consume/settler.h"

// System.
#include <algorithm>
#include <bitset>
// fq, below us.
#include "core/api/receipt.h"
#include "core/base/text/decimal.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/consume/lease_receipt.h"
#include "core/local/read/step_reader.h"

namespace fq {

namespace {

constexpr size_t kVerdictsPerRecord = 64;  // chosen: as many as leases

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

bool same_record(const Settle& a, const Settle& b) {
  if (a.verdict != b.verdict) return false;
  // An ack says nothing besides, see detail_of().
  return a.verdict == Verdict::ack || (a.delay_ms == b.delay_ms && a.reason == b.reason && a.exit == b.exit &&
                                       a.signal == b.signal && a.stderr_tail == b.stderr_tail);
}

EventDetail detail_of(const Settle& settle, int64_t wall_ms) {
  EventDetail detail;
  if (settle.verdict == Verdict::ack) return detail;
  if (settle.delay_ms > 0) detail.due_wall_ms = later(wall_ms, settle.delay_ms);
  if (settle.exit) detail.exit = static_cast<int16_t>(*settle.exit);
  if (settle.signal) detail.signal = static_cast<int16_t>(*settle.signal);
  detail.reason = settle.reason;  // the encoder cuts it, between characters
  detail.stderr_tail = settle.stderr_tail;
  return detail;
}

}  // namespace

/// The verdicts of one group that hold: the first `count` of each array. The rest is not even set to nothing,
/// for its time.
struct Settler::Judged {
  std::array<SlotIndex, kVerdictsPerRecord> slots;
  std::array<SettleStatus, kVerdictsPerRecord> verdicts;
  std::array<const Settle*, kVerdictsPerRecord> settles;
  std::array<size_t, kVerdictsPerRecord> places, blobs_before;
  std::bitset<1024> seen;  // of slots, some with others: who is not seen was not there before
  std::array<SlotIndex, kVerdictsPerRecord> sleepers;
  size_t count = 0, sleeping = 0;
  bool lacks_note = false;

  bool has(SlotIndex slot) {
    const size_t mark = static_cast<uint32_t>(slot) % seen.size();
    if (seen[mark] && std::find(slots.begin(), slots.begin() + count, slot) != slots.begin() + count)
      return true;
    seen.set(mark);
    return false;
  }
};

/// `place`: of this verdict in its group.
SettleStatus Settler::judge(const Settle& settle, size_t place, RecordType type, const Now& now,
                            Judged& judged, std::vector<ItemPlace>& blobs) {
  std::optional<SlotIndex> slot;
  const SettleStatus status = judge_receipt(link_, settle.receipt, now, slot);
  if (!slot) return status;
  if (judged.has(*slot)) return type == RecordType::acked ? SettleStatus::gone : SettleStatus::stale;
  const Entry& entry = schedule().messages().entry(*slot);
  if (schedule().messages().is_suspended(entry)) {
    judged.sleepers[judged.sleeping++] = *slot;
    return SettleStatus::slept;
  }
  const bool is_told = is_told_of(entry, header().settings.retention_ms, settle.output != nullptr);
  if (is_told && endings_.lacks_note(type, *slot, &settle)) judged.lacks_note = true;
  const size_t i = judged.count++;
  judged.blobs_before[i] = blobs.size();
  if (type == RecordType::acked && has_extra(entry)) find_step_blobs(link_, entry, blobs);
  if (type == RecordType::acked && (entry.flags & kEntryBlob) != 0) {
    if (const auto payload = ItemReader::find_item(stream(), header(), entry)) blobs.push_back(*payload);
  }
  judged.slots[i] = *slot;
  judged.verdicts[i] = SettleStatus::ok;
  judged.settles[i] = &settle;
  judged.places[i] = place;
  return status;
}

/// The first of `group`, as many as one transaction takes; returns how many.
Result<size_t> Settler::settle_group(std::span<const Settle> group, std::span<SettleStatus> statuses,
                                     uint64_t& durable_end, std::vector<ItemPlace>& blobs) {
  size_t settled = group.size();
  FQ_TRY(endings_.write_ends([&]() -> Result<Obstacle> {
    const Now now = gate().now();
    gate().fire_timers(now);
    EventDetail detail = detail_of(group[0], now.wall_ms);
    const RecordType type = record_of(group[0].verdict);
    uint64_t bytes = event_record_bytes(type, group.size(), detail);
    // In the closing room reasons are cut: the room belongs to what ends messages.
    if (writer_.disk_is_full() && !JournalSize(header()).leaves_room(Purpose::event, bytes)) {
      detail.reason = {};
      detail.stderr_tail = {};
      bytes = event_record_bytes(type, group.size(), detail);
    }
    Obstacle obstacle = writer_.room_for_event(type, bytes);
    if (obstacle != Obstacle::none) return obstacle;
    Judged judged;
    blobs.clear();
    for (size_t i = 0; i < group.size(); ++i) statuses[i] = judge(group[i], i, type, now, judged, blobs);
    if (judged.lacks_note) return Obstacle::note;
    // Beside the verdicts what is given back because its job sleeps.
    bytes += judged.sleeping * event_record_bytes(RecordType::released, 1);
    if (judged.sleeping != 0) obstacle = writer_.room_for_event(RecordType::released, bytes);
    if (obstacle != Obstacle::none) return obstacle;
    const size_t count = judged.count;
    size_t done = 0;
    if (count > 0) {
      done = events_.append(type, std::span(judged.slots).first(count), detail,
                            std::span(judged.verdicts).first(count), std::span(judged.settles).first(count));
    }
    for (size_t i = 0; i < judged.sleeping; ++i) events_.return_lease(judged.sleepers[i]);
    settled = done < count ? judged.places[done] : group.size();
    if (done < count) blobs.resize(judged.blobs_before[done]);
    // A retry may have been the last; of the others what was judged holds.
    for (size_t i = 0; type == RecordType::retried && i < done; ++i)
      statuses[judged.places[i]] = judged.verdicts[i];
    // Also what is refused rests on durable state: the verdict that came first must not be lost.
    durable_end = header().tail;
    return Obstacle::none;
  }));
  return settled;
}

void Settler::settle(std::span<const Settle> items, SettleReply& reply) {
  reply.items.assign(items.size(), SettleStatus::unknown);
  uint64_t durable_end = 0;
  DoomedBlobs doomed(link_);
  std::vector<ItemPlace> blobs;
  for (size_t from = 0; from < items.size();) {
    size_t to = from + 1;
    while (to < items.size() && to - from < kVerdictsPerRecord && same_record(items[from], items[to])) ++to;
    Result<size_t> settled = settle_group(
        items.subspan(from, to - from), std::span(reply.items).subspan(from, to - from), durable_end, blobs);
    if (!settled.ok()) {
      std::fill(reply.items.begin() + from, reply.items.end(), SettleStatus::unknown);
      reply.error = std::move(settled).error();
      break;
    }
    doomed.find(blobs);
    to = from + *settled;
    if (watcher_.watches_any()) {
      for (const Settle& item : items.subspan(from, to - from)) watcher_.forget(message_under(item.receipt));
    }
    from = to;
  }
  // A payload beside the journal goes only after the end of its message can no longer be lost.
  if (!syncs_lazily() || !doomed.empty()) {
    Result<void> durable = flusher().wait_durable(durable_end);
    if (!durable.ok()) {
      std::fill(reply.items.begin(), reply.items.end(), SettleStatus::unknown);
      reply.error = std::move(durable).error();
      return;
    }
  }
  FQ_POINT("settle.durable");
  doomed.remove();
  // Consumers keep house, and a fault in that is no fault of the verdict.
  upkeep_.keep_if_due();
  if (!reply.error) static_cast<void>(resolver_.resolve());
}

Result<std::vector<ExtendResult>> Settler::extend(std::span<const Receipt> receipts, int64_t duration_ms) {
  std::vector<ExtendResult> results(receipts.size());
  uint64_t durable_end = 0;
  for (size_t i = 0; i < receipts.size(); ++i) {
    FQ_TRY(writer_.write_event([&]() -> Result<Obstacle> {
      const Now now = gate().now();
      gate().fire_timers(now);
      std::optional<SlotIndex> slot;
      results[i].status = judge_receipt(link_, receipts[i], now, slot);
      durable_end = header().tail;  // of what is refused too: it rests on what came before
      if (!slot) return Obstacle::none;
      EventDetail detail;
      detail.until_wall_ms = later(now.wall_ms, duration_ms);
      results[i].deadline_wall_ms = detail.until_wall_ms;
      const uint64_t bytes = event_record_bytes(RecordType::extended, 1, detail);
      const Obstacle obstacle = writer_.room_for_event(RecordType::extended, bytes);
      if (obstacle != Obstacle::none) return obstacle;
      events_.append(RecordType::extended, *slot, detail);
      durable_end = header().tail;
      return Obstacle::none;
    }));
  }
  if (!syncs_lazily()) FQ_TRY(flusher().wait_durable(durable_end));
  upkeep_.keep_if_due();
  return results;
}

}  // namespace fq
