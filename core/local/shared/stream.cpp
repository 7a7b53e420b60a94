#include "core/local/shared/stream.h"

// System.
#include <algorithm>

namespace fq {

namespace {

// Ring bytes may be read while they are written over (copy_out finds out afterwards): so they are moved as
// atomic words, and not by memcpy. Acquire and release keep them before the check of ring_start and behind
// whoever moved it; on x86-64 both are plain moves.
using Word [[gnu::may_alias]] = uint64_t;
constexpr size_t kWordBytes = sizeof(Word);

size_t bytes_to_word(const std::byte* at, size_t bytes) {
  const size_t over = reinterpret_cast<uintptr_t>(at) % kWordBytes;
  return over == 0 ? 0 : std::min(bytes, kWordBytes - over);
}

void load_ring(std::byte* to, const std::byte* from, size_t bytes) {
  const auto load_bytes = [&](size_t count) {
    for (; count > 0; --count, --bytes) __atomic_load(from++, to++, __ATOMIC_ACQUIRE);
  };
  load_bytes(bytes_to_word(from, bytes));
  for (; bytes >= kWordBytes; to += kWordBytes, from += kWordBytes, bytes -= kWordBytes) {
    put_number(to, __atomic_load_n(reinterpret_cast<const Word*>(from), __ATOMIC_ACQUIRE));
  }
  load_bytes(bytes);
}

void store_word(std::byte* to, uint64_t word) {
  __atomic_store_n(reinterpret_cast<Word*>(to), word, __ATOMIC_RELEASE);
}

/// Whole words; `to` is aligned, as everything in the ring is. A last part of a word is filled with zeros.
void store_ring(std::byte* to, const std::byte* from, size_t bytes) {
  for (; bytes >= 4 * kWordBytes; to += 4 * kWordBytes, from += 4 * kWordBytes, bytes -= 4 * kWordBytes) {
    store_word(to, get_number<uint64_t>(from));
    store_word(to + kWordBytes, get_number<uint64_t>(from + kWordBytes));
    store_word(to + 2 * kWordBytes, get_number<uint64_t>(from + 2 * kWordBytes));
    store_word(to + 3 * kWordBytes, get_number<uint64_t>(from + 3 * kWordBytes));
  }
  for (; bytes >= kWordBytes; to += kWordBytes, from += kWordBytes, bytes -= kWordBytes) {
    store_word(to, get_number<uint64_t>(from));
  }
  if (bytes == 0) return;
  uint64_t rest = 0;
  std::memcpy(&rest, from, bytes);
  store_word(to, rest);
}

}  // namespace

Stream::Room Stream::room_for(uint64_t bytes) const {
  const uint64_t ring_start = header_.ring_start.load(std::memory_order_acquire);
  if (header_.tail + bytes - ring_start > kRingBytes) return Room::ring_full;
  if (table_.current_room() < bytes && !table_.has_ready()) return Room::file_needed;
  return Room::enough;
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
  write_ring(position, encode_header(current_seed(), record, body, first_id));
  write_ring(position + kRecordHeaderBytes, body.bytes);

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
  load_ring(to.data(), store_.ring() + at, first);
  if (first < to.size()) load_ring(to.data() + first, store_.ring(), to.size() - first);
  // The copy before the check: bytes behind ring_start may have been overwritten while we copied.
  return header_.ring_start.load(std::memory_order_acquire) <= position;
}

Bytes Stream::view(uint64_t position, uint64_t bytes) const {
  const uint64_t at = position % kRingBytes;
  if (at + bytes > kRingBytes) return {};
  return Bytes(store_.ring() + at, bytes);
}

uint32_t Stream::current_seed() {
  const FileKey key = table_.key(header_.current_file);
  if (key.salt != seed_of_.salt || key.number != seed_of_.number) {
    seed_of_ = key;
    seed_ = file_seed(key);
  }
  return seed_;
}

void Stream::write_ring(uint64_t position, Bytes from) {
  const uint64_t at = position % kRingBytes;
  const uint64_t first = std::min<uint64_t>(from.size(), kRingBytes - at);
  store_ring(store_.ring() + at, from.data(), first);
  if (first < from.size()) store_ring(store_.ring(), from.data() + first, from.size() - first);
}

}  // namespace fq
