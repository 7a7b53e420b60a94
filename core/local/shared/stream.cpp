#include "core/local/shared/stream.h"

// System.
#include <algorithm>

namespace fq {

namespace {

// Ring bytes may be read while they are written over; copy_out finds out afterwards. So what is written comes
// behind the look at ring_start that allowed it, what is read before the look that tells whether it holds: on
// x86-64 a matter of the compiler alone. The thread sanitizer would take it for a race and knows no fences:
// for it each word is atomic, and each byte of a last one.
#ifdef __SANITIZE_THREAD__
using Word = uint64_t;
bool holds_word(const std::byte* in_ring, size_t bytes) {
  return bytes >= sizeof(Word) && reinterpret_cast<uintptr_t>(in_ring) % sizeof(Word) == 0;
}
void load_ring(std::byte* to, const std::byte* from, size_t bytes) {
  for (; holds_word(from, bytes); bytes -= sizeof(Word), from += sizeof(Word), to += sizeof(Word)) {
    const Word word = __atomic_load_n(reinterpret_cast<const Word*>(from), __ATOMIC_ACQUIRE);
    std::memcpy(to, &word, sizeof word);
  }
  for (; bytes > 0; --bytes) *to++ = __atomic_load_n(from++, __ATOMIC_ACQUIRE);
}
void copy_into_ring(std::byte* to, const std::byte* from, size_t bytes) {
  for (; holds_word(to, bytes); bytes -= sizeof(Word), from += sizeof(Word), to += sizeof(Word)) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    __atomic_store_n(reinterpret_cast<Word*>(to), word, __ATOMIC_RELEASE);
  }
  for (; bytes > 0; --bytes) __atomic_store_n(to++, *from++, __ATOMIC_RELEASE);
}
#else
void load_ring(std::byte* to, const std::byte* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  std::atomic_thread_fence(std::memory_order_acquire);
}
void copy_into_ring(std::byte* to, const std::byte* from, size_t bytes) {
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(to, from, bytes);
}
#endif

/// A last part of a word is filled with zeros.
void store_ring(std::byte* to, const std::byte* from, size_t bytes) {
  constexpr std::array<std::byte, kRecordAlign> kZeros{};
  if (const size_t over = bytes % kZeros.size(); over != 0)
    copy_into_ring(to + bytes - over, kZeros.data(), kZeros.size());
  copy_into_ring(to, from, bytes);
}

/// What nobody waits for, and nothing else rests on, for as long as it is not on disk.
bool may_be_lost(const Body& body, SyncMode sync) {
  switch (body.type) {
    case RecordType::leased:
    case RecordType::extended:
      return true;
    case RecordType::left:  // the other queue has it
      return false;
    default:
      return sync == SyncMode::lazy && kind_of(body.type) == BodyKind::event;
  }
}

}  // namespace

Stream::Room Stream::room_for(uint64_t bytes) const {
  if (header_.tail + bytes - ring_start() > kRingBytes) return Room::ring_full;
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
  const HeaderBytes front = encode_header(current_seed(), record, body, first_id);
  if (const uint64_t at = position % kRingBytes; at + front.size() <= kRingBytes) {
    copy_into_ring(store_.ring() + at, front.data(), front.size());  // of a size that is known
  } else {
    write_ring(position, front);
  }
  write_ring(position + kRecordHeaderBytes, body.bytes);

  const bool pushed = body.type == RecordType::pushed;
  const bool waits = pushed && (body.flags & kFlagLazy) == 0;
  const OpenedEnds ends = open_ends(txn, header_);
  if (!waits && header_.servable_end == position) ends.set(header_.servable_end, end);
  if (!pushed && !may_be_lost(body, header_.settings.sync.peek())) ends.set(header_.solid_end, end);
  if (!pushed && header_.applied_end == position) ends.set(header_.applied_end, end);
  ends.set(header_.next_seq, header_.next_seq + 1);
  ends.set(header_.tail, end);
  return position;
}

bool Stream::copy_out(uint64_t position, MutableBytes to) const {
  const uint64_t at = position % kRingBytes;
  const uint64_t first = std::min<uint64_t>(to.size(), kRingBytes - at);
  load_ring(to.data(), store_.ring() + at, first);
  if (first < to.size()) load_ring(to.data() + first, store_.ring(), to.size() - first);
  // The copy before the check: bytes behind ring_start may have been overwritten while we copied.
  return ring_start() <= position;
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
