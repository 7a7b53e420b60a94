// stream - the journal's unwritten end, in the ring: append is a copy, not a system call.
//
// Positions are those of the logical stream; a byte at position p lies at p % kRingBytes of the ring until
// ring_start has passed it. Everything here needs the state lock, except where it says so.
#pragma once

// fq, this room.
#include "core/local/shared/journal_table.h"

namespace fq {

class Stream {
 public:
  explicit Stream(Store& store) : store_(store), header_(store.header()), table_(header_) {}

  enum class Room {
    enough,
    ring_full,    // flush first
    file_needed,  // make a journal file ready first
  };
  /// Whether records of `bytes` in all (each padded, none above kRecordBytesMax) can be appended.
  Room room_for(uint64_t bytes) const;

  /// Puts a record at the tail; returns its position. Needs: room_for its bytes. A pushed record that is
  /// not lazy stays behind servable_end until it is durable.
  uint64_t append(Txn& txn, Body& body, MessageId first_id, int64_t at_wall_ms);

  /// After the transaction's commit: lets the leader see what was appended.
  void publish() { header_.committed_end.store(header_.tail, std::memory_order_release); }

  /// What lies before it is in its file. No lock needed.
  uint64_t ring_start() const { return header_.ring_start.load(std::memory_order_acquire); }
  /// Copies stream bytes out of the ring; false when they were overwritten meanwhile. No lock needed.
  bool copy_out(uint64_t position, MutableBytes to) const;
  /// The bytes where they lie, when they do not wrap around; else empty.
  Bytes view(uint64_t position, uint64_t bytes) const;
  uint32_t current_seed();
  void write_ring(uint64_t position, Bytes from);

  JournalTable& table() { return table_; }
  const JournalTable& table() const { return table_; }

 private:
  Store& store_;
  SegmentHeader& header_;
  JournalTable table_;
  FileKey seed_of_;  // the file whose seed is kept
  uint32_t seed_ = 0;
};

}  // namespace fq
