#include "core/spool/stream.h"

// System.
#include <algorithm>

namespace fq {

namespace {

uint64_t live_messages(const ScheduleRoot& root) {
  const StateCounts& counts = root.counts;
  return uint64_t{counts.ready} + counts.delayed + counts.leased + counts.dead;
}

}  // namespace

Stream::Room Stream::room_for(uint64_t bytes) const {
  const uint64_t ring_start = header_.ring_start.load(std::memory_order_acquire);
  if (header_.tail + bytes - ring_start > kRingBytes) return Room::ring_full;
  if (table_.current_room() < bytes && !table_.has_ready()) return Room::file_needed;
  return Room::enough;
}

bool Stream::leaves_closing_room(uint64_t bytes, uint64_t more_messages) const {
  const ScheduleRoot& root = header_.schedule;
  const uint64_t live = live_messages(root) + header_.pending_messages + more_messages;
  // A file's tail that a record does not fit into is lost room: count one record for it.
  const uint64_t needed = bytes + kRecordBytesMax + live * kClosingBytes;
  return table_.has_ready() && table_.ready_room() >= needed;
}

bool Stream::leaves_floor(uint64_t bytes) const {
  return table_.ready_room() >= bytes + live_messages(header_.schedule) * kClosingBytes;
}

uint64_t Stream::append(Txn& txn, Body& body, MessageId first_id, int64_t at_wall_ms) {
  const uint64_t position = header_.tail;
  const uint64_t bytes = kRecordHeaderBytes + body.bytes.size();
  const uint64_t end = position + padded(bytes);
  FQ_ASSERT(bytes <= kRecordBytesMax);
  FQ_ASSERT(end - header_.ring_start.load(std::memory_order_relaxed) <= kRingBytes);
  if (table_.current_room() < padded(bytes)) table_.open_next(txn);

  RecordHeader record;
  record.seq = header_.next_seq;
  record.position = position;
  record.at_wall_ms = at_wall_ms;
  record.durable_position = header_.durable_end.load(std::memory_order_relaxed);
  const HeaderBytes sealed = encode_header(table_.key(header_.current_file), record, body, first_id);
  write_ring(position, sealed);
  write_ring(position + kRecordHeaderBytes, body.bytes);
  static constexpr std::byte kPadding[kRecordAlign] = {};
  write_ring(position + bytes, Bytes(kPadding, end - position - bytes));

  const bool pushed = body.type == RecordType::pushed;
  const bool waits = pushed && (body.flags & kFlagLazy) == 0;
  if (!waits && header_.servable_end == position) txn.set(header_.servable_end, end);
  if (!pushed && header_.applied_end == position) txn.set(header_.applied_end, end);
  txn.set(header_.next_seq, header_.next_seq + 1);
  txn.set(header_.tail, end);
  return position;
}

bool Stream::copy_out(uint64_t position, MutableBytes to) const {
  const uint64_t at = position % kRingBytes;
  const uint64_t first = std::min<uint64_t>(to.size(), kRingBytes - at);
  std::memcpy(to.data(), store_.ring() + at, first);
  if (first < to.size()) std::memcpy(to.data() + first, store_.ring(), to.size() - first);
  // The copy before the check: bytes behind ring_start may have been overwritten while we copied.
  std::atomic_thread_fence(std::memory_order_acquire);
  return header_.ring_start.load(std::memory_order_acquire) <= position;
}

Bytes Stream::view(uint64_t position, uint64_t bytes) const {
  const uint64_t at = position % kRingBytes;
  if (at + bytes > kRingBytes) return {};
  return Bytes(store_.ring() + at, bytes);
}

void Stream::write_ring(uint64_t position, Bytes from) {
  const uint64_t at = position % kRingBytes;
  const uint64_t first = std::min<uint64_t>(from.size(), kRingBytes - at);
  std::memcpy(store_.ring() + at, from.data(), first);
  if (first < from.size()) std::memcpy(store_.ring(), from.data() + first, from.size() - first);
}

}  // namespace fq
